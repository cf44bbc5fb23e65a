"""Statements as C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import argument_text, c_text
from swbuild.expressions.statements import (
    Block,
    Declaration,
    Declarator,
    DoWhile,
    Evaluation,
    For,
    If,
    Jump,
    Nothing,
    While,
)

__all__ = ["statement_text"]


def statement_text(statement: Expression, indent: str = "") -> str:
    """Return ``statement`` as C; lines behind the first begin with ``indent``."""
    return _PRINTERS[type(statement)](statement, indent)


def _evaluation(statement: Evaluation, _: str) -> str:
    return f"{c_text(statement.expression)};"


def _block(statement: Block, indent: str) -> str:
    inner = indent + "  " * statement.indented
    items = "".join(f"\n{inner}{statement_text(item, inner)}" for item in statement.items)
    return f"{{{items}\n{indent}}}"


def _if(statement: If, indent: str) -> str:
    text = f"if ({c_text(statement.condition)}) {statement_text(statement.then, indent)}"
    if isinstance(statement.otherwise, Nothing):
        return text
    return f"{text} else {statement_text(statement.otherwise, indent)}"


def _for(statement: For, indent: str) -> str:
    first = statement_text(statement.first, indent).removesuffix(";")
    condition, step = _optional(statement.condition), _optional(statement.step)
    return f"for ({first}; {condition}; {step}) {statement_text(statement.body, indent)}"


def _optional(expression: Expression) -> str:
    return "" if isinstance(expression, Nothing) else c_text(expression)


def _while(statement: While, indent: str) -> str:
    return f"while ({c_text(statement.condition)}) {statement_text(statement.body, indent)}"


def _do_while(statement: DoWhile, indent: str) -> str:
    return f"do {statement_text(statement.body, indent)} while ({c_text(statement.condition)});"


def _declaration(statement: Declaration, indent: str) -> str:
    variables = ", ".join(statement_text(variable, indent) for variable in statement.declarators)
    return f"{statement.type.name} {variables};"


def _declarator(statement: Declarator, _: str) -> str:
    text = statement.name + "".join(f"[{extent}]" for extent in statement.extents)
    return text if isinstance(statement.value, Nothing) else f"{text} = {argument_text(statement.value)}"


_PRINTERS: dict[type, Callable[[Any, str], str]] = {
    Block: _block,
    Declaration: _declaration,
    Declarator: _declarator,
    DoWhile: _do_while,
    Evaluation: _evaluation,
    For: _for,
    If: _if,
    Jump: lambda statement, _: f"{statement.word};",
    Nothing: lambda statement, _: ";",
    While: _while,
}
