"""Tiles over time: each covers several steps of a loop over time, and what it loads serves all of them.

The order to begin with is a sequential loop around kernels that follow each other, one *sweep* per kernel and
iteration; there may be other nests before and after that loop.  A tile is a diamond over the sweeps and the
first parallel loop of the kernels: it grows and shrinks by as much as dependences reach in a sweep, so that
all diamonds along that loop may start at once.  Further parallel loops are cut into skewed pieces, which
follow each other inside a diamond.  In a tile the sweeps are as they were.

A sweep with fewer loops than others, over an edge of a grid, is in the iteration of the missing loops that
has to do with it: values of a first row are set in the tiles that have the row.  In planes, only rows whose
numbers are known may be set so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import permutations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of
from swbuild.mapping.marks import FrontMark, inserted
from swbuild.mapping.regiontree import is_loop, multi_union, parallel_first
from swbuild.mapping.tiling import distances
from swbuild.polyhedral.islutil import sets_of

__all__ = ["Sweeps", "in_diamonds", "sweeps_of"]

_NODE, _SET = isl.schedule_node_type, isl.dim_type.set

#: Sweeps have no more parallel loops: tiles in more would be small in each.
MOST_LOOPS = 2

#: How far dependences may reach in a sweep.
_FARTHEST = 4


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The sweeps of a schedule: ``time`` counts them, ``in_a_step`` of the loop over time, its ``node``.

    ``loops`` are the parallel ones in each; ``slopes`` say, per loop, how far dependences reach in a sweep.
    ``wide`` are the sizes at which no loop has less than two iterations, None where all sweeps have the same:
    at others, some tiles would have iterations of some sweeps only, and dependences between two edges are not
    looked at.
    """

    node: isl.ScheduleNode
    time: isl.UnionPwAff
    loops: tuple[isl.UnionPwAff, ...]
    slopes: tuple[int, ...]
    in_a_step: int
    wide: isl.Set | None = None


def sweeps_of(
    schedule: isl.Schedule, kept: isl.UnionMap, score: Callable[[isl.UnionPwAff], int] = lambda _: 0
) -> Sweeps | None:
    """Return the sweeps of ``schedule``, which keeps the pairs ``kept`` in order; None where it has none.

    They are those of its first loop that has some.  The loop with the highest ``score`` is the last.
    """
    root = schedule.get_root().child(0)
    parts = [root]
    if root.get_type() == _NODE.sequence:
        parts = [root.child(k).child(0) for k in range(root.n_children())]
    found = (_sweeps_at(node, kept, score) for node in parts)
    return next((sweeps for sweeps in found if sweeps is not None), None)


def _sweeps_at(
    outer: isl.ScheduleNode, kept: isl.UnionMap, score: Callable[[isl.UnionPwAff], int]
) -> Sweeps | None:
    """Return the sweeps of the loop ``outer``, None where it has none."""
    if outer.get_type() != _NODE.band or outer.band_n_member() != 1 or parallel_first(outer):
        return None
    inside = outer.get_domain()
    kept = kept.intersect_domain(inside).intersect_range(inside)
    bands = _bands(outer.child(0))
    if bands is None or not 0 < max(len(_loops(band)) for band in bands) <= MOST_LOOPS:
        return None
    wide = _wide(bands)
    if wide is not None:
        if any(map(_has_other_loops, bands)):  # isl takes too long over them
            return None
        kept = kept.intersect_params(wide)  # at other sizes, edges are next to each other
    step = _one_by_one(outer.band_get_partial_schedule().get_at(0).intersect_domain(inside))
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
    if len(kept_loops) > 1 and not _has_simple_edges(kept_loops):
        return None
    return Sweeps(outer, time, kept_loops, slopes, numbers[-1] + 1, wide)


def _one_by_one(loop: isl.UnionPwAff) -> isl.UnionPwAff:
    """Return ``loop`` as it counts its iterations, by ones where it goes in larger steps."""
    stride = _values(loop).get_stride(0)
    return loop if stride.is_one() or stride.is_zero() else loop.scale_down_val(stride).floor()


def _bands(node: isl.ScheduleNode) -> list[isl.ScheduleNode] | None:
    """Return the sweeps that follow each other at ``node``, None if there is anything else.

    Each is a parallel band, or has no loops.
    """
    if node.get_type() == _NODE.sequence:
        found = [node.child(k).child(0) for k in range(node.n_children())]
    else:
        found = [node]
    return found if all(map(_is_sweep, found)) else None


def _is_sweep(node: isl.ScheduleNode) -> bool:
    if node.get_type() == _NODE.leaf:
        return True
    if node.get_type() != _NODE.band:
        return False
    if parallel_first(node):
        return True
    return not _has_other_loops(node)


def _has_other_loops(node: isl.ScheduleNode) -> bool:
    """Return whether there are loops at the band or leaf ``node`` besides its parallel ones."""
    if node.get_type() == _NODE.leaf:
        return False
    loops = sum(is_loop(node, member) for member in range(node.band_n_member()))
    return loops > len(_loops(node)) or node.child(0).get_type() != _NODE.leaf


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
    """Return loops that run along each other in all ``bands``: as many as can be with short dependences.

    A band that has fewer is at one value of the others.
    """
    first, *rest = sorted(bands, key=lambda band: -len(_loops(band)))
    found, domain = _loops(first), first.get_domain()
    while rest:
        band = next((other for other in rest if _depend(domain, other.get_domain(), kept)), rest[0])
        rest.remove(band)
        there = band.get_domain()
        values = [_fixed(loop, domain, there, kept) for loop in found]
        domain = domain.union(there)
        here = kept.intersect_domain(domain).intersect_range(domain)
        ways = [
            [one.union_add(other or value) for one, other, value in zip(found, some, values, strict=True)]
            for some in _arranged(_loops(band), len(found))
        ]
        found = max(ways, key=lambda way: sum(_slope(time, loop, here) is not None for loop in way))
    return sorted((_aligned(loop, time, kept) for loop in found), key=score)


def _arranged(loops: Sequence[isl.UnionPwAff], places: int) -> Iterator[tuple[isl.UnionPwAff | None, ...]]:
    """Yield the ways to have ``loops`` in so many ``places``, None where there is none."""
    for some in permutations(range(places), len(loops)):
        yield tuple(loops[some.index(place)] if place in some else None for place in range(places))


def _aligned(loop: isl.UnionPwAff, time: isl.UnionPwAff, kept: isl.UnionMap) -> isl.UnionPwAff:
    """Return ``loop`` with edges that are at a value of nearly 0 at 0, if dependences are as short then.

    The diamonds that such edges are in have no fractions at their ends there: isl has far fewer cases.
    """
    parts = _by_statement(loop)
    moved = [
        isl.UnionPwAff.val_on_domain(part.domain(), isl.Val(0)) if _is_nearly_0(part) else part
        for part in parts
    ]
    other = _joined(moved)
    if other.plain_is_equal(loop):
        return loop
    slopes = _slope(time, loop, kept), _slope(time, other, kept)
    return other if slopes[0] is not None and slopes[0] == slopes[1] else loop


def _has_simple_edges(loops: Sequence[isl.UnionPwAff]) -> bool:
    """Return whether edges in a plane are at constants of the first of ``loops``, if there are any.

    isl takes too long over diamonds with others.
    """
    first, *others = ([_values(part) for part in _by_statement(loop)] for loop in loops)
    if any(_is_fixed(values) for some in others for values in some):
        return False
    return all(values.dim_max_val(0).is_int() for values in first if _is_fixed(values))


def _by_statement(loop: isl.UnionPwAff) -> list[isl.UnionPwAff]:
    return [loop.intersect_domain(domain.to_union_set()) for domain in sets_of(loop.domain())]


def _is_fixed(values: isl.Set) -> bool:
    """Return whether a loop with these ``values`` never has more than one."""
    return bool(values.dim_min(0).is_equal(values.dim_max(0)))


def _is_nearly_0(part: isl.UnionPwAff) -> bool:
    """Return whether ``part``, of one statement, is a constant that dependences may reach from 0."""
    values = _values(part)
    ends = values.dim_min_val(0), values.dim_max_val(0)
    return bool(ends[0].eq(ends[1])) and bool(ends[0].is_int()) and abs(int_of(ends[0])) <= _FARTHEST


def _fixed(
    loop: isl.UnionPwAff, domain: isl.UnionSet, edges: isl.UnionSet, kept: isl.UnionMap
) -> isl.UnionPwAff:
    """Return for each statement of ``edges`` the least value of ``loop``, of ``domain``, that it goes with.

    That is the least of the instances that ``kept`` has pairs with.  It is 0 where there are none, or the
    least value has cases.
    """
    parts = []
    for edge in map(isl.Set.to_union_set, sets_of(edges)):
        after = kept.intersect_domain(edge).intersect_range(domain).range()
        before = kept.intersect_range(edge).intersect_domain(domain).domain()
        values = sets_of(after.union(before).apply(isl.UnionMap.from_union_pw_aff(loop)))
        bounded = bool(values) and values[0].dim_has_lower_bound(_SET, 0)
        pieces = values[0].dim_min(0).coalesce().get_pieces() if bounded else []
        if len(pieces) == 1:
            parts.append(isl.UnionPwAff.aff_on_domain(edge, pieces[0][1]))
        else:
            parts.append(isl.UnionPwAff.val_on_domain(edge, isl.Val(0)))
    return _joined(parts)


def _wide(bands: Sequence[isl.ScheduleNode]) -> isl.Set | None:
    """Return the sizes at which all loops of ``bands`` have two iterations, None if all have the same.

    At sizes at which some have none they have the same as others.
    """
    everywhere = [[_values(loop) for loop in _loops(band)] for band in bands]
    first = everywhere[0]
    if all(len(some) == len(first) and all(map(_are_alike, some, first)) for some in everywhere):
        return None
    sizes = [
        values.intersect(values.apply(isl.Map("{ [x] -> [x + 1] }"))).params()
        for some in everywhere
        for values in some
    ]
    return reduce(isl.Set.intersect, sizes).coalesce()


def _are_alike(values: isl.Set, others: isl.Set) -> bool:
    """Return whether two loops have the same ``values`` at all sizes at which both have some."""
    return bool(values.intersect_params(others.params()).is_equal(others.intersect_params(values.params())))


def _values(loop: isl.UnionPwAff) -> isl.Set:
    """Return the values of ``loop``, of a band."""
    (values,) = sets_of(isl.UnionMap.from_union_pw_aff(loop).range())
    return values


def _depend(one: isl.UnionSet, other: isl.UnionSet, kept: isl.UnionMap) -> bool:
    """Return whether there are pairs of ``kept`` between instances of ``one`` and of ``other``."""
    there, back = kept.intersect_domain(one), kept.intersect_domain(other)
    return not (there.intersect_range(other).is_empty() and back.intersect_range(one).is_empty())


def _loops(band: isl.ScheduleNode) -> list[isl.UnionPwAff]:
    """Return the parallel loops of ``band``, which is one or has no loops."""
    if band.get_type() != _NODE.band:
        return []
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
    # front, or, within a diamond, to a later piece.  What is outside of the loop over time stays outside.
    up, down = (_tile(side, tile[0]) for side in _sides(sweeps.time, sweeps.loops[0], sweeps.slopes[0]))
    node = sweeps.node
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
