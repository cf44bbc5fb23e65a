"""Dataclasses whose methods are compiled when they are first called, which most of them never are.

The decorator of the standard library compiles six methods for each class at once: for the classes of the
generator together, that takes longer than many a file to generate.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
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
        methods[name] = _later(made, name, _comparison, name)
    if eq:
        methods["__hash__"] = _later(made, "__hash__", _hash) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _later(cls: type, name: str, source: Callable[..., str], *given: Any) -> Callable[..., Any]:
    """Return a method that compiles itself when it is called."""

    def method(self: object, *args: Any, **named: Any) -> Any:
        scope: dict[str, Any] = {"__name__": cls.__module__}
        exec(source(cls, scope, *given), scope)
        compiled = scope[name]
        compiled.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, compiled)
        return compiled(self, *args, **named)

    return method


def _init(cls: type, scope: dict[str, Any], frozen: bool) -> str:
    """Return the text of ``__init__``; what it names goes to ``scope``."""
    parameters, lines = ["self"], []
    for item in dataclasses.fields(cls):
        parameter = value = item.name
        if item.default is not dataclasses.MISSING:
            scope[f"_default_{item.name}"] = item.default
            parameter = f"{item.name}=_default_{item.name}"
        elif item.default_factory is not dataclasses.MISSING:
            scope |= {f"_factory_{item.name}": item.default_factory, "_missing": dataclasses.MISSING}
            parameter = f"{item.name}=_missing"
            value = f"_factory_{item.name}() if {item.name} is _missing else {item.name}"
        parameters.append(parameter)
        lines.append(_assignment(cls, scope, item.name, value, frozen))
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    return f"def __init__({', '.join(parameters)}):\n " + "\n ".join([*lines, "pass"])


def _assignment(cls: type, scope: dict[str, Any], name: str, value: str, frozen: bool) -> str:
    if not frozen:
        return f"self.{name} = {value}"
    scope[f"_set_{name}"] = getattr(cls, name).__set__  # of the slot: faster than object.__setattr__
    return f"_set_{name}(self, {value})"


def _compared(cls: type, who: str) -> str:
    """Return the text of a tuple of what counts in comparisons."""
    return "(" + "".join(f"{who}.{item.name}, " for item in dataclasses.fields(cls) if item.compare) + ")"


def _comparison(cls: type, scope: dict[str, Any], name: str) -> str:
    found = f"{_compared(cls, 'self')} {_COMPARISONS[name]} {_compared(cls, 'other')}"
    return (
        f"def {name}(self, other):\n return {found} if other.__class__ is self.__class__ else NotImplemented"
    )


def _hash(cls: type, scope: dict[str, Any]) -> str:
    return f"def __hash__(self):\n return hash({_compared(cls, 'self')})"


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
