"""Conditions as what has to hold all together."""

from __future__ import annotations

from collections.abc import Iterable

from swbuild.expressions.nodes import Binary, BinaryOperator, Expression

__all__ = ["both", "parts_of"]


def parts_of(condition: Expression) -> tuple[Expression, ...]:
    """Return the conditions that all hold where ``condition`` does."""
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.AND:
        return (*parts_of(condition.left), *parts_of(condition.right))
    return (condition,)


def both(conditions: Iterable[Expression]) -> Expression:
    """Return the condition that all ``conditions``, one at least, hold."""
    first, *rest = dict.fromkeys(conditions)
    for condition in rest:
        first = Binary(BinaryOperator.AND, first, condition)
    return first
