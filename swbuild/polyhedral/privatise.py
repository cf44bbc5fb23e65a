"""Which variables can live once per iteration instead of once per program.

A scalar or small array whose every value is produced and used inside one iteration of some outer
loops carries no real dependence between those iterations.  It is *expanded* in the model (one
copy per iteration), and *contracted* again in the generated code to one copy per CPE; the check
that the contraction is right is :func:`contraction_is_safe`, made on the final schedule.
"""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Array, Scop, Statement, Storage
from swbuild.names import own, plain_name
from swbuild.polyhedral.dataflow import ArrayFlow, Expansion, flow_by_array, instance_prefix, relations
from swbuild.polyhedral.islutil import constant_of, over_parameters, sets_of, union_maps, union_sets

__all__ = [
    "NotPrivate",
    "Private",
    "contraction_is_safe",
    "find_private",
    "has_whole_copies",
    "is_private_candidate",
    "private_bytes",
    "shared_copies",
    "stays_in_a_launch",
]

#: Larger private arrays stay in main memory: they would eat the LDM.
MAX_PRIVATE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Private:
    """The privatised variables: ``names``, and the copies that each statement uses of them."""

    names: frozenset[str]
    expansions: dict[tuple[str, str], Expansion]

    def without(self, names: frozenset[str]) -> Private:
        """Return the same without some variables."""
        kept = {key: value for key, value in self.expansions.items() if key[1] not in names}
        return Private(self.names - names, kept)

    def depths(self, names: frozenset[str]) -> dict[tuple[str, str], int]:
        """Return how many loops have a copy for each iteration, per statement and variable of ``names``."""
        return {key: found.depth for key, found in self.expansions.items() if key[1] in names}


@dataclass(frozen=True, slots=True)
class NotPrivate:
    """Variables that cannot be private after all."""

    names: frozenset[str]


def find_private(scop: Scop) -> Private:
    """Return the variables of ``scop`` that can be privatised."""
    candidates = [a for a in scop.arrays if is_private_candidate(a)]
    written = {a.array for s in scop.statements for a in s.accesses if a.kind.value != "read"}
    candidates = [a for a in candidates if a.name in written]
    if not candidates:
        return Private(frozenset(), {})
    flows = flow_by_array(relations(scop), scop.schedule, frozenset(a.name for a in candidates))
    expansions: dict[tuple[str, str], Expansion] = {}
    names = set()
    for array in candidates:
        expansion = _expansion(scop, array, flows.get(array.name))
        if expansion is not None:
            names.add(array.name)
            expansions.update(expansion)
    return Private(frozenset(names), expansions)


def is_private_candidate(array: Array) -> bool:
    """Return whether nothing outside the region needs what is left in ``array``, and a copy is small."""
    if array.live_out or array.storage in (Storage.GLOBAL, Storage.WORK):
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


def _expansion(scop: Scop, array: Array, flow: ArrayFlow | None) -> dict[tuple[str, str], Expansion] | None:
    found: dict[tuple[str, str], Expansion] = {}
    if flow is not None and not flow.live_in:
        found = shared_copies(scop, array.name, flow)
    elif array.storage is Storage.REGION:
        whole = Expansion(array.name, "", array.scope_depth)
        found = {(name, array.name): whole for name in scop.users(array.name)}
    return (
        found if any(expansion.depth for expansion in found.values()) else None
    )  # one copy for all changes nothing


def shared_copies(scop: Scop, name: str, flow: ArrayFlow) -> dict[tuple[str, str], Expansion]:
    """Expand the array ``name`` by the loops that every value's producer and users share.

    Statements that hand values to each other, by ``flow``, are a component and share copies.
    """
    flows = flow.pairs
    users = [s for s in scop.statements if any(a.array == name for a in s.accesses)]
    component = {s.name: s.name for s in users}
    for pair in flows:
        source, sink = _ends(pair)
        old, new = component[sink], component[source]
        component = {s: new if c == old else c for s, c in component.items()}
    result: dict[tuple[str, str], Expansion] = {}
    for label in sorted(set(component.values())):
        members = [s for s in users if component[s.name] == label]
        depth = _common_depth(members, [f for f in flows if component[_ends(f)[0]] == label])
        result.update({(s.name, name): Expansion(name, label, depth) for s in members})
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


def contraction_is_safe(scop: Scop, private: Private, name: str, schedule: isl.Schedule) -> bool:
    """Return whether one copy of the private variable ``name`` serves all of ``schedule``.

    It does when, for every set of statements that hand values to each other, the innermost place of
    the tree that holds them all visits one expanded copy after the other (what the loops above that
    place have fixed determines the copy, and comes back to none), and no other user of the variable in
    ``schedule`` runs from their first to their last.
    """
    present = {str(piece.get_tuple_name()) for piece in sets_of(schedule.get_domain())}
    users = {s.name: s for s in scop.statements if s.name in present & scop.users(name)}
    by_label: dict[str, list[Statement]] = {}
    for statement in users.values():
        label = private.expansions[(statement.name, name)].component
        by_label.setdefault(label, []).append(statement)
    return all(
        _one_copy_at_a_time(
            schedule, members, frozenset(users), private.expansions[(members[0].name, name)].depth
        )
        for members in by_label.values()
    )


def _one_copy_at_a_time(
    schedule: isl.Schedule, members: list[Statement], users: frozenset[str], depth: int
) -> bool:
    names = frozenset(s.name for s in members)
    place = _common_place(schedule.get_root(), names)
    if _meanwhile(place, names) & users != names:
        return False
    # instance -> copy, and instance -> visit of the place (the loops above it)
    copies = union_maps(instance_prefix(s, depth) for s in members).intersect_domain(schedule.get_domain())
    fixed = place.get_prefix_schedule_union_map().intersect_domain(copies.domain())
    if not fixed.reverse().apply_range(copies).is_single_valued():
        return False
    visits = copies.reverse().apply_range(fixed)  # copy -> visits
    return bool(visits.is_single_valued()) or (users == names and _comes_back_to_none(visits))


def _meanwhile(place: isl.ScheduleNode, names: frozenset[str]) -> frozenset[str]:
    """Return what ``place`` runs from the first of ``names`` to the last."""
    if place.get_type() != isl.schedule_node_type.sequence:
        return _below(place)
    parts = [_below(place.child(k)) for k in range(place.n_children())]
    held = [k for k, part in enumerate(parts) if part & names]
    return frozenset[str]().union(*parts[held[0] : held[-1] + 1])


def _comes_back_to_none(visits: isl.UnionMap) -> bool:
    """Return whether no copy is visited between two visits of another one (``visits``: copy to times)."""
    times = visits.range().identity()
    since, until = visits.lexmin(), visits.lexmax()  # copy -> its first visit, its last
    # copy -> every time from its first visit to its last -> the copies visited then
    between = since.lex_le_union_map(times).intersect(until.lex_ge_union_map(times))
    meets = between.apply_range(visits.reverse())
    return bool(meets.is_subset(visits.domain().identity()))


def stays_in_a_launch(
    scop: Scop, private: Private, name: str, domain: isl.UnionSet, loops: tuple[str, ...]
) -> bool:
    """Return whether no copy of the private variable ``name`` is used in two launches of a kernel.

    ``domain`` holds the instances of one launch, over parameters ``loops`` that tell it from others.
    """
    return not any(_meet(piece, loops) for piece in sets_of(_copies(scop, private, name, domain)))


def has_whole_copies(
    scop: Scop, private: Private, name: str, domain: isl.UnionSet, loops: tuple[str, ...]
) -> bool:
    """Return whether no copy of the private variable ``name`` is used both in ``domain`` and outside.

    ``domain`` holds the instances of one launch, over parameters ``loops``; of other launches, it is inside.
    """
    inside = union_sets(_over_all(piece, loops) for piece in sets_of(domain))
    users = [s for s in scop.statements if (s.name, name) in private.expansions]
    outside = union_sets(s.domain for s in users).subtract(inside)
    mine, others = (_copies(scop, private, name, part) for part in (inside, outside))
    return bool(mine.is_disjoint(others))


def _copies(scop: Scop, private: Private, name: str, domain: isl.UnionSet) -> isl.UnionSet:
    """Return the copies of the private variable ``name`` that the instances ``domain`` use."""
    users = [s for s in scop.statements if (s.name, name) in private.expansions]
    prefixes = union_maps(
        instance_prefix(s, private.expansions[(s.name, name)].depth).set_tuple_name(
            isl.dim_type.out, private.expansions[(s.name, name)].space
        )
        for s in users
    )
    return domain.apply(prefixes)


def _over_all(piece: isl.Set, parameters: tuple[str, ...]) -> isl.Set:
    """Return the elements of ``piece`` for any values of ``parameters``."""
    for name in parameters:
        position = piece.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            piece = piece.project_out(isl.dim_type.param, position, 1)
    return piece


def _meet(copies: isl.Set, loops: tuple[str, ...]) -> bool:
    """Return whether ``copies``, over parameters ``loops``, has an element for two values of those."""
    other, apart = copies, isl.Set("{ : false }")
    for loop in loops:
        position, following = other.find_dim_by_name(isl.dim_type.param, loop), own(plain_name(loop), "next")
        if position >= 0:
            other = other.set_dim_name(isl.dim_type.param, position, following)
        apart = apart.union(over_parameters("{ : p0 != p1 }", (loop, following)))
    return not copies.intersect(other).intersect_params(apart).is_empty()


def _common_place(node: isl.ScheduleNode, names: frozenset[str]) -> isl.ScheduleNode:
    """Return the innermost node at or below ``node`` that has all of ``names`` below it."""
    while True:
        inner = [c for c in (node.child(k) for k in range(node.n_children())) if names <= _below(c)]
        if not inner:
            return node
        node = inner[0]


def _below(node: isl.ScheduleNode) -> frozenset[str]:
    if node.get_type() == isl.schedule_node_type.filter:
        node = node.child(0)  # a filter's own domain is what comes before it
    return frozenset(str(piece.get_tuple_name()) for piece in sets_of(node.get_domain()))
