"""Turning a model back into C, to run it against the program that it was made from.

``replayed`` returns the user's file with every modelled region replaced by loops that isl
generates from the region's schedule, around the statements' bodies, with all subscripts taken
from the access relations.  A model that lost or bent anything then computes something else.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import islpy as isl

from swbuild.expressions.c import AccessRef, IteratorRef, ParameterRef, Variable
from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import c_text
from swbuild.expressions.statement_printing import statement_text
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import INT
from swbuild.frontend.request import CppOptions, SourceModel
from swbuild.frontend.scop import (
    Access,
    Array,
    Scop,
    Statement,
    Storage,
)

PROLOGUE = """
#include <stdio.h>
#define SWR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SWR_MAX(a, b) ((a) > (b) ? (a) : (b))
#define SWR_FLOORD(a, b) (((a) < 0) ? -((-(a) + (b) - 1) / (b)) : (a) / (b))
"""


def replayed(model: SourceModel) -> str:
    """Return the text of the file with the modelled regions replayed from their models."""
    lines = model.text.split("\n")
    for scop in sorted(model.scops, key=lambda s: s.span, reverse=True):
        first, last = scop.span.line - 1, scop.span.end_line
        original = [line for line in lines[first:last] if "pragma" not in line or "scop" not in line]
        lines[first:last] = [*_guarded(scop, original)]
    preludes = "\n".join(f"#include <{name}>" for scop in model.scops for name in scop.includes)
    return PROLOGUE + preludes + "\n" + "\n".join(lines)


def run_c(source: Path, options: CppOptions, extra: Sequence[str] = ()) -> tuple[str, str]:
    """Compile and run a C file without optimisations that change results; return its outputs."""
    program = source.with_suffix(".exe")
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-o", str(program), str(source)]
    command += [f"-I{d}" for d in options.includes] + [f"-D{d}" for d in options.defines]
    built = subprocess.run([*command, *extra, "-lm"], capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert not ran.returncode, f"exit status {ran.returncode}"
    return ran.stdout, ran.stderr


def _guarded(scop: Scop, original: Sequence[str]) -> list[str]:
    build = isl.AstBuild.from_context(scop.context)
    holds = _c(build.expr_from_set(scop.assumptions))
    model = "\n".join(_region(scop))
    parameters = "".join(
        f"long swr_{p.name} = {p.expression}; (void)swr_{p.name};\n" for p in scop.parameters
    )
    parameters += "".join(
        f"long swr_{q.name} = {_c(build.expr_from_pw_aff(q.value))}; (void)swr_{q.name};\n"
        for q in scop.quotients
    )
    return [
        f"{{ {parameters}",
        f'if ({holds}) {{ fprintf(stderr, "[model {scop.name}]\\n");',
        model,
        f'}} else {{ fprintf(stderr, "[original {scop.name}]\\n");',
        *original,
        "} }",
    ]


def _region(scop: Scop) -> list[str]:
    text = [_local(array) for array in scop.arrays if array.storage is Storage.REGION]
    text += [_based(array) for array in scop.arrays if array.storage is not Storage.REGION]
    build = isl.AstBuild.from_context(scop.context.intersect(scop.assumptions))
    tree = build.node_from_schedule(scop.schedule)
    return [*text, _node(tree, scop)]


def _local(array: Array) -> str:
    size = "*".join(f"({_pa(e)})" for e in array.extents if e is not None) or "1"
    return f"{array.element.name} swb_{array.name}[{size}];"


def _based(array: Array) -> str:
    return f"{array.element.name} *swb_{array.name} = ({array.element.name} *)({array.address.text});"


def _node(node: isl.AstNode, scop: Scop) -> str:
    kind = node.get_type()
    if kind == isl.ast_node_type.for_:
        name = node.for_get_iterator().to_C_str()
        return (
            (
                f"for (long {name} = {_c(node.for_get_init())}; {_c(node.for_get_cond())}; "
                f"{name} += {_c(node.for_get_inc())}) {{\n{_node(node.for_get_body(), scop)}\n}}"
            )
            if not node.for_is_degenerate()
            else f"{{ long {name} = {_c(node.for_get_init())};\n{_node(node.for_get_body(), scop)}\n}}"
        )
    if kind == isl.ast_node_type.if_:
        other = f" else {{ {_node(node.if_get_else(), scop)} }}" if node.if_has_else() else ""
        return f"if ({_c(node.if_get_cond())}) {{\n{_node(node.if_get_then(), scop)}\n}}{other}"
    if kind == isl.ast_node_type.block:
        children = node.block_get_children()
        return "\n".join(_node(children.get_at(i), scop) for i in range(children.n_ast_node()))
    if kind == isl.ast_node_type.mark:
        return _node(node.mark_get_node(), scop)
    return _instance(node.user_get_expr(), scop)


def _instance(call: isl.AstExpr, scop: Scop) -> str:
    statement = scop.statement(call.get_op_arg(0).get_id().get_name())
    arguments = [_c(call.get_op_arg(i + 1)) for i in range(call.get_op_n_arg() - 1)]
    values = "".join(f"long swi_{i} = {value}; " for i, value in enumerate(arguments))
    return f"{{ {values}{statement_text(_resolved(statement.body, statement, scop))} }}"


def _resolved(tree: Expression, statement: Statement, scop: Scop) -> Expression:
    def change(node: Expression) -> Expression:
        text = _reference(node, statement, scop)
        return node if text is None else Variable(INT, text)  # printed as it stands, like any name

    return transformed(tree, change)


def _reference(node: Expression, statement: Statement, scop: Scop) -> str | None:
    """Return what a reference stands for, None for any other node."""
    if isinstance(node, IteratorRef):
        return f"(({statement.iterators[node.index].type.name})swi_{node.index})"
    if isinstance(node, ParameterRef):
        found = next(p for p in scop.parameters if p.name == node.name)
        return f"(({found.type.name})swr_{found.name})"
    if not isinstance(node, AccessRef):
        return None
    access = next(a for a in statement.accesses if a.ref == node.ref)
    return _element(access, statement, scop)


def _element(access: Access, statement: Statement, scop: Scop) -> str:
    array = scop.array(access.array)
    if not access.affine:
        subscripts = [f"(long)({c_text(_resolved(tree, statement, scop))})" for tree in access.index_body]
    else:
        subscripts = _affine_subscripts(access)
    offset = "0"
    for subscript, extent in zip(subscripts, array.extents, strict=True):
        offset = f"({offset}) * ({_pa(extent)}) + ({subscript})" if extent is not None else subscript
    return f"swb_{array.name}[{offset}]"


def _affine_subscripts(access: Access) -> list[str]:
    function = access.relation.as_pw_multi_aff()
    return [
        _pa(_as_parameters(function.get_at(i)), access.relation)
        for i in range(function.dim(isl.dim_type.out))
    ]


def _as_parameters(pa: isl.PwAff) -> isl.PwAff:
    """Return the function with its input dimensions turned into parameters swi_0, swi_1, ..."""
    for position in range(pa.dim(isl.dim_type.in_)):
        pa = pa.set_dim_id(isl.dim_type.in_, position, isl.Id(f"i_{position}"))
    count = pa.dim(isl.dim_type.in_)
    pa = pa.set_tuple_id(isl.dim_type.in_, isl.Id("x"))
    first = pa.dim(isl.dim_type.param)
    pa = pa.move_dims(isl.dim_type.param, first, isl.dim_type.in_, 0, count)
    return pa.project_domain_on_params()


def _pa(pa: isl.PwAff | None, relation: isl.Map | None = None) -> str:
    assert pa is not None
    domain = pa.domain().params() if pa.domain().is_params() is False else pa.domain()
    build = isl.AstBuild.from_context(domain)
    return _c(build.expr_from_pw_aff(pa))


_NAMES = re.compile(r"\b(min|max|floord)\(|\b([A-Za-z_]\w*)\b(?!\()")


def _c(expression: isl.AstExpr) -> str:
    """Return the C text of an isl expression; parameters become swr_*, statement counters swi_*."""

    def renamed(match: re.Match[str]) -> str:
        if match[1]:
            return f"SWR_{match[1].upper()}("
        name = match[2]
        if re.fullmatch(r"i_\d+", name):
            return f"swi_{name[2:]}"
        return name if re.fullmatch(r"c\d+", name) else f"swr_{name}"

    return _NAMES.sub(renamed, expression.to_C_str())
