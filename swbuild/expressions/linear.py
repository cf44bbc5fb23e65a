"""Expressions as sums: what two of them differ by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from swbuild.expressions.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    Name,
    Negation,
    Parenthesised,
)
from swbuild.expressions.trees import mentions, substituted, transformed

__all__ = ["at_zero", "distance", "factor_of"]

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


def factor_of(expression: Expression, name: str) -> int | None:
    """Return what the variable ``name`` is multiplied by, None where it is not just added so."""
    terms = _sum(expression)
    factor = terms.pop(Name(name), 0)
    return None if any(term is not None and mentions(term, name) for term in terms) else factor


def at_zero(expression: Expression, names: Iterable[str]) -> Expression:
    """Return ``expression`` where the variables ``names`` are 0, without what is nothing then."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Binary):
            return node
        left, right = (isinstance(side, Constant) and not side.value for side in (node.left, node.right))
        if node.operator is BinaryOperator.MUL and (left or right):
            return Constant(0)
        if node.operator is BinaryOperator.ADD and left:
            return node.right
        return node.left if right and node.operator in (BinaryOperator.ADD, BinaryOperator.SUB) else node

    zeros = {name: Constant(0) for name in names}
    return transformed(substituted(expression, zeros), change)


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
