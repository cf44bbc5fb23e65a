"""``do { ... } while (0)``, which macros are made of, turned into the block in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from swbuild.frontend.syntax import breaks, change_children, continues

__all__ = ["without_single_rounds"]


def without_single_rounds(
    items: Sequence[c_ast.Node], integer: Callable[[c_ast.Node], int | None]
) -> list[c_ast.Node]:
    """Return ``items`` without loops that only ever run once and are not left early; in place below.

    ``integer`` gives the value of a constant expression.
    """
    return [_rewritten(item, integer) for item in items]


def _rewritten(node: c_ast.Node, integer: Callable[[c_ast.Node], int | None]) -> c_ast.Node:
    change_children(node, lambda child: _rewritten(child, integer))
    if not isinstance(node, c_ast.DoWhile) or integer(node.cond) != 0:
        return node
    return node if breaks(node.stmt) or continues(node.stmt) else node.stmt
