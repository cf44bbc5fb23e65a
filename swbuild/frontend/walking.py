"""How the parts of the walk call each other where statements hold statements."""

from __future__ import annotations

from typing import Protocol

from pycparser import c_ast

from swbuild.frontend.state import Position

__all__ = ["CONTROL", "Walk", "jump_hint"]

#: Statements that leave the structure of blocks and counted loops, in words.
CONTROL = {
    "Goto": "goto", "Break": "break", "Continue": "continue", "Return": "return", "While": "a while loop",
    "DoWhile": "a do-while loop", "Switch": "switch", "Label": "a label",
}  # fmt: skip


class Walk(Protocol):
    """The walk as loops and branches see it."""

    def statement(self, node: c_ast.Node, where: Position) -> None:
        """Walk ``node``; what has no model goes to the region's problems."""


def jump_hint(node: c_ast.Node) -> str:
    """Return what to write in the place of a statement of ``CONTROL``."""
    if isinstance(node, c_ast.Switch):
        return "end each case with a break, its only one, and test a value without calls or assignments"
    return "use for loops with affine bounds, and if"
