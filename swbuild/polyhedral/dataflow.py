"""Data flow of a scop: which statement instance feeds which, and what must not be reordered.

The relations are union maps in islpy's default context.  "Instance" is a point of a statement's
domain, "element" a point of an array's index space.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.polyhedral.islutil import apart, bounded_effort, maps_of, union_maps, union_sets
from swbuild.timings import step

__all__ = [
    "ArrayFlow",
    "Dependences",
    "Expansion",
    "Expansions",
    "Precision",
    "Relations",
    "access_relation",
    "analyse",
    "domain_of",
    "flow_by_array",
    "instance_prefix",
    "producers",
    "relations",
]

#: isl steps for one data flow; the largest of PolyBench take some ten thousand.
MAX_OPERATIONS = 400_000

#: Processor seconds for one data flow that is tried apart; MAX_OPERATIONS ends it long before.
SECONDS = 20


@dataclass(frozen=True, slots=True)
class Relations:
    """The access relations of a scop, instance -> element, restricted to the domains."""

    domain: isl.UnionSet
    reads: isl.UnionMap
    must_writes: isl.UnionMap
    may_writes: isl.UnionMap

    @property
    def writes(self) -> isl.UnionMap:
        return self.must_writes.union(self.may_writes)


class Precision(Enum):
    """How dependences were found."""

    EXACT = "exact data flow"
    CONFLICTS = "all conflicts of accesses, as the data flow is too hard to find"
    ARRAYS = "all uses of the same arrays, as the elements are too hard to tell apart"


@dataclass(frozen=True, slots=True)
class Dependences:
    """Instance -> instance.

    ``flow``: a value written by the first may be read by the second; ``order``: anti and output
    dependences; ``live_in``: instance -> element, reads of values from before the region;
    ``sourced``: instance -> [instance -> element], the certain producer of each value read;
    ``all``: flow and order together.
    """

    flow: isl.UnionMap
    order: isl.UnionMap
    live_in: isl.UnionMap
    sourced: isl.UnionMap
    all: isl.UnionMap
    precision: Precision = Precision.EXACT


@dataclass(frozen=True, slots=True)
class Expansion:
    """A statement's copies of a private variable: one per iteration of the ``depth`` outer loops around it.

    Statements that hand values of ``variable`` to each other share copies; ``component`` names one of them,
    "" where all users of the variable do.
    """

    variable: str
    component: str
    depth: int

    @property
    def space(self) -> str:
        """The name of the copies' tuples in isl's sets; no array of a program is called so."""
        return f"{self.variable}@{self.component}"


#: the copies of private variables, by statement and variable
Expansions = Mapping[tuple[str, str], Expansion]


def domain_of(scop: Scop) -> isl.UnionSet:
    """Return the union of the domains of all statements of ``scop``, under its context."""
    return union_sets(s.domain.intersect_params(scop.context) for s in scop.statements)


def relations(scop: Scop, expansions: Expansions | None = None) -> Relations:
    """Return the access relations of ``scop``.

    The storage of privatised variables is expanded as ``expansions`` says: the element ``x[e]`` becomes
    ``x@c[i0, …, i(depth-1), e]``, one copy per iteration of those loops.
    """
    empty = isl.UnionMap("{ }")
    by_kind = dict.fromkeys(AccessKind, empty)
    for statement in scop.statements:
        for access in statement.accesses:
            relation = access_relation(scop, statement, access, expansions or {})
            by_kind[access.kind] = by_kind[access.kind].union(relation.to_union_map())
    return Relations(
        domain_of(scop),
        by_kind[AccessKind.READ],
        by_kind[AccessKind.MUST_WRITE],
        by_kind[AccessKind.MAY_WRITE],
    )


def access_relation(scop: Scop, statement: Statement, access: Access, expansions: Expansions) -> isl.Map:
    """Return ``instance -> element`` of one access, with ``expansions`` as for :func:`relations`."""
    relation = access.relation.intersect_domain(statement.domain).intersect_params(scop.context)
    expansion = expansions.get((statement.name, access.array))
    if expansion is None:
        return relation
    prefix = instance_prefix(statement, expansion.depth)
    return prefix.flat_range_product(relation).set_tuple_name(isl.dim_type.out, expansion.space)


def instance_prefix(statement: Statement, depth: int) -> isl.Map:
    """Return ``{ S[i0, …] -> [i0, …, i(depth-1)] }``."""
    identity = isl.Map.identity(statement.domain.get_space().map_from_set())
    n = identity.dim(isl.dim_type.out)
    unnamed = identity.reset_tuple_id(isl.dim_type.out)
    return unnamed.project_out(isl.dim_type.out, depth, n - depth)


@step("dependences")
def analyse(found: Relations, schedule: isl.Schedule | isl.UnionMap) -> Dependences:
    """Return the dependences of the accesses ``found`` when instances run in the order of ``schedule``.

    Where isl cannot find the exact data flow, or not soon, every two accesses to one element of
    which one writes depend on each other, and where the elements are too hard every two accesses to
    one array, also outside the domains: more constraints than needed, never fewer.
    """
    order = schedule.get_map() if isinstance(schedule, isl.Schedule) else schedule
    try:
        with bounded_effort(MAX_OPERATIONS):
            return _exact(found, schedule)
    except (isl.Error, _IncompleteError):
        pass
    try:
        with bounded_effort(5 * MAX_OPERATIONS):
            return _memory_based(found, order, Precision.CONFLICTS)
    except isl.Error:
        order = order.gist_domain(order.domain())
        return _memory_based(_whole_arrays(found), order, Precision.ARRAYS)


@dataclass(frozen=True, slots=True)
class ArrayFlow:
    """Which instance feeds which through one array, and whether some read takes a value from before."""

    pairs: tuple[isl.Map, ...]
    live_in: bool


def flow_by_array(found: Relations, schedule: isl.Schedule, names: frozenset[str]) -> dict[str, ArrayFlow]:
    """Return the data flow through each of the arrays ``names``, or nothing if it is hard to find."""
    try:
        with bounded_effort(MAX_OPERATIONS):
            flow = _checked_flow(_through(found, names), schedule, risky=_is_risky(found))
            full, live_in = maps_of(flow.get_full_may_dependence()), maps_of(flow.get_may_no_source())
    except (isl.Error, _IncompleteError):
        return {}
    outside = {str(m.get_tuple_name(isl.dim_type.out)) for m in live_in if not m.is_empty()}
    pairs: dict[str, isl.UnionMap] = {name: isl.UnionMap("{ }") for name in names}
    for piece in full:
        array = str(piece.range().unwrap().get_tuple_name(isl.dim_type.out))
        pairs[array] = pairs[array].union(piece.range_factor_domain().to_union_map())
    return {name: ArrayFlow(tuple(maps_of(m.coalesce())), name in outside) for name, m in pairs.items()}


def producers(found: Relations, schedule: isl.Schedule, array: str) -> isl.UnionMap | None:
    """Return ``producer -> [reader -> element]`` of all values of ``array`` that are not from before.

    None where they are hard to find, or uncertain.
    """
    only = _through(found, frozenset({array}))
    try:
        with bounded_effort(MAX_OPERATIONS):
            flow = _checked_flow(only, schedule, risky=_is_risky(only))
            sourced, live_in = flow.get_full_must_dependence(), flow.get_must_no_source()
            known = sourced.range().unwrap().union(live_in)
            return sourced.coalesce() if only.reads.is_subset(known) else None
    except (isl.Error, _IncompleteError):
        return None


def _through(found: Relations, names: frozenset[str]) -> Relations:
    """Return the accesses ``found`` to the arrays ``names`` alone."""

    def only(accesses: isl.UnionMap) -> isl.UnionMap:
        return union_maps(m for m in maps_of(accesses) if m.get_tuple_name(isl.dim_type.out) in names)

    return Relations(found.domain, only(found.reads), only(found.must_writes), only(found.may_writes))


def _checked_flow(found: Relations, schedule: isl.Schedule, *, risky: bool) -> isl.UnionFlow:
    """Return the flow of the accesses ``found``, looked at again where isl may miss something."""
    flow = _flow(found.reads, found.must_writes, found.may_writes, schedule)
    if risky:
        _check_complete(flow, found.reads, found.must_writes, found.may_writes, schedule)
    return flow


def _exact(found: Relations, schedule: isl.Schedule | isl.UnionMap) -> Dependences:
    # Two flows: what reads take their values from, and what writes come after.  In the second one a certain
    # write hides what is before it from what is after: its pairs with both are there, and imply that one.
    accessed = found.reads.union(found.may_writes)
    flow = _flow(found.reads, found.must_writes, found.may_writes, schedule)
    order = _flow(found.writes, found.must_writes, accessed, schedule)
    if _is_risky(found):
        _check_complete(flow, found.reads, found.must_writes, found.may_writes, schedule)
        _check_complete(order, found.writes, found.must_writes, accessed, schedule)
    true, false = flow.get_may_dependence().coalesce(), order.get_may_dependence().coalesce()
    return Dependences(
        true,
        false,
        flow.get_may_no_source().coalesce(),
        flow.get_full_must_dependence().coalesce(),
        true.union(false).coalesce(),
    )


def _whole_arrays(found: Relations) -> Relations:
    """Return relations in which an instance touches all of the arrays that its statement touches at all.

    They hold outside the domains, too.
    """
    reads, must, may = found.reads.universe(), found.must_writes.universe(), found.may_writes.universe()
    return Relations(found.domain.universe(), reads, must, may)


def _memory_based(found: Relations, order: isl.UnionMap, precision: Precision) -> Dependences:
    """Return the pairs of conflicting accesses, the earlier one by ``order`` first."""
    before = order.lex_lt_union_map(order)  # instance -> later instance
    # instance -> element -> instance, the earlier one first; intersecting picks that direction of each pair
    true = found.writes.apply_range(found.reads.reverse()).intersect(before).coalesce()
    anti = found.reads.apply_range(found.writes.reverse())
    false = anti.union(found.writes.apply_range(found.writes.reverse())).intersect(before).coalesce()
    nothing = isl.UnionMap("{ }")
    return Dependences(true, false, found.reads, nothing, true.union(false).coalesce(), precision)


def _flow(
    sink: isl.UnionMap,
    must_source: isl.UnionMap,
    may_source: isl.UnionMap,
    schedule: isl.Schedule | isl.UnionMap,
) -> isl.UnionFlow:
    info = isl.UnionAccessInfo.from_sink(sink)
    info = info.set_must_source(must_source).set_may_source(may_source)
    if isinstance(schedule, isl.Schedule):
        info = info.set_schedule(schedule)
    else:
        info = info.set_schedule_map(schedule)
    if any(map(_divides, (sink, must_source, may_source))) and not _survives(info):
        raise _IncompleteError
    return info.compute_flow()


def _survives(info: isl.UnionAccessInfo) -> bool:
    """Return whether isl finds the flow of ``info``, tried in a process of its own: isl crashes on some."""
    return apart(lambda: str(info.compute_flow()), SECONDS) is not None


class _IncompleteError(Exception):
    """A data flow that misses dependences, or that isl dies of."""


def _is_risky(found: Relations) -> bool:
    """Return whether isl may miss a dependence: it has, where one remainder is written in two ways."""
    return _divides(found.reads) or _divides(found.writes)


def _divides(accesses: isl.UnionMap) -> bool:
    """Return whether some access takes a division to say."""
    basics = (basic for piece in maps_of(accesses) for basic in piece.get_basic_maps())
    return any(basic.dim(isl.dim_type.div) for basic in basics)


def _check_complete(
    flow: isl.UnionFlow,
    sink: isl.UnionMap,
    must_source: isl.UnionMap,
    may_source: isl.UnionMap,
    schedule: isl.Schedule | isl.UnionMap,
) -> None:
    """Raise :class:`_IncompleteError` unless ``flow`` names every source of ``sink`` that no later one hides.

    A source before the sink is either named, or is before a certain source that is.
    """
    time = schedule.get_map() if isinstance(schedule, isl.Schedule) else schedule
    before = time.lex_lt_union_map(time)
    sources = must_source.union(may_source)
    # [sink -> element] -> earlier instances that access the element
    conflicts = sink.range_map().apply_range(sources.reverse())
    earlier = sink.domain_map().apply_range(before.reverse())  # [sink -> element] -> earlier instances
    pairs = conflicts.intersect(earlier)
    # full dependences are source -> [sink -> element]
    named = flow.get_full_may_dependence().reverse()
    hidden = flow.get_full_must_dependence().reverse().apply_range(before.reverse())
    if not pairs.is_subset(named.union(hidden)):
        raise _IncompleteError
