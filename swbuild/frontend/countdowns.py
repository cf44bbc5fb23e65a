"""``for (i = n; i-- > 0; )`` as a loop that steps in its head's third part: the body sees the next value."""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from swbuild.frontend.changes import changed_symbols, writes
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children, outermost_loops

__all__ = ["only_counts", "without_countdowns"]

_STEPS = ("p++", "p--", "++", "--")
_COMPARISONS = ("<", ">", "<=", ">=", "!=")


def without_countdowns(
    items: list[c_ast.Node], function: c_ast.FuncDef, bindings: Bindings
) -> list[c_ast.Node]:
    """Return ``items`` of ``function`` with loops that step in their conditions rewritten, in place below.

    Only where an outermost loop does so: inside others, such loops are statements as they stand.
    """
    if not any(isinstance(loop, c_ast.For) and _step(loop) for loop in outermost_loops(items)):
        return items
    return [_rewritten(item, function, bindings) for item in items]


def _step(loop: c_ast.For) -> c_ast.UnaryOp | None:
    """Return the step of a variable in the condition, where the loop has no other."""
    test = loop.cond
    parts = (
        [test.left, test.right] if isinstance(test, c_ast.BinaryOp) and test.op in _COMPARISONS else [test]
    )
    found = [part for part in parts if isinstance(part, c_ast.UnaryOp) and part.op in _STEPS]
    alone = loop.next is None and len(found) == 1 and len(list(writes(test))) == 1
    return found[0] if alone and isinstance(found[0].expr, c_ast.ID) else None


def _rewritten(node: c_ast.Node, function: c_ast.FuncDef, bindings: Bindings) -> c_ast.Node:
    """Return what stands for ``node``, which is changed in place below."""
    change_children(node, lambda child: _rewritten(child, function, bindings))
    step = _step(node) if isinstance(node, c_ast.For) and node.cond is not None else None
    symbol = None if step is None else bindings.symbol(step.expr)
    if step is None or symbol is None or symbol in changed_symbols(node.stmt, bindings):
        return node
    if step.op.startswith("p") and not only_counts(symbol, [function.body], bindings):
        return node
    return _split(node, step, symbol, bindings)


def only_counts(symbol: Symbol, parts: Sequence[c_ast.Node], bindings: Bindings) -> bool:
    """Whether ``parts`` name a variable only in loops that set it first.

    Then no one sees what a loop leaves it at.
    """
    inside: set[int] = set()
    for loop in (node for part in parts for node in walk(part)):
        if isinstance(loop, c_ast.For) and _sets_first(loop, symbol, bindings):
            inside |= _names(loop, symbol, bindings)
    named = set[int]().union(*(_names(part, symbol, bindings) for part in parts))
    return symbol.storage is Storage.LOCAL and not symbol.is_static and named <= inside


def _sets_first(loop: c_ast.For, symbol: Symbol, bindings: Bindings) -> bool:
    if isinstance(loop.init, c_ast.DeclList):
        return any(bindings.declared.get(id(declared)) is symbol for declared in loop.init.decls)
    start = loop.init
    plain = isinstance(start, c_ast.Assignment) and start.op == "=" and isinstance(start.lvalue, c_ast.ID)
    return plain and bindings.symbol(start.lvalue) is symbol and not _names(start.rvalue, symbol, bindings)


def _names(node: c_ast.Node, symbol: Symbol, bindings: Bindings) -> set[int]:
    return {id(name) for name in identifiers(node) if bindings.symbol(name) is symbol}


def _split(node: c_ast.For, step: c_ast.UnaryOp, symbol: Symbol, bindings: Bindings) -> c_ast.Node:
    sign = step.op[-1]
    test, name = node.cond, step.expr
    whole = test is step
    if whole:
        node.cond = c_ast.BinaryOp("!=", name, c_ast.Constant("int", "0", test.coord), test.coord)
    elif test.left is step:
        test.left = name
    else:
        test.right = name
    node.next = c_ast.UnaryOp(f"p{sign}{sign}", name, step.coord)
    if not step.op.startswith("p"):
        return node if _starts_later(node, sign) else _back(node, test, step)
    node.stmt = _moved(node.stmt, symbol, sign, bindings)
    return node


def _starts_later(node: c_ast.For, sign: str) -> bool:
    """Let the loop start with the next value; return whether that can be."""
    start = node.init.decls[0] if isinstance(node.init, c_ast.DeclList) else node.init
    if isinstance(start, c_ast.Decl) and start.init is not None and len(node.init.decls) == 1:
        start.init = _next(start.init, sign)
    elif isinstance(start, c_ast.Assignment) and start.op == "=":
        start.rvalue = _next(start.rvalue, sign)
    else:
        return False
    return True


def _back(node: c_ast.For, test: c_ast.Node, step: c_ast.UnaryOp) -> c_ast.Node:
    """Return the loop as it was."""
    node.next = None
    if test is step:
        node.cond = test
    elif test.left is step.expr:
        test.left = step
    else:
        test.right = step
    return node


def _next(node: c_ast.Node, sign: str) -> c_ast.Node:
    return c_ast.BinaryOp(sign, node, c_ast.Constant("int", "1", node.coord), node.coord)


def _moved(node: c_ast.Node, symbol: Symbol, sign: str, bindings: Bindings) -> c_ast.Node:
    """Return ``node`` with the next value of ``symbol`` in its place."""
    if isinstance(node, c_ast.ID):
        return _next(node, sign) if bindings.symbol(node) is symbol else node
    change_children(node, lambda child: _moved(child, symbol, sign, bindings))
    return node
