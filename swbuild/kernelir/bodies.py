"""Statement bodies with their references resolved, at one point of the AST."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import islpy as isl

from swbuild.expressions.nodes import Constant, Expression, Name
from swbuild.frontend.scop import (
    Access,
    AccessRef,
    BodyPart,
    IteratorRef,
    Parameter,
    Scop,
    Statement,
)
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Body, Compute

__all__ = ["Spell", "compute_leaf"]

#: (statement, access, subscripts, values of the statement's loops) -> the l-value in the emitted code
Spell = Callable[[Statement, Access, tuple[Body, ...], tuple[Expression, ...]], Body]


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
        return Compute(statement.name, _render(point, statement.body, iterators), iterators)

    return make


def _render(point: _Point, body: tuple[BodyPart, ...], iterators: tuple[Expression, ...]) -> Body:
    return tuple(piece for part in body for piece in _part(point, part, iterators))


def _part(point: _Point, part: BodyPart, iterators: tuple[Expression, ...]) -> Body:
    if isinstance(part, str):
        return (part,)
    if isinstance(part, AccessRef):
        return _access(point, part.ref, iterators)
    if isinstance(part, IteratorRef):
        return f"(({point.statement.iterators[part.index].type.name})(", iterators[part.index], "))"
    parameter = _parameter(point.scop, part.name)
    return (f"(({parameter.type.name})", Name(parameter.name), ")")


def _parameter(scop: Scop, name: str) -> Parameter:
    return next(parameter for parameter in scop.parameters if parameter.name == name)


def _access(point: _Point, ref: int, iterators: tuple[Expression, ...]) -> Body:
    access = next(a for a in point.statement.accesses if a.ref == ref)
    if access.affine:
        return point.spell(point.statement, access, _subscripts(point, access), iterators)
    subscripts = tuple(_render(point, body, iterators) for body in access.index_body)
    return point.spell(point.statement, access, subscripts, iterators)


def _subscripts(point: _Point, access: Access) -> tuple[Body, ...]:
    index = isl.PwMultiAff.from_map(access.relation).pullback_pw_multi_aff(point.instances)
    return tuple((_value(point, index.get_pw_aff(k)),) for k in range(index.dim(isl.dim_type.out)))


def _value(point: _Point, subscript: isl.PwAff) -> Expression:
    """Return the value of a subscript; any number does where the access never happens (``0 ? A[i] : x``)."""
    if subscript.n_piece() == 0:
        return Constant(0)
    key = str(subscript)
    if key not in point.known:
        point.known[key] = value_in(point.build, subscript)
    return point.known[key]
