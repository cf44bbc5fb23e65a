"""isl AST expressions as C text.

Minimum, maximum and floor division become the macros ``SW_MIN``, ``SW_MAX`` and ``SW_FLOORDIV`` of
the generated header.
"""

from __future__ import annotations

from typing import Any

import islpy as isl

from swbuild.names import own

__all__ = ["always_true", "to_c"]

_OP = isl.ast_expr_op_type
_TYPE = isl.ast_expr_type

#: operator, precedence; a higher one binds tighter
_BINARY: dict[Any, tuple[str, int]] = {
    _OP.or_: ("||", 1),  # type: ignore[attr-defined]
    _OP.or_else: ("||", 1),
    _OP.and_: ("&&", 2),  # type: ignore[attr-defined]
    _OP.and_then: ("&&", 2),
    _OP.eq: ("==", 3),
    _OP.lt: ("<", 4),
    _OP.le: ("<=", 4),
    _OP.gt: (">", 4),
    _OP.ge: (">=", 4),
    _OP.add: ("+", 5),
    _OP.sub: ("-", 5),
    _OP.mul: ("*", 6),
    _OP.div: ("/", 6),
    _OP.pdiv_q: ("/", 6),
    _OP.pdiv_r: ("%", 6),
    _OP.zdiv_r: ("%", 6),
}
_CALLS: dict[Any, str] = {_OP.min: own("SW_MIN"), _OP.max: own("SW_MAX"), _OP.fdiv_q: own("SW_FLOORDIV")}
_UNARY, _PRIMARY = 7, 8


def to_c(expression: isl.AstExpr) -> str:
    """Return ``expression`` as C text."""
    return _convert(expression)[0]


def always_true(expression: isl.AstExpr) -> bool:
    """Return whether ``expression`` is the constant 1."""
    return bool(expression.get_type() == _TYPE.int and expression.get_val().to_python() == 1)


def _convert(expression: isl.AstExpr) -> tuple[str, int]:
    """Return the text and its precedence."""
    kind = expression.get_type()
    if kind == _TYPE.int:
        value = int(expression.get_val().to_python())
        return str(value), _PRIMARY if value >= 0 else _UNARY
    if kind == _TYPE.id:
        return str(expression.get_id().name), _PRIMARY
    operator = expression.get_op_type()
    args = [expression.get_op_arg(k) for k in range(expression.get_op_n_arg())]
    if operator in _CALLS:
        return _nested_call(_CALLS[operator], [to_c(arg) for arg in args]), _PRIMARY
    if operator == _OP.minus:
        return f"-{_wrapped(args[0], _UNARY)}", _UNARY
    if operator in (_OP.cond, _OP.select):
        return f"({_wrapped(args[0], 1)} ? {to_c(args[1])} : {to_c(args[2])})", _PRIMARY
    symbol, precedence = _BINARY[operator]
    if symbol == "||":  # compilers ask for parentheses around && here
        return " || ".join(_wrapped(arg, 3) for arg in args), precedence
    left, right = _wrapped(args[0], precedence), _wrapped(args[1], precedence + 1)
    return f"{left} {symbol} {right}", precedence


def _nested_call(name: str, args: list[str]) -> str:
    text = args[-1]
    for arg in reversed(args[:-1]):
        text = f"{name}({arg}, {text})"
    return text


def _wrapped(expression: isl.AstExpr, least: int) -> str:
    text, precedence = _convert(expression)
    return text if precedence >= least else f"({text})"
