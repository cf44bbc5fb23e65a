"""``for`` loops that count with several variables become loops with one: the others follow in the body."""

from __future__ import annotations

from pycparser import c_ast

from swbuild.frontend.changes import writes
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children, continues, head_parts, outermost_loops

__all__ = ["without_second_counters"]


def without_second_counters(items: list[c_ast.Node], bindings: Bindings) -> list[c_ast.Node]:
    """Return the statements with the counted loops in them rewritten, in place below the statements.

    Only where an outermost loop has several counters: inside others, such loops are statements as they stand.
    """
    if not any(isinstance(item, c_ast.For) and _is_double(item) for item in outermost_loops(items)):
        return items
    return [_rewritten(item, bindings) for item in items]


def _is_double(node: c_ast.For) -> bool:
    return len(head_parts(node.init)) > 1 or len(head_parts(node.next)) > 1


def _rewritten(node: c_ast.Node, bindings: Bindings) -> c_ast.Node:
    """Return what stands for ``node``, which is changed in place below."""
    change_children(node, lambda child: _rewritten(child, bindings))
    if not isinstance(node, c_ast.For) or not _is_double(node) or node.cond is None or continues(node.stmt):
        return node
    return _split(node, bindings)


def _split(node: c_ast.For, bindings: Bindings) -> c_ast.Node:
    """Return the loop with one counter, in a block that sets the others first; itself where that differs."""
    starts, steps = head_parts(node.init), head_parts(node.next)
    tested = _named(node.cond, bindings)
    stepped = [_changed(step, bindings) for step in steps]
    counters = [symbol for symbol in stepped if symbol is not None and symbol in tested]
    if len(counters) != 1 or None in stepped or stepped.count(counters[0]) != 1:
        return node
    counter = counters[0]
    own = [start for start in starts if _changed(start, bindings) is counter]
    others = [start for start in starts if start not in own]
    behind = [step for step, symbol in zip(steps, stepped, strict=True) if symbol is not counter]
    mine = next(step for step, symbol in zip(steps, stepped, strict=True) if symbol is counter)
    if len(own) > 1 or any(_changed(start, bindings) is None for start in others):
        return node
    if any(counter in _named(part, bindings) for part in (*others, *behind)):
        return node
    if own and any(_changed(o, bindings) in _named(own[0], bindings) for o in others):
        return node
    init = own[0] if own else None
    before: list[c_ast.Node] = []
    for place, step in enumerate(behind):
        start = next((o for o in others if _changed(o, bindings) is _changed(step, bindings)), None)
        formula = None if start is None or init is None else _formula(start, step, init, mine)
        if formula is not None and _is_kept(formula, node, counter, bindings):
            target = _target(step)
            before.append(c_ast.Assignment("=", target, formula, step.coord))
            by = _by(step) or 0
            after = c_ast.BinaryOp("+" if by > 0 else "-", formula, _number(abs(by), step), step.coord)
            behind[place] = c_ast.Assignment("=", target, after, step.coord)
    if isinstance(init, c_ast.Decl):
        init = c_ast.DeclList([init], init.coord)
    body = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    node.init, node.next = init, mine
    node.stmt = c_ast.Compound([*before, *body, *behind], node.stmt.coord)
    return c_ast.Compound([*others, node], node.coord)


def _formula(start: c_ast.Node, step: c_ast.Node, init: c_ast.Node, mine: c_ast.Node) -> c_ast.Node | None:
    """Return the value that ``start`` and ``step`` give in an iteration, by the loop's counter."""
    first, origin, by, per = _value(start), _value(init), _by(step), _by(mine)
    if first is None or origin is None or not by or not per or by % per:
        return None
    run, times = c_ast.BinaryOp("-", _target(mine), origin, step.coord), by // per
    far = run if abs(times) == 1 else c_ast.BinaryOp("*", _number(abs(times), step), run, step.coord)
    return c_ast.BinaryOp("+" if times > 0 else "-", first, far, step.coord)


def _is_kept(formula: c_ast.Node, loop: c_ast.For, counter: Symbol, bindings: Bindings) -> bool:
    """Whether ``formula`` holds numbers and variables only, which the body of ``loop`` does not set."""
    simple = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp)
    if not all(isinstance(n, simple) and getattr(n, "op", "+") in "+-*" for n in walk(formula)):
        return False
    changed = {bindings.symbol(t) for t, _, _ in writes(loop) if isinstance(t, c_ast.ID)} - {counter}
    return not changed & _named(formula, bindings)


def _value(start: c_ast.Node) -> c_ast.Node | None:
    return start.init if isinstance(start, c_ast.Decl) else getattr(start, "rvalue", None)


def _target(step: c_ast.Node) -> c_ast.ID:
    return step.lvalue if isinstance(step, c_ast.Assignment) else step.expr


def _by(step: c_ast.Node) -> int | None:
    """Return the number that ``step`` adds, None where it is none."""
    if isinstance(step, c_ast.UnaryOp):
        return 1 if "++" in step.op else -1
    known = integer_constant(step.rvalue) if isinstance(step.rvalue, c_ast.Constant) else None
    if known is None or step.op not in ("+=", "-="):
        return None
    return known.value if step.op == "+=" else -known.value


def _number(value: int, node: c_ast.Node) -> c_ast.Node:
    """Return a positive number written in C."""
    return c_ast.Constant("int", str(value), node.coord)


def _changed(node: c_ast.Node, bindings: Bindings) -> Symbol | None:
    """Return the one variable that ``node`` declares, sets or steps; None where it does more."""
    if isinstance(node, c_ast.Decl):
        simple = node.init is not None and not any(True for _ in writes(node.init))
        return bindings.declared.get(id(node)) if simple else None
    found = [target for target, _, _ in writes(node)]
    if len(found) != 1 or not isinstance(found[0], c_ast.ID):
        return None
    whole = node.lvalue if isinstance(node, c_ast.Assignment) else getattr(node, "expr", None)
    return bindings.symbol(found[0]) if found[0] is whole else None


def _named(node: c_ast.Node, bindings: Bindings) -> set[Symbol]:
    found = {bindings.symbol(name) for name in identifiers(node)}
    found |= {bindings.declared.get(id(below)) for below in walk(node)}
    return {symbol for symbol in found if symbol is not None}
