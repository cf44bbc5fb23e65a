"""Blocks of a sequential loop of a deep band: what factorisations and substitutions are divided into.

The outermost sequential loop of a permutable band goes in blocks.  In one block, the others are either inside
its range of values, before, or behind it, which makes classes of instances: for a factorisation the block on
the diagonal, the panels beside it and below it, and the rest of the matrix, which is updated; for a
substitution of many right-hand sides, which are parallel, its own block of unknowns, and those that this one
goes into.  No dependence goes down in any loop of such a band, so none leads to an earlier class; the classes
run one after the other, and have more parallel loops than the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import islpy as isl

from swbuild.mapping.regiontree import is_loop, parallel_first
from swbuild.mapping.tiling import distances, open_pairs
from swbuild.mapping.wavefront import is_front

__all__ = ["blocked"]

_NODE = isl.schedule_node_type

#: Loops of a band that go in blocks, at most: each one more makes three times as many classes.
_LOOPS = 3


def blocked(schedule: isl.Schedule, edge: int, kept: isl.UnionMap) -> isl.Schedule | None:
    """Return ``schedule`` with its outermost bands of several sequential loops in blocks of ``edge``.

    None if there is no such band, or if no class has more parallel loops than its band; the order keeps the
    pairs ``kept``.
    """
    found = _below(schedule.get_root(), lambda band: _in_blocks(band, edge, kept)).get_schedule()
    if found.plain_is_equal(schedule):
        return None
    order = found.get_map()
    inside = kept.intersect_domain(order.domain()).intersect_range(order.domain())
    return found if inside.is_subset(order.lex_lt_union_map(order)) else None


def _below(
    node: isl.ScheduleNode, change: Callable[[isl.ScheduleNode], isl.ScheduleNode]
) -> isl.ScheduleNode:
    """Return ``node``'s position in the tree with ``change`` made to the bands at and below it."""
    if node.get_type() == _NODE.band and is_front(node):
        return change(node) if node.band_n_member() <= _LOOPS else node
    if node.get_type() == _NODE.band and parallel_first(node):
        return change(node) if node.band_get_permutable() and 1 < len(_sequential(node)) <= _LOOPS else node
    for position in range(node.n_children()):
        node = _below(node.child(position), change).parent()
    return node


def _sequential(band: isl.ScheduleNode) -> list[int]:
    """Return the members of ``band`` that are no parallel loops."""
    members = range(band.band_n_member())
    return [m for m in members if not (band.band_member_get_coincident(m) and is_loop(band, m))]


def _in_blocks(band: isl.ScheduleNode, edge: int, kept: isl.UnionMap) -> isl.ScheduleNode:
    """Return ``band`` in classes inside blocks of its first sequential loop; itself if they gain nothing."""
    partial = band.band_get_partial_schedule().intersect_domain(band.get_domain())
    first, *others = (partial.get_at(member) for member in _sequential(band))
    number = first.scale_down_val(isl.Val(edge)).floor()
    classes = _classes(others, number.scale_val(isl.Val(edge)), edge)
    if classes.n_union_set() < 2:
        return band
    parallel, gains = len(_parallel(band)), False
    node = (
        band.insert_sequence(classes)
        .insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(number))
        .child(0)
    )
    for position in range(classes.n_union_set()):
        each = _with_flags(node.child(position).child(0), kept)
        gains |= len(_parallel(each)) > parallel
        node = each.parent().parent()
    return node.parent() if gains else band


def _parallel(band: isl.ScheduleNode) -> list[int]:
    """Return the parallel loops of ``band`` if it has one to begin with, or may begin with one."""
    first = parallel_first(band)
    return [m for m in first if band.band_member_get_coincident(m) and is_loop(band, m)]


def _classes(loops: Sequence[isl.UnionPwAff], start: isl.UnionPwAff, edge: int) -> isl.UnionSetList:
    """Return the instances by where they are in ``loops``, in an order to run them in.

    That is before, inside or behind the block of the first loop that begins at ``start``.
    """
    domain = start.domain()
    ranges = [isl.Set(f"{{ [x] : {where} }}") for where in ("x < 0", f"0 <= x < {edge}", f"x >= {edge}")]
    parts = []
    for loop in loops:
        offset = isl.UnionMap.from_union_pw_aff(loop.sub(start))
        parts.append([offset.intersect_range(each.to_union_set()).domain() for each in ranges])
    found = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(ranges) ** len(parts))
    for sides in product(*parts):
        inside = domain
        for side in sides:
            inside = inside.intersect(side)
        if not inside.is_empty():
            found = found.add(inside.coalesce())
    return found


def _with_flags(band: isl.ScheduleNode, kept: isl.UnionMap) -> isl.ScheduleNode:
    """Return ``band`` with the loops marked that carry no pair of ``kept``."""
    apart = distances(band.band_get_partial_schedule(), open_pairs(band, kept))
    for member, found in enumerate(apart):
        band = band.band_member_set_coincident(member, int(found.is_subset(isl.Set("{ [0] }"))))
    return band
