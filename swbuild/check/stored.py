"""Values as JSON text and back, so that a file of the store holds data and nothing that could run.

What can be read back follows from the type that is wanted: the classes in its annotations and in theirs,
which are dataclasses, enumerations and objects of isl.  Text with anything else in it is refused.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import islpy as isl

from swbuild.expressions import c, nodes, statements
from swbuild.expressions.nodes import Expression
from swbuild.names import from_ascii, in_ascii

__all__ = ["from_text", "to_text"]

Wanted = TypeVar("Wanted")
#: What an annotation means that says no more than that it is a tree.
_NODES = [
    node
    for module in (nodes, c, statements)
    for node in vars(module).values()
    if dataclasses.is_dataclass(node) and isinstance(node, type)
]
_SEQUENCES = {"tuple": tuple, "frozenset": frozenset, "set": set}


def to_text(value: object) -> str:
    """Return ``value`` as text; raise :class:`TypeError` for what is neither data nor an object of isl."""
    return json.dumps(_encoded(value))


def from_text(text: str, wanted: type[Wanted]) -> Wanted:
    """Return the value of type ``wanted`` that ``text`` is; raise :class:`ValueError` if it is none."""
    try:
        found = _decoded(json.loads(text), _classes(wanted))  # type: ignore[arg-type]  # mypy: a generic type is no Hashable
    except (AttributeError, KeyError, TypeError, RecursionError, isl.Error) as error:
        raise ValueError(f"not the text of a {wanted.__name__}") from error
    if not isinstance(found, wanted):
        raise ValueError(f"not the text of a {wanted.__name__}")
    return found


def _encoded(value: object) -> object:
    """Return the value as JSON: a list stays one, what is not plain becomes an object of one key."""
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_encoded(key), _encoded(item)] for key, item in value.items()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    if type(value).__name__ in _SEQUENCES and isinstance(value, tuple | set | frozenset):
        return {type(value).__name__: [_encoded(item) for item in value]}
    return {_name(type(value)): _content(value)}


def _content(value: object) -> object:
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value):
        return [_encoded(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if _is_isl(type(value)):
        return value.to_str()  # type: ignore[attr-defined]  # every class of isl has it
    raise TypeError(f"{type(value).__name__} is not data")


def _decoded(found: Any, classes: Mapping[str, type]) -> Any:
    if isinstance(found, list):
        return [_decoded(item, classes) for item in found]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = found.items()
    if kind == "dict":
        return {_decoded(key, classes): _decoded(item, classes) for key, item in content}
    if kind == "path":
        return Path(content)
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](_decoded(item, classes) for item in content)
    return _object(classes[kind], content, classes)


def _object(cls: Any, content: Any, classes: Mapping[str, type]) -> Any:
    if issubclass(cls, Enum):
        return cls[content]
    if _is_isl(cls):
        return _isl_object(cls, content)
    names = [field.name for field in dataclasses.fields(cls)]
    return cls(**{name: _decoded(item, classes) for name, item in zip(names, content, strict=True)})


def _isl_object(cls: Any, content: str) -> Any:
    """Return the object of isl that prints as ``content``; the arrays of relations may have names of ours."""
    found = cls(in_ascii(content))
    if cls is isl.Map and found.has_tuple_name(isl.dim_type.out):
        name = found.get_tuple_name(isl.dim_type.out)
        found = found.set_tuple_name(isl.dim_type.out, from_ascii(name))
    return found


@lru_cache(maxsize=8)
def _classes(wanted: type) -> Mapping[str, type]:
    """Return the classes by their names that ``wanted`` can hold."""
    found: dict[str, type] = {}
    waiting: list[Any] = [wanted]
    while waiting:
        cls = waiting.pop()
        if isinstance(cls, type) and _name(cls) not in found and _can_be_read(cls):
            found[_name(cls)] = cls
            waiting += typing.get_type_hints(cls).values() if dataclasses.is_dataclass(cls) else ()
        waiting += _parts(cls)
    return found


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the types that a type such as ``tuple[A | B, ...]`` speaks of."""
    yield from (part for part in typing.get_args(annotation) if part is not Ellipsis)
    yield from _NODES if annotation is Expression else ()


def _can_be_read(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) or issubclass(cls, Enum) or _is_isl(cls)


def _is_isl(cls: type) -> bool:
    return cls.__module__.startswith("islpy")


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
