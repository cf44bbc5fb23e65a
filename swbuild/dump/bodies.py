"""Bodies of statements: as C, and as trees with the types that operations are done in."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.dump.text import indented
from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Conditional,
    IteratorRef,
    Literal,
    Operation,
    ParameterRef,
    Step,
    Typed,
    Unary,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import c_text
from swbuild.expressions.statement_printing import statement_text
from swbuild.expressions.statements import Declaration, Declarator, Evaluation, Jump, Nothing
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import ElementType
from swbuild.frontend.scop import Statement

__all__ = ["expression_line", "text_lines", "tree_lines"]


def text_lines(statement: Statement) -> Iterator[str]:
    """Yield the body as C; an access is shown by its number, a loop by its name."""
    text = statement_text(_readable(statement.body, statement))
    yield from (line.strip() for line in text.splitlines() if line.strip())


def expression_line(tree: Expression, statement: Statement) -> str:
    """Return an expression of ``statement`` as C."""
    return c_text(_readable(tree, statement))


def _readable(tree: Expression, statement: Statement) -> Expression:
    def change(node: Expression) -> Expression:
        if isinstance(node, IteratorRef):
            return Variable(node.type, statement.iterators[node.index].name)
        return node

    return transformed(tree, change)


def tree_lines(tree: Expression, statement: Statement) -> Iterator[str]:
    """Yield a line per node, operands below their operation.

    Behind a node stands its type, and ``as`` the one that it is converted to where C does that by itself.
    """
    yield from _lines(_readable(tree, statement), None)


def _lines(node: Expression, wanted: ElementType | None) -> Iterator[str]:
    if isinstance(node, Evaluation):
        node = node.expression
    label = _label(node)
    if isinstance(node, Typed):
        converted = wanted is not None and wanted != node.type
        label += f": {node.type.name}" + (f" as {wanted.name}" if converted and wanted else "")
    yield label
    for child, kind in zip(node.children, _wanted(node), strict=True):
        if not isinstance(child, Nothing):
            yield from indented(_lines(child, kind))


def _label(node: Expression) -> str:
    if isinstance(node, (Operation, Assignment, Unary, Step)):
        return node.operator
    if isinstance(node, (AccessRef, Literal, ParameterRef, Variable)):
        return c_text(node)
    if isinstance(node, Call):
        return f"call {node.function}"
    if isinstance(node, Declaration):
        return f"declaration of {node.type.name}"
    if isinstance(node, Declarator):
        return node.name + "".join(f"[{extent}]" for extent in node.extents)
    return node.word if isinstance(node, Jump) else type(node).__name__.lower()


def _wanted(node: Expression) -> tuple[ElementType | None, ...]:
    """Return the types that C converts the operands to, None where it leaves them."""
    if isinstance(node, Operation) and node.operator not in ("&&", "||"):
        shift = node.operator in ("<<", ">>")
        return node.computed, None if shift else node.computed
    if isinstance(node, Assignment):
        return (None, node.type) if node.operator == "=" else (node.computed, node.computed)
    if isinstance(node, Unary) and node.operator in ("-", "+", "~"):
        return (node.type,)
    if isinstance(node, Conditional):
        return None, node.type, node.type
    return (None,) * len(node.children)
