"""A new execution order by isl's scheduler: outer parallelism first, bounded effort.

The scheduler is fast on most regions but can explode on others (three-dimensional stencils fused
over time).  Where the dependences prove that no outer loop can be parallel, the outermost loop is
*peeled*: it stays a sequential loop and its body is scheduled for one iteration at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import islpy as isl

from swbuild.frontend.scop import Scop, Statement
from swbuild.options import Fusion
from swbuild.polyhedral.dataflow import Dependences, Relations, analyse, relations
from swbuild.polyhedral.islutil import maps_of, sets_of, union_maps
from swbuild.polyhedral.privatise import Private

__all__ = ["Scheduled", "compute_schedule"]

#: isl operations after which the scheduler gives up; ordinary kernels need some tens of thousands.
MAX_OPERATIONS = 400_000


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule with what justifies it: the dependences that it respects and the private variables."""

    schedule: isl.Schedule
    dependences: Dependences
    private: Private
    #: names of the loops kept sequential around what was scheduled, outermost first
    peeled: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    scop: Scop
    context: isl.Set
    validity: isl.UnionMap
    condition: isl.UnionMap
    conditional: isl.UnionMap


def compute_schedule(scop: Scop, private: Private, fusion: Fusion) -> Scheduled:
    """Return a schedule of all statements of ``scop`` that respects its dependences."""
    expanded = analyse(relations(scop, private.depth_of), scop.schedule)
    condition, conditional = _contraction_constraints(scop, private)
    problem = _Problem(scop, scop.context, expanded.all, condition, conditional)
    domain = scop.schedule.get_domain().intersect_params(scop.context)
    schedule, peeled = _solve(problem, domain, 0, fusion)
    return Scheduled(schedule, expanded, private, peeled)


def _contraction_constraints(scop: Scop, private: Private) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Return (flow on private variables, order of their unexpanded copies).

    Where a band separates a private value's producer from its use, the copies of different
    iterations must stay in order (isl's conditional validity).
    """
    empty = isl.UnionMap("{ }")
    if not private.names:
        return empty, empty
    plain, expanded = relations(scop), relations(scop, private.depth_of)
    labels = {label for label, _ in private.depth_of.values()}
    condition = analyse(_keep(expanded, labels), scop.schedule).flow
    own = analyse(_keep(expanded, labels), scop.schedule).order
    conditional = analyse(_keep(plain, set(private.names)), scop.schedule).order.subtract(own)
    return condition, conditional


def _keep(found: Relations, names: set[str]) -> Relations:
    def only(accesses: isl.UnionMap) -> isl.UnionMap:
        return union_maps(m for m in maps_of(accesses) if m.get_tuple_name(isl.dim_type.out) in names)

    return Relations(found.domain, only(found.reads), only(found.must_writes), only(found.may_writes))


def _solve(
    problem: _Problem, domain: isl.UnionSet, depth: int, fusion: Fusion
) -> tuple[isl.Schedule, tuple[str, ...]]:
    """Return a schedule of ``domain``, whose ``depth`` outer loops are fixed already."""
    loop = _shared_loop(problem.scop, domain, depth)
    if loop is None or not _spans_everything(problem.validity, domain, depth):
        schedule = _isl_schedule(problem, domain, fusion)
        if schedule is not None:
            return schedule, ()
        if loop is None:
            return problem.scop.schedule.intersect_domain(domain), ()
    within = _same_iteration(domain, depth)
    inner = _Problem(
        problem.scop,
        problem.context,
        problem.validity.intersect(within),
        problem.condition.intersect(within),
        problem.conditional.intersect(within),
    )
    body, peeled = _solve(inner, domain, depth + 1, fusion)
    return body.insert_partial_schedule(_original_loop(problem.scop, domain, depth)), (loop, *peeled)


def _shared_loop(scop: Scop, domain: isl.UnionSet, depth: int) -> str | None:
    """Return the name of the loop at ``depth`` that is around every statement of ``domain``, or None."""
    loops = [s.iterators[depth : depth + 1] for s in _statements(scop, domain)]
    if not loops or any(loop != loops[0] for loop in loops) or not loops[0]:
        return None
    return loops[0][0].name


def _statements(scop: Scop, domain: isl.UnionSet) -> list[Statement]:
    names = {piece.get_tuple_name() for piece in sets_of(domain)}
    return [s for s in scop.statements if s.name in names]


def _spans_everything(validity: isl.UnionMap, domain: isl.UnionSet, depth: int) -> bool:
    """Return whether constant dependence distances at ``depth`` and deeper span all dimensions.

    Then no hyperplane is parallel to all of them: no outer loop of any schedule is parallel.
    """
    sizes = {piece.dim(isl.dim_type.set) for piece in sets_of(domain)}
    if len(sizes) != 1 or sizes == {0}:
        return False
    (n,) = sizes
    distances = isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, n))
    for piece in maps_of(validity):
        plain = piece.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        plain = plain.project_out(isl.dim_type.param, 0, plain.dim(isl.dim_type.param))
        distances = distances.union(plain.deltas())
    if distances.is_empty() or not distances.is_bounded():
        return False
    hull = distances.union(_origin(n)).affine_hull()
    return int(hull.dim(isl.dim_type.set)) - _equalities(hull) == n - depth


def _origin(n: int) -> isl.Set:
    zero = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, n))
    for k in range(n):
        zero = zero.fix_val(isl.dim_type.set, k, isl.Val(0))
    return zero


def _equalities(hull: isl.BasicSet) -> int:
    return sum(1 for constraint in hull.get_constraints() if constraint.is_equality())


def _same_iteration(domain: isl.UnionSet, depth: int) -> isl.UnionMap:
    """Return ``{ S[…, i, …] -> T[…, i, …] }`` with equal values at position ``depth``."""
    pieces = []
    for source in sets_of(domain):
        for sink in sets_of(domain):
            pair = isl.Map.from_domain_and_range(source, sink)
            pieces.append(pair.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth))
    return union_maps(pieces)


def _original_loop(scop: Scop, domain: isl.UnionSet, depth: int) -> isl.MultiUnionPwAff:
    """Return the partial schedule of the original loop at ``depth``, on ``domain``."""
    node = scop.schedule.get_root().child(0)
    seen = 0
    while True:
        if node.get_type() == isl.schedule_node_type.band:
            members = node.band_n_member()
            if seen + members > depth:
                partial = node.band_get_partial_schedule().intersect_domain(domain)
                chosen = partial.get_at(depth - seen)
                return isl.MultiUnionPwAff.from_union_pw_aff(chosen)
            seen += members
        node = node.child(0)


def _isl_schedule(problem: _Problem, domain: isl.UnionSet, fusion: Fusion) -> isl.Schedule | None:
    """Return isl's schedule of ``domain``, or None when it would take too long."""
    inside = problem.validity.intersect_domain(domain).intersect_range(domain)
    constraints = (
        isl.ScheduleConstraints.on_domain(domain)
        .set_context(problem.context)
        .set_validity(inside)
        .set_coincidence(inside)
        .set_proximity(inside)
        .set_conditional_validity(problem.condition, problem.conditional)
    )
    with _effort(fusion):
        try:
            return constraints.compute_schedule()
        except isl.Error:
            return None


@contextmanager
def _effort(fusion: Fusion) -> Iterator[None]:
    """Set isl's scheduler options for the time of one call."""
    context = isl.DEFAULT_CONTEXT
    context.set_schedule_outer_coincidence(1)
    context.set_schedule_maximize_band_depth(1)
    context.set_schedule_serialize_sccs(int(fusion is Fusion.MIN))
    context.reset_operations()
    context.set_max_operations(MAX_OPERATIONS)
    try:
        yield
    finally:
        context.set_max_operations(0)
        context.reset_operations()
        context.set_schedule_outer_coincidence(0)
        context.set_schedule_maximize_band_depth(0)
        context.set_schedule_serialize_sccs(0)
