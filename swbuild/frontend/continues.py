"""``continue`` turned into ``if`` and ``else``: what follows in the body moves into the other branch."""

from __future__ import annotations

from pycparser import c_ast

from swbuild.frontend.changes import writes
from swbuild.frontend.symbols import walk
from swbuild.frontend.syntax import continues, outermost_loops

__all__ = ["without_continues"]


def without_continues(items: list[c_ast.Node]) -> None:
    """Rewrite, in place, the bodies of the counted loops below ``items``.

    A ``continue`` that is not at the end of a branch of an ``if`` at the body's own level stays, except where
    it is in an outermost loop, of which nothing else can be made, and alone at the end of a branch of tests
    that can be made before all branches.
    """
    for item in items:
        outermost = {id(loop) for loop in outermost_loops([item])}
        for loop in walk(item):
            if isinstance(loop, c_ast.For) and loop.stmt is not None:
                body = loop.stmt.block_items if isinstance(loop.stmt, c_ast.Compound) else [loop.stmt]
                found = _rewritten(list(body or []), id(loop) in outermost)
                loop.stmt = c_ast.Compound(found, loop.stmt.coord)


def _rewritten(items: list[c_ast.Node], guarded: bool) -> list[c_ast.Node]:
    """Return statements that do the same without ``continue`` where that is possible.

    ``guarded`` lets tests of several branches be put before what follows.
    """
    for position, item in enumerate(items):
        before, after = items[:position], items[position + 1 :]
        if isinstance(item, c_ast.Continue):
            return before
        if isinstance(item, c_ast.Compound) and _ends(item):
            return [*before, *_rewritten(list(item.block_items), guarded)]
        if isinstance(item, c_ast.If) and (_ends(item.iftrue) or _ends(item.iffalse)):
            return [*before, _joined(item, after, guarded)]
        goes_on = _goes_on(item) if guarded and isinstance(item, c_ast.If) else True
        if isinstance(goes_on, c_ast.Node):
            inside = [_without(item), *_rewritten(after, guarded)]
            return [*before, c_ast.If(goes_on, c_ast.Compound(inside), _leaving(item), item.coord)]
    return items


def _goes_on(node: c_ast.Node | None) -> c_ast.Node | bool | None:
    """Return the condition, to be tested before ``node``, on which what follows it runs.

    None where there is no such condition: other statements run before a ``continue``, or tests have effects.
    """
    if _is_left(node):
        return False
    if isinstance(node, c_ast.Compound) and node.block_items:
        first, *others = node.block_items
        return None if any(map(continues, others)) else _goes_on(first)
    if isinstance(node, c_ast.If) and continues(node):
        if any(True for _ in writes(node.cond)) or any(
            isinstance(n, c_ast.FuncCall) for n in walk(node.cond)
        ):
            return None
        return _either(node.cond, _goes_on(node.iftrue), _goes_on(node.iffalse))
    return None if node is not None and continues(node) else True


def _is_left(node: c_ast.Node | None) -> bool:
    """Whether ``node`` ends with its only ``continue``."""
    *others, last = _items(node) or [None]
    return isinstance(last, c_ast.Continue) and not any(map(continues, others))


def _either(
    test: c_ast.Node, then: c_ast.Node | bool | None, other: c_ast.Node | bool | None
) -> c_ast.Node | bool | None:
    """Return ``test ? then : other`` as a condition."""
    if then is None or other is None or (isinstance(then, bool) and then is other):
        return None if then is None else other
    fails = c_ast.UnaryOp("!", test, test.coord)
    if isinstance(then, bool):
        first = test if then else fails
        return first if isinstance(other, bool) else c_ast.BinaryOp("||" if then else "&&", first, other)
    if isinstance(other, bool):
        return c_ast.BinaryOp("||" if other else "&&", fails if other else test, then)
    return c_ast.BinaryOp("||", c_ast.BinaryOp("&&", test, then), c_ast.BinaryOp("&&", fails, other))


def _without(node: c_ast.Node | None) -> c_ast.Node:
    """Return ``node`` where it does not end with its first ``continue``."""
    if node is None or _is_left(node):
        return c_ast.EmptyStatement()
    if isinstance(node, c_ast.If) and continues(node):
        other = None if node.iffalse is None else _without(node.iffalse)
        return c_ast.If(node.cond, _without(node.iftrue), other, node.coord)
    if isinstance(node, c_ast.Compound) and node.block_items:
        return c_ast.Compound(_rewritten(list(node.block_items), True), node.coord)
    return node


def _leaving(node: c_ast.Node | None) -> c_ast.Node | None:
    """Return what ``node`` does before a ``continue`` that ends one of its branches, None for nothing."""
    if isinstance(node, c_ast.If):
        then, other = _leaving(node.iftrue), _leaving(node.iffalse)
        nothing = then is None and other is None
        return None if nothing else c_ast.If(node.cond, then or c_ast.EmptyStatement(), other, node.coord)
    items = _items(node)
    if not _is_left(node):  # what comes after a test that continues is not come to
        return _leaving(items[0]) if isinstance(node, c_ast.Compound) and items else None
    return c_ast.Compound(items[:-1], items[-1].coord) if items[1:] else None


def _joined(node: c_ast.If, after: list[c_ast.Node], guarded: bool) -> c_ast.If:
    """Return the ``if`` with the statements after it in the branches that do not continue."""
    branches = []
    for branch in (node.iftrue, node.iffalse):
        own = _items(branch)
        rest = own if _ends(branch) else [*own, *after]
        found = _rewritten(rest, guarded)
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
