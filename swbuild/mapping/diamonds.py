"""Tiles over time: each covers several steps of a loop over time, and what it loads serves all of them.

The order to begin with is a sequential loop around kernels that follow each other, one *sweep* per kernel and
iteration.  A tile is a diamond over the sweeps and the first parallel loop of the kernels: it grows and
shrinks by as much as dependences reach in a sweep, so that all diamonds along that loop may start at once.
Further parallel loops are cut into skewed pieces, which follow each other inside a diamond.  In a tile the
sweeps are as they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.marks import FrontMark, inserted
from swbuild.mapping.regiontree import is_loop, multi_union, parallel_first
from swbuild.mapping.tiling import distances

__all__ = ["Sweeps", "in_diamonds", "sweeps_of"]

_NODE = isl.schedule_node_type

#: Sweeps have no more parallel loops: tiles in more would be small in each.
MOST_LOOPS = 2

#: How far dependences may reach in a sweep.
_FARTHEST = 4


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The sweeps of ``schedule``: ``time`` counts them, ``loops`` are the parallel ones in each.

    ``slopes`` say, per loop, how far dependences reach in a sweep.
    """

    schedule: isl.Schedule
    time: isl.UnionPwAff
    loops: tuple[isl.UnionPwAff, ...]
    slopes: tuple[int, ...]


def sweeps_of(schedule: isl.Schedule, kept: isl.UnionMap) -> Sweeps | None:
    """Return the sweeps of ``schedule``, which keeps the pairs ``kept`` in order; None where it has none."""
    outer = schedule.get_root().child(0)
    if outer.get_type() != _NODE.band or outer.band_n_member() != 1 or parallel_first(outer):
        return None
    bands = _bands(outer.child(0))
    if bands is None or min(len(_loops(band)) for band in bands) > MOST_LOOPS:
        return None
    steps = outer.band_get_partial_schedule().get_at(0).scale_val(isl.Val(len(bands)))
    time = _joined(
        [steps.intersect_domain(band.get_domain()).add(_number(band, k)) for k, band in enumerate(bands)]
    )
    loops, slopes = [], []
    for position in range(min(len(_loops(band)) for band in bands)):
        loop = _joined([_parallel(band, position) for band in bands])
        slope = _slope(time, loop, kept)
        if slope is None:
            break
        loops.append(loop)
        slopes.append(slope)
    return Sweeps(schedule, time, tuple(loops), tuple(slopes)) if loops else None


def _bands(node: isl.ScheduleNode) -> list[isl.ScheduleNode] | None:
    """Return the parallel bands that follow each other at ``node``, None if there is anything else."""
    if node.get_type() == _NODE.sequence:
        found = [node.child(k).child(0) for k in range(node.n_children())]
    else:
        found = [node]
    parallel = all(each.get_type() == _NODE.band and parallel_first(each) for each in found)
    return found if parallel else None


def _number(band: isl.ScheduleNode, number: int) -> isl.UnionPwAff:
    return isl.UnionPwAff.val_on_domain(band.get_domain(), isl.Val(number))


def _loops(band: isl.ScheduleNode) -> list[int]:
    """Return the parallel loops of ``band``."""
    return [
        member
        for member in parallel_first(band)
        if band.band_member_get_coincident(member) and is_loop(band, member)
    ]


def _parallel(band: isl.ScheduleNode, position: int) -> isl.UnionPwAff:
    member = _loops(band)[position]
    return band.band_get_partial_schedule().get_at(member).intersect_domain(band.get_domain())


def _joined(parts: Sequence[isl.UnionPwAff]) -> isl.UnionPwAff:
    result = parts[0]
    for part in parts[1:]:
        result = result.union_add(part)
    return result


def _slope(time: isl.UnionPwAff, loop: isl.UnionPwAff, kept: isl.UnionMap) -> int | None:
    """Return how far ``kept`` reaches in ``loop`` per sweep, None where that is too far."""
    upwards = isl.Set("{ [d] : d >= 0 }")
    for slope in range(1, _FARTHEST + 1):
        sides = multi_union(list(_sides(time, loop, slope)))
        if all(each.is_subset(upwards) for each in distances(sides, kept)):
            return slope
    return None


def _sides(time: isl.UnionPwAff, loop: isl.UnionPwAff, slope: int) -> tuple[isl.UnionPwAff, isl.UnionPwAff]:
    """Return ``slope * time + loop`` and ``slope * time - loop``."""
    steps = time.scale_val(isl.Val(slope))
    return steps.add(loop), steps.sub(loop)


def in_diamonds(sweeps: Sweeps, tile: Sequence[int]) -> isl.Schedule:
    """Return the schedule of ``sweeps`` in diamonds, as wide as the first of ``tile`` says.

    The other sizes are of the pieces along further loops.
    """
    # No dependence goes down in either side of a diamond, nor in a skewed loop, so none does in the number of
    # a tile (floor is monotone): it leads to the same tile, where the order is as it was, or to a later
    # front, or, within a diamond, to a later piece.
    up, down = (_tile(side, tile[0]) for side in _sides(sweeps.time, sweeps.loops[0], sweeps.slopes[0]))
    node = sweeps.schedule.get_root().child(0)
    pieces = list(zip(sweeps.loops, sweeps.slopes, tile, strict=False))[1:]
    for loop, slope, size in reversed(pieces):
        node = node.insert_partial_schedule(_alone(_tile(_sides(sweeps.time, loop, slope)[0], size)))
    node = node.insert_partial_schedule(multi_union([up, down])).band_set_permutable(1)
    node = node.band_member_set_coincident(0, 1).band_member_set_coincident(1, 1)
    marked = inserted(FrontMark(len(pieces)), node)
    return marked.insert_partial_schedule(_alone(up.add(down))).get_schedule()


def _tile(value: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    return value.scale_down_val(isl.Val(size)).floor()


def _alone(value: isl.UnionPwAff) -> isl.MultiUnionPwAff:
    return isl.MultiUnionPwAff.from_union_pw_aff(value)
