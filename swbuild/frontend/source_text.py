"""The text of a top-level declaration in what was parsed."""

from __future__ import annotations

import re
from collections.abc import Callable

from pycparser import c_ast, c_generator

__all__ = ["text_finder"]

_MARKER = re.compile(r'^# \d+ "[^\n]*"[^\n]*\n', re.MULTILINE)


def text_finder(parsed: str) -> Callable[[c_ast.Node], str]:
    """Return a function that gives the C text of a declaration or function definition."""

    def text_of(node: c_ast.Node) -> str:
        generator = c_generator.CGenerator()
        text = str(generator.visit(node)).strip()
        return text if isinstance(node, c_ast.FuncDef) else f"{text};"

    return text_of
