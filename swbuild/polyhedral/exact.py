"""Reductions whose parts give the very result of the source, so that nobody has to be asked.

Sums and products of integers wrap around in any order.  Of floating-point numbers, the largest and the least
are exact as long as no order can be seen in them: not by a NaN, which has to be passed over, and not by the
sign of a zero, so that all that is compared has none: ``if (d > err) err = d`` with ``d = fabs(e)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Cast,
    Conditional,
    Literal,
    Operation,
    Parentheses,
    Step,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import walk
from swbuild.expressions.types import TypeKind, is_integer
from swbuild.frontend.scop import AccessKind, Scop, Statement
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.reductions import EXTREMES, Reduction, accesses_to, find_reductions, is_same_value

__all__ = ["exact_reductions", "rounds"]

#: Functions without a minus sign in their values, and those that keep it away if their arguments have none.
_UNSIGNED, _KEEPING = frozenset(("fabs", "exp", "exp2", "hypot")), frozenset(("sqrt", "cbrt", "fmin", "fmax"))

#: Assignments that make no minus sign of numbers without.
_ASSIGNING = frozenset(("=", "+=", "*=", "/="))


def exact_reductions(scop: Scop, private: Set[str]) -> tuple[Reduction, ...]:
    """Return the reductions of single elements whose parts give the result of the source.

    ``private`` are variables with no value from before the iterations that read them.
    """
    return tuple(
        reduction
        for reduction in find_reductions(scop)
        if _is_single(scop, reduction) and not rounds(scop, reduction, private)
    )


def rounds(scop: Scop, reduction: Reduction, private: Set[str]) -> bool:
    """Return whether the result of ``reduction`` may depend on the order of its terms."""
    if is_integer(scop.array(reduction.array).element):
        return False
    if reduction.operator not in EXTREMES:
        return True
    return not all(_is_exact(scop, scop.statement(name), reduction, private) for name in reduction.statements)


def _is_single(scop: Scop, reduction: Reduction) -> bool:
    """Return whether all that is accumulated is a variable, or one element of an array."""
    if scop.array(reduction.array).is_scalar:
        return True
    elements = sets_of(accesses_to(scop, reduction.array, reduction.statements).range())
    return all(each.is_singleton() for each in elements) and len(elements) == 1


def _is_exact(scop: Scop, statement: Statement, reduction: Reduction, private: Set[str]) -> bool:
    """Return whether an extreme of floating-point numbers passes over NaNs, and sees no signs of zeros."""
    own = {access.ref for access in statement.accesses if access.array == reduction.array}
    signs = _Signs(scop, frozenset(private))
    return all(
        taken is not None and signs.has_none(statement, taken)
        for node in walk(statement.body)
        if isinstance(node, Assignment)
        for taken in [_taken(_bare(node.value), own)]
    )


def _taken(value: Expression, own: Set[int]) -> Expression | None:
    """Return what an extreme may take for its accumulator, at ``own``, by the assignment of ``value`` to it.

    None where it takes a NaN: where a comparison that does not hold is what chooses.
    """
    if not _reads(value, own):
        return value
    if isinstance(value, Call):
        return next(argument for argument in value.arguments if not _reads(argument, own))
    kept = isinstance(value, Conditional) and _reads(value.otherwise, own)
    return value.then if kept and isinstance(value, Conditional) else None


def _reads(value: Expression, refs: Set[int]) -> bool:
    return any(isinstance(node, AccessRef) and node.ref in refs for node in walk(value))


@dataclass(frozen=True, slots=True)
class _Signs:
    """Values of ``scop`` without a minus sign; ``private`` variables have theirs from its statements.

    ``assumed`` are those being looked at: a value that is computed from itself has no sign if no other has.
    """

    scop: Scop
    private: frozenset[str]
    assumed: frozenset[str] = frozenset()

    def has_none(self, statement: Statement, value: Expression) -> bool:
        """Return whether ``value``, of ``statement``, is a NaN or has no minus sign, not even as a zero."""
        value = _bare(value)
        if isinstance(value, AccessRef):
            return self._is_variable_without(statement, value)
        if isinstance(value, Call):
            name = value.function.removesuffix("f")
            return name in _UNSIGNED or (name in _KEEPING and self._all(statement, value.arguments))
        if isinstance(value, Conditional):
            return self._all(statement, (value.then, value.otherwise))
        if isinstance(value, Operation) and value.computed.kind is TypeKind.FLOAT:
            factors = value.left, value.right
            square = value.operator == "*" and is_same_value(statement, *factors)
            return square or (value.operator in "+*/" and self._all(statement, factors))
        return isinstance(value, Literal)

    def _all(self, statement: Statement, values: tuple[Expression, ...]) -> bool:
        return all(self.has_none(statement, value) for value in values)

    def _is_variable_without(self, statement: Statement, value: AccessRef) -> bool:
        (name,) = {access.array for access in statement.accesses if access.ref == value.ref}
        if self.scop.array(name).element.kind is TypeKind.UNSIGNED or name in self.assumed:
            return True
        inside = _Signs(self.scop, self.private, self.assumed | {name})
        return name in self.private and all(
            assigned is not None and inside.has_none(writer, assigned)
            for writer in self.scop.statements
            for assigned in _assigned(writer, name)
        )


def _assigned(statement: Statement, name: str) -> Iterator[Expression | None]:
    """Yield what ``statement`` assigns to the variable ``name``, or adds to it; None where it does else."""
    written = {access.ref for access in statement.accesses if access.kind is not AccessKind.READ}
    refs = {access.ref for access in statement.accesses if access.array == name} & written
    for node in walk(statement.body):
        if isinstance(node, Assignment) and _reads(node.target, refs):
            yield node.value if node.operator in _ASSIGNING else None
        elif isinstance(node, Step) and _reads(node.operand, refs):
            yield None


def _bare(value: Expression) -> Expression:
    """Return ``value`` without parentheses and conversions between floating-point types."""
    while isinstance(value, Parentheses) or (isinstance(value, Cast) and value.type.kind is TypeKind.FLOAT):
        value = value.operand
    return value
