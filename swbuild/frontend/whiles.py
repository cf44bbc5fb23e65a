"""``while (i < n) { ...; i++; }`` as the ``for`` loop that it is: the step moves into a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from swbuild.frontend.changes import changed_symbols, writes
from swbuild.frontend.inductions import evaluated
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import BLOCKS, change_children, continues

__all__ = ["without_whiles"]

_COMPARISONS = ("<", ">", "<=", ">=", "!=")

#: What may be in a step, or in a condition that only compares a counter.
_SUM = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp)
_PLAIN = (*_SUM, c_ast.Cast, c_ast.StructRef, c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)
_SIGNS = frozenset(("+", "-", "&"))


def without_whiles(
    items: Sequence[c_ast.Node], bindings: Bindings, is_read_later: Callable[[Symbol], bool]
) -> list[c_ast.Node]:
    """Return ``items`` with the ``while`` loops that count in the form of ``for`` loops; in place below.

    Such a loop compares a variable that nothing in its body changes but the last statement of all.  What sets
    the variable right before the loop becomes part of its head, too.  ``is_read_later`` tells of a variable
    whether anything after ``items`` reads it.
    """
    return _with_starts([_rewritten(item, bindings) for item in items], bindings, is_read_later)


def _rewritten(node: c_ast.Node, bindings: Bindings) -> c_ast.Node:
    """Return what stands for ``node``, which is changed in place below."""
    change_children(node, lambda child: _rewritten(child, bindings))
    if isinstance(node, c_ast.Compound):
        node.block_items = _with_starts(node.block_items or [], bindings, _is_gone)
    elif isinstance(node, BLOCKS):
        node.stmts = _with_starts(node.stmts or [], bindings, _is_gone)
    return _counted(node, bindings) if isinstance(node, c_ast.While) else node


def _counted(node: c_ast.While, bindings: Bindings) -> c_ast.Node:
    """Return a ``while`` loop in the form of a ``for`` loop, itself where it does not count."""
    body = list(node.stmt.block_items or []) if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    compared = _compared(node.cond, bindings)
    if not compared or not body or continues(node.stmt):
        return node
    changed = changed_symbols(node.stmt, bindings)
    step = _step(body[-1], compared, bindings)
    symbol = None if step is None else bindings.symbol(_target(step))
    if step is None or symbol is None or changed.count(symbol) != 1:
        return node
    if not _is_steady(step, symbol, node.stmt, bindings):
        return node
    if step is body[-1]:
        body.pop()
    else:  # a[i++] = x
        body[-1] = _plainly(body[-1], step)
    head = c_ast.UnaryOp(step.op, _target(step), step.coord) if isinstance(step, c_ast.UnaryOp) else step
    return c_ast.For(None, node.cond, head, c_ast.Compound(body, node.stmt.coord), node.coord)


def _compared(test: c_ast.Node, bindings: Bindings) -> set[Symbol]:
    """Return the variables in a comparison without effects, none where there is more to it."""
    comparison = isinstance(test, c_ast.BinaryOp) and test.op in _COMPARISONS
    addresses = [n.expr for n in walk(test) if isinstance(n, c_ast.UnaryOp) and n.op == "&"]
    elements = {id(n) for address in addresses for n in walk(address) if isinstance(n, c_ast.ArrayRef)}
    plain = all(isinstance(n, _PLAIN) or id(n) in elements for n in walk(test))
    signs = {n.op for n in walk(test) if isinstance(n, c_ast.UnaryOp)}
    if not comparison or not plain or not signs <= _SIGNS:
        return set()
    return {symbol for name in identifiers(test) if (symbol := bindings.symbol(name)) is not None}


def _step(statement: c_ast.Node, compared: set[Symbol], bindings: Bindings) -> c_ast.Node | None:
    """Return what steps one of the variables ``compared``: ``statement``, or what it evaluates at last.

    In a statement that does more, a variable is stepped after its value is used, and not named besides.
    """
    if _is_change(statement) and bindings.symbol(_target(statement)) in compared:
        return statement
    if not isinstance(statement, (c_ast.Assignment, c_ast.UnaryOp)):
        return None
    for node in evaluated(statement):
        if isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--") and isinstance(node.expr, c_ast.ID):
            symbol = bindings.symbol(node.expr)
            named = sum(bindings.symbol(name) is symbol for name in identifiers(statement))
            if symbol in compared and named == 1:
                return node
    return None


def _is_steady(step: c_ast.Node, symbol: Symbol, body: c_ast.Node, bindings: Bindings) -> bool:
    """Whether a step is by what is the same in all iterations and known outside of ``body``."""
    own = {bindings.declared.get(id(node)) for node in walk(body)}
    changed = changed_symbols(body, bindings)
    value = getattr(step, "rvalue", None)
    names = [] if value is None else [bindings.symbol(name) for name in identifiers(value)]
    simple = value is None or all(isinstance(n, _SUM) for n in walk(value))
    return simple and not any(name in own or (name in changed and name is not symbol) for name in names)


def _is_change(node: c_ast.Node) -> bool:
    """Whether ``node`` sets or steps a variable, and does nothing else."""
    if isinstance(node, c_ast.Assignment):
        return isinstance(node.lvalue, c_ast.ID) and not any(True for _ in writes(node.rvalue))
    return (
        isinstance(node, c_ast.UnaryOp)
        and node.op in ("p++", "p--", "++", "--")
        and isinstance(node.expr, c_ast.ID)
    )


def _target(step: c_ast.Node) -> c_ast.ID:
    return step.lvalue if isinstance(step, c_ast.Assignment) else step.expr


def _plainly(node: c_ast.Node, step: c_ast.Node) -> c_ast.Node:
    """Return ``node`` with the variable alone in the place of its ``step``."""
    if node is step:
        return step.expr
    change_children(node, lambda child: _plainly(child, step))
    return node


def _is_gone(_: Symbol) -> bool:
    """Whether anything after a block reads a variable that it declares."""
    return False


def _with_starts(
    items: Sequence[c_ast.Node], bindings: Bindings, is_read_later: Callable[[Symbol], bool]
) -> list[c_ast.Node]:
    """Return statements with loops that have no start set their counters as what is before them does.

    What is declared before a loop moves into its head where nothing after the loop names it.
    """
    found: list[c_ast.Node] = []
    for position, item in enumerate(items):
        symbol = _counter_without_start(item, bindings)
        at = None if symbol is None else _start(found, symbol, bindings)
        start = None if at is None else found[at]
        if isinstance(start, c_ast.Assignment):
            item.init = start
            found.remove(start)
        elif isinstance(start, c_ast.Decl) and symbol is not None:
            later = (name for after in items[position + 1 :] for name in identifiers(after))
            if not any(bindings.symbol(name) is symbol for name in later) and not is_read_later(symbol):
                item.init = c_ast.DeclList([start], start.coord)
                found.remove(start)
        found.append(item)
    return found


def _start(items: Sequence[c_ast.Node], symbol: Symbol, bindings: Bindings) -> int | None:
    """Return the position of what sets ``symbol`` at the end of ``items``, before declarations of others."""
    for at in reversed(range(len(items))):
        item = items[at]
        if isinstance(item, c_ast.Decl) and bindings.declared.get(id(item)) is symbol:
            return at if item.init is not None and not symbol.is_static else None
        if isinstance(item, c_ast.Assignment):
            own = item.op == "=" and _is_change(item) and bindings.symbol(item.lvalue) is symbol
            hidden = {each.name for each in items[at + 1 :]} & {name.name for name in identifiers(item)}
            return at if own and not hidden else None
        others = isinstance(item, c_ast.Decl) and not any(True for _ in writes(item))
        if not others or any(isinstance(n, c_ast.FuncCall) for n in walk(item)):
            return None
        if any(bindings.symbol(name) is symbol for name in identifiers(item)):
            return None
    return None


def _counter_without_start(node: c_ast.Node, bindings: Bindings) -> Symbol | None:
    """Return the only variable that the head of a loop steps and does not set, None for other statements."""
    if not isinstance(node, c_ast.For) or node.init is not None or node.next is None:
        return None
    stepped = [target for target, _, _ in writes(node.next)]
    alone = len(stepped) == 1 and isinstance(stepped[0], c_ast.ID)
    return bindings.symbol(stepped[0]) if alone else None
