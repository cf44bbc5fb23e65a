"""Rounds of tiles that all CPEs come to together: where those of two mapped loops can be made equal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from swbuild.mapping.tiling import TiledKernel
from swbuild.polyhedral.islutil import maps_of

__all__ = ["are_as_long", "is_triangle", "second_follows"]

_OUT = isl.dim_type.out


def are_as_long(tile: Sequence[int], threads: Sequence[int]) -> bool:
    """Return whether the rounds of both mapped loops, a tile for each thread, take as many iterations."""
    return tile[0] * threads[0] == tile[1] * threads[1]


def second_follows(tiled: TiledKernel) -> bool:
    """Return whether the first iteration of the second mapped loop depends on the first loop.

    So it is above the diagonal of a triangle, where CPEs begin in different rounds unless those of both loops
    are as long.
    """
    second = _second(tiled)
    return second is not None and _differs(second.lexmin())


def is_triangle(tiled: TiledKernel) -> bool:
    """Return whether the first or the last iteration of the second mapped loop depends on the first loop.

    Rounds last as long as any CPE has a tile; where those of both loops are as long, the fewest CPEs wait.
    """
    second = _second(tiled)
    return second is not None and (_differs(second.lexmin()) or _differs(second.lexmax()))


def _second(tiled: TiledKernel) -> isl.Map | None:
    """Return ``[first loop] -> [second loop]``, iterations of the mapped loops, None unless there are two."""
    if len(tiled.mapping.threads) != 2:
        return None
    band = tiled.kernel.schedule.get_root().child(0)
    loops = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule())
    values = [found.range() for found in maps_of(loops.intersect_domain(tiled.kernel.domain))]
    if not values:
        return None
    both = reduce(isl.Set.union, values)
    both = both.project_out(isl.dim_type.set, 2, both.dim(isl.dim_type.set) - 2)
    return isl.Map.from_domain(both).move_dims(_OUT, 0, isl.dim_type.in_, 1, 1)


def _differs(end: isl.Map) -> bool:
    """Return whether ``end`` (loop -> one value) has different values."""
    values = end.range()
    return not values.is_subset(values.lexmin())
