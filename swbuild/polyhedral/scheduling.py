"""A new execution order by isl's scheduler: outer parallelism first, bounded effort.

The scheduler is fast on most regions but can explode on others (three-dimensional stencils fused
over time).  Where the dependences prove that no outer loop can be parallel, the outermost loop is
*peeled*: it stays a sequential loop and its body is scheduled for one iteration at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Iterator as Loop
from swbuild.frontend.scop import Scop
from swbuild.options import Fusion
from swbuild.polyhedral.accumulating import with_sums_inside
from swbuild.polyhedral.dataflow import Dependences, Relations, analyse, relations
from swbuild.polyhedral.islutil import (
    apart,
    bounded_effort,
    coalesced,
    counts_by_one,
    maps_of,
    sets_of,
    union_maps,
    union_sets,
)
from swbuild.polyhedral.looptree import banded, loop_tree
from swbuild.polyhedral.privatise import Private
from swbuild.polyhedral.symbolic import symbols_for, with_numbers
from swbuild.timings import step

__all__ = ["Origin", "Scheduled", "compute_schedule", "permutable_schedule"]

#: isl operations after which the scheduler gives up; ordinary kernels need some tens of thousands.
MAX_OPERATIONS = 200_000

#: From here on isl's scheduler takes long, and loops that are parallel as they are written stay that way.
MANY_STATEMENTS = 12

#: Seconds of processor time for one call: the scheduler has been seen to compute with endless numbers, which
#: isl does not count as operations, so it runs apart.
SECONDS = 3


class Origin(Enum):
    """Where the order of a schedule comes from."""

    SCHEDULER = "isl's scheduler"
    SOURCE = "the source"
    MANY = "the source, as no order of its many statements has more parallel loops"
    EFFORT = "the source, as isl's scheduler takes too long"
    APART = "isl's scheduler, with nests apart"
    STEPS = "the steps of `transform`"
    BLOCKS = "isl's scheduler, its deep bands in blocks of a sequential loop"
    DIAMONDS = "the order before, in tiles over time"
    WAVEFRONTS = "isl's scheduler, its deep bands cut into wavefronts of tiles"
    UPDATES = "wavefronts of tiles, each behind the updates that need none of its tiles"
    ONE_PASS = "one pass over rows that several statements use, with sums in parts"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule with what justifies it.

    ``dependences`` are those of the original order, ``kept`` the pairs of instances that this order
    keeps: all of them unless some may be broken.
    """

    schedule: isl.Schedule
    dependences: Dependences
    kept: isl.UnionMap
    private: Private
    #: names of the loops kept sequential around what was scheduled, outermost first
    peeled: tuple[str, ...] = ()
    #: tile sizes of the loops that run in wavefronts; () where none do
    front: tuple[int, ...] = ()
    #: iterations of the outermost loop of deep bands that a block has; 0 where there are no blocks
    block: int = 0
    origin: Origin = Origin.SOURCE


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is left to schedule: instances without the loops that are peeled already.

    ``loops`` gives, per statement, the loops that its instances still have.
    """

    domain: isl.UnionSet
    context: isl.Set
    validity: isl.UnionMap
    condition: isl.UnionMap
    conditional: isl.UnionMap
    loops: dict[str, tuple[Loop, ...]]


def compute_schedule(
    scop: Scop, private: Private, fusion: Fusion, dependences: Dependences, kept: isl.UnionMap
) -> Scheduled:
    """Return a schedule of all statements of ``scop`` that keeps the order of the pairs ``kept``.

    Its outer loops are parallel where that is possible.
    """
    as_written = banded(loop_tree(scop), kept)
    loops = _parallel_loops(as_written)
    many = len(scop.statements) > MANY_STATEMENTS and fusion is Fusion.MAX
    if many and loops == min(len(s.iterators) for s in scop.statements):
        return Scheduled(as_written, dependences, kept, private, origin=Origin.MANY)
    solved = _solve(_whole(scop, private, kept), fusion)
    if solved is not None and solved[1] and not _keeps(solved[0], kept):
        solved = None  # isl has been seen to break one of the rest's
    if solved is None or (solved[1] and loops):
        return Scheduled(as_written, dependences, kept, private, origin=Origin.EFFORT)
    schedule = with_sums_inside(straightened(solved[0], scop.schedule), scop)
    return Scheduled(schedule, dependences, kept, private, solved[1], origin=Origin.SCHEDULER)


def straightened(schedule: isl.Schedule, source: isl.Schedule) -> isl.Schedule:
    """Return ``schedule`` with loops of ``source`` in place of sequential ones that count several at once.

    Where loops have few iterations, isl may count those of two in one, ``2 i + j``: no tile fits such a loop.
    That is done inside parallel loops (others may be wavefronts, with parallel loops inside), where nothing
    but loops of one statement is below, which then run as in ``source``: that keeps all dependences between
    instances that agree in the loops above.
    """
    return _straightened(schedule.get_root(), source.get_map(), inside=False).get_schedule()


def _straightened(node: isl.ScheduleNode, source: isl.UnionMap, *, inside: bool) -> isl.ScheduleNode:
    if node.get_type() == isl.schedule_node_type.band:
        if inside and _counts_several(node) and _is_chain(node):
            return _as_in_source(node, source)
        inside = inside or any(node.band_member_get_coincident(k) for k in range(node.band_n_member()))
    for position in range(node.n_children()):
        node = _straightened(node.child(position), source, inside=inside).parent()
    return node


def _counts_several(band: isl.ScheduleNode) -> bool:
    """Return whether ``band`` is one sequential loop over instances of one statement in steps of several."""
    if band.band_n_member() != 1 or band.band_member_get_coincident(0):
        return False
    pieces = band.band_get_partial_schedule().get_at(0).get_pw_aff_list()
    affs = [aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces()]
    return len(affs) == 1 and not affs[0].dim(isl.dim_type.div) and not counts_by_one(affs[0])


def _is_chain(node: isl.ScheduleNode) -> bool:
    """Return whether nothing but bands is at and below ``node``."""
    while node.get_type() == isl.schedule_node_type.band:
        node = node.child(0)
    return bool(node.get_type() == isl.schedule_node_type.leaf)


def _as_in_source(node: isl.ScheduleNode, source: isl.UnionMap) -> isl.ScheduleNode:
    """Return ``node``, a chain of bands of one statement, as its loops in ``source`` not fixed above.

    ``source`` is instance -> time.
    """
    domain = node.get_domain()
    (order,) = maps_of(source.intersect_domain(domain))
    prefix = node.get_prefix_schedule_union_map().intersect_domain(domain)
    # time -> time of another instance with the same values of the loops above
    (pairs,) = maps_of(prefix.apply_range(prefix.reverse()).apply_domain(source).apply_range(source))
    counters = isl.PwMultiAff.from_map(order)
    while node.get_type() == isl.schedule_node_type.band:
        node = node.delete()
    for k in reversed(range(counters.dim(isl.dim_type.out))):
        same = isl.Map.universe(pairs.get_space()).equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        if not pairs.is_subset(same):
            counter = isl.UnionPwAff.from_pw_aff(counters.get_pw_aff(k))
            node = node.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(counter))
    return node


def _parallel_loops(schedule: isl.Schedule) -> int:
    """Return how many of the outermost loops are around all statements and parallel."""
    node = schedule.get_root().child(0)
    if node.get_type() != isl.schedule_node_type.band:
        return 0
    members = [node.band_member_get_coincident(k) for k in range(node.band_n_member())]
    return members.index(False) if False in members else len(members)


def permutable_schedule(
    scop: Scop, private: Private, fusion: Fusion, kept: isl.UnionMap
) -> isl.Schedule | None:
    """Return a schedule that keeps the order of the pairs ``kept``, with bands as deep as possible, or None.

    The loops of a band can be tiled; whether any of them is parallel does not matter.
    """
    return _isl_schedule(_whole(scop, private, kept), fusion, outer=False)


def _whole(scop: Scop, private: Private, kept: isl.UnionMap) -> _Problem:
    condition, conditional = _contraction_constraints(scop, private)
    domain = coalesced(scop.schedule.get_domain().intersect_params(scop.context))
    loops = {s.name: s.iterators for s in scop.statements}
    return _Problem(domain, scop.context, kept, condition, conditional, loops)


def _keeps(schedule: isl.Schedule, dependences: isl.UnionMap) -> bool:
    order = schedule.get_map()
    inside = dependences.intersect_domain(order.domain()).intersect_range(order.domain())
    return bool(inside.is_subset(order.lex_lt_union_map(order)))


def _contraction_constraints(scop: Scop, private: Private) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Return (flow on private variables, order of their unexpanded copies).

    Where a band separates a private value's producer from its use, the copies of different
    iterations must stay in order (isl's conditional validity).
    """
    empty = isl.UnionMap("{ }")
    if not private.names:
        return empty, empty
    plain, expanded = relations(scop), relations(scop, private.expansions)
    copies = {expansion.space for expansion in private.expansions.values()}
    # Both are instance -> later instance.  Pairs that meet in the one copy of all iterations, and not in
    # copies of their own, have to keep their order where a band parts a value's producer from its user.
    own = analyse(_keep(expanded, copies), scop.schedule)
    conditional = analyse(_keep(plain, set(private.names)), scop.schedule).order.subtract(own.order)
    return own.flow, conditional


def _keep(found: Relations, names: set[str]) -> Relations:
    def only(accesses: isl.UnionMap) -> isl.UnionMap:
        return union_maps(m for m in maps_of(accesses) if m.get_tuple_name(isl.dim_type.out) in names)

    return Relations(found.domain, only(found.reads), only(found.must_writes), only(found.may_writes))


def _solve(problem: _Problem, fusion: Fusion) -> tuple[isl.Schedule, tuple[str, ...]] | None:
    """Return a schedule of ``problem.domain`` and the names of the loops peeled on the way, or None."""
    loop = _shared_loop(problem)
    stencil = _spans_everything(problem)
    if not (stencil and loop is not None and _is_cyclic(problem)):
        schedule = _isl_schedule(problem, Fusion.MIN if stencil else fusion)
        if schedule is not None:
            return schedule, ()
    direction = None if loop is None else _direction(problem)
    if loop is None or direction is None:
        return None
    solved = _solve(_peeled(problem), fusion)
    return None if solved is None else (_around(problem, solved[0], direction), (loop, *solved[1]))


def _direction(problem: _Problem) -> int | None:
    """Return 1 when the outermost loop may run upwards, -1 when it has to run downwards, None for neither.

    The loop is around every statement.
    """
    for sign, bound in ((1, "d >= 0"), (-1, "d <= 0")):
        allowed = isl.Set(f"{{ [d] : {bound} }}")
        if all(_first_distance(m).is_subset(allowed) for m in maps_of(problem.validity)):
            conditional = maps_of(problem.conditional)
            if sign == -1 or all(_first_distance(m).is_subset(allowed) for m in conditional):
                return sign
    return None


def _first_distance(pairs: isl.Map) -> isl.Set:
    """Return the differences in the first dimension from source to sink."""
    plain = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    plain = plain.project_out(isl.dim_type.in_, 1, plain.dim(isl.dim_type.in_) - 1)
    plain = plain.project_out(isl.dim_type.out, 1, plain.dim(isl.dim_type.out) - 1)
    return plain.deltas()


def _is_cyclic(problem: _Problem) -> bool:
    """Return whether every statement depends, directly or not, on every other one."""
    edges: dict[str, set[str]] = {name: set() for name in problem.loops}
    for piece in maps_of(problem.validity):
        edges[piece.get_tuple_name(isl.dim_type.in_)].add(piece.get_tuple_name(isl.dim_type.out))
    return all(_reachable(edges, name) == set(edges) for name in edges)


def _reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    open_names = [start]
    while open_names:
        for name in edges[open_names.pop()] - found:
            found.add(name)
            open_names.append(name)
    return found


def _shared_loop(problem: _Problem) -> str | None:
    """Return the name of the outermost loop left if it is around every statement, or None."""
    outer = [loops[:1] for loops in problem.loops.values()]
    if not outer or not outer[0] or any(loops != outer[0] for loops in outer):
        return None
    return outer[0][0].name


def _peeled(problem: _Problem) -> _Problem:
    """Return the problem of one iteration of the outermost loop: that loop's dimension is dropped.

    Dependences between different iterations are kept by the loop itself; of the others, those of
    all iterations are taken together (safe: more constraints than needed at most).
    """
    same = _same_iteration(problem.domain)
    loops = {name: loops[1:] for name, loops in problem.loops.items()}

    def within(given: isl.UnionMap) -> isl.UnionMap:
        return union_maps(_drop_pair(m) for m in maps_of(given.intersect(same)))

    return _Problem(
        union_sets(_drop_first(piece) for piece in sets_of(problem.domain)),
        problem.context,
        within(problem.validity).coalesce(),
        within(problem.condition),
        within(problem.conditional),
        loops,
    )


def _drop_first(instances: isl.Set) -> isl.Set:
    name = instances.get_tuple_name()
    return instances.project_out(isl.dim_type.set, 0, 1).set_tuple_name(name)


def _drop_pair(pairs: isl.Map) -> isl.Map:
    source, sink = (pairs.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
    inner = pairs.project_out(isl.dim_type.in_, 0, 1).project_out(isl.dim_type.out, 0, 1)
    return inner.set_tuple_name(isl.dim_type.in_, source).set_tuple_name(isl.dim_type.out, sink)


def _around(problem: _Problem, body: isl.Schedule, direction: int) -> isl.Schedule:
    """Return the schedule of ``problem`` that runs ``body`` in each iteration of its outermost loop.

    ``direction`` is 1 for ascending values of the loop's iterator and -1 for descending ones.
    """
    inner, outer = isl.UnionPwMultiAff("{ }"), []
    for piece in sets_of(problem.domain):
        space = isl.LocalSpace.from_space(piece.get_space())
        value = isl.PwAff.var_on_domain(space, isl.dim_type.set, 0).intersect_domain(piece)
        outer.append(value if direction == 1 else value.neg())
        inner = inner.union_add(_without_first(piece).to_union_pw_multi_aff())
    first = isl.UnionPwAff.from_pw_aff(outer[0])
    for value in outer[1:]:
        first = first.union_add(isl.UnionPwAff.from_pw_aff(value))
    pulled = body.pullback_union_pw_multi_aff(inner).intersect_domain(problem.domain)
    return pulled.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(first))


def _without_first(instances: isl.Set) -> isl.PwMultiAff:
    """Return ``S[t, i, …] -> S[i, …]``."""
    identity = isl.Map.identity(instances.get_space().map_from_set())
    name = instances.get_tuple_name()
    dropped = identity.project_out(isl.dim_type.out, 0, 1).set_tuple_name(isl.dim_type.out, name)
    return isl.PwMultiAff.from_map(dropped)


def _spans_everything(problem: _Problem) -> bool:
    """Return whether constant dependence distances span all dimensions of the instances.

    Then no hyperplane is parallel to all of them: no outer loop of any schedule is parallel.
    """
    sizes = {piece.dim(isl.dim_type.set) for piece in sets_of(problem.domain)}
    if len(sizes) != 1 or sizes == {0}:
        return False
    (n,) = sizes
    distances = isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, n))
    for piece in maps_of(problem.validity):
        plain = piece.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        plain = plain.project_out(isl.dim_type.param, 0, plain.dim(isl.dim_type.param))
        distances = distances.union(plain.deltas())
    if distances.is_empty() or not distances.is_bounded():
        return False
    return _equalities(distances.union(_origin(n)).affine_hull()) == 0


def _origin(n: int) -> isl.Set:
    zero = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, n))
    for k in range(n):
        zero = zero.fix_val(isl.dim_type.set, k, isl.Val(0))
    return zero


def _equalities(hull: isl.BasicSet) -> int:
    return sum(1 for constraint in hull.get_constraints() if constraint.is_equality())


def _same_iteration(domain: isl.UnionSet) -> isl.UnionMap:
    """Return ``{ S[i, …] -> T[i, …] }`` with equal values of the first dimension."""
    pieces = []
    for source in sets_of(domain):
        for sink in sets_of(domain):
            pair = isl.Map.from_domain_and_range(source, sink)
            pieces.append(pair.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0))
    return union_maps(pieces)


@step("schedule")
def _isl_schedule(problem: _Problem, fusion: Fusion, *, outer: bool = True) -> isl.Schedule | None:
    """Return isl's schedule of ``problem``, or None when it would take too long or is damaged.

    isl has been seen to leave a set node without children, which it cannot read again.
    ``outer``: the outermost loop of every band is parallel if that is possible.
    """
    inside = problem.validity.intersect_domain(problem.domain).intersect_range(problem.domain)
    symbols = symbols_for((inside, problem.condition, problem.conditional), problem.domain, problem.context)
    order = symbols.in_map(inside)
    constraints = (
        isl.ScheduleConstraints.on_domain(symbols.in_set(problem.domain))
        .set_context(symbols.in_context(problem.context))
        .set_validity(order)
        .set_coincidence(order)
        .set_proximity(order)
        .set_conditional_validity(symbols.in_map(problem.condition), symbols.in_map(problem.conditional))
    )
    found = apart(lambda: str(_computed(constraints, fusion, outer) or ""), SECONDS)
    try:
        tree = isl.Schedule(found) if found else None
    except isl.Error:
        return None
    return with_numbers(tree, problem.domain, symbols) if tree is not None else None


def _computed(constraints: isl.ScheduleConstraints, fusion: Fusion, outer: bool) -> isl.Schedule | None:
    with _effort(fusion, outer):
        try:
            return constraints.compute_schedule()
        except isl.Error:
            return None


@contextmanager
def _effort(fusion: Fusion, outer: bool) -> Iterator[None]:
    """Set isl's scheduler options for the time of one call."""
    context = isl.DEFAULT_CONTEXT
    context.set_schedule_outer_coincidence(int(outer))
    context.set_schedule_maximize_band_depth(1)
    context.set_schedule_serialize_sccs(int(fusion is Fusion.MIN))
    try:
        with bounded_effort(MAX_OPERATIONS):
            yield
    finally:
        context.set_schedule_outer_coincidence(0)
        context.set_schedule_maximize_band_depth(0)
        context.set_schedule_serialize_sccs(0)
