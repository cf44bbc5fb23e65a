"""Nests whose statements have more parallel loops apart than together, divided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.regiontree import flagged, multi_union, parallel_first, subtree
from swbuild.mapping.tiling import distances, open_pairs
from swbuild.polyhedral.islutil import is_constant

__all__ = ["divided"]

_NODE = isl.schedule_node_type

#: Loops that are shared out, at most.
_SHARED = 2


@dataclass(frozen=True, slots=True)
class _Nest:
    """A part of a parallel band as a nest of its own; ``gains`` says that it has more parallel loops so."""

    part: isl.ScheduleNode
    alone: isl.Schedule
    gains: bool


def divided(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule:
    """Return ``schedule`` with parallel bands divided where a part has two parallel loops by itself.

    It is returned as it is where the order that results does not keep ``dependences``.
    """
    found = _divided(schedule.get_root().child(0), dependences)
    order = found.get_map()
    inside = dependences.intersect_domain(order.domain()).intersect_range(order.domain())
    return found if inside.is_subset(order.lex_lt_union_map(order)) else schedule


def _divided(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.Schedule:
    """Return the schedule of the subtree at ``node``."""
    kind = node.get_type()
    if kind in (_NODE.sequence, _NODE.set):
        children = [node.child(k).child(0) for k in range(node.n_children())]
        return _in_turn([_divided(child, dependences) for child in children if not _is_empty(child)])
    if kind == _NODE.leaf:
        return isl.Schedule.from_domain(node.get_domain())
    if kind != _NODE.band:
        return _divided(node.child(0), dependences)
    if parallel_first(node):
        return _divided_band(node, dependences) or subtree(node, node.get_domain())
    flags = [bool(node.band_member_get_coincident(k)) for k in range(node.band_n_member())]
    partial = node.band_get_partial_schedule().intersect_domain(node.get_domain())
    below = _divided(node.child(0), dependences).insert_partial_schedule(partial)
    return flagged(below, bool(node.band_get_permutable()), flags)


def _divided_band(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.Schedule | None:
    """Return the parallel band ``node`` divided, None where no part of it gains a parallel loop."""
    parallel = [bool(node.band_member_get_coincident(k)) for k in range(node.band_n_member())]
    if sum(parallel) >= _SHARED or node.child(0).get_type() not in (_NODE.sequence, _NODE.set):
        return None
    pairs = open_pairs(node, dependences)
    nests = [_alone(node, part, pairs) for part in _parts(node.child(0))]
    if not any(nest.gains for nest in nests):
        return None
    made: list[isl.Schedule] = []
    for gains, several in groupby(nests, key=lambda nest: nest.gains):
        run = list(several)
        made += [nest.alone for nest in run] if gains else [_together(node, [nest.part for nest in run])]
    return _in_turn(made)


def _parts(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """Yield what stands one after the other below the sequence ``node``, and below those in it."""
    for position in range(node.n_children()):
        part = node.child(position).child(0)
        if part.get_type() in (_NODE.sequence, _NODE.set):
            yield from _parts(part)
        elif not _is_empty(part):
            yield part


def _alone(band: isl.ScheduleNode, part: isl.ScheduleNode, pairs: isl.UnionMap) -> _Nest:
    """Return ``part`` with the loops of ``band``, and its own ones in the same band where they may be."""
    domain, below = part.get_domain(), part
    members = _members(band, domain)
    if part.get_type() == _NODE.band and part.band_get_permutable():
        members += _members(part, domain)
        below = part.child(0)
    members = [member for member in members if not is_constant(member)]
    body = subtree(below, domain)
    if not members:
        return _Nest(part, body, False)
    inside = pairs.intersect_domain(domain).intersect_range(domain)
    found = distances(multi_union(members), inside)
    parallel = [distance.is_subset(isl.Set("{ [0] }")) for distance in found]
    permutable = all(distance.is_subset(isl.Set("{ [d] : d >= 0 }")) for distance in found)
    alone = flagged(body.insert_partial_schedule(multi_union(members)), permutable, parallel)
    return _Nest(part, alone, permutable and sum(parallel) >= _SHARED)


def _together(band: isl.ScheduleNode, parts: list[isl.ScheduleNode]) -> isl.Schedule:
    """Return ``parts`` below the loops of ``band``, as before."""
    body = _in_turn([subtree(part, part.get_domain()) for part in parts])
    flags = [bool(band.band_member_get_coincident(k)) for k in range(band.band_n_member())]
    partial = band.band_get_partial_schedule().intersect_domain(body.get_domain())
    return flagged(body.insert_partial_schedule(partial), bool(band.band_get_permutable()), flags)


def _members(band: isl.ScheduleNode, domain: isl.UnionSet) -> list[isl.UnionPwAff]:
    partial = band.band_get_partial_schedule().intersect_domain(domain)
    return [partial.get_at(k) for k in range(band.band_n_member())]


def _in_turn(parts: list[isl.Schedule]) -> isl.Schedule:
    first, *others = parts
    for other in others:
        first = first.sequence(other)
    return first


def _is_empty(node: isl.ScheduleNode) -> bool:
    return bool(node.get_domain().is_empty())
