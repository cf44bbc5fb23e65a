"""Fill the dataclasses of a machine file from what YAML holds, and say where it does not fit them."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span

__all__ = ["CONFIDENCES", "Problem", "filled", "located", "repeated", "types_of"]

#: The letters that a machine file may give as ``confidence``, best first.
CONFIDENCES = ("A", "B", "C", "D", "U")

_CITED = ("value", "unit", "source", "confidence")
_WORDS: Mapping[type[Any], str] = {str: "a text", bool: "true or false", int: "an integer", float: "a number"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at the place ``path``: keys and indices from the top of the file."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


@cache
def types_of(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields by name."""
    return typing.get_type_hints(kind)


def filled(kind: Any, value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    """Return ``value`` as a ``kind``; None, and one of ``problems`` or more, where it is no such thing."""
    if is_dataclass(kind):
        return _record(kind, value, path, problems)
    if typing.get_origin(kind) is tuple:
        return _list(typing.get_args(kind)[0], value, path, problems)
    if kind in (int, float):
        return _number(kind, value, path, problems)
    if not isinstance(value, kind):
        problems.append(Problem(path, f"`{_name(path)}` must be {_WORDS[kind]}, not {value!r}"))
        return None
    return value


def _name(path: Iterable[str | int]) -> str:
    return ".".join(map(str, path)) or "the file"


def _record(kind: Any, value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    if not isinstance(value, dict):
        problems.append(Problem(path, f"`{_name(path)}` must be a mapping, not {value!r}"))
        return None
    hints, known = types_of(kind), {item.name: item for item in fields(kind)}
    for key in value:
        if key not in known:
            hint = f"it can be {', '.join(known)}"
            problems.append(Problem((*path, key), f"there is no `{_name((*path, key))}`", hint))
    for name, item in known.items():
        if name not in value and not _has_default(item):
            problems.append(Problem(path, f"`{_name((*path, name))}` is missing"))
    before = len(problems)
    found = {
        name: filled(hints[name], value[name], (*path, name), problems) for name in known if name in value
    }
    complete = len(problems) == before and all(name in found or _has_default(known[name]) for name in known)
    return kind(**found) if complete else None


def _has_default(item: Field[Any]) -> bool:
    return item.default is not MISSING


def _list(kind: Any, value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    if not isinstance(value, list):
        problems.append(Problem(path, f"`{_name(path)}` must be a list, not {value!r}"))
        return None
    return tuple(filled(kind, item, (*path, number), problems) for number, item in enumerate(value))


def _number(kind: type[Any], value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    name = _name(path)
    if not isinstance(value, dict) or set(value) != set(_CITED):
        hint = f"write {{{', '.join(f'{key}: ...' for key in _CITED)}}}"
        problems.append(Problem(path, f"`{name}` must be a number with its source, not {value!r}", hint))
        return None
    if value["confidence"] not in CONFIDENCES:
        what = f"`{name}`: the confidence is one of {', '.join(CONFIDENCES)}, not {value['confidence']!r}"
        problems.append(Problem((*path, "confidence"), what))
    number = value["value"]
    if isinstance(number, bool) or not isinstance(number, int if kind is int else (int, float)):
        problems.append(Problem((*path, "value"), f"`{name}` must be {_WORDS[kind]}, not {number!r}"))
        return None
    return kind(number)


def located(problems: Iterable[Problem], file: Path, name: str) -> list[Diagnostic]:
    """Return ``problems`` with their places in ``file``, which users know as the machine file ``name``."""
    import yaml  # only a mistake reads the file again, with places

    root = yaml.compose(file.read_bytes(), Loader=yaml.SafeLoader)
    return [
        Diagnostic(
            "SW697", f"machine {name}: {problem.message}", _span(root, problem.path, file), problem.hint
        )
        for problem in problems
    ]


def repeated(file: Path) -> list[Problem]:
    """Return the keys that ``file`` has twice in one mapping, of which YAML keeps the last."""
    import yaml

    found: list[Problem] = []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _repeated(yaml.compose(file.read_bytes(), Loader=loader), (), found)
    return found


def _repeated(node: Any, path: tuple[str | int, ...], found: list[Problem]) -> None:
    if getattr(node, "id", "") == "mapping":
        keys = [key.value for key, _ in node.value]
        found += [
            Problem((*path, key), f"`{_name((*path, key))}` occurs twice")
            for key in dict.fromkeys(keys)
            if keys.count(key) > 1
        ]
        for key, value in node.value:
            _repeated(value, (*path, key.value), found)


def _span(node: Any, path: tuple[str | int, ...], file: Path) -> Span:
    """Return the place of the key that ``path`` ends in, or of the last one on the way that is there."""
    mark = node.start_mark if node is not None else None
    for step in path:
        if isinstance(step, int):
            node = node.value[step]
            mark = node.start_mark
            continue
        found = [pair for pair in node.value if pair[0].value == step] if node.id == "mapping" else []
        if not found:
            break
        mark, node = found[0][0].start_mark, found[0][1]
    return Span(str(file), mark.line + 1, mark.column + 1) if mark else Span(str(file))
