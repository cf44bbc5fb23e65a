"""Read a machine file into a :class:`MachineModel`.

Kept light: the generator loads a machine in every run, so nothing but PyYAML is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, reduce
from pathlib import Path
from typing import Any

import yaml

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine.checks import objections
from swbuild.machine.model import Fact, MachineModel
from swbuild.machine.reading import filled, located, repeated, types_of
from swbuild.machine.registry import machine_file, own_machines

__all__ = ["facts", "load"]


def load(name: str, overrides: Mapping[str, int | float] | None = None) -> MachineModel:
    """Return the machine ``name`` with ``overrides`` (dotted name -> number) in place of its numbers.

    Raise :class:`SwbuildError` if there is no such machine, for all that its file gets wrong, and if an
    override names no number of the machine, or gives a float where the machine file has an integer.
    """
    return _build(machine_file(name), tuple(sorted((overrides or {}).items())))


def facts(name: str) -> tuple[Fact, ...]:
    """Return every number of the machine file with unit, source and confidence, in file order."""
    load(name)
    return tuple(_facts(MachineModel, _document(machine_file(name)), ""))


@cache
def _build(path: Path, overrides: tuple[tuple[str, int | float], ...] = ()) -> MachineModel:
    if overrides:
        _check_overrides(path.stem, overrides)
        return reduce(
            lambda model, item: _with(model, item[0].split("."), item[1]), overrides, _build(path, ())
        )
    document = _document(path)
    problems = [] if path.stem in own_machines() else repeated(path)
    model: MachineModel = filled(MachineModel, document, (), problems)
    problems += [] if problems else objections(model, path)
    if problems:
        raise SwbuildError(located(problems, path, path.stem))
    return model


def _with(record: Any, path: list[str], value: float) -> Any:
    """Return ``record`` with another number at the end of ``path``."""
    name, *rest = path
    old = getattr(record, name)
    return replace(record, **{name: _with(old, rest, value) if rest else type(old)(value)})


@cache
def _kinds() -> dict[str, type[Any]]:
    """Return the type of every number of a machine by dotted name."""
    return dict(sorted(_numbers(MachineModel, "")))


def _numbers(kind: Any, prefix: str) -> Iterator[tuple[str, type[Any]]]:
    hints = types_of(kind)
    for item in fields(kind):
        hint = hints[item.name]
        if is_dataclass(hint):
            yield from _numbers(hint, f"{prefix}{item.name}.")
        elif hint in (int, float):
            yield prefix + item.name, hint


@cache
def _document(path: Path) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_bytes(), Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        span = Span(str(path), mark.line + 1, mark.column + 1) if mark else Span(str(path))
        what = f"machine {path.stem}: this is not YAML: {getattr(error, 'problem', error)}"
        raise SwbuildError(Diagnostic("SW697", what, span)) from None


def _facts(kind: Any, section: Mapping[str, Any], prefix: str) -> Iterator[Fact]:
    hints = types_of(kind)
    for key, entry in section.items():
        if is_dataclass(hints[key]):
            yield from _facts(hints[key], entry, f"{prefix}{key}.")
        elif hints[key] in (int, float):
            yield Fact(name=prefix + key, **entry)


def _check_overrides(machine: str, overrides: tuple[tuple[str, int | float], ...]) -> None:
    problems = [message for name, value in overrides if (message := _objection(name, value))]
    if problems:
        span = Span(f"<machine {machine}>")
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
