"""The nests of a kernel's point loops as the passes over the kernel IR will find them, before there is any.

A nest stands for a full tile: no loop's end depends on another loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Call, Cast, IteratorRef, ParameterRef, Parentheses, Variable
from swbuild.expressions.nodes import Binary, BinaryOperator, Expression, Name, Parenthesised
from swbuild.expressions.trees import transformed
from swbuild.frontend.scop import Scop, Statement
from swbuild.islnumbers import int_of
from swbuild.kernelir.nests import Nest, nest_of
from swbuild.kernelir.nodes import Block, Compute, Loop, Node
from swbuild.kernelir.orders import orders_of
from swbuild.kernelir.origin import Origin, Role
from swbuild.mapping.marks import LevelMark, mark_of
from swbuild.planning.apart import Buffers
from swbuild.planning.iterators import iterators_by, sum_of
from swbuild.polyhedral.islutil import sets_of

__all__ = ["Copied", "PointNest", "point_nests"]

_NODE, _IN, _PARAM = isl.schedule_node_type, isl.dim_type.in_, isl.dim_type.param

#: Of a statement and a private variable that it uses: how many of its loops have a copy for each iteration.
Copied = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class PointNest:
    """A perfect nest: what each of its loops counts, as a function of the instances of ``statements``."""

    nest: Nest
    statements: tuple[str, ...]
    counted: tuple[isl.UnionPwAff, ...]


def point_nests(scop: Scop, schedule: isl.Schedule, buffered: Buffers, copies: Copied) -> list[PointNest]:
    """Return the nests of ``schedule``, a tiled kernel's, whose statements have accesses in buffers.

    Private variables have ``copies`` in buffers, one for each iteration.
    """
    found = (_nest(scop, leaf, buffered, copies) for leaf in _leaves(schedule.get_root(), _Path((), 0)))
    return [nest for nest in found if nest is not None]


@dataclass(frozen=True, slots=True)
class _Path:
    """Point loops around a place; those from the number ``perfect`` on have nothing else in them."""

    loops: tuple[isl.UnionPwAff, ...]
    perfect: int


@dataclass(frozen=True, slots=True)
class _Leaf:
    path: _Path
    statements: tuple[str, ...]


def _leaves(node: isl.ScheduleNode, path: _Path) -> Iterator[_Leaf]:
    """Yield the innermost places below ``node`` with what is computed there, in its order."""
    kind = node.get_type()
    if kind == _NODE.band:
        path = _below(node, path)
    elif isinstance(mark_of(node), LevelMark):
        path = replace(path, perfect=len(path.loops))
    elif node.n_children() > 1:
        if not any(_has_loops(node.child(k)) for k in range(node.n_children())):
            yield _Leaf(path, tuple(name for k in range(node.n_children()) for name in _names(node.child(k))))
            return
        path = replace(path, perfect=len(path.loops))
    elif kind == _NODE.leaf:
        yield _Leaf(path, tuple(_names(node)))
    for k in range(node.n_children()):
        yield from _leaves(node.child(k), path)


def _below(band: isl.ScheduleNode, path: _Path) -> _Path:
    """Return the path below ``band``; loops over tiles are left out, and end what has nothing else in it."""
    partial = band.band_get_partial_schedule()
    loops = [partial.get_at(k) for k in range(band.band_n_member())]
    if isinstance(mark_of(band.child(0)), LevelMark) or all(map(_divides, loops)):
        return replace(path, perfect=len(path.loops))
    return replace(path, loops=(*path.loops, *loops))


def _divides(loop: isl.UnionPwAff) -> bool:
    """Return whether ``loop`` counts fractions of iterators for all that it is around, such as tiles."""
    pieces = loop.get_pw_aff_list()
    formulas = (aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces())
    return all(aff.dim(isl.dim_type.div) for aff in formulas)


def _has_loops(node: isl.ScheduleNode) -> bool:
    kinds = (_NODE.band, _NODE.mark)
    return node.get_type() in kinds or any(_has_loops(node.child(k)) for k in range(node.n_children()))


def _names(node: isl.ScheduleNode) -> list[str]:
    return [str(piece.get_tuple_name()) for piece in sets_of(node.get_domain())]


def _nest(scop: Scop, leaf: _Leaf, buffered: Buffers, copies: Copied) -> PointNest | None:
    names = [f"c{k}" for k in range(len(leaf.path.loops))]
    computes = [
        _compute(scop, scop.statement(name), leaf.path.loops, names, buffered, copies)
        for name in leaf.statements
    ]
    done = [compute for compute in computes if compute is not None]
    if not done or len(done) < len(computes):
        return None
    node: Node = Block(tuple(done)) if len(done) > 1 else done[0]
    for name in reversed(names[leaf.path.perfect :]):
        node = _loop(name, node)
    buffers = frozenset(buffered.values()) | {name for _, name in copies}
    found = nest_of(node, buffers) if isinstance(node, Loop) else None
    if found is None:
        return None
    found = _along_diagonal(found)
    return PointNest(found, leaf.statements, leaf.path.loops[-len(found.loops) :])


def _along_diagonal(nest: Nest) -> Nest:
    """Return the innermost loop of ``nest`` if it is along a diagonal and all have no order, or ``nest``."""
    innermost = replace(nest, loops=nest.loops[-1:])
    if not innermost.is_slanted or next(orders_of(nest, vectors=True, gathers=True), None) is not None:
        return nest
    return innermost


def _loop(name: str, body: Node) -> Loop:
    condition = Binary(BinaryOperator.LT, Name(name), Name(f"{name}_end"))
    return Loop(name, Name(f"{name}_begin"), condition, 1, body, Origin(Role.POINT))


def _compute(
    scop: Scop,
    statement: Statement,
    loops: Sequence[isl.UnionPwAff],
    names: Sequence[str],
    buffered: Buffers,
    copies: Copied,
) -> Compute | None:
    """Return ``statement`` at the iterations of ``loops`` called ``names``, None where that is not simple."""
    counted = [_formula(loop, statement.name) for loop in loops]
    own = [f"{statement.name}_{k}" for k in range(len(statement.iterators))]
    values = iterators_by([aff for aff in counted if aff is not None], names, own) if all(counted) else None
    if values is None:
        return None
    subscripts = {a.ref: _subscripts(statement, a.relation, values) for a in statement.accesses if a.affine}
    if any(found is None for found in subscripts.values()):
        return None

    def change(node: Expression) -> Expression:
        if isinstance(node, AccessRef):
            name = next(access.array for access in statement.accesses if access.ref == node.ref)
            depth = copies.get((statement.name, name))
            own = None if depth is None else tuple(values[:depth])
            buffer = buffered.get((statement.name, node.ref), name)
            return _access(scop, name, buffer, node, subscripts.get(node.ref), own)
        if isinstance(node, IteratorRef):
            return Parentheses(node.type, Cast(node.type, Parenthesised(values[node.index])))
        if isinstance(node, ParameterRef):
            return Parentheses(node.type, Cast(node.type, Name(node.name)))
        return node

    return Compute(statement.name, transformed(statement.body, change), values)


def _access(
    scop: Scop,
    name: str,
    buffer: str,
    node: AccessRef,
    subscripts: tuple[Expression, ...] | None,
    copy: tuple[Expression, ...] | None,
) -> Expression:
    """Return the access ``node`` to ``name``, in ``buffer`` or its ``copy`` for an iteration."""
    if scop.array(name).is_scalar and copy is None:
        return Variable(node.type, name)
    if subscripts is None:
        return Call(node.type, f"{name} in memory", ())
    return Call(node.type, buffer if copy is None else name, (*(copy or ()), *subscripts))


def _formula(loop: isl.UnionPwAff, statement: str) -> isl.Aff | None:
    pieces = loop.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        value = pieces.get_at(k)
        if str(value.domain().get_tuple_name()) == statement:
            return _only(value)
    return None


def _only(value: isl.PwAff) -> isl.Aff | None:
    """Return the only formula of ``value`` in its domain, if there is only one, without fractions."""
    found = value.gist(value.domain()).get_pieces()
    return found[0][1] if len(found) == 1 and found[0][1].get_denominator_val().is_one() else None


def _subscripts(
    statement: Statement, relation: isl.Map, values: Sequence[Expression]
) -> tuple[Expression, ...] | None:
    if not relation.is_single_valued():
        return None
    index = isl.PwMultiAff.from_map(relation)
    found = [_only(index.get_pw_aff(k)) for k in range(index.dim(isl.dim_type.out))]
    if any(aff is None or aff.dim(isl.dim_type.div) for aff in found):
        return None
    return tuple(_expression(aff, values) for aff in found if aff is not None)


def _expression(aff: isl.Aff, values: Sequence[Expression]) -> Expression:
    parameters = [
        (Name(str(aff.get_dim_name(_PARAM, k))), _int(aff.get_coefficient_val(_PARAM, k)))
        for k in range(aff.dim(_PARAM))
    ]
    terms = [*((value, _int(aff.get_coefficient_val(_IN, k))) for k, value in enumerate(values)), *parameters]
    return sum_of(terms, _int(aff.get_constant_val()))


def _int(value: isl.Val) -> int:
    return int_of(value)
