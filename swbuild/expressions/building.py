"""C's operations made from their operands: with the types that C gives them."""

from __future__ import annotations

from swbuild.expressions.c import Assignment, Conditional, Literal, Operation, Typed, Unary
from swbuild.expressions.types import (
    INT,
    LONG,
    ElementType,
    common_type,
    element_range,
    operation_type,
    promoted,
    result_type,
)

__all__ = ["assigned_in", "assignment", "conditional", "integer", "operation", "unary"]


def operation(operator: str, left: Typed, right: Typed) -> Operation:
    """Return ``left operator right``."""
    computed = operation_type(operator, left.type, right.type)
    return Operation(result_type(operator, computed), operator, computed, left, right)


def unary(operator: str, operand: Typed) -> Unary:
    """Return an operator on one operand, but for ``*``."""
    return Unary(INT if operator in ("!", "!!") else promoted(operand.type), operand, operator)


def conditional(condition: Typed, then: Typed, otherwise: Typed) -> Conditional:
    """Return ``condition ? then : otherwise``."""
    return Conditional(common_type(then.type, otherwise.type), condition, then, otherwise)


def assignment(operator: str, target: Typed, value: Typed) -> Assignment:
    """Return ``target operator value``."""
    return Assignment(target.type, operator, assigned_in(operator, target.type, value.type), target, value)


def assigned_in(operator: str, target: ElementType, value: ElementType) -> ElementType:
    """Return the type in which ``target operator value`` is computed: the target's where nothing is."""
    return target if operator == "=" else operation_type(operator[:-1], target, value)


def integer(value: int) -> Literal:
    """Return an integer of type int, or long where it has to be."""
    low, high = element_range(INT)
    return Literal(INT if low <= value <= high else LONG, str(value))
