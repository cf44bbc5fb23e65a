"""What is wrong with the statements of a model, if anything."""

from __future__ import annotations

from swbuild.expressions.verify import Scope, faults
from swbuild.frontend.scop import Scop, Statement

__all__ = ["statement_faults"]


def statement_faults(scop: Scop) -> list[str]:
    """Return what is wrong with bodies and subscripts of ``scop``, in words."""
    return [
        f"{statement.name}: {fault}" for statement in scop.statements for fault in _faults(scop, statement)
    ]


def _faults(scop: Scop, statement: Statement) -> list[str]:
    scope = Scope(
        {access.ref: scop.array(access.array).element for access in statement.accesses},
        tuple(loop.type for loop in statement.iterators),
        {parameter.name: parameter.type for parameter in scop.parameters},
        {},
    )
    inside = scope.with_all_of(statement.body)
    subscripts = (tree for access in statement.accesses for tree in access.index_body)
    return [*faults(statement.body, scope), *(fault for tree in subscripts for fault in faults(tree, inside))]
