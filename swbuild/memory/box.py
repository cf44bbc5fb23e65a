"""Rectangular hulls of footprints."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

__all__ = ["Box", "bounding_box"]


@dataclass(frozen=True, slots=True)
class Box:
    """The smallest box around a footprint, per visit of a level.

    ``low`` and ``size`` give, per array dimension, the first index and the number of indices as
    functions of the loops above (piecewise affine, exact); ``bound`` the largest ``size`` ever.
    """

    low: tuple[isl.PwAff, ...]
    high: tuple[isl.PwAff, ...]
    size: tuple[isl.PwAff, ...]
    bound: tuple[int, ...]
    visits: isl.Set

    def elements(self) -> int:
        """Return the largest number of elements."""
        count = 1
        for bound in self.bound:
            count *= bound
        return count

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


def bounding_box(footprint: isl.Map) -> Box | None:
    """Return the box around ``footprint`` (prefix -> element), or None when its size has no constant bound."""
    visits = footprint.domain().coalesce()
    low, high, size, bound = [], [], [], []
    for k in range(footprint.dim(isl.dim_type.out)):
        first, last = footprint.dim_min(k).coalesce(), footprint.dim_max(k).coalesce()
        extent = last.sub(first).add_constant_val(isl.Val(1)).coalesce()
        largest = extent.max_val()
        if not largest.is_int():
            return None
        low.append(first.gist(visits).coalesce())
        high.append(last.gist(visits).coalesce())
        size.append(extent.gist(visits).coalesce())
        bound.append(int(largest.to_python()))
    return Box(tuple(low), tuple(high), tuple(size), tuple(bound), visits)
