"""Statement bodies with their references resolved, at one point of the AST."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Cast, IteratorRef, ParameterRef, Parentheses, Typed
from swbuild.expressions.nodes import Constant, Expression, Name, Parenthesised
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import ElementType
from swbuild.frontend.scop import Access, Scop, Statement
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Compute

__all__ = ["Spell", "compute_leaf"]

#: (statement, access, type, subscripts, values of the statement's loops) -> the l-value in the emitted code
Spell = Callable[[Statement, Access, ElementType, tuple[Expression, ...], tuple[Expression, ...]], Expression]


@dataclass(frozen=True, slots=True)
class _Point:
    """One instance of a statement in the AST."""

    scop: Scop
    statement: Statement
    build: isl.AstBuild
    instances: isl.PwMultiAff
    spell: Spell
    #: the values of subscripts met before
    known: dict[str, Expression] = field(default_factory=dict)


def compute_leaf(
    scop: Scop, statement: Statement, spell: Spell
) -> Callable[[isl.AstBuild, isl.PwMultiAff], Compute]:
    """Return the maker of the IR of ``statement``; ``spell`` says how its accesses are written."""

    def make(build: isl.AstBuild, instances: isl.PwMultiAff) -> Compute:
        point = _Point(scop, statement, build, instances, spell)
        count = len(statement.iterators)
        iterators = tuple(value_in(build, instances.get_pw_aff(k)) for k in range(count))
        return Compute(statement.name, _resolved(point, statement.body, iterators), iterators)

    return make


def _resolved(point: _Point, tree: Expression, iterators: tuple[Expression, ...]) -> Expression:
    """Return ``tree`` with what its references stand for."""

    def change(node: Expression) -> Expression:
        if isinstance(node, AccessRef):
            return _access(point, node, iterators)
        if isinstance(node, IteratorRef):
            return _converted(node, Parenthesised(iterators[node.index]))
        return _converted(node, Name(node.name)) if isinstance(node, ParameterRef) else node

    return transformed(tree, change)


def _converted(reference: Typed, value: Expression) -> Expression:
    """Return ``value``, which is a long in emitted code, as one of the type that the source gives it."""
    return Parentheses(reference.type, Cast(reference.type, value))


def _access(point: _Point, node: AccessRef, iterators: tuple[Expression, ...]) -> Expression:
    access = next(a for a in point.statement.accesses if a.ref == node.ref)
    if access.affine:
        subscripts = _subscripts(point, access)
    else:
        subscripts = tuple(_resolved(point, tree, iterators) for tree in access.index_body)
    return point.spell(point.statement, access, node.type, subscripts, iterators)


def _subscripts(point: _Point, access: Access) -> tuple[Expression, ...]:
    index = isl.PwMultiAff.from_map(access.relation).pullback_pw_multi_aff(point.instances)
    return tuple(_value(point, index.get_pw_aff(k)) for k in range(index.dim(isl.dim_type.out)))


def _value(point: _Point, subscript: isl.PwAff) -> Expression:
    """Return the value of a subscript; any number does where the access never happens (``0 ? A[i] : x``)."""
    if subscript.n_piece() == 0:
        return Constant(0)
    key = str(subscript)
    if key not in point.known:
        point.known[key] = value_in(point.build, subscript)
    return point.known[key]
