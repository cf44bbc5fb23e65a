"""Arrays that iterations use as work space: each gets a copy that dies in the region, its values do not.

An array of the function's caller, or one that is used after the region, may serve the iterations of some
loops as work space: each of them reads nothing of it but what it has written itself.  In the model such an
array ``w`` is replaced by a copy, declared in the region, that :mod:`swbuild.polyhedral.privatise` can make
private.  What the loops leave in ``w`` is put there by a new statement, ``w[e] = copy[e]``, at the end of the
iteration that writes ``w[e]`` last.

Why that leaves everything as it was, in the order of the source: reads take their values from writes of
their own iteration, which write the same copy.  An element that is written at all has a last certain write;
whatever may write it later does so in the same iteration, before the new statement.  So that one stores the
value that the element is left with.  Reads behind the loops find it there, no read needs an earlier value of
``w[e]`` in memory, and an element that is never written keeps its value, also where loops run no iteration.

Where only the run knows the size of ``w``, or what of it the region accesses, the copy has room for some
elements, and the model assumes that there are no more; the host tests it, and runs the loops of the source
where that does not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import count
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Assignment
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.types import LONG
from swbuild.frontend.scop import Access, AccessKind, Address, Array, Iterator, Scop, Statement, Storage
from swbuild.names import own
from swbuild.polyhedral.dataflow import ArrayFlow, Expansion, flow_by_array, instance_prefix, relations
from swbuild.polyhedral.extents import extents_of
from swbuild.polyhedral.islutil import bounded_effort, constant_of, maps_of, union_maps
from swbuild.polyhedral.looptree import Leaf, Loop, Sequence, Tree, leaves, loop_tree, plain
from swbuild.polyhedral.privatise import MAX_PRIVATE_BYTES, is_private_candidate, shared_copies

__all__ = ["Workspace", "find_workspace", "with_copies"]

#: isl steps for finding the last writes of one array.
MAX_OPERATIONS = 200_000

#: The least room for elements along an extent that only the run knows.
_LEAST_ROOM = 64

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Workspace:
    """An array that the iterations of the ``depth`` loops around ``statements`` use as work space.

    ``last``: element -> [the iteration of those loops that writes it last].
    """

    array: str
    statements: frozenset[str]
    depth: int
    last: isl.Map

    @property
    def copy(self) -> str:
        """The name of the copy."""
        return own(f"{self.array}_private")


def find_workspace(scop: Scop) -> tuple[Workspace, ...]:
    """Return the arrays that serve iterations as work space; those that die in the region are none."""
    candidates = [a for a in scop.arrays if _is_candidate(scop, a)]
    if not candidates:
        return ()
    flows = flow_by_array(relations(scop), scop.schedule, frozenset(a.name for a in candidates))
    found: list[Workspace] = []
    for array in candidates:
        flow = flows.get(array.name)
        if flow is not None and not flow.live_in:
            found += _bounded(scop, array.name, flow)
    return tuple(found)


def _bounded(scop: Scop, array: str, flow: ArrayFlow) -> list[Workspace]:
    """Return the loops that use ``array`` as work space, none where isl takes long over them."""
    try:
        with bounded_effort(MAX_OPERATIONS):
            last = _last_writes(scop, array)
            inner = tuple(pair for pair in flow.pairs if not _hands_on(scop, array, pair, last))
            shared = shared_copies(scop, array, replace(flow, pairs=inner))
            copies = {name: copy for (name, _), copy in shared.items()}
            return _workspaces(scop, array, _in_real_loops(scop, copies), last)
    except isl.Error:
        return []


def _in_real_loops(scop: Scop, copies: dict[str, Expansion]) -> dict[str, Expansion]:
    """Return ``copies`` for the loops that really are around all who share them.

    Loops of a function that is called twice look the same in the source.
    """
    tree = loop_tree(scop)
    labels = {copy.component for copy in copies.values()}
    users = {label: {name for name, copy in copies.items() if copy.component == label} for label in labels}
    around = {label: _loops_around(tree, names) for label, names in users.items()}
    return {name: replace(c, depth=min(c.depth, around[c.component])) for name, c in copies.items()}


def _loops_around(tree: Tree, statements: Collection[str]) -> int:
    """Return the number of loops of ``tree`` that have all of ``statements`` in them."""
    if isinstance(tree, Loop):
        return 1 + _loops_around(tree.body, statements)
    parts = [part for part in tree.parts if _holds(part, statements)] if isinstance(tree, Sequence) else []
    return _loops_around(parts[0], statements) if len(parts) == 1 else 0


def _hands_on(scop: Scop, array: str, pair: isl.Map, last: isl.UnionMap) -> bool:
    """Return whether ``pair`` leads from one nest to another, which only reads what the array is left with.

    Those reads come after the nest, and so after the statement that puts the value into the array.
    """
    source, sink = (scop.statement(pair.get_tuple_name(side)) for side in (_IN, _OUT))
    if source.iterators[:1] == sink.iterators[:1] or not source.iterators:
        return False
    accesses = [a for a in sink.accesses if a.array == array]
    if any(a.kind is not AccessKind.READ for a in accesses):
        return False
    order = scop.schedule.get_map()  # instance -> time
    reads = _accesses(scop, array, AccessKind.READ).intersect_domain(sink.domain.to_union_set())
    reading, writing = order.intersect_domain(reads.domain()), order.intersect_domain(last.range())
    # instance that reads -> last writes before it -> elements whose last write that is
    return bool(reads.is_subset(reading.lex_gt_union_map(writing).apply_range(last.reverse())))


def _is_candidate(scop: Scop, array: Array) -> bool:
    """Return whether ``array`` is written, small, accessed where the model says, and not private as it is."""
    accesses = [a for s in scop.statements for a in s.accesses if a.array == array.name]
    written = any(a.kind is not AccessKind.READ for a in accesses)
    plain_ones = written and all(a.affine for a in accesses) and not array.is_scalar
    fits = plain_ones and _room(array, extents_of(scop, array)) is not None
    return fits and array.storage is not Storage.REGION and not is_private_candidate(array)


def _room(array: Array, extents: tuple[isl.PwAff | None, ...]) -> tuple[int, ...] | None:
    """Return how many elements a copy of ``array`` has room for in each dimension, None if it is too large.

    Of the ``extents`` one may be known at run time only; that dimension gets what the others leave.
    """
    counts = [None if extent is None else constant_of(extent) for extent in extents]
    known = [count for count in counts if count is not None]
    if any(extent is None for extent in extents) or len(counts) - len(known) > 1:
        return None
    room = MAX_PRIVATE_BYTES // max(1, array.element.size * prod(known))
    if room < (1 if len(known) == len(counts) else _LEAST_ROOM):
        return None
    return tuple(room if count is None else count for count in counts)


def _workspaces(scop: Scop, array: str, copies: dict[str, Expansion], last: isl.UnionMap) -> list[Workspace]:
    """Return the loops that use ``array`` as work space; ``copies`` tells the iterations of each user.

    There are none where another copy than that of the last certain write, or an element without one, may be
    written after that write.
    """
    order = scop.schedule.get_map()  # instance -> time
    may = _accesses(scop, array, AccessKind.MAY_WRITE).reverse()  # element -> instance
    # instance -> [copy]; instance -> instances that use the same copy
    copy = union_maps(_copy_of(scop.statement(name), copies[name]) for name in copies)
    same = copy.apply_range(copy.reverse())
    harmless = order.lex_gt_union_map(order).union(same)  # instance -> earlier ones, and those of its copy
    # element -> its last writer -> writers that may be later
    if not may.is_subset(last.apply_range(harmless)):
        return []
    labels = sorted({copy.component for copy in copies.values() if copy.depth})
    found = [_workspace(scop, array, copies, label, last) for label in labels]
    return [work for work in found if work is not None]


def _last_writes(scop: Scop, array: str) -> isl.UnionMap:
    """Return element -> the instance that certainly writes it last."""
    order = scop.schedule.get_map()  # instance -> time
    must = _accesses(scop, array, AccessKind.MUST_WRITE).reverse()  # element -> instance
    return must.apply_range(order).lexmax().apply_range(order.reverse()).intersect(must)


def _accesses(scop: Scop, array: str, kind: AccessKind) -> isl.UnionMap:
    """Return instance -> element for the accesses of this kind."""
    return union_maps(
        a.relation.intersect_domain(s.domain).intersect_params(scop.context)
        for s in scop.statements
        for a in s.accesses
        if a.array == array and a.kind is kind
    )


def _copy_of(statement: Statement, copy: Expansion) -> isl.Map:
    prefix = instance_prefix(statement, copy.depth).intersect_domain(statement.domain)
    return prefix.set_tuple_name(_OUT, copy.space)


def _workspace(
    scop: Scop, array: str, copies: dict[str, Expansion], label: str, last: isl.UnionMap
) -> Workspace | None:
    """Return the loops around the users labelled ``label``.

    None where no two iterations share an element, or none reads what it writes.
    """
    names = frozenset(name for name, copy in copies.items() if copy.component == label)
    depth = next(copies[name].depth for name in names)
    iteration = union_maps(instance_prefix(scop.statement(name), depth) for name in names)
    writes = _accesses(scop, array, AccessKind.MUST_WRITE).intersect_domain(iteration.domain())
    by_iteration = iteration.reverse().apply_range(writes)  # [iteration] -> element
    reads = _accesses(scop, array, AccessKind.READ).intersect_domain(iteration.domain())
    if by_iteration.is_injective() or reads.is_empty():
        return None
    pieces = maps_of(last.apply_range(iteration))  # element -> [iteration]
    return Workspace(array, names, depth, pieces[0].coalesce()) if len(pieces) == 1 else None


def with_copies(scop: Scop, workspace: Iterable[Workspace]) -> Scop:
    """Return ``scop`` with a copy in the place of each array, in the loops that use it as work space."""
    for work in workspace:
        scop = _with_copy(scop, work)
    return scop


def _with_copy(scop: Scop, work: Workspace) -> Scop:
    array = scop.array(work.array)
    extents = extents_of(scop, array)
    room = _room(array, extents)
    assert room is not None, "a copy that was found to fit"
    added = () if any(a.name == work.copy for a in scop.arrays) else (_declared(array, work.copy, room),)
    final = _final_statement(scop, work)
    renamed = tuple(_renamed(s, work) if s.name in work.statements else s for s in scop.statements)
    tree = _with_part(loop_tree(scop), work, _looped(final, work.depth), 0)
    scop = replace(scop, assumptions=scop.assumptions.intersect(_no_larger(extents, room)))
    return replace(scop, arrays=(*scop.arrays, *added), statements=(*renamed, final), schedule=plain(tree))


def _no_larger(extents: tuple[isl.PwAff | None, ...], room: tuple[int, ...]) -> isl.Set:
    """Return the sizes at which no dimension has an extent of more elements than ``room`` says."""
    allowed = isl.Set("{ : }")
    for extent, elements in zip(extents, room, strict=True):
        if extent is not None and constant_of(extent) is None:
            most = isl.PwAff.val_on_domain(extent.domain(), isl.Val(elements))
            allowed = allowed.intersect(extent.le_set(most))
    return allowed


def _declared(array: Array, name: str, room: tuple[int, ...]) -> Array:
    """Return the copy of ``array``, with ``room`` for elements: a variable of the region."""
    extents = "".join(f"[{count}]" for count in room)
    return replace(
        array,
        name=name,
        storage=Storage.REGION,
        declaration=f"{array.element.name} {name}{extents}",
        address=Address(name, len(array.extents)),
        extents=tuple(isl.PwAff(f"{{ [({count})] }}") for count in room),
        live_out=False,
        scope_depth=0,
        is_const=False,
        whole_rows=None,
    )


def _renamed(statement: Statement, work: Workspace) -> Statement:
    """Return ``statement`` with the copy in the place of the array."""
    return replace(statement, accesses=tuple(_on_copy(a, work) for a in statement.accesses))


def _on_copy(access: Access, work: Workspace) -> Access:
    if access.array != work.array:
        return access
    relation = access.relation.set_tuple_name(_OUT, work.copy)
    return replace(access, array=work.copy, relation=relation)


def _final_statement(scop: Scop, work: Workspace) -> Statement:
    """Return the statement that puts the last values of the copy into the array."""
    array, user = scop.array(work.array), scop.statement(min(work.statements))
    taken = {statement.name for statement in scop.statements}
    name = next(name for number in count() if (name := f"S{number}") not in taken)
    # [iteration] -> element, as instances [iteration, indices of the element]
    domain = work.last.reverse().wrap().flatten().set_tuple_name(name)
    rank = len(array.extents)
    indices = tuple(Iterator(f"e{k}", LONG, user.span) for k in range(rank))
    index = instance_prefix_from(domain, work.depth)
    target = AccessRef(array.element, 0)
    body = Evaluation(Assignment(array.element, "=", array.element, target, AccessRef(array.element, 1)))
    accesses = tuple(
        Access(a, kind, index.set_tuple_name(_OUT, a).intersect_domain(domain), ref, True, user.span)
        for ref, (a, kind) in enumerate(((work.array, AccessKind.MUST_WRITE), (work.copy, AccessKind.READ)))
    )
    return Statement(name, domain, (*user.iterators[: work.depth], *indices), accesses, body, user.span)


def instance_prefix_from(domain: isl.Set, depth: int) -> isl.Map:
    """Return ``{ S[i0, …] -> [i(depth), …] }``."""
    identity = isl.Map.identity(domain.get_space().map_from_set())
    return identity.reset_tuple_id(_OUT).project_out(_OUT, 0, depth)


def _with_part(tree: Tree, work: Workspace, part: Tree, depth: int) -> Tree:
    """Return ``tree`` with ``part`` at the end of the innermost loop of ``work``; ``depth`` are above."""
    if depth == work.depth:
        parts = tree.parts if isinstance(tree, Sequence) else (tree,)
        return Sequence((*parts, part))
    if isinstance(tree, Loop):
        (leaf,) = leaves(part)
        value = tree.value.union_add(_counter(leaf, depth, ascending=_ascends(tree, depth)))
        return replace(tree, value=value, body=_with_part(tree.body, work, part, depth + 1))
    assert isinstance(tree, Sequence)
    return Sequence(
        tuple(_with_part(p, work, part, depth) if _holds(p, work.statements) else p for p in tree.parts)
    )


def _holds(tree: Tree, statements: Collection[str]) -> bool:
    return any(leaf.statement in statements for leaf in leaves(tree))


def _looped(final: Statement, depth: int) -> Tree:
    """Return ``final`` in its own loops, those below ``depth``."""
    leaf = Leaf(final.name, final.domain)
    tree: Tree = leaf
    for k in reversed(range(depth, len(final.iterators))):
        tree = Loop(final.iterators[k].name, final.span.line, _counter(leaf, k, ascending=True), tree)
    return tree


def _ascends(loop: Loop, depth: int) -> bool:
    """Return whether the counter of ``loop``, the dimension ``depth`` of all instances in it, counts up."""
    (_, formula), *_ = loop.value.get_pw_aff_list().get_at(0).get_pieces()
    return bool(formula.get_coefficient_val(_IN, depth).is_pos())


def _counter(leaf: Leaf, depth: int, *, ascending: bool) -> isl.UnionPwAff:
    """Return the dimension ``depth`` of ``leaf``, negated where it counts down."""
    space = isl.LocalSpace.from_space(leaf.domain.get_space())
    counter = isl.Aff.var_on_domain(space, isl.dim_type.set, depth)
    return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(counter if ascending else counter.neg()))
