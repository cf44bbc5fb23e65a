"""Quasi-affine functions written back as C text."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from swbuild.expressions.types import ElementType
from swbuild.frontend.scop import BodyPart

__all__ = ["formula"]

_OPS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pdiv_q": "/", "pdiv_r": "%", "zdiv_r": "%",
        "eq": "==", "le": "<=", "lt": "<", "ge": ">=", "gt": ">", "and_": "&&", "or_": "||",
        "and_then": "&&", "or_else": "||"}  # fmt: skip


def formula(
    pa: isl.PwAff, context: isl.Set, variables: Mapping[str, BodyPart], kind: ElementType
) -> list[BodyPart]:
    """Return a C expression of type ``kind`` for ``pa``;
    ``variables`` says what stands for each parameter.
    """
    build = isl.AstBuild.from_context(context)
    expression = build.expr_from_pw_aff(pa.gist_params(context))
    return [f"({kind.name})", "(", *_text(expression, variables), ")"]


def _text(expression: isl.AstExpr, variables: Mapping[str, BodyPart]) -> list[BodyPart]:
    kind = str(expression.get_type()).rpartition(".")[2]
    if kind == "int":
        return [str(expression.get_val().to_python())]
    if kind == "id":
        return ["(long)", variables[expression.get_id().get_name()]]
    args = [_text(expression.get_op_arg(i), variables) for i in range(expression.get_op_n_arg())]
    name = str(expression.get_op_type()).rpartition(".")[2]
    if name == "minus":
        return ["-(", *args[0], ")"]
    if name in ("max", "min"):
        return _extreme(args, ">" if name == "max" else "<")
    if name == "fdiv_q":
        return [
            "((",
            *args[0],
            ") >= 0 ? (",
            *args[0],
            ") / (",
            *args[1],
            ") : -((-(",
            *args[0],
            ") + (",
            *args[1],
            ") - 1) / (",
            *args[1],
            ")))",
        ]
    if name in ("cond", "select"):
        return ["((", *args[0], ") ? (", *args[1], ") : (", *args[2], "))"]
    return ["(", *args[0], f" {_OPS[name]} ", *args[1], ")"]


def _extreme(args: list[list[BodyPart]], order: str) -> list[BodyPart]:
    result = args[0]
    for other in args[1:]:
        result = ["((", *result, f") {order} (", *other, ") ? (", *result, ") : (", *other, "))"]
    return result
