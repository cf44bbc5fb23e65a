"""Read a machine file into a :class:`MachineModel`.

Kept light: the generator loads a machine in every run, so nothing but PyYAML is imported here.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine.model import Fact, MachineModel
from swbuild.options import Machine

__all__ = ["CONFIDENCES", "facts", "load", "machine_file"]

#: The letters that a machine file may give as ``confidence``, best first.
CONFIDENCES = ("A", "B", "C", "D", "U")

_LEAF_KEYS = {"value", "unit", "source", "confidence"}
_HEADER_KEYS = ("name", "title")


def machine_file(machine: Machine) -> Path:
    """Return the path of the YAML file that describes ``machine``."""
    return Path(__file__).with_name(f"{machine.value}.yaml")


def load(machine: Machine, overrides: Mapping[str, int | float] | None = None) -> MachineModel:
    """Return the description of ``machine`` with ``overrides`` (dotted name -> number) in place.

    Raise :class:`SwbuildError` if an override names no number of the machine, or gives a float
    where the machine file has an integer.
    """
    return _build(machine, tuple(sorted((overrides or {}).items())))


def facts(machine: Machine) -> tuple[Fact, ...]:
    """Return every number of the machine file with unit, source and confidence, in file order."""
    return tuple(_facts(_document(machine), ""))


@cache
def _build(machine: Machine, overrides: tuple[tuple[str, int | float], ...]) -> MachineModel:
    document = _document(machine)
    values: dict[str, Any] = {fact.name: fact.value for fact in facts(machine)}
    _check_overrides(machine, overrides)
    values.update(overrides)
    values.update({key: document[key] for key in _HEADER_KEYS})
    model: MachineModel = _fill(MachineModel, values, "")
    if values:
        raise ValueError(f"{machine_file(machine).name}: unknown names {sorted(values)}")
    return model


@cache
def _kinds() -> dict[str, type[Any]]:
    """Return the type of every number of a machine by dotted name."""
    found = {name: kind for name, kind in _leaves(MachineModel, "") if name not in _HEADER_KEYS}
    return dict(sorted(found.items()))


def _leaves(kind: type[Any], prefix: str) -> Iterator[tuple[str, type[Any]]]:
    hints = typing.get_type_hints(kind)
    for item in fields(kind):
        name, hint = prefix + item.name, hints[item.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _leaves(hint, name + ".")
        else:
            yield name, hint


@cache
def _document(machine: Machine) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(machine_file(machine).read_bytes(), Loader=loader)
    return document


def _facts(section: Mapping[str, Any], prefix: str) -> Iterator[Fact]:
    for key, entry in section.items():
        if not prefix and key in _HEADER_KEYS:
            continue
        if set(entry) == _LEAF_KEYS:
            yield Fact(name=prefix + key, **entry)
        else:
            yield from _facts(entry, f"{prefix}{key}.")


def _fill(kind: type[Any], values: dict[str, Any], prefix: str) -> Any:
    """Build ``kind`` from the dotted names in ``values``, taking out those that it uses."""
    hints = typing.get_type_hints(kind)
    arguments = {}
    for item in fields(kind):
        name, hint = prefix + item.name, hints[item.name]
        section = isinstance(hint, type) and is_dataclass(hint)
        arguments[item.name] = _fill(hint, values, name + ".") if section else hint(values.pop(name))
    return kind(**arguments)


def _check_overrides(machine: Machine, overrides: tuple[tuple[str, int | float], ...]) -> None:
    problems = [message for name, value in overrides if (message := _objection(name, value))]
    if problems:
        span = Span(f"<machine {machine.value}>")
        raise SwbuildError(Diagnostic("SW690", message, span) for message in problems)


def _objection(name: str, value: object) -> str:
    """Return what is wrong with overriding ``name`` by ``value``, or the empty string."""
    kind = _kinds().get(name)
    if kind is None:
        return f"the machine has no number '{name}'{_suggestion(name)}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"'{name}' must be a number, not {value!r}"
    if kind is int and not isinstance(value, int):
        return f"'{name}' must be an integer, not {value!r}"
    return ""


def _suggestion(name: str) -> str:
    from difflib import get_close_matches  # only a mistake pays for it

    tails = {other.rpartition(".")[2]: other for other in _kinds()}
    near = get_close_matches(name, _kinds(), 1) or [tails[tail] for tail in get_close_matches(name, tails, 1)]
    return f"; did you mean '{near[0]}'?" if near else ""
