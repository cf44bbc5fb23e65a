"""Expressions as C.

Minimum, maximum and floor division are the macros ``SW_MIN``, ``SW_MAX`` and ``SW_FLOORDIV`` of the
generated header.
"""

from __future__ import annotations

from functools import singledispatch

from swbuild.expressions.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    FloorDivision,
    Max,
    Min,
    Name,
    Negation,
    Parenthesised,
    Select,
)
from swbuild.names import own

__all__ = ["c_text", "in_parentheses"]

#: how tight operators bind; a higher number binds tighter
_LEAST = 1
_PRECEDENCE = {
    BinaryOperator.OR: _LEAST,
    BinaryOperator.AND: 2,
    BinaryOperator.EQ: 3,
    BinaryOperator.LT: 4,
    BinaryOperator.LE: 4,
    BinaryOperator.GT: 4,
    BinaryOperator.GE: 4,
    BinaryOperator.ADD: 5,
    BinaryOperator.SUB: 5,
    BinaryOperator.MUL: 6,
    BinaryOperator.DIV: 6,
    BinaryOperator.MOD: 6,
}
_UNARY, _PRIMARY = 7, 8

_MIN, _MAX, _FLOORDIV = own("SW_MIN"), own("SW_MAX"), own("SW_FLOORDIV")

#: text and how tight its operator binds
_Printed = tuple[str, int]


def c_text(expression: Expression) -> str:
    """Return ``expression`` as C, with parentheses only where they are needed."""
    return _printed(expression)[0]


def in_parentheses(expression: Expression) -> str:
    """Return ``expression`` as C, in parentheses unless it is a name or a number."""
    plain = isinstance(expression, Name) or (isinstance(expression, Constant) and expression.value >= 0)
    return c_text(expression) if plain else f"({c_text(expression)})"


def _wrapped(expression: Expression, least: int) -> str:
    """Return ``expression`` as C, in parentheses if it binds less tight than ``least``."""
    text, precedence = _printed(expression)
    return text if precedence >= least else f"({text})"


@singledispatch
def _printed(expression: Expression) -> _Printed:
    raise TypeError(f"nothing is known of {type(expression).__name__}")


@_printed.register
def _constant(expression: Constant) -> _Printed:
    return str(expression.value), _PRIMARY if expression.value >= 0 else _UNARY


@_printed.register
def _name(expression: Name) -> _Printed:
    return expression.name, _PRIMARY


@_printed.register
def _negation(expression: Negation) -> _Printed:
    text = _wrapped(expression.operand, _UNARY)
    return f"-({text})" if text.startswith("-") else f"-{text}", _UNARY  # -- is another operator


@_printed.register
def _binary(expression: Binary) -> _Printed:
    operator = expression.operator
    precedence = _PRECEDENCE[operator]
    if operator is BinaryOperator.OR:  # compilers ask for parentheses around && here
        least = (_PRECEDENCE[BinaryOperator.EQ],) * 2
    else:
        least = (precedence, precedence + 1)
    left, right = _wrapped(expression.left, least[0]), _wrapped(expression.right, least[1])
    return f"{left} {operator.value} {right}", precedence


@_printed.register
def _parenthesised(expression: Parenthesised) -> _Printed:
    return f"({c_text(expression.operand)})", _PRIMARY


@_printed.register
def _floor_division(expression: FloorDivision) -> _Printed:
    return _call(_FLOORDIV, expression.children)


@_printed.register
def _min(expression: Min) -> _Printed:
    return _call(_MIN, expression.operands)


@_printed.register
def _max(expression: Max) -> _Printed:
    return _call(_MAX, expression.operands)


@_printed.register
def _select(expression: Select) -> _Printed:
    condition = _wrapped(expression.condition, _LEAST)
    return f"({condition} ? {c_text(expression.then)} : {c_text(expression.otherwise)})", _PRIMARY


def _call(macro: str, operands: tuple[Expression, ...]) -> _Printed:
    """Return calls of a macro of two arguments, one inside the other."""
    text = c_text(operands[-1])
    for operand in reversed(operands[:-1]):
        text = f"{macro}({c_text(operand)}, {text})"
    return text, _PRIMARY
