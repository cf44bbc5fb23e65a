"""Expressions as sums: what two of them differ by."""

from __future__ import annotations

from collections import Counter

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Negation, Parenthesised

__all__ = ["distance"]

#: the terms of a sum with their factors; None stands for 1
_Sum = Counter[Expression | None]


def distance(first: Expression, last: Expression) -> int | None:
    """Return ``last - first`` where that is the same number for all values of the variables.

    What is neither added nor multiplied by a number counts as a variable.
    """
    difference = _sum(last)
    difference.subtract(_sum(first))
    constant = difference.pop(None, 0)
    return None if any(difference.values()) else constant


def _sum(expression: Expression) -> _Sum:
    if isinstance(expression, Constant):
        return Counter({None: expression.value})
    if isinstance(expression, Parenthesised):
        return _sum(expression.operand)
    if isinstance(expression, Negation):
        return _times(_sum(expression.operand), -1)
    if isinstance(expression, Binary):
        return _of_two(expression)
    return Counter({expression: 1})


def _of_two(expression: Binary) -> _Sum:
    left, right = _sum(expression.left), _sum(expression.right)
    if expression.operator is BinaryOperator.ADD:
        left.update(right)
        return left
    if expression.operator is BinaryOperator.SUB:
        left.subtract(right)
        return left
    if expression.operator is BinaryOperator.MUL:
        for one, other in ((left, right), (right, left)):
            if set(one) <= {None}:
                return _times(other, one[None])
    return Counter({expression: 1})


def _times(terms: _Sum, factor: int) -> _Sum:
    return Counter({term: factor * count for term, count in terms.items()})
