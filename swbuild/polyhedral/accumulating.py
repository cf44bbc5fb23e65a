"""Loops that add to the same elements again and again go inside those that go from element to element.

isl's scheduler does not mind in which order the sequential loops of a band run.  In ``for (k …) for (i …)
b[i][j] += a[k][i] * b[k][j];`` with tiles, ``b[i][j]`` is read and written anew in every tile of ``k``; with
``k`` inside, a tile of it stays where it is, and the others are only read.
"""

from __future__ import annotations

import islpy as isl

from swbuild.frontend.scop import Access, AccessKind, Scop
from swbuild.polyhedral.islutil import sets_of

__all__ = ["with_sums_inside"]

_IN = isl.dim_type.in_


def with_sums_inside(schedule: isl.Schedule, scop: Scop) -> isl.Schedule:
    """Return ``schedule`` with the sequential loops last, in each band, that no written element depends on.

    Loops of permutable bands may run in any order.  The others keep theirs.
    """
    return _ordered(schedule.get_root(), scop).get_schedule()


def _ordered(node: isl.ScheduleNode, scop: Scop) -> isl.ScheduleNode:
    """Return ``node`` with the bands at and below it in that order."""
    if node.get_type() == isl.schedule_node_type.band and node.band_get_permutable():
        count = node.band_n_member()
        sequential = [k for k in range(count) if not node.band_member_get_coincident(k)]
        sums = [k for k in sequential if len(sequential) > 1 and _only_adds(scop, node, k)]
        order = [*(k for k in range(count) if k not in sums), *sums]
        node = node if order == [*range(count)] else _permuted(node, order)
    for position in range(node.n_children()):
        node = _ordered(node.child(position), scop).parent()
    return node


def _only_adds(scop: Scop, band: isl.ScheduleNode, member: int) -> bool:
    """Return whether iterations of a loop of ``band`` that follow each other write the same elements."""
    values = band.band_get_partial_schedule().get_at(member).get_pw_aff_list()
    domains = {domain.get_tuple_name(): domain for domain in sets_of(band.get_domain())}
    for value in (values.get_at(k) for k in range(values.n_pw_aff())):
        name = value.domain().get_tuple_name()
        counted = _iterator(value)
        writes = [a for a in scop.statement(name).accesses if a.kind is not AccessKind.READ]
        if counted is None or not all(_is_without(access, domains[name], counted) for access in writes):
            return False
    return True


def _iterator(value: isl.PwAff) -> int | None:
    """Return the only iterator that ``value`` depends on, if there is only one."""
    pieces = value.get_pieces()
    used = [k for k in range(value.dim(_IN)) if any(aff.involves_dims(_IN, k, 1) for _, aff in pieces)]
    return used[0] if len(pieces) == 1 and len(used) == 1 else None


def _is_without(access: Access, domain: isl.Set, iterator: int) -> bool:
    """Return whether ``access`` is to the same element in ``domain`` whatever the ``iterator`` is."""
    return access.affine and not access.relation.gist_domain(domain).involves_dims(_IN, iterator, 1)


def _permuted(band: isl.ScheduleNode, order: list[int]) -> isl.ScheduleNode:
    """Return ``band`` with its loops in another ``order``."""
    values = band.band_get_partial_schedule()
    parallel = [band.band_member_get_coincident(k) for k in order]
    made = values
    for position, k in enumerate(order):
        made = made.set_union_pw_aff(position, values.get_at(k))
    node = band.delete().insert_partial_schedule(made).band_set_permutable(1)
    for position, is_parallel in enumerate(parallel):
        node = node.band_member_set_coincident(position, is_parallel)
    return node
