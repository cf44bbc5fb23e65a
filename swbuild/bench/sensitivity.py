"""How model time depends on the numbers of the machine that are guesses: each halved, and doubled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from swbuild.bench.profiled import Numbers, when
from swbuild.bench.results import Influence, Measured
from swbuild.diagnostics import SwbuildError
from swbuild.machine import Fact, facts

__all__ = ["Rerunnable", "guesses", "influences"]

#: The confidence of a number that was neither measured nor read anywhere.
_GUESS = "U"


class Rerunnable(Protocol):
    """What can be run, and measured, with other numbers of the machine."""

    def run(self, numbers: Numbers) -> Path:
        """Build and run it; return the profile."""

    def measured(self, profile: Path, numbers: Numbers) -> Measured:
        """Return what the run that left ``profile`` says."""


def guesses(machine: str) -> tuple[Fact, ...]:
    """Return the uncalibrated numbers of a machine that say how long something takes, or how much fits."""
    return tuple(fact for fact in facts(machine) if fact.confidence == _GUESS and not _is_choice(fact))


def _is_choice(fact: Fact) -> bool:
    """Return whether a number names one of several things, so that its half means nothing."""
    return fact.name.endswith("_pipe") or not fact.value


def influences(subject: Rerunnable, before: Measured, profile: Path) -> tuple[Influence, ...]:
    """Return what each guess does to the cycles of ``before``, whose run left ``profile``, by strength."""
    assert before.figures is not None
    found = list(_influences(subject, before, profile))
    return tuple(sorted(found, key=lambda item: (-item.strength, item.number)))


def _influences(subject: Rerunnable, before: Measured, profile: Path) -> Iterator[Influence]:
    for fact in guesses(before.machine):
        changes = []
        for factor in (0.5, 2.0):
            value = _scaled(fact.value, factor)
            changes.append(
                None if value == fact.value else _change(subject, before, profile, {fact.name: value})
            )
        yield Influence(fact.name, fact.value, *changes)


def _change(subject: Rerunnable, before: Measured, profile: Path, numbers: Numbers) -> float | None:
    """Return how much longer it takes with ``numbers``, as a share; None where no machine has them."""
    assert before.figures is not None
    try:
        (name,) = numbers
        path = profile if when(name) == "reading" else subject.run(numbers)
        other = subject.measured(path, numbers).figures
    except SwbuildError:
        return None
    return other.cycles / before.figures.cycles - 1 if other else None


def _scaled(value: float, factor: float) -> int | float:
    return max(1, int(value * factor)) if isinstance(value, int) else value * factor
