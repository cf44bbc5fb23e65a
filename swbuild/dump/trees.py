"""isl's schedule trees as lines: a node per line, its members and statements below it."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from swbuild.dump.text import indented, union_map_lines, union_set_lines, value_lines

__all__ = ["tree_lines"]

_NODE = isl.schedule_node_type

_NAMES: dict[object, str] = {_NODE.sequence: "sequence", _NODE.set: "set (any order)"}


def tree_lines(schedule: isl.Schedule) -> Iterator[str]:
    """Yield the nodes of ``schedule`` from the top, children below their parents.

    A band lists its loops, outermost first; what is not ``permutable`` may not be interchanged or tiled,
    what is not ``coincident`` carries a dependence.
    """
    yield from _lines(schedule.get_root())


def _lines(node: isl.ScheduleNode) -> Iterator[str]:
    kind = node.get_type()
    if kind == _NODE.leaf:
        return
    if kind == _NODE.band:
        yield from _band(node)
    elif kind == _NODE.domain:
        yield "domain"
        yield from indented(union_set_lines(node.domain_get_domain()))
    elif kind == _NODE.filter:
        yield f"filter {'; '.join(union_set_lines(node.filter_get_filter()))}"
    elif kind == _NODE.mark:
        yield f"mark {node.mark_get_id().name}"
    elif kind == _NODE.extension:
        yield "extension"
        yield from indented(union_map_lines(node.extension_get_extension()))
    else:
        yield _NAMES.get(kind, str(kind))
    for position in range(node.n_children()):
        yield from indented(_lines(node.child(position)))


def _band(node: isl.ScheduleNode) -> Iterator[str]:
    yield "band permutable" if node.band_get_permutable() else "band"
    partial = node.band_get_partial_schedule()
    for member in range(node.band_n_member()):
        flag = " coincident" if node.band_member_get_coincident(member) else ""
        yield f"  loop {member}{flag}"
        yield from indented(value_lines(partial.get_at(member)), 2)
