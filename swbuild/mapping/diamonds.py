"""Tiles over time: each covers several steps of a loop over time, and what it loads serves all of them.

The order to begin with is a sequential loop around kernels that follow each other, one *sweep* per kernel and
iteration.  A tile is a diamond over the sweeps and the first parallel loop of the kernels: it grows and
shrinks by as much as dependences reach in a sweep, so that all diamonds along that loop may start at once.
Further parallel loops are cut into skewed pieces, which follow each other inside a diamond.  In a tile the
sweeps are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.marks import FrontMark, inserted
from swbuild.mapping.regiontree import is_loop, multi_union, parallel_first
from swbuild.mapping.tiling import distances
from swbuild.polyhedral.islutil import sets_of

__all__ = ["Sweeps", "in_diamonds", "sweeps_of"]

_NODE = isl.schedule_node_type

#: Sweeps have no more parallel loops: tiles in more would be small in each.
MOST_LOOPS = 2

#: How far dependences may reach in a sweep.
_FARTHEST = 4


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The sweeps of ``schedule``: ``time`` counts them, ``loops`` are the parallel ones in each.

    ``slopes`` say, per loop, how far dependences reach in a sweep.  ``wide`` are the sizes at which no loop
    has less than two iterations, None where all sweeps have the same: at others, some tiles would have
    iterations of some sweeps only.
    """

    schedule: isl.Schedule
    time: isl.UnionPwAff
    loops: tuple[isl.UnionPwAff, ...]
    slopes: tuple[int, ...]
    wide: isl.Set | None = None


def sweeps_of(
    schedule: isl.Schedule, kept: isl.UnionMap, score: Callable[[isl.UnionPwAff], int] = lambda _: 0
) -> Sweeps | None:
    """Return the sweeps of ``schedule``, which keeps the pairs ``kept`` in order; None where it has none.

    The loop with the highest ``score`` is the last.
    """
    outer = schedule.get_root().child(0)
    if outer.get_type() != _NODE.band or outer.band_n_member() != 1 or parallel_first(outer):
        return None
    bands = _bands(outer.child(0))
    counts = {len(_loops(band)) for band in bands or ()}
    if bands is None or len(counts) > 1 or max(counts) > MOST_LOOPS:
        return None
    step = outer.band_get_partial_schedule().get_at(0)
    numbers = _numbers(bands, _in_one_step(step, kept))
    steps = step.scale_val(isl.Val(numbers[-1] + 1))
    time = _joined(
        [
            steps.intersect_domain(band.get_domain()).add(_number(band, number))
            for band, number in zip(bands, numbers, strict=True)
        ]
    )
    loops = _matching(bands, time, kept, score)
    found = [(loop, slope) for loop in loops if (slope := _slope(time, loop, kept)) is not None]
    if not found:
        return None
    kept_loops, slopes = zip(*found, strict=True)
    return Sweeps(schedule, time, kept_loops, slopes, _wide(bands, kept_loops))


def _bands(node: isl.ScheduleNode) -> list[isl.ScheduleNode] | None:
    """Return the parallel bands that follow each other at ``node``, None if there is anything else."""
    if node.get_type() == _NODE.sequence:
        found = [node.child(k).child(0) for k in range(node.n_children())]
    else:
        found = [node]
    parallel = all(each.get_type() == _NODE.band and parallel_first(each) for each in found)
    return found if parallel else None


def _in_one_step(step: isl.UnionPwAff, kept: isl.UnionMap) -> isl.UnionMap:
    """Return the pairs of ``kept`` that are in one iteration of the loop over time."""
    steps = isl.UnionMap.from_union_pw_aff(step)
    return kept.intersect(steps.apply_range(steps.reverse()))


def _numbers(bands: Sequence[isl.ScheduleNode], kept: isl.UnionMap) -> list[int]:
    """Return the numbers of the ``bands`` in an iteration: neighbours without pairs of ``kept`` share one."""
    numbers, here = [0], bands[0].get_domain()
    for band in bands[1:]:
        domain = band.get_domain()
        follows = not kept.intersect_domain(here).intersect_range(domain).is_empty()
        numbers.append(numbers[-1] + follows)
        here = domain if follows else here.union(domain)
    return numbers


def _number(band: isl.ScheduleNode, number: int) -> isl.UnionPwAff:
    return isl.UnionPwAff.val_on_domain(band.get_domain(), isl.Val(number))


def _matching(
    bands: Sequence[isl.ScheduleNode],
    time: isl.UnionPwAff,
    kept: isl.UnionMap,
    score: Callable[[isl.UnionPwAff], int],
) -> list[isl.UnionPwAff]:
    """Return loops that run along each other in all ``bands``: as many as can be with short dependences."""
    found, domain, rest = _loops(bands[0]), bands[0].get_domain(), list(bands[1:])
    while rest:
        band = next((other for other in rest if _depend(domain, other.get_domain(), kept)), rest[0])
        rest.remove(band)
        domain = domain.union(band.get_domain())
        here = kept.intersect_domain(domain).intersect_range(domain)
        ways = (
            [one.union_add(other) for one, other in zip(found, some, strict=True)]
            for some in permutations(_loops(band))
        )
        found = max(ways, key=lambda way: sum(_slope(time, loop, here) is not None for loop in way))
    return sorted(found, key=score)


def _wide(bands: Sequence[isl.ScheduleNode], loops: Sequence[isl.UnionPwAff]) -> isl.Set | None:
    """Return the sizes at which ``loops`` have two iterations in all bands, None if all have the same."""
    found: isl.Set | None = None
    alike = True
    for loop in loops:
        values = [_values(loop.intersect_domain(band.get_domain())) for band in bands]
        alike = alike and all(one.is_equal(values[0]) for one in values)
        for some in values:
            sizes = some.intersect(some.apply(isl.Map("{ [x] -> [x + 1] }"))).params()
            found = sizes if found is None else found.intersect(sizes)
    return None if alike or found is None else found.coalesce()


def _values(loop: isl.UnionPwAff) -> isl.Set:
    """Return the values of ``loop``, of a band."""
    (values,) = sets_of(isl.UnionMap.from_union_pw_aff(loop).range())
    return values


def _depend(one: isl.UnionSet, other: isl.UnionSet, kept: isl.UnionMap) -> bool:
    """Return whether there are pairs of ``kept`` between instances of ``one`` and of ``other``."""
    there, back = kept.intersect_domain(one), kept.intersect_domain(other)
    return not (there.intersect_range(other).is_empty() and back.intersect_range(one).is_empty())


def _loops(band: isl.ScheduleNode) -> list[isl.UnionPwAff]:
    """Return the parallel loops of ``band``."""
    schedule = band.band_get_partial_schedule()
    return [
        schedule.get_at(member).intersect_domain(band.get_domain())
        for member in parallel_first(band)
        if band.band_member_get_coincident(member) and is_loop(band, member)
    ]


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
