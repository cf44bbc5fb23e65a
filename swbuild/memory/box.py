"""Rectangular hulls of footprints."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from swbuild.polyhedral.islutil import bounded_effort

__all__ = ["Box", "bounding_box"]

#: isl steps for one box; an ordinary one takes some hundreds.
MAX_OPERATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Box:
    """A box around a footprint, per visit of a level: the smallest one around each access in it.

    ``low`` and ``high`` give, per array dimension, the first and last index as functions of the
    loops above (piecewise affine); ``bound`` the largest number of indices ever, or None.
    """

    low: tuple[isl.PwAff, ...]
    high: tuple[isl.PwAff, ...]
    bound: tuple[int, ...] | None
    visits: isl.Set

    @property
    def size(self) -> tuple[isl.PwAff, ...]:
        """The number of indices per dimension."""
        return tuple(_extent(a, b) for a, b in zip(self.low, self.high, strict=True))

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
        low = tuple(_plus(value, shift) for value, shift in zip(self.low, least, strict=True))
        high = tuple(_plus(value, shift) for value, shift in zip(self.high, most, strict=True))
        bound = tuple(b + m - s for b, s, m in zip(self.bound, least, most, strict=True))
        return Box(low, high, bound, self.visits)

    def hull(self, other: Box) -> Box:
        """Return the smallest box around both (unbounded when it cannot be found with little effort)."""
        visits = self.visits.union(other.visits).coalesce()
        if self.bound is None or other.bound is None:
            return unbounded_box(visits)
        try:
            with bounded_effort(MAX_OPERATIONS):
                return self._hull(other, visits)
        except isl.Error:
            return unbounded_box(visits)

    def _hull(self, other: Box, visits: isl.Set) -> Box:
        low = tuple(a.union_min(b).coalesce() for a, b in zip(self.low, other.low, strict=True))
        high = tuple(a.union_max(b).coalesce() for a, b in zip(self.high, other.high, strict=True))
        return Box(low, high, _bounds(low, high), visits)

    def simplified(self) -> Box:
        """Return the box with its expressions valid, and simple, on ``visits`` alone."""
        low = tuple(value.gist(self.visits).coalesce() for value in self.low)
        high = tuple(value.gist(self.visits).coalesce() for value in self.high)
        return Box(low, high, self.bound, self.visits)

    def as_map(self, space: isl.Space) -> isl.Map:
        """Return ``prefix -> element`` for all elements of the box, in the map space ``space``."""
        result: isl.Map | None = None
        for low, high in zip(self.low, self.high, strict=True):
            above = isl.Map.from_pw_aff(low).apply_range(isl.Map("{ [x] -> [y] : y >= x }"))
            below = isl.Map.from_pw_aff(high).apply_range(isl.Map("{ [x] -> [y] : y <= x }"))
            between = above.intersect(below)
            result = between if result is None else result.flat_range_product(between)
        assert result is not None
        name = space.get_tuple_name(isl.dim_type.out)
        return result.set_tuple_name(isl.dim_type.out, name).intersect_domain(self.visits)


def bounding_box(footprint: isl.Map) -> Box:
    """Return the smallest box around ``footprint`` (prefix -> element).

    It counts as unbounded when isl would take long to find it.
    """
    visits = footprint.domain().coalesce()
    try:
        with bounded_effort(MAX_OPERATIONS):
            return _box_around(footprint, visits)
    except isl.Error:
        return unbounded_box(visits)


def unbounded_box(visits: isl.Set) -> Box:
    """Return the box of a footprint that no buffer can hold."""
    return Box((), (), None, visits)


def _box_around(footprint: isl.Map, visits: isl.Set) -> Box:
    dimensions = range(footprint.dim(isl.dim_type.out))
    low = tuple(footprint.dim_min(k).coalesce() for k in dimensions)
    high = tuple(footprint.dim_max(k).coalesce() for k in dimensions)
    return Box(low, high, _bounds(low, high), visits)


def _bounds(low: tuple[isl.PwAff, ...], high: tuple[isl.PwAff, ...]) -> tuple[int, ...] | None:
    bounds = []
    for first, last in zip(low, high, strict=True):
        # PwAff.max_val refuses quotients; the set of values takes them
        largest = isl.Map.from_pw_aff(_extent(first, last)).range().dim_max_val(0)
        if not largest.is_int():
            return None
        bounds.append(int(largest.to_python()))
    return tuple(bounds)


def _extent(low: isl.PwAff, high: isl.PwAff) -> isl.PwAff:
    return _plus(high.sub(low), 1).coalesce()


def _plus(value: isl.PwAff, shift: int) -> isl.PwAff:
    return value.add_constant_val(isl.Val(shift)) if shift else value
