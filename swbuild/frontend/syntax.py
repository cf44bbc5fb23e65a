"""What several passes over the parser's trees ask of them, and how they change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pycparser import c_ast

__all__ = [
    "BLOCKS",
    "LOOPS",
    "breaks",
    "change_children",
    "continues",
    "head_parts",
    "items_of",
    "outermost_loops",
]

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
#: What holds statements that follow each other; the parser hangs those of a ``case`` up below its label.
BLOCKS = (c_ast.Compound, c_ast.Case, c_ast.Default)


def items_of(block: c_ast.Node) -> tuple[c_ast.Node, ...]:
    """Return what follows each other in one of ``BLOCKS``."""
    items = block.block_items if isinstance(block, c_ast.Compound) else block.stmts
    return tuple(items or ())


def head_parts(node: c_ast.Node | None) -> list[c_ast.Node]:
    """Return what the first or the last part of a loop's head declares or evaluates, one by one."""
    if isinstance(node, c_ast.DeclList):
        return list(node.decls)
    if isinstance(node, c_ast.ExprList):
        return list(node.exprs)
    return [] if node is None else [node]


def outermost_loops(nodes: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
    """Yield the loops at and below ``nodes`` that are in no other loop there."""
    for node in nodes:
        if isinstance(node, LOOPS):
            yield node
        else:
            yield from outermost_loops(node)


def breaks(node: c_ast.Node) -> bool:
    """Whether a ``break`` at or below ``node`` leaves what is around it."""
    if isinstance(node, (*LOOPS, c_ast.Switch)):
        return False
    return isinstance(node, c_ast.Break) or any(map(breaks, node))


def continues(node: c_ast.Node) -> bool:
    """Whether a ``continue`` at or below ``node`` is that of the loop around it."""
    if isinstance(node, LOOPS):
        return False
    return isinstance(node, c_ast.Continue) or any(map(continues, node))


def change_children(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> None:
    """Put what ``change`` returns for each child of ``node`` in its place."""
    for slot in node.__slots__:
        child = getattr(node, slot, None)
        if isinstance(child, c_ast.Node):
            setattr(node, slot, change(child))
        elif isinstance(child, list):
            child[:] = [change(each) if isinstance(each, c_ast.Node) else each for each in child]
