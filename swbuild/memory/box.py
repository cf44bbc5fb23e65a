"""Rectangular hulls of footprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial, reduce
from itertools import product

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of
from swbuild.polyhedral.islutil import bounded_effort, constant_of

__all__ = ["Box", "bounding_box", "loose_box", "whole_dimensions"]

#: isl steps for the ends of one box, and for its bound; an ordinary one takes some hundreds.
MAX_OPERATIONS = 100_000
BOUND_OPERATIONS = 400_000

#: More pieces of a footprint than in any that ends as a buffer; of some hundreds, isl has been seen to crash.
_PIECES = 100


Ends = tuple[tuple[isl.PwAff, ...], tuple[isl.PwAff, ...]]


@dataclass(frozen=True, slots=True)
class _Part:
    """The copies of ``footprint`` (prefix -> element) shifted by ``least``, by ``most`` and between."""

    footprint: isl.Map
    least: tuple[int, ...]
    most: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A box around a footprint, per visit of a level: the smallest one around each access in it.

    ``bound`` is the largest number of indices ever per array dimension, or None.  ``ends`` computes where the
    box begins and ends, which takes much longer than its bound and is asked for few boxes; None where isl
    takes too long over it.  Those of a ``loose`` box hold in its ``visits`` alone, but are said for any.
    """

    parts: tuple[_Part, ...]
    bound: tuple[int, ...] | None
    visits: isl.Set
    ends: Callable[[], Ends | None]
    loose: bool = False

    @property
    def low(self) -> tuple[isl.PwAff, ...]:
        """Per dimension, the first index as a function of the loops above (piecewise affine)."""
        return self._known[0]

    @property
    def high(self) -> tuple[isl.PwAff, ...]:
        """Per dimension, the last index as a function of the loops above (piecewise affine)."""
        return self._known[1]

    @property
    def _known(self) -> Ends:
        ends = self.ends()
        assert ends is not None, "a box that is not usable"
        return ends

    @property
    def size(self) -> tuple[isl.PwAff, ...]:
        """The number of indices per dimension."""
        return tuple(_extent(a, b) for a, b in zip(self.low, self.high, strict=True))

    def indices(self, position: int) -> isl.Set:
        """Return the indices of all visits in one dimension, a set of that alone."""
        return _between(self.low[position], self.high[position]).intersect_domain(self.visits).range()

    @property
    def is_usable(self) -> bool:
        """Whether the box has a bound and ends that isl finds with little effort."""
        return self.bound is not None and self.ends() is not None

    def elements(self) -> int:
        """Return the largest number of elements of a bounded box."""
        assert self.bound is not None
        count = 1
        for bound in self.bound:
            count *= bound
        return count

    def widened(self, least: tuple[int, ...], most: tuple[int, ...]) -> Box:
        """Return the hull of the copies of the box shifted by ``least`` and by ``most``."""
        if self.bound is None:
            return self
        parts = tuple(_Part(p.footprint, _sum(p.least, least), _sum(p.most, most)) for p in self.parts)
        bound = tuple(b + m - s for b, s, m in zip(self.bound, least, most, strict=True))
        return Box(parts, bound, self.visits, cache(lambda: _moved(self.ends(), least, most)), self.loose)

    def hull(self, other: Box) -> Box:
        """Return the smallest box around both (unbounded when it cannot be found with little effort)."""
        visits = self.visits.union(other.visits)
        if visits.n_basic_set() > _PIECES:
            return unbounded_box(visits)
        visits = visits.coalesce()
        if self.bound is None or other.bound is None:
            return unbounded_box(visits)
        try:
            with bounded_effort(BOUND_OPERATIONS):
                bound = _common_bound(self, other)
        except isl.Error:
            bound = None
        if bound is None:
            return unbounded_box(visits)
        parts, loose = (*self.parts, *other.parts), self.loose or other.loose
        return Box(parts, bound, visits, cache(partial(_around, self, other, bound, visits)), loose)

    def within(self, sides: Sequence[isl.Set]) -> Box:
        """Return the box between the first and the last index of each of ``sides``, sets over the sizes.

        It is as it was where that leaves out nothing.
        """
        (low, high), ends = self._known, list[tuple[isl.PwAff, isl.PwAff]]()
        for indices, first, last in zip(sides, low, high, strict=True):
            everywhere = isl.Map.from_domain_and_range(isl.Set.universe(self.visits.get_space()), indices)
            least, most = everywhere.dim_min(0), everywhere.dim_max(0)
            here = _between(first, last).intersect_domain(self.visits)
            low_end = first if here.is_subset(_above(least)) else first.max(least)
            ends.append((low_end, last if here.is_subset(_below(most)) else last.min(most)))
        lows, highs = zip(*ends, strict=True)
        return replace(self, ends=lambda: (lows, highs))

    def regardless_of(self, position: int) -> Box | None:
        """Return the hull of the boxes of all visits that differ in the loop at ``position`` alone.

        There is none where that takes more than the bound of the box, or isl would have many cases to tell
        apart: where visits are no single convex set, or the hull has more cases than the box.
        """
        if self.visits.n_basic_set() > 1:
            return None
        found = []
        for low, high in zip(*self._known, strict=True):
            # visit -> the ends of its own box, then -> those of all that differ from it in that loop
            first, last = (isl.Map.from_pw_aff(end).intersect_domain(self.visits) for end in (low, high))
            alike = (end.eliminate(isl.dim_type.in_, position, 1) for end in (first, last))
            first, last = (end.intersect_domain(self.visits) for end in alike)
            found.append((first.dim_min(0), last.dim_max(0)))
        lows, highs = zip(*found, strict=True)
        other = replace(self, ends=lambda: (lows, highs)).simplified().plain()
        ends = zip((*other.low, *other.high), (*self.low, *self.high), strict=True)
        if any(widened.n_piece() > end.n_piece() for widened, end in ends):
            return None
        values = (isl.Map.from_pw_aff(size).intersect_domain(self.visits).range() for size in other.size)
        most = [value.dim_max_val(0) for value in values]
        within = all(
            m.is_int() and int_of(m) <= bound for m, bound in zip(most, self.bound or (), strict=True)
        )
        return other if within else None

    def simplified(self) -> Box:
        """Return the box with its expressions valid, and simple, on ``visits`` alone."""
        low, high = (tuple(v.gist(self.visits).coalesce() for v in side) for side in self._known)
        return replace(self, ends=lambda: (low, high))

    def plain(self) -> Box:
        """Return the box with the least or the largest of several formulas as its ends, where they are that.

        So an end does not speak of loops that only tell where which formula holds.
        """
        low, high = (tuple(_plain(end, self.visits) for end in side) for side in self._known)
        return replace(self, ends=lambda: (low, high))

    def as_map(self, space: isl.Space) -> isl.Map:
        """Return ``prefix -> element`` for all elements of the box, in the map space ``space``."""
        result: isl.Map | None = None
        for low, high in zip(self.low, self.high, strict=True):
            between = _between(low, high)
            result = between if result is None else result.flat_range_product(between)
        assert result is not None
        name = space.get_tuple_name(isl.dim_type.out)
        return result.set_tuple_name(isl.dim_type.out, name).intersect_domain(self.visits)


def whole_dimensions(box: Box, extents: Sequence[isl.PwAff | None]) -> int:
    """Return of how many of the last dimensions ``box`` always has all indices, not counting the first one.

    ``extents`` are those of its array.  What it has of the dimension before those is one run in memory.
    """
    count = 0
    for low, high, extent in reversed(list(zip(box.low[1:], box.high[1:], extents[1:], strict=True))):
        known = None if extent is None else constant_of(extent)
        if known is None or constant_of(low) != 0 or constant_of(high) != known - 1:
            break
        count += 1
    return count


def bounding_box(footprint: isl.Map) -> Box:
    """Return the smallest box around ``footprint`` (prefix -> element).

    It counts as unbounded when isl would take long to find it.
    """
    visits = footprint.domain()
    if visits.n_basic_set() > _PIECES:
        return unbounded_box(visits)
    visits = visits.coalesce()
    still = (0,) * footprint.dim(isl.dim_type.out)
    part = _Part(footprint, still, still)
    try:
        with bounded_effort(BOUND_OPERATIONS):
            bound = _bound(part, part)
    except isl.Error:
        return unbounded_box(visits)
    return Box((part,), bound, visits, cache(lambda: _ends(footprint)))


def loose_box(footprint: isl.Map) -> Box:
    """Return a box around ``footprint`` (prefix -> element) whose ends are few linear functions.

    It may be larger than the smallest one in visits that are cut short, and so may hold indices that
    ``footprint`` never has (:meth:`Box.within`).
    """
    if footprint.n_basic_map() > _PIECES:
        return bounding_box(footprint)
    visits, around = footprint.domain().coalesce(), None
    ends = []
    for k in range(footprint.dim(isl.dim_type.out)):
        found = _linear(_only(footprint, k))
        if found is None:
            return bounding_box(footprint)
        ends.append(found)
        side = _between(*found)
        around = side if around is None else around.flat_range_product(side)
    low, high = zip(*ends, strict=True)
    assert around is not None
    named = around.set_tuple_name(isl.dim_type.out, footprint.get_tuple_name(isl.dim_type.out))
    return replace(bounding_box(named.intersect_domain(visits)), ends=lambda: (low, high), loose=True)


def _only(footprint: isl.Map, position: int) -> isl.Map:
    """Return ``prefix -> [index]`` of the dimension at ``position``."""
    rank = footprint.dim(isl.dim_type.out)
    others = footprint.project_out(isl.dim_type.out, position + 1, rank - position - 1)
    return others.project_out(isl.dim_type.out, 0, position)


def _linear(side: isl.Map) -> tuple[isl.PwAff, isl.PwAff] | None:
    """Return ends of ``side`` (prefix -> [index]), as far as it ever goes; None without a bound between them.

    Of the linear functions that it lies between, they are those two that are least apart everywhere.
    """
    lows, highs = _limits(side)
    first, last = _limits(
        isl.Map.from_domain_and_range(isl.Set.universe(side.domain().get_space()), side.range())
    )
    pairs = [(constant_of(high.sub(low)), low, high) for low, high in product(lows, highs)]
    known = [(apart, low, high) for apart, low, high in pairs if apart is not None]
    if not known:
        return None
    _, low, high = min(known, key=lambda each: each[0])
    return reduce(isl.PwAff.max, [*first, low]), reduce(isl.PwAff.min, [*last, high])


def _limits(side: isl.Map) -> tuple[list[isl.PwAff], list[isl.PwAff]]:
    """Return the linear functions that ``side`` (prefix -> [index]) lies above, and those it lies below."""
    lows, highs = [], []
    for constraint in side.remove_divs().simple_hull().get_constraints():
        alone = isl.Map.from_basic_map(isl.BasicMap.from_constraint(constraint))
        fixed = constraint.is_equality() and constraint.involves_dims(isl.dim_type.out, 0, 1)
        if fixed or constraint.is_lower_bound(isl.dim_type.out, 0):
            lows.append(alone.dim_min(0))
        if fixed or constraint.is_upper_bound(isl.dim_type.out, 0):
            highs.append(alone.dim_max(0))
    return lows, highs


def _between(low: isl.PwAff, high: isl.PwAff) -> isl.Map:
    """Return ``prefix -> [index]`` for all indices from ``low`` to ``high``."""
    return _above(low).intersect(_below(high))


def _above(low: isl.PwAff) -> isl.Map:
    """Return ``prefix -> [index]`` for all indices from ``low`` on."""
    return isl.Map.from_pw_aff(low).apply_range(isl.Map("{ [x] -> [y] : y >= x }"))


def _below(high: isl.PwAff) -> isl.Map:
    """Return ``prefix -> [index]`` for all indices up to ``high``."""
    return isl.Map.from_pw_aff(high).apply_range(isl.Map("{ [x] -> [y] : y <= x }"))


def unbounded_box(visits: isl.Set) -> Box:
    """Return the box of a footprint that no buffer can hold."""
    return Box((), None, visits, lambda: None)


def _ends(footprint: isl.Map) -> Ends | None:
    dimensions = range(footprint.dim(isl.dim_type.out))

    def found() -> Ends:
        low = tuple(footprint.dim_min(k).coalesce() for k in dimensions)
        return low, tuple(footprint.dim_max(k).coalesce() for k in dimensions)

    return _bounded(found)


def _bounded(found: Callable[[], Ends]) -> Ends | None:
    """Return what ``found`` returns, None where isl takes long over it.

    What lies between the ends of a box has a bound where the box has one.
    """
    try:
        with bounded_effort(MAX_OPERATIONS):
            return found()
    except isl.Error:
        return None


def _moved(ends: Ends | None, least: tuple[int, ...], most: tuple[int, ...]) -> Ends | None:
    if ends is None:
        return None
    low, high = ends
    first = tuple(_plus(value, shift) for value, shift in zip(low, least, strict=True))
    return first, tuple(_plus(value, shift) for value, shift in zip(high, most, strict=True))


def _around(one: Box, other: Box, bound: tuple[int, ...], visits: isl.Set) -> Ends | None:
    """Return the ends of the hull of two boxes, which has this ``bound`` in the ``visits`` of either.

    Loose ends are kept where they are within the bound: elsewhere those of a box count in its visits alone.
    """
    first, second = one.ends(), other.ends()
    if first is None or second is None:
        return None

    def found() -> Ends:
        low, high = _outer(first, second)
        if not (one.loose or other.loose):
            return low, high
        own = cache(lambda: _outer(_limited(first, one.visits), _limited(second, other.visits)))
        pairs = [
            (low[k], high[k]) if _is_within(low[k], high[k], visits, most) else (own()[0][k], own()[1][k])
            for k, most in enumerate(bound)
        ]
        lows, highs = zip(*pairs, strict=True)
        return lows, highs

    return _bounded(found)


def _outer(one: Ends, other: Ends) -> Ends:
    """Return the least of the first indices of two boxes, and the largest of the last ones."""
    low = tuple(a.union_min(b).coalesce() for a, b in zip(one[0], other[0], strict=True))
    return low, tuple(a.union_max(b).coalesce() for a, b in zip(one[1], other[1], strict=True))


def _limited(ends: Ends, visits: isl.Set) -> Ends:
    low, high = (tuple(end.intersect_domain(visits) for end in side) for side in ends)
    return low, high


def _is_within(low: isl.PwAff, high: isl.PwAff, visits: isl.Set, most: int) -> bool:
    """Return whether there are at most so many indices from ``low`` to ``high`` in each of ``visits``."""
    sizes = isl.Map.from_pw_aff(_extent(low, high)).intersect_domain(visits).range()
    largest = sizes.dim_max_val(0)
    return largest.is_int() and int_of(largest) <= most


def _common_bound(one: Box, other: Box) -> tuple[int, ...] | None:
    """Return the largest number of indices of the hull of two bounded boxes, per dimension."""
    assert one.bound is not None and other.bound is not None
    bounds = [one.bound, other.bound]
    for a, b in product(one.parts, other.parts):
        if not a.footprint.domain().is_disjoint(b.footprint.domain()):
            found = _bound(a, b), _bound(b, a)
            if None in found:
                return None
            bounds += [bound for bound in found if bound is not None]
    return tuple(map(max, zip(*bounds, strict=True)))


def _bound(low: _Part, high: _Part) -> tuple[int, ...] | None:
    """Return the most indices from the first of ``low`` to the last of ``high`` in one visit, or None."""
    bounds = []
    for k in range(low.footprint.dim(isl.dim_type.out)):
        first, last = _only(low.footprint, k), _only(high.footprint, k)
        pairs = first.reverse().apply_range(last)  # [first] -> [last] of a visit
        largest = pairs.deltas().dim_max_val(0)
        if not largest.is_int():
            return None
        bounds.append(int_of(largest) + high.most[k] - low.least[k] + 1)
    return tuple(bounds)


def _plain(end: isl.PwAff, visits: isl.Set) -> isl.PwAff:
    """Return ``end`` as the least or the largest of its formulas where it is that in all ``visits``."""
    formulas = [isl.PwAff.from_aff(aff) for _, aff in end.get_pieces()]
    values = isl.Map.from_pw_aff(end).intersect_domain(visits)
    for choose in (isl.PwAff.min, isl.PwAff.max) if len(formulas) > 1 else ():
        found = reduce(choose, formulas)
        if isl.Map.from_pw_aff(found).intersect_domain(visits).is_equal(values):
            return found
    return end


def _sum(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _extent(low: isl.PwAff, high: isl.PwAff) -> isl.PwAff:
    return _plus(high.sub(low), 1).coalesce()


def _plus(value: isl.PwAff, shift: int) -> isl.PwAff:
    return value.add_constant_val(isl.Val(shift)) if shift else value
