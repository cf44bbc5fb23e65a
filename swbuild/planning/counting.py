"""How many points sets of integers have, roughly and at once, and where they lie: sums over a few of them.

A set is taken as the bounds of each dimension in terms of those before it.  A dimension on which no later
bound depends is looked at in one place, or in two if it counts a few tiles; others in a few, evenly spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of

__all__ = ["Bounds", "Weighted", "bounds_of"]

#: In how many places a dimension is looked at, by how many dimensions there are to be looked at so.
_PLACES = (6, 6, 5, 4, 3, 2)

#: Of no more tiles than so many, the last one is looked at besides.
_FEW = 16

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Weighted:
    """A point that stands for ``weight`` points around it."""

    weight: float
    point: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """``constant + factor * vk + terms · (v0, …) >= 0``: what bounds dimension k, or those before it alone.

    ``terms`` are pairs of an earlier dimension and its factor.
    """

    constant: int
    factor: int
    terms: tuple[tuple[int, int], ...]


#: For each dimension, what bounds it in terms of those before it, and what these have to fulfil.
_Part = tuple[tuple[_Row, ...], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A set by the bounds of each dimension, in each of its convex parts; values are multiples of ``steps``.

    The first ``outer`` dimensions are always given.  ``matters``: bounds of later dimensions depend on this
    one; such a dimension is looked at in ``places``.  ``used`` are the dimensions before each on which its
    bounds depend: ``spans`` that were found are kept by the values of these alone.
    """

    parts: tuple[_Part, ...]
    steps: tuple[int, ...]
    outer: int
    matters: tuple[bool, ...]
    places: int
    used: tuple[tuple[int, ...], ...]
    spans: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict, compare=False)

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return len(self.steps)

    def span(self, before: Sequence[int]) -> tuple[int, int]:
        """Return the first value of the next dimension behind ``before``, and how many values there are.

        Between two parts that lie apart, values count as well.
        """
        place = len(before)
        key = (place, *[before[k] for k in self.used[place]])
        if key not in self.spans:
            self.spans[key] = self._span(place, before)
        return self.spans[key]

    def _span(self, place: int, before: Sequence[int]) -> tuple[int, int]:
        step = self.steps[place]
        first = last = None
        for part in self.parts:
            ends = _ends(part[place], before)
            if ends is not None:
                low, high = ends
                first = low if first is None or low < first else first
                last = high if last is None or high > last else last
        if first is None or last is None:
            return 0, 0
        first = -(-first // step) * step
        return first, max(0, (last - first) // step + 1)

    def count(self, before: tuple[int, ...]) -> float:
        """Return about how many points begin with ``before``."""
        if len(before) == self.dimensions:
            return 1.0
        first, values = self.span(before)
        if len(before) == self.dimensions - 1 or not values:
            return float(values)
        return sum(w * self.count((*before, value)) for w, value in self._spread(len(before), first, values))

    def roughly(self, before: tuple[int, ...]) -> float:
        """Return about how many points begin with ``before``, by a look at one place of each dimension."""
        found = 1.0
        while len(before) < self.dimensions:
            first, values = self.span(before)
            before = (*before, first + self.steps[len(before)] * (values // 2))
            found *= values
        return found

    def sample(self, depth: int, before: tuple[int, ...], weight: float = 1.0) -> Iterator[Weighted]:
        """Yield points of the first ``depth`` dimensions that begin with ``before``, with their weights."""
        if len(before) >= depth:
            yield Weighted(weight, before)
            return
        first, values = self.span(before)
        for share, value in self._spread(len(before), first, values):
            yield from self.sample(depth, (*before, value), weight * share)

    def _spread(self, dimension: int, first: int, values: int) -> Iterator[tuple[float, int]]:
        """Yield values of a dimension with their weights; the last, perhaps part of a tile, has its own."""
        alike = 2 if self.steps[dimension] > 1 and values <= _FEW else 1
        places = min(values, self.places if self.matters[dimension] else alike)
        step, inner = self.steps[dimension], values - (places > 1)
        for k in range(places - (places > 1)):
            share = inner / (places - (places > 1))
            yield share, first + step * int((k + 0.5) * share)
        if places > 1:
            yield 1.0, first + step * inner


def _ends(rows: Sequence[_Row], before: Sequence[int]) -> tuple[int, int] | None:
    """Return the first and the last value that ``rows`` leave, None for no values, or no end of them."""
    low, high = None, None
    for row in rows:
        rest, factor = row.constant, row.factor
        for place, times in row.terms:
            rest += times * before[place]
        if factor > 0:
            end = -(rest // factor)
            low = end if low is None or end > low else low
        elif factor < 0:
            end = rest // -factor
            high = end if high is None or end < high else high
        elif rest < 0:
            return None
    return None if low is None or high is None or low > high else (low, high)


def bounds_of(found: isl.Set, outer: Sequence[str] = ()) -> Bounds:
    """Return the bounds of ``found``, whose leading dimensions become its parameters named ``outer``."""
    for name in reversed(outer):
        position = found.find_dim_by_name(_PARAM, name)
        if position < 0:
            found = found.insert_dims(_SET, 0, 1)
        else:
            found = found.insert_dims(_SET, 0, 0).move_dims(_SET, 0, _PARAM, position, 1)
    found = found.project_out(_PARAM, 0, found.dim(_PARAM)).coalesce()
    dimensions = range(found.dim(_SET))
    steps = tuple(1 if k < len(outer) else _step(found, k) for k in dimensions)
    pieces = found.remove_divs().get_basic_sets()
    checked = len(outer) if len(pieces) < 2 else len(dimensions)
    parts = tuple(tuple(_rows(piece, k, checked) for k in dimensions) for piece in pieces)
    used = tuple(_used(parts, k) for k in dimensions)
    matters = tuple(_matters(parts, k) for k in dimensions)
    places = _PLACES[min(sum(matters[len(outer) :]), len(_PLACES) - 1)]
    return Bounds(parts, steps, len(outer), matters, places, used)


def _step(found: isl.Set, dimension: int) -> int:
    """Return how far apart the values of ``dimension`` are, those before it being given.

    Later dimensions are left out: of ``(i + j) % 2 == 0``, i takes all values, and j every second one.
    """
    later = found.dim(_SET) - dimension - 1
    return max(1, int_of(found.project_out(_SET, dimension + 1, later).get_stride(dimension)))


def _used(parts: Sequence[_Part], dimension: int) -> tuple[int, ...]:
    rows = (row for part in parts for row in part[dimension])
    return tuple(sorted({place for row in rows for place, _ in row.terms}))


def _matters(parts: Sequence[_Part], dimension: int) -> bool:
    rows = (row for part in parts for later in part[dimension + 1 :] for row in later if row.factor)
    return any(place == dimension for row in rows for place, _ in row.terms)


def _rows(piece: isl.BasicSet, dimension: int, checked: int) -> tuple[_Row, ...]:
    """Return what bounds ``dimension`` in terms of those before it, and what the first ``checked`` fulfil."""
    count = piece.dim(_SET)
    shadow = piece.project_out(_SET, dimension + 1, count - dimension - 1).remove_divs()
    rows = []
    for constraint in shadow.get_constraints():
        factors = tuple(_number(constraint.get_coefficient_val(_SET, k)) for k in range(dimension + 1))
        if not factors[dimension] and any(factors[checked:]):
            continue
        for sign in (1, -1) if constraint.is_equality() else (1,):
            terms = tuple((k, sign * factor) for k, factor in enumerate(factors[:-1]) if factor)
            rows.append(_Row(sign * _number(constraint.get_constant_val()), sign * factors[-1], terms))
    return tuple(rows)


def _number(value: isl.Val) -> int:
    return int_of(value)
