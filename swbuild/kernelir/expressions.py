"""isl's AST expressions as trees of ours."""

from __future__ import annotations

from typing import Any

import islpy as isl

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
    Select,
)
from swbuild.islnumbers import int_of

__all__ = ["to_tree", "value_in"]

_OP = isl.ast_expr_op_type
_TYPE = isl.ast_expr_type

_BINARY: dict[Any, BinaryOperator] = {
    _OP.or_: BinaryOperator.OR,  # type: ignore[attr-defined]
    _OP.or_else: BinaryOperator.OR,
    _OP.and_: BinaryOperator.AND,  # type: ignore[attr-defined]
    _OP.and_then: BinaryOperator.AND,
    _OP.eq: BinaryOperator.EQ,
    _OP.lt: BinaryOperator.LT,
    _OP.le: BinaryOperator.LE,
    _OP.gt: BinaryOperator.GT,
    _OP.ge: BinaryOperator.GE,
    _OP.add: BinaryOperator.ADD,
    _OP.sub: BinaryOperator.SUB,
    _OP.mul: BinaryOperator.MUL,
    _OP.div: BinaryOperator.DIV,
    _OP.pdiv_q: BinaryOperator.DIV,
    _OP.pdiv_r: BinaryOperator.MOD,
    _OP.zdiv_r: BinaryOperator.MOD,
}


def value_in(build: isl.AstBuild, value: isl.PwAff) -> Expression:
    """Return ``value`` where the AST of ``build`` stands."""
    return to_tree(build.expr_from_pw_aff(value))


def to_tree(expression: isl.AstExpr) -> Expression:
    """Return ``expression`` as a tree."""
    kind = expression.get_type()
    if kind == _TYPE.int:
        return Constant(int_of(expression.get_val()))
    if kind == _TYPE.id:
        return Name(str(expression.get_id().name))
    operator = expression.get_op_type()
    operands = tuple(to_tree(expression.get_op_arg(k)) for k in range(expression.get_op_n_arg()))
    return _operation(operator, operands)


def _operation(operator: Any, operands: tuple[Expression, ...]) -> Expression:
    if operator == _OP.min:
        return Min(operands)
    if operator == _OP.max:
        return Max(operands)
    if operator == _OP.fdiv_q:
        return FloorDivision(*operands)
    if operator == _OP.minus:
        return Negation(*operands)
    if operator in (_OP.cond, _OP.select):
        return Select(*operands)
    left, right = operands
    return Binary(_BINARY[operator], left, right)
