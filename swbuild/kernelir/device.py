"""The kernel IR of one kernel: its tiled tree with the transfers of its memory plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import (
    Due,
    Inexact,
    Leaves,
    Repeated,
    Undecided,
    build_ir,
    require_simple,
)
from swbuild.kernelir.bodies import Spell, compute_leaf
from swbuild.kernelir.dealing import dealt, numbers_of
from swbuild.kernelir.insertions import Insertion, joined, visit
from swbuild.kernelir.moves import insertions, put_name
from swbuild.kernelir.nodes import (
    Node,
)
from swbuild.kernelir.origin import paths_of
from swbuild.mapping.marks import LevelMark, mark_of
from swbuild.mapping.tiling import TiledKernel, thread_parameters, values_of_loops
from swbuild.memory.buffers import MemoryPlan
from swbuild.memory.levels import Level
from swbuild.options import Distribution
from swbuild.polyhedral.context import without_upper_bounds
from swbuild.polyhedral.islutil import is_plain, over_parameters, sets_of

__all__ = ["build_device", "revisited"]


def build_device(
    scop: Scop, tiled: TiledKernel, plan: MemoryPlan, spell: Spell, *, doubtful: bool = False
) -> Node:
    """Return the IR that each thread runs.

    ``doubtful``: raise :class:`TooComplicated` where that would take long.  Raise :class:`Repeated` where
    boxes are put twice that ``plan`` has put once.
    """
    bodies: Leaves = {
        statement.name: compute_leaf(scop, statement, spell)
        for statement in scop.statements
        if statement.name in tiled.kernel.statements
    }
    context = _context(scop, tiled)
    if tiled.mapping.is_joint:
        return _of_dealt_tiles(tiled, plan, bodies, context, doubtful=doubtful)
    if tiled.kernel.pieces is not None and not _have_equal_iterations(scop, tiled.kernel.statements):
        # isl would run transfers of some tiles in which no sweep has iterations
        return _built(tiled, plan, bodies, context, confined=True, doubtful=True)
    return _of_thread(tiled, plan, bodies, context, doubtful=doubtful)


def _have_equal_iterations(scop: Scop, names: Iterable[str]) -> bool:
    """Return whether all statements of these ``names`` have the same loops, from and to the same values."""
    first, *others = [scop.statement(name).domain.reset_tuple_id() for name in sorted(names)]
    dimensions = first.dim(isl.dim_type.set)
    return all(o.dim(isl.dim_type.set) == dimensions and o.is_equal(first) for o in others)


def revisited(plan: MemoryPlan, problem: Repeated) -> MemoryPlan:
    """Return ``plan`` such that the boxes of ``problem`` may be visited, and so put, twice.

    They are loaded first, from what the visit before has stored: what a visit does not compute then goes
    back as it was, and what is stored is still no more than what the kernel writes.
    """
    buffers = tuple(
        replace(b, load=True, reloaded=True) if put_name(b) in problem.repeated else b for b in plan.buffers
    )
    return replace(plan, buffers=buffers)


def _of_dealt_tiles(
    tiled: TiledKernel, plan: MemoryPlan, bodies: Leaves, context: isl.Set, *, doubtful: bool
) -> Node:
    """Return the loops over all tiles, with what a thread runs of one that is its own."""
    numbers = numbers_of(tiled)
    inside = context
    for each in numbers:
        inside = inside.intersect(each.certain)
    return dealt(tiled, numbers, context, _of_thread(tiled, plan, bodies, inside, doubtful=doubtful))


def _of_thread(
    tiled: TiledKernel, plan: MemoryPlan, bodies: Leaves, context: isl.Set, *, doubtful: bool
) -> Node:
    """Return what a thread runs, of which ``context`` knows the parameters."""
    plain = is_plain(tiled.schedule)
    try:
        return _built(tiled, plan, bodies, context, confined=False, doubtful=doubtful)
    except Inexact:
        return _built(tiled, plan, bodies, context, confined=True, doubtful=True)
    except Undecided:
        if not plain:
            raise
    return _built(tiled, plan, bodies, context, confined=True, doubtful=True, compared=False)


def _built(
    tiled: TiledKernel,
    plan: MemoryPlan,
    bodies: Leaves,
    context: isl.Set,
    *,
    confined: bool,
    doubtful: bool,
    compared: bool = True,
) -> Node:
    """Return the IR with the transfers of ``plan``; ``compared``: raise where it runs anything else.

    isl runs these wherever the loops around them go; that is too often where the instances of a thread
    have no loop of their own.  ``confined`` ones say themselves which thread they belong to.
    """
    leaves = dict(bodies)
    once = frozenset(put_name(b) for b in plan.buffers if b.is_put_once)
    node = tiled.schedule.get_root()
    every = tiled.schedule.get_domain().intersect_params(context)
    own = tiled.schedule.get_domain().intersect(tiled.filter)
    wanted = own
    for level in sorted(plan.top.walk(), key=lambda level: -level.number):
        before, after = insertions(plan, level)
        if tiled.kernel.pieces is not None:
            before, after = (_everywhere(some, every.apply(level.prefix)) for some in (before, after))
        visited = own.apply(level.prefix)
        if confined:
            before, after = _confined(before, visited), _confined(after, visited)
        before, after = joined(before, once), joined(after, once)
        node = _insert(node, level, before, after)
        for insertion in (*before, *after):
            leaves[str(insertion.relation.get_tuple_name(isl.dim_type.out))] = insertion.leaf
            wanted = wanted.union(visited.apply(insertion.relation.to_union_map()))
    mine = tiled.filter.gist_params(context)  # saves isl a quarter of its time
    schedule = node.root().child(0).insert_filter(mine).get_schedule().gist_domain_params(context)
    if doubtful:
        require_simple(schedule, context)
    due = Due(wanted, values_of_loops(tiled)) if compared else None
    return build_ir(schedule, context, leaves, paths_of(schedule, host=False), due, once)


def _everywhere(inserted: list[Insertion], visited: isl.UnionSet) -> list[Insertion]:
    """Return those ``inserted`` once per visit without a condition, where they are in all of ``visited``."""
    places = sets_of(visited)

    def without(insertion: Insertion) -> Insertion:
        domain = insertion.relation.domain()
        once = insertion.relation.dim(isl.dim_type.out) == domain.dim(isl.dim_type.set)
        if not (once and domain.n_basic_set() > 1 and all(place.is_subset(domain) for place in places)):
            return insertion
        name = str(insertion.relation.get_tuple_name(isl.dim_type.out))
        return replace(insertion, relation=visit(name, isl.Set.universe(domain.get_space())))

    return [without(insertion) for insertion in inserted]


def _confined(inserted: list[Insertion], visited: isl.UnionSet) -> list[Insertion]:
    """Return those ``inserted`` only where one of ``visited`` (values of the loops around them) is."""
    places = sets_of(visited)
    return [replace(i, relation=i.relation.intersect_domain(places[0])) for i in inserted if places]


def _context(scop: Scop, tiled: TiledKernel) -> isl.Set:
    """Return what is known of the parameters inside the kernel.

    Facts that take a division to say are left out: isl spends seconds on them and simplifies little.
    """
    context = scop.context.intersect(scop.assumptions)
    if tiled.kernel.in_front:  # cases for sizes of about a tile multiply the most here
        context = without_upper_bounds(context.remove_divs())
    context = context.intersect(_launched(tiled)).remove_divs().coalesce()
    names = thread_parameters(tiled.mapping)
    if tiled.mapping.distribution is not Distribution.CYCLIC:
        return context.intersect(over_parameters("{ : }", names))
    bounds = " and ".join(f"0 <= p{k} < {t}" for k, t in enumerate(tiled.mapping.threads))
    return context.intersect(over_parameters(f"{{ : {bounds} }}", names))


def _launched(tiled: TiledKernel) -> isl.Set:
    """Return the parameter values for which the kernel is launched at all."""
    kernel = tiled.kernel
    launches = kernel.launches
    for k, name in enumerate(kernel.host_loops):
        launches = launches.insert_dims(isl.dim_type.param, 0, 1)
        launches = launches.set_dim_name(isl.dim_type.param, 0, name)
        launches = launches.equate(isl.dim_type.param, 0, isl.dim_type.set, k)
    return launches.params()


def _insert(
    root: isl.ScheduleNode, level: Level, before: list[Insertion], after: list[Insertion]
) -> isl.ScheduleNode:
    """Insert the statements around what is below ``level``; return the new root."""
    node = _find(root.root(), LevelMark(level.number))
    assert node is not None
    node = node.child(0)
    for insertion in before:
        node = node.graft_before(isl.ScheduleNode.from_extension(insertion.relation.to_union_map()))
    for insertion in reversed(after):
        node = node.graft_after(isl.ScheduleNode.from_extension(insertion.relation.to_union_map()))
    return node.root()


def _find(node: isl.ScheduleNode, mark: LevelMark) -> isl.ScheduleNode | None:
    if mark_of(node) == mark:
        return node
    for k in range(node.n_children()):
        found = _find(node.child(k), mark)
        if found is not None:
            return found
    return None
