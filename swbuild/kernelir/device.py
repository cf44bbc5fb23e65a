"""The kernel IR of one kernel: its tiled tree with the transfers of its memory plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression
from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import (
    Due,
    Inexact,
    Leaf,
    Leaves,
    Repeated,
    Undecided,
    build_ir,
    require_simple,
)
from swbuild.kernelir.bodies import Spell, compute_leaf
from swbuild.kernelir.dealing import dealt, numbers_of
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Direction,
    ElementStore,
    Group,
    Node,
    Place,
    Row,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import paths_of
from swbuild.kernelir.transfers import low_of
from swbuild.mapping.marks import LevelMark, mark_of
from swbuild.mapping.tiling import TiledKernel, thread_parameters, values_of_loops
from swbuild.memory.levels import Level
from swbuild.memory.plan import Buffer, MemoryPlan, Store
from swbuild.options import Distribution
from swbuild.polyhedral.context import without_upper_bounds
from swbuild.polyhedral.islutil import is_plain, over_parameters, sets_of

__all__ = ["build_device", "revisited"]


@dataclass(frozen=True, slots=True)
class _Insertion:
    """Statements to insert at one level: ``relation`` maps the prefix to their instances."""

    relation: isl.Map
    leaf: Leaf


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
    return _of_thread(tiled, plan, bodies, context, doubtful=doubtful)


def revisited(plan: MemoryPlan, problem: Repeated) -> MemoryPlan:
    """Return ``plan`` such that the boxes of ``problem`` may be visited, and so put, twice.

    They are loaded first, from what the visit before has stored: what a visit does not compute then goes
    back as it was, and what is stored is still no more than what the kernel writes.
    """
    buffers = tuple(
        replace(b, load=True, reloaded=True) if _put_name(b) in problem.repeated else b for b in plan.buffers
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
    node = tiled.schedule.get_root()
    own = tiled.schedule.get_domain().intersect(tiled.filter)
    wanted = own
    for level in sorted(plan.top.walk(), key=lambda level: -level.number):
        before, after = _insertions(plan, level)
        visited = own.apply(level.prefix)
        if confined:
            before, after = _confined(before, visited), _confined(after, visited)
        node = _insert(node, level, before, after)
        for insertion in (*before, *after):
            leaves[str(insertion.relation.get_tuple_name(isl.dim_type.out))] = insertion.leaf
            wanted = wanted.union(visited.apply(insertion.relation.to_union_map()))
    mine = tiled.filter.gist_params(context)  # saves isl a quarter of its time
    schedule = node.root().child(0).insert_filter(mine).get_schedule().gist_domain_params(context)
    if doubtful:
        require_simple(schedule, context)
    due = Due(wanted, values_of_loops(tiled)) if compared else None
    once = frozenset(_put_name(b) for b in plan.buffers if b.is_put_once)
    return build_ir(schedule, context, leaves, paths_of(schedule, host=False), due, once)


def _confined(insertions: list[_Insertion], visited: isl.UnionSet) -> list[_Insertion]:
    """Return ``insertions`` only where one of ``visited`` (values of the loops around them) is."""
    places = sets_of(visited)
    return [replace(i, relation=i.relation.intersect_domain(places[0])) for i in insertions if places]


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
    root: isl.ScheduleNode, level: Level, before: list[_Insertion], after: list[_Insertion]
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


def _insertions(plan: MemoryPlan, level: Level) -> tuple[list[_Insertion], list[_Insertion]]:
    buffers = [b for b in plan.buffers if b.level == level.number]
    before = [_place(b) for b in buffers]
    loaded = [b for b in buffers if b.load]
    if loaded:
        group = Group(level.number, Direction.GET)
        before = [_node(Begin(group), loaded), *before, _node(Wait(group), loaded)]
    after = [_put(b) for b in buffers if b.store is not Store.NONE]
    stored = [b for b in buffers if b.store is not Store.NONE]
    if stored:
        group = Group(level.number, Direction.PUT)
        wait = Wait(group, fence=any(b.reloaded for b in stored))
        after = [_node(Begin(group), stored), *after, _node(wait, stored)]
    return before, after


def _visit(name: str, visits: isl.Set) -> isl.Map:
    """Return ``prefix -> name[prefix]`` on ``visits``."""
    return (
        isl.Map.identity(visits.get_space().map_from_set())
        .intersect_domain(visits)
        .set_tuple_name(isl.dim_type.out, name)
    )


def _node(node: Begin | Wait, buffers: list[Buffer]) -> _Insertion:
    """Insert ``node`` wherever one of ``buffers`` is visited."""
    visits = buffers[0].box.visits
    for buffer in buffers[1:]:
        visits = visits.union(buffer.box.visits)
    name = f"sw_{type(node).__name__.lower()}_{node.group.direction.value}s_{node.group.level}"
    return _Insertion(_visit(name, visits.coalesce()), lambda *_: node)


def _place(buffer: Buffer) -> _Insertion:
    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        def here(value: isl.PwAff) -> Expression:
            return _at(build, value, instances)

        low = tuple(here(value) for value in buffer.box.low)
        size = tuple(_size(buffer, k, here) for k in range(len(low)))
        placed = Place(buffer.name, low, size)
        return Block((placed, _whole(buffer, Direction.GET))) if buffer.load else placed

    return _Insertion(_visit(f"sw_place_{buffer.name}", buffer.box.visits), leaf)


def _size(buffer: Buffer, position: int, here: Callable[[isl.PwAff], Expression]) -> Expression:
    """Return the number of indices; where both ends depend on cases, in terms of the first index."""
    box = buffer.box
    if box.low[position].n_piece() == 1:
        return here(box.size[position])
    first = low_of(buffer.name, position)
    length = Binary(BinaryOperator.SUB, here(box.high[position]), first)
    return Binary(BinaryOperator.ADD, length, Constant(1))


def _at(build: isl.AstBuild, value: isl.PwAff, instances: isl.PwMultiAff) -> Expression:
    """Return ``value``, a function of the prefix, where the AST stands."""
    plain = instances.reset_tuple_id(isl.dim_type.out)
    return value_in(build, value.pullback_pw_multi_aff(plain).coalesce())  # else isl takes long over cases


def _whole(buffer: Buffer, direction: Direction) -> Transfer:
    return Transfer(buffer.name, 0, Whole(), Group(buffer.level, direction))


def _put(buffer: Buffer) -> _Insertion:
    name = _put_name(buffer)
    if buffer.store is Store.BOX:
        return _Insertion(_visit(name, buffer.box.visits), lambda *_: _whole(buffer, Direction.PUT))
    assert buffer.written is not None
    if buffer.store is Store.ELEMENTS:
        return _elements(buffer, name)
    return _rows(buffer, name)


def _put_name(buffer: Buffer) -> str:
    return f"sw_put_{buffer.name}"


def _elements(buffer: Buffer, name: str) -> _Insertion:
    assert buffer.written is not None
    written = buffer.written
    depth = written.dim(isl.dim_type.in_)
    relation = _graph(written.reset_tuple_id(isl.dim_type.out), written.dim(isl.dim_type.out), name)

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        return ElementStore(buffer.name, _components(build, instances, depth))

    return _Insertion(relation, leaf)


def _components(build: isl.AstBuild, instances: isl.PwMultiAff, start: int) -> tuple[Expression, ...]:
    count = instances.dim(isl.dim_type.out)
    return tuple(value_in(build, instances.get_pw_aff(k)) for k in range(start, count))


def _graph(relation: isl.Map, kept: int, name: str) -> isl.Map:
    """Return ``prefix -> name[prefix, first kept outputs]`` of ``relation``."""
    plain = relation.project_out(isl.dim_type.out, kept, relation.dim(isl.dim_type.out) - kept)
    identity = isl.Map.identity(plain.domain().get_space().map_from_set())
    graph = identity.flat_range_product(plain).set_tuple_name(isl.dim_type.out, name)
    return graph.detect_equalities().coalesce()


def _rows(buffer: Buffer, name: str) -> _Insertion:
    assert buffer.written is not None
    written = buffer.written.reset_tuple_id(isl.dim_type.out)
    depth, inner = written.dim(isl.dim_type.in_), written.dim(isl.dim_type.out) - 1
    by_row = written.move_dims(isl.dim_type.in_, depth, isl.dim_type.out, 0, inner)
    low, high = by_row.dim_min(0), by_row.dim_max(0)
    size = high.sub(low).add_constant_val(isl.Val(1))
    rows = by_row.domain()

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        outer = _components(build, instances, depth)
        start = _at(build, low.gist(rows), instances)
        row = Row(outer, start, _at(build, size.gist(rows), instances))
        return Transfer(buffer.name, 0, row, Group(buffer.level, Direction.PUT))

    return _Insertion(_graph(written, inner, name), leaf)
