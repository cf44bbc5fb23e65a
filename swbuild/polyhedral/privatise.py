"""Which variables can live once per iteration instead of once per program.

A scalar or small array whose every value is produced and used inside one iteration of some outer
loops carries no real dependence between those iterations.  It is *expanded* in the model (one
copy per iteration), and *contracted* again in the generated code to one copy per CPE; the check
that the contraction is right is :func:`contraction_is_safe`, made on the final schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from swbuild.frontend.scop import Array, Scop, Statement, Storage
from swbuild.polyhedral.dataflow import Dependences, Relations, analyse, relations
from swbuild.polyhedral.islutil import constant_of, maps_of, union_maps

__all__ = ["Private", "contraction_is_safe", "find_private"]

#: Larger private arrays stay in main memory: they would eat the LDM.
MAX_PRIVATE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Private:
    """The privatised variables: ``names``, and per (statement, variable) the expanded name and depth."""

    names: frozenset[str]
    depth_of: dict[tuple[str, str], tuple[str, int]]


def find_private(scop: Scop, excluded: frozenset[str] = frozenset()) -> Private:
    """Return the variables of ``scop`` that can be privatised, ``excluded`` ones left out."""
    candidates = [a for a in scop.arrays if a.name not in excluded and _is_candidate(a)]
    written = {a.array for s in scop.statements for a in s.accesses if a.kind.value != "read"}
    candidates = [a for a in candidates if a.name in written]
    if not candidates:
        return Private(frozenset(), {})
    found = relations(scop)
    depth_of: dict[tuple[str, str], tuple[str, int]] = {}
    names = set()
    for array in candidates:
        expansion = _expansion(scop, array, _restrict(found, array.name))
        if expansion is not None:
            names.add(array.name)
            depth_of.update(expansion)
    return Private(frozenset(names), depth_of)


def _is_candidate(array: Array) -> bool:
    if array.live_out or array.storage is Storage.GLOBAL:
        return False
    if array.storage is Storage.PARAMETER and not array.is_scalar:
        return False
    return private_bytes(array) is not None


def private_bytes(array: Array) -> int | None:
    """Return the size of ``array`` in bytes when it is constant and small enough to be private, else None."""
    size = array.element.size
    for extent in array.extents:
        count = None if extent is None else constant_of(extent)
        if count is None:
            return None
        size *= count
    return size if size <= MAX_PRIVATE_BYTES else None


def _restrict(found: Relations, name: str) -> Relations:
    """Return ``found`` with the accesses to the array ``name`` only."""

    def only(accesses: isl.UnionMap) -> isl.UnionMap:
        return union_maps(m for m in maps_of(accesses) if m.get_tuple_name(isl.dim_type.out) == name)

    return Relations(found.domain, only(found.reads), only(found.must_writes), only(found.may_writes))


def _expansion(scop: Scop, array: Array, found: Relations) -> dict[tuple[str, str], tuple[str, int]] | None:
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    if array.storage is Storage.REGION:
        return {(s.name, array.name): (f"{array.name}@", array.scope_depth) for s in users}
    dependences = analyse(found, scop.schedule)
    if not dependences.live_in.is_empty():
        return None
    return _by_component(array.name, users, dependences)


def _by_component(
    name: str, users: list[Statement], dependences: Dependences
) -> dict[tuple[str, str], tuple[str, int]] | None:
    """Expand by the loops that every value's producer and users share, component by component."""
    flows = maps_of(dependences.flow)
    component = {s.name: s.name for s in users}
    for flow in flows:
        source, sink = _ends(flow)
        old, new = component[sink], component[source]
        component = {s: new if c == old else c for s, c in component.items()}
    result: dict[tuple[str, str], tuple[str, int]] = {}
    for label in sorted(set(component.values())):
        members = [s for s in users if component[s.name] == label]
        depth = _common_depth(members, [f for f in flows if component[_ends(f)[0]] == label])
        result.update({(s.name, name): (f"{name}@{label}", depth) for s in members})
    return result


def _ends(flow: isl.Map) -> tuple[str, str]:
    return flow.get_tuple_name(isl.dim_type.in_), flow.get_tuple_name(isl.dim_type.out)


def _common_depth(members: list[Statement], flows: list[isl.Map]) -> int:
    shared = 0
    for loops in zip(*(s.iterators for s in members), strict=False):
        if any(loop != loops[0] for loop in loops):
            break
        shared += 1
    while shared and not all(_agrees(flow, shared) for flow in flows):
        shared -= 1
    return shared


def _agrees(flow: isl.Map, depth: int) -> bool:
    """Return whether source and sink of ``flow`` lie in the same iteration of the ``depth`` outer loops."""
    equal = isl.Map.universe(flow.get_space())
    for k in range(depth):
        equal = equal.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return bool(flow.is_subset(equal))


def contraction_is_safe(
    scop: Scop, private: Private, names: frozenset[str], order: isl.UnionMap, owner: isl.UnionMap
) -> bool:
    """Return whether one copy per owner serves the privatised variables ``names``.

    ``order`` maps instances to their execution time in the generated code, ``owner`` instances to
    the thread that runs them (spaces of the callers' choice).  With the storage ``x[owner]`` the
    data flow must be exactly that of the expanded original.
    """
    for name in sorted(names):
        wanted = analyse(_restrict_expanded(scop, private, name), scop.schedule).flow
        storage = _owned(_restrict(relations(scop), name), owner)
        found = analyse(storage, order)
        if not found.live_in.is_empty() or not found.flow.is_subset(wanted):
            return False
    return True


def _restrict_expanded(scop: Scop, private: Private, name: str) -> Relations:
    found = relations(scop, private.depth_of)
    labels = {label for (_, array), (label, _) in private.depth_of.items() if array == name}

    def only(accesses: isl.UnionMap) -> isl.UnionMap:
        return union_maps(m for m in maps_of(accesses) if m.get_tuple_name(isl.dim_type.out) in labels)

    return Relations(found.domain, only(found.reads), only(found.must_writes), only(found.may_writes))


def _owned(found: Relations, owner: isl.UnionMap) -> Relations:
    def per_owner(accesses: isl.UnionMap) -> isl.UnionMap:
        return owner.range_product(accesses)

    return Relations(
        found.domain, per_owner(found.reads), per_owner(found.must_writes), per_owner(found.may_writes)
    )
