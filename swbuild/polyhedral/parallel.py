"""Parallel loops of a given order."""

from __future__ import annotations

import islpy as isl

__all__ = ["with_parallel_loops"]

_NODE = isl.schedule_node_type


def with_parallel_loops(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule:
    """Return ``schedule`` with one band per loop, marked coincident where it carries no dependence."""
    return _marked(schedule.get_root(), dependences).get_schedule()


def _marked(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.ScheduleNode:
    """Return ``node``'s position in the tree whose bands below it are marked."""
    if node.get_type() == _NODE.band:
        if node.band_n_member() > 1:
            node = node.band_split(1)
        node = node.band_member_set_coincident(0, int(_is_parallel(node, dependences)))
    for position in range(node.n_children()):
        node = _marked(node.child(position), dependences).parent()
    return node


def _is_parallel(node: isl.ScheduleNode, dependences: isl.UnionMap) -> bool:
    """Return whether no dependence goes between different iterations of the loop at ``node``."""
    before = node.get_prefix_schedule_union_map()
    inside = node.get_domain()
    pending = dependences.intersect_domain(inside).intersect_range(inside)
    pending = pending.intersect(before.apply_range(before.reverse()))
    loop = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    return bool(pending.is_subset(loop.apply_range(loop.reverse())))
