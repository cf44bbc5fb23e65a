"""Dataclasses whose methods are compiled when they are first called, which most of them never are.

The decorator of the standard library compiles six methods for each class at once: for the classes of the
generator together, that takes longer than many a file to generate.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """As the decorator of the standard library, but for when methods are compiled."""
        return _made(cls, **options) if cls is not None else lambda given: _made(given, **options)


__all__ = ["dataclass"]


_COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _made(
    cls: type, *, frozen: bool = False, eq: bool = True, order: bool = False, slots: bool = False
) -> type:
    cls.__doc__ = cls.__doc__ or cls.__name__  # or a signature would be made up of the compiled __init__
    own = {name for name, value in vars(cls).items() if value is not None}
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    methods: dict[str, Any] = {"__init__": _later(made, "__init__", _init, frozen), "__repr__": _repr}
    for name in list(_COMPARISONS)[: 5 if order else eq]:
        methods[name] = _later(made, name, _comparison)
    if eq:
        methods["__hash__"] = _later(made, "__hash__", _hash) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _later(cls: type, name: str, made: Callable[..., FunctionType], *given: Any) -> Callable[..., Any]:
    """Return a method that compiles itself when it is called."""

    def method(self: object, *args: Any, **named: Any) -> Any:
        compiled = made(cls, name, *given)
        compiled.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, compiled)
        return compiled(self, *args, **named)

    return method


@cache
def _compiled(text: str) -> CodeType:
    """Return the code of the function in ``text``, whose fields are called ``f0``, ``f1``, …

    Most classes have methods that differ in these names only: compiling takes far longer than renaming.
    """
    return next(each for each in compile(text, "<dataclass>", "exec").co_consts if isinstance(each, CodeType))


def _function(cls: type, text: str, fields: Sequence[str], **scope: Any) -> FunctionType:
    """Return the function in ``text`` with ``fields`` in the place of ``f0``, ``f1``, …"""
    names = {f"f{number}": name for number, name in enumerate(fields)}
    code = _compiled(text)
    variables, others = (
        tuple(names.get(each, each) for each in found) for found in (code.co_varnames, code.co_names)
    )
    renamed = code.replace(co_varnames=variables, co_names=others)
    return FunctionType(renamed, {"__name__": cls.__module__, **scope})


def _init(cls: type, _: str, frozen: bool) -> FunctionType:
    """Return ``__init__``; of a frozen class it sets slots, which is faster than object.__setattr__."""
    items = dataclasses.fields(cls)
    lines = ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    scope: dict[str, Any] = {"_missing": dataclasses.MISSING}
    for number, item in reversed(list(enumerate(items))):
        value = f"f{number}"
        if item.default_factory is not dataclasses.MISSING:
            scope[f"_factory{number}"] = item.default_factory
            value = f"_factory{number}() if {value} is _missing else {value}"
        if frozen:
            scope[f"_set{number}"] = getattr(cls, item.name).__set__
        lines.insert(0, f"_set{number}(self, {value})" if frozen else f"self.f{number} = {value}")
    parameters = "".join(f", f{number}" for number in range(len(items)))
    text = f"def __init__(self{parameters}):\n " + "\n ".join([*lines, "pass"])
    made = _function(cls, text, [item.name for item in items], **scope)
    optional = [item for item in items if _is_optional(item)]
    assert optional == list(items[len(items) - len(optional) :])  # as arguments with defaults have to be
    made.__defaults__ = tuple(item.default for item in optional)  # no default: the factory makes it
    return made


def _is_optional(item: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return item.default is not missing or item.default_factory is not missing


def _compared(cls: type) -> list[str]:
    """Return the names of what counts in comparisons."""
    return [item.name for item in dataclasses.fields(cls) if item.compare]


def _tuple(who: str, names: Sequence[str]) -> str:
    return "(" + "".join(f"{who}.f{number}, " for number in range(len(names))) + ")"


def _comparison(cls: type, name: str) -> FunctionType:
    fields = _compared(cls)
    found = f"{_tuple('self', fields)} {_COMPARISONS[name]} {_tuple('other', fields)}"
    alike = "if other.__class__ is self.__class__ else NotImplemented"
    return _function(cls, f"def {name}(self, other):\n return {found} {alike}", fields)


def _hash(cls: type, _: str) -> FunctionType:
    fields = _compared(cls)
    return _function(cls, f"def __hash__(self):\n return hash({_tuple('self', fields)})", fields)


def _repr(self: Any) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in dataclasses.fields(self) if item.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: object, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, item.name) for item in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for item, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, item.name, value)
