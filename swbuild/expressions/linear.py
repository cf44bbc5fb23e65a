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

__all__ = ["at_zero", "distance", "factor_of", "plus", "times", "without_term"]

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


def without_term(expression: Expression, term: Expression) -> tuple[Expression, int] | None:
    """Return ``expression`` without ``term``, and the factor it has in it; None where that is none."""
    terms = _sum(expression)
    factor = terms.pop(term, 0)
    return (_written(terms), factor) if factor else None


def times(expression: Expression, factor: int) -> Expression:
    """Return ``expression`` a number of times, itself if that is once."""
    return expression if factor == 1 else Binary(BinaryOperator.MUL, Constant(factor), expression)


def plus(expression: Expression, number: int) -> Expression:
    """Return the sum of both, its terms in their order and the number last."""
    terms = _sum(expression)
    terms.update({None: number})
    return _written(terms)


def _written(terms: _Sum) -> Expression:
    """Return a sum as an expression, what is added in front of what is taken away."""
    number = terms[None]
    found: Expression | None = None
    ordered = sorted(((t, f) for t, f in terms.items() if t is not None and f), key=lambda each: each[1] < 0)
    for term, factor in ordered:
        times = term if abs(factor) == 1 else Binary(BinaryOperator.MUL, Constant(abs(factor)), term)
        if found is None:
            found = times if factor > 0 else Negation(times)
        else:
            found = Binary(BinaryOperator.ADD if factor > 0 else BinaryOperator.SUB, found, times)
    if found is None:
        return Constant(number)
    operator = BinaryOperator.ADD if number > 0 else BinaryOperator.SUB
    return Binary(operator, found, Constant(abs(number))) if number else found


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
