"""Affine forms over counters and sizes, and what can be proved of them for all sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Bounds", "Linear", "Ranges", "constant", "never_negative", "variable"]


@dataclass(frozen=True, slots=True)
class Linear:
    """``constant`` plus a sum of coefficient times name; the terms are sorted and not zero."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        total = dict(self.terms)
        for name, factor in other.terms:
            total[name] = total.get(name, 0) + factor
        return Linear(_sorted(total), self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        return Linear(_sorted({name: c * factor for name, c in self.terms}), self.constant * factor)

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other)

    @property
    def names(self) -> frozenset[str]:
        """The counters and sizes in it."""
        return frozenset(name for name, _ in self.terms)

    def replaced(self, name: str, value: Linear) -> Linear:
        """Return the form with ``value`` for ``name``."""
        factor = dict(self.terms).get(name, 0)
        rest = Linear(tuple(t for t in self.terms if t[0] != name), self.constant)
        return rest + value * factor

    def __str__(self) -> str:
        text = ""
        for name, factor in self.terms:
            text += (" + " if factor > 0 else " - ") if text else ("" if factor > 0 else "-")
            text += name if abs(factor) == 1 else f"{abs(factor)} * {name}"
        if self.constant or not text:
            text += (
                (f" {'+' if self.constant > 0 else '-'} {abs(self.constant)}") if text else f"{self.constant}"
            )
        return text


def _sorted(terms: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, factor) for name, factor in terms.items() if factor))


def variable(name: str) -> Linear:
    """Return the form that is just ``name``."""
    return Linear(((name, 1),))


def constant(value: int) -> Linear:
    """Return the form that is just a number."""
    return Linear((), value)


def never_negative(form: Linear) -> bool:
    """Return whether a form over sizes alone is provably >= 0, sizes being >= 0."""
    return form.constant >= 0 and all(factor >= 0 for _, factor in form.terms)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Forms over sizes: the value is >= each of ``lows`` and <= each of ``highs``."""

    lows: tuple[Linear, ...]
    highs: tuple[Linear, ...]

    def within(self, low: Linear, high: Linear) -> bool:
        """Return whether the value provably lies in [low, high]."""
        return any(never_negative(known - low) for known in self.lows) and any(
            never_negative(high - h) for h in self.highs
        )


#: What is known of each counter in sight.
Ranges = Mapping[str, Bounds]

_MOST = 4


def bounds_of(form: Linear, ranges: Ranges) -> Bounds:
    """Return bounds of a form over counters and sizes."""
    lows, highs = [constant(form.constant)], [constant(form.constant)]
    for name, factor in form.terms:
        if name in ranges:
            known = ranges[name]
            small, large = (known.lows, known.highs) if factor > 0 else (known.highs, known.lows)
        else:
            small = large = (variable(name),)
        lows = _sums(lows, [b * factor for b in small])
        highs = _sums(highs, [b * factor for b in large])
    return Bounds(tuple(lows), tuple(highs))


def _sums(left: Iterable[Linear], right: Iterable[Linear]) -> list[Linear]:
    return list(dict.fromkeys(a + b for a in left for b in right))[:_MOST]
