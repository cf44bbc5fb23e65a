"""Sums into arrays in parts: each part goes into a row of its own, and the rows are added up in their order.

``y[j] += A[i][j] * x[i]`` adds to all of ``y`` in each iteration of ``i``, which therefore have an order.  In
parts of them that each have a row of a work array in the place of ``y``, iterations of different parts have
none; afterwards ``y[j] += work[0][j]``, ``y[j] += work[1][j]``, … for all ``j``.  As far as real numbers go
that is the same sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Assignment, IteratorRef, Literal, Operation, Parentheses, Unary
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import DOUBLE, INT, LONG
from swbuild.frontend.scop import Access, AccessKind, Address, Array, Iterator, Scop, Statement, Storage
from swbuild.islnumbers import int_of
from swbuild.names import own
from swbuild.polyhedral.extents import extents_of
from swbuild.polyhedral.islutil import constant_of, sets_of, union_maps
from swbuild.polyhedral.reductions import Reduction, accesses_to

__all__ = ["Blocks", "OwnSum", "in_blocks", "own_sum", "with_own_sum"]

#: Rows of a work array begin at multiples of so many bytes, as the requests of the DMA do.
_ROW = 128

_OUT, _SET = isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class OwnSum:
    """What takes the place of ``reduction``: a work array with a row for each of ``parts``.

    ``touched`` are the elements of the reduction's array that are added to, ``room`` the extents of a row.
    ``first`` and ``last`` are the names of the statements that begin the parts and add them up.
    """

    reduction: Reduction
    parts: int
    touched: isl.Set
    room: tuple[isl.PwAff, ...]
    first: str
    last: str

    @property
    def work(self) -> str:
        """The name of the work array."""
        return own(f"{self.reduction.array}_parts")


@dataclass(frozen=True, slots=True)
class Blocks:
    """The rows of a loop that counts from 0, in blocks of ``length`` for ``parts`` in turn.

    Without ``turns`` each part has one block.
    """

    parts: int
    length: int
    turns: bool

    @property
    def depth(self) -> int:
        """The number of iterators before those of the source."""
        return 2 if self.turns else 1


def own_sum(scop: Scop, reduction: Reduction, parts: int) -> OwnSum | None:
    """Return how ``reduction`` gets ``parts`` of its own, None where nothing bounds what it adds to."""
    pieces = sets_of(accesses_to(scop, reduction.array, reduction.statements).range())
    if len(pieces) != 1:
        return None
    array, sizes = scop.array(reduction.array), scop.context.intersect(scop.assumptions)
    touched = pieces[0].intersect_params(sizes).coalesce()
    room = [_room(touched, position, extent) for position, extent in enumerate(extents_of(scop, array))]
    if any(extent is None for extent in room):
        return None
    known = tuple(extent for extent in room if extent is not None)
    taken = {statement.name for statement in scop.statements}
    free = (name for number in count() if (name := f"S{number}") not in taken)
    whole = _whole_lines(known[-1], array.element.size)
    return OwnSum(reduction, parts, touched, (*known[:-1], whole), next(free), next(free))


def _room(elements: isl.Set, position: int, extent: isl.PwAff | None) -> isl.PwAff | None:
    """Return what the indices of ``elements`` at ``position`` lie below, a number or else ``extent``.

    None where nothing says that they do, or where there are negative ones: callers may pass more of an array
    than its declaration says, and pointers into the middle of one.
    """
    everywhere = elements.project_out_all_params()
    largest = everywhere.dim_max_val(position)
    if not everywhere.dim_min_val(position).is_nonneg():
        return None
    if largest.is_int():
        return isl.PwAff(f"{{ [({int_of(largest) + 1})] }}")
    if extent is None:
        return None
    space = elements.get_space()
    index = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, position))
    outside = index.ge_set(extent.insert_domain(space)).intersect(elements)
    return extent if outside.is_empty() else None


def _whole_lines(extent: isl.PwAff, element: int) -> isl.PwAff:
    """Return ``extent`` or a little more, so that rows of a known length begin at whole lines."""
    known, step = constant_of(extent), max(1, _ROW // element)
    return extent if known is None else isl.PwAff(f"{{ [({-(-known // step) * step})] }}")


def in_blocks(scop: Scop, rows: Mapping[str, int], blocks: Blocks) -> tuple[Scop, isl.UnionMap]:
    """Return ``scop`` with the loops that ``rows`` says, by statements, in ``blocks``.

    The first iterators of these statements are the part and, where they come in turns, the turn; the loop
    counts from 0 in each block.  The second value maps instances to what they have become.  The order is left
    to the caller.
    """
    cut = {name: _Cut(scop.statement(name), loop, blocks) for name, loop in rows.items()}
    others = [s.domain.get_space() for s in scop.statements if s.name not in cut]
    same = [isl.Map.identity(space.map_from_set()) for space in others]
    statements = tuple(cut[s.name].cut() if s.name in cut else s for s in scop.statements)
    names = union_maps([*(each.names for each in cut.values()), *same])
    return replace(scop, statements=statements), names


@dataclass(frozen=True, slots=True)
class _Cut:
    """The ``loop`` of a statement in ``blocks``."""

    statement: Statement
    loop: int
    blocks: Blocks

    @property
    def names(self) -> isl.Map:
        """``{ S[…, i, …] -> S[part, turn, …, i mod length, …] }``."""
        space = self.statement.domain.get_space()
        same = isl.MultiAff.identity_on_domain_space(space)
        counter, length = same.get_at(self.loop), isl.Val(self.blocks.length)
        found = same.set_at(self.loop, counter.mod_val(length)).reset_tuple_id(_OUT)
        part = counter.scale_down_val(length).floor()
        if self.blocks.turns:
            parts = isl.Val(self.blocks.parts)
            turn, part = part.scale_down_val(parts).floor(), part.mod_val(parts)
            found = isl.MultiAff.from_aff(turn).flat_range_product(found)
        found = isl.MultiAff.from_aff(part).flat_range_product(found)
        return isl.Map.from_multi_aff(found).set_tuple_name(_OUT, self.statement.name)

    def cut(self) -> Statement:
        """Return the statement in its blocks."""
        statement, names = self.statement, self.names
        span = statement.iterators[self.loop].span  # statements in one loop are in one of these, too
        added = [Iterator(name, LONG, span, made=True) for name in ("part", "turn")]
        accesses = tuple(
            replace(
                access,
                relation=access.relation.apply_domain(names),
                index_body=tuple(map(self._counted, access.index_body)),
            )
            for access in statement.accesses
        )
        return replace(
            statement,
            domain=statement.domain.apply(names),
            iterators=(*added[: self.blocks.depth], *statement.iterators),
            accesses=accesses,
            body=self._counted(statement.body),
        )

    def _counted(self, tree: Expression) -> Expression:
        """Return ``tree`` with the counters in it as they are now."""

        def change(node: Expression) -> Expression:
            if not isinstance(node, IteratorRef):
                return node
            depth, kind = self.blocks.depth, node.type
            inner: Expression = replace(node, index=node.index + depth)
            if node.index != self.loop:
                return inner
            steps = (self.blocks.length, self.blocks.length * self.blocks.parts)
            for outer, step in enumerate(steps[:depth]):
                whole = Operation(kind, "*", kind, Literal(INT, str(step)), IteratorRef(kind, outer))
                inner = Operation(kind, "+", kind, whole, inner)
            return Parentheses(kind, inner)

        return transformed(tree, change)


def with_own_sum(scop: Scop, own_: OwnSum) -> Scop:
    """Return ``scop`` with the work array of ``own_``, which is added to in the row of each block.

    The order of its statements is left to the caller.
    """
    statements = tuple(
        _renamed(s, own_) if s.name in own_.reduction.statements else s for s in scop.statements
    )
    ends = (_first(scop, own_), _last(scop, own_))
    return replace(scop, arrays=(*scop.arrays, _declared(scop, own_)), statements=(*statements, *ends))


def _declared(scop: Scop, own_: OwnSum) -> Array:
    array = scop.array(own_.reduction.array)
    extents = (isl.PwAff(f"{{ [({own_.parts})] }}"), *own_.room)
    return replace(
        array,
        name=own_.work,
        storage=Storage.WORK,
        declaration=f"{array.element.name} *{own_.work}",
        address=Address(own_.work, is_value=True),
        extents=extents,
        live_out=False,
        scope_depth=0,
        is_const=False,
        is_closed=True,
        whole_rows=None,
    )


def _renamed(statement: Statement, own_: OwnSum) -> Statement:
    """Return ``statement`` adding to the row of its block."""
    same = isl.Map.identity(statement.domain.get_space().map_from_set()).reset_tuple_id(_OUT)
    row = same.project_out(_OUT, 1, len(statement.iterators) - 1)
    accesses = tuple(
        replace(access, array=own_.work, relation=_behind(row, access.relation, own_.work))
        if access.array == own_.reduction.array
        else access
        for access in statement.accesses
    )
    return replace(statement, accesses=accesses)


def _behind(row: isl.Map, relation: isl.Map, name: str) -> isl.Map:
    """Return instance -> [row, indices]."""
    return row.flat_range_product(relation.reset_tuple_id(_OUT)).set_tuple_name(_OUT, name)


def _first(scop: Scop, own_: OwnSum) -> Statement:
    """Return ``work[part][e] = -0.0``, the number that a sum of others is the same with."""
    domain = _instances(own_, own_.first, leading=True)
    element = scop.array(own_.reduction.array).element
    user = scop.statement(min(own_.reduction.statements))
    to = isl.Map.identity(domain.get_space().map_from_set()).set_tuple_name(_OUT, own_.work)
    access = Access(own_.work, AccessKind.MUST_WRITE, to.intersect_domain(domain), 0, True, user.span)
    zero = Unary(DOUBLE, Literal(DOUBLE, "0.0"), "-")
    body = Evaluation(Assignment(element, "=", element, AccessRef(element, 0), zero))
    return Statement(own_.first, domain, _iterators(own_, user, leading=True), (access,), body, user.span)


def _last(scop: Scop, own_: OwnSum) -> Statement:
    """Return ``y[e] += work[part][e]``."""
    domain = _instances(own_, own_.last, leading=False)
    element = scop.array(own_.reduction.array).element
    user, rank = scop.statement(min(own_.reduction.statements)), len(own_.room)
    every = isl.Map.identity(domain.get_space().map_from_set()).reset_tuple_id(_OUT)
    to = every.project_out(_OUT, rank, 1).set_tuple_name(_OUT, own_.reduction.array)
    indices, part = every.project_out(_OUT, rank, 1), every.project_out(_OUT, 0, rank)
    come = _behind(part, indices, own_.work)
    accesses = tuple(
        Access(array, kind, relation.intersect_domain(domain), ref, True, user.span)
        for array, kind, relation, ref in (
            (own_.reduction.array, AccessKind.READ, to, 0),
            (own_.reduction.array, AccessKind.MUST_WRITE, to, 0),
            (own_.work, AccessKind.READ, come, 1),
        )
    )
    value: Expression = AccessRef(element, 1)
    body = Evaluation(Assignment(element, "+=", element, AccessRef(element, 0), value))
    return Statement(own_.last, domain, _iterators(own_, user, leading=False), accesses, body, user.span)


def _instances(own_: OwnSum, name: str, *, leading: bool) -> isl.Set:
    """Return [part, indices] of all elements that are added to, or [indices, part]."""
    parts = isl.Set(f"{{ [part] : 0 <= part < {own_.parts} }}")
    elements = own_.touched.reset_tuple_id()
    both = parts.flat_product(elements) if leading else elements.flat_product(parts)
    return both.set_tuple_name(name)


def _iterators(own_: OwnSum, user: Statement, *, leading: bool) -> tuple[Iterator, ...]:
    part = Iterator("part", LONG, user.span, made=True)
    indices = tuple(Iterator(f"e{k}", LONG, user.span, made=True) for k in range(len(own_.room)))
    return (part, *indices) if leading else (*indices, part)
