"""``continue`` turned into ``if`` and ``else``: what follows in the body moves into the other branch."""

from __future__ import annotations

from pycparser import c_ast

from swbuild.frontend.symbols import walk

__all__ = ["without_continues"]


def without_continues(items: list[c_ast.Node]) -> None:
    """Rewrite, in place, the bodies of the counted loops below ``items``.

    A ``continue`` that is not at the end of a branch of an ``if`` at the body's own level stays.
    """
    for item in items:
        for loop in walk(item):
            if isinstance(loop, c_ast.For) and loop.stmt is not None:
                body = loop.stmt.block_items if isinstance(loop.stmt, c_ast.Compound) else [loop.stmt]
                loop.stmt = c_ast.Compound(_rewritten(list(body or [])), loop.stmt.coord)


def _rewritten(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Return statements that do the same without ``continue`` where that is possible."""
    for position, item in enumerate(items):
        before, after = items[:position], items[position + 1 :]
        if isinstance(item, c_ast.Continue):
            return before
        if isinstance(item, c_ast.Compound) and _ends(item):
            return [*before, *_rewritten(list(item.block_items))]
        if isinstance(item, c_ast.If) and (_ends(item.iftrue) or _ends(item.iffalse)):
            return [*before, _joined(item, after)]
    return items


def _joined(node: c_ast.If, after: list[c_ast.Node]) -> c_ast.If:
    """Return the ``if`` with the statements after it in the branches that do not continue."""
    branches = []
    for branch in (node.iftrue, node.iffalse):
        own = _items(branch)
        rest = own if _ends(branch) else [*own, *after]
        found = _rewritten(rest)
        branches.append(c_ast.Compound(found, node.coord) if found else None)
    return c_ast.If(node.cond, branches[0] or c_ast.EmptyStatement(node.coord), branches[1], node.coord)


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


def _ends(node: c_ast.Node | None) -> bool:
    """Whether a branch always ends with ``continue``."""
    items = _items(node)
    if not items:
        return False
    last = items[-1]
    if isinstance(last, c_ast.If):
        return _ends(last.iftrue) and _ends(last.iffalse)
    return isinstance(last, c_ast.Continue) or (isinstance(last, c_ast.Compound) and _ends(last))
