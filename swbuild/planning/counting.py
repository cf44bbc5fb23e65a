"""How many points sets of integers have, roughly and at once, and where they lie: sums over a few of them.

A set is taken as the bounds of each dimension in terms of those before it.  A dimension on which no later
bound depends is looked at in one place; others in a few, evenly spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from swbuild.classes import dataclass

__all__ = ["Bounds", "Weighted", "bounds_of", "count_points"]

#: In how many places a dimension is looked at, by how many dimensions there are to be looked at so.
_PLACES = (12, 12, 8, 5, 4, 3)

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Weighted:
    """A point that stands for ``weight`` points around it."""

    weight: float
    point: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """``constant + factors · (v0, …, vk) >= 0`` for the values up to dimension k, whose factor is not 0."""

    constant: int
    factors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A convex set by the bounds of each dimension, whose values are multiples of ``steps``.

    ``matters``: bounds of later dimensions depend on this one; such a dimension is looked at in ``places``.
    """

    rows: tuple[tuple[_Row, ...], ...]
    steps: tuple[int, ...]
    matters: tuple[bool, ...]
    places: int

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return len(self.rows)

    def span(self, before: Sequence[int]) -> tuple[int, int]:
        """Return the first value of the next dimension behind ``before``, and how many values there are."""
        k = len(before)
        low, high = None, None
        for row in self.rows[k]:
            rest = row.constant + sum(f * v for f, v in zip(row.factors, before, strict=False))
            factor = row.factors[k]
            if factor > 0:
                bound = -(rest // factor)
                low = bound if low is None else max(low, bound)
            else:
                bound = rest // -factor
                high = bound if high is None else min(high, bound)
        if low is None or high is None:
            return 0, 1  # without end: nothing is known
        step = self.steps[k]
        first = -(-low // step) * step
        return first, max(0, (high - first) // step + 1)

    def count(self, before: tuple[int, ...] = ()) -> float:
        """Return about how many points begin with ``before``."""
        if len(before) == self.dimensions:
            return 1.0
        first, values = self.span(before)
        if len(before) == self.dimensions - 1 or not values:
            return float(values)
        return sum(w * self.count((*before, value)) for w, value in self._spread(len(before), first, values))

    def sample(self, depth: int, before: tuple[int, ...] = (), weight: float = 1.0) -> Iterator[Weighted]:
        """Yield points of the first ``depth`` dimensions that begin with ``before``, with their weights."""
        if len(before) == depth:
            yield Weighted(weight, before)
            return
        first, values = self.span(before)
        for share, value in self._spread(len(before), first, values):
            yield from self.sample(depth, (*before, value), weight * share)

    def _spread(self, dimension: int, first: int, values: int) -> Iterator[tuple[float, int]]:
        places = min(values, self.places if self.matters[dimension] else 1)
        for k in range(places):
            yield values / places, first + self.steps[dimension] * int((k + 0.5) * values / places)


def bounds_of(found: isl.Set) -> Bounds | None:
    """Return the bounds of ``found``, a set without parameters, of its hull if it has several parts.

    None for an empty set.
    """
    if found.is_empty():
        return None
    steps = tuple(_step(found, k) for k in range(found.dim(_SET)))
    hull = found.remove_divs().simple_hull()
    rows = tuple(_rows(hull, k) for k in range(found.dim(_SET)))
    matters = tuple(any(row.factors[k] for later in rows[k + 1 :] for row in later) for k in range(len(rows)))
    return Bounds(rows, steps, matters, _PLACES[min(sum(matters), len(_PLACES) - 1)])


def _step(found: isl.Set, dimension: int) -> int:
    return max(1, int(found.get_stride(dimension).to_python()))


def _rows(hull: isl.BasicSet, dimension: int) -> tuple[_Row, ...]:
    """Return what bounds ``dimension`` in terms of those before it."""
    count = hull.dim(_SET)
    shadow = hull.project_out(_SET, dimension + 1, count - dimension - 1).remove_divs()
    rows = []
    for constraint in shadow.get_constraints():
        factors = tuple(_number(constraint.get_coefficient_val(_SET, k)) for k in range(dimension + 1))
        if not factors[dimension]:
            continue
        row = _Row(_number(constraint.get_constant_val()), factors)
        rows.append(row)
        if constraint.is_equality():
            rows.append(_Row(-row.constant, tuple(-factor for factor in row.factors)))
    return tuple(rows)


def _number(value: isl.Val) -> int:
    return int(value.to_python())


def count_points(found: isl.Set, sizes: Mapping[str, int]) -> float:
    """Return about how many points ``found`` has at ``sizes``."""
    parts = at_sizes(found, sizes).make_disjoint().get_basic_sets()
    return sum(bounds.count() for part in parts if (bounds := bounds_of(part.to_set())) is not None)


def at_sizes(found: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """Return ``found`` without parameters: at ``sizes``, and anywhere for others."""
    for name, value in sizes.items():
        position = found.find_dim_by_name(_PARAM, name)
        if position >= 0:
            found = found.fix_val(_PARAM, position, isl.Val(value))
    return found.project_out(_PARAM, 0, found.dim(_PARAM))
