"""Quasi-affine functions written back as C."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from swbuild.expressions.building import conditional, integer, operation, unary
from swbuild.expressions.c import Cast, Parentheses, Typed
from swbuild.expressions.types import LONG, ElementType
from swbuild.islnumbers import int_of

__all__ = ["formula"]

_OPS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pdiv_q": "/", "pdiv_r": "%", "zdiv_r": "%",
        "eq": "==", "le": "<=", "lt": "<", "ge": ">=", "gt": ">", "and_": "&&", "or_": "||",
        "and_then": "&&", "or_else": "||"}  # fmt: skip


def formula(pa: isl.PwAff, context: isl.Set, variables: Mapping[str, Typed], kind: ElementType) -> Typed:
    """Return a C expression of type ``kind`` for ``pa``;
    ``variables`` says what stands for each parameter.
    """
    build = isl.AstBuild.from_context(context)
    expression = build.expr_from_pw_aff(pa.gist_params(context))
    return Cast(kind, _grouped(_tree(expression, variables)))


def _grouped(tree: Typed) -> Typed:
    """Return ``tree`` in parentheses of its own."""
    return Parentheses(tree.type, tree)


def _tree(expression: isl.AstExpr, variables: Mapping[str, Typed]) -> Typed:
    kind = str(expression.get_type()).rpartition(".")[2]
    if kind == "int":
        return integer(int_of(expression.get_val()))
    if kind == "id":
        return Cast(LONG, variables[expression.get_id().get_name()])
    args = [_tree(expression.get_op_arg(i), variables) for i in range(expression.get_op_n_arg())]
    name = str(expression.get_op_type()).rpartition(".")[2]
    if name == "minus":
        return unary("-", _grouped(args[0]))
    if name in ("max", "min"):
        return _extreme(args, ">" if name == "max" else "<")
    if name == "fdiv_q":
        return _floor_quotient(*map(_grouped, args))
    if name in ("cond", "select"):
        return _grouped(conditional(*map(_grouped, args)))
    return _grouped(operation(_OPS[name], *args))


def _floor_quotient(left: Typed, right: Typed) -> Typed:
    """Return ``left`` divided by the positive number ``right``, rounded down."""
    raised = operation("-", operation("+", unary("-", left), right), integer(1))
    below = unary("-", _grouped(operation("/", _grouped(raised), right)))
    return _grouped(conditional(operation(">=", left, integer(0)), operation("/", left, right), below))


def _extreme(args: list[Typed], order: str) -> Typed:
    result = args[0]
    for other in args[1:]:
        first, second = _grouped(result), _grouped(other)
        result = _grouped(conditional(operation(order, first, second), first, second))
    return result
