"""``switch`` turned into ``if`` and ``else``, where each of its cases ends with ``break``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.changes import writes
from swbuild.frontend.symbols import Bindings, walk
from swbuild.frontend.syntax import breaks, change_children

__all__ = ["without_switches"]

#: Values that mean the same as a label, converted to the type of what is tested, and compared with that.
_LEAST, _MOST = -(2**31), 2**31 - 1

Integer = Callable[[c_ast.Node], int | None]


@dataclass(frozen=True, slots=True)
class _Case:
    """What runs where the value is that of one of the ``labels``, or, ``otherwise``, that of no label."""

    labels: tuple[c_ast.Node, ...]
    otherwise: bool
    body: c_ast.Compound


def without_switches(items: Sequence[c_ast.Node], bindings: Bindings, integer: Integer) -> list[c_ast.Node]:
    """Return ``items`` with each ``switch`` as a chain of ``if``, where that does the same; in place below.

    It does where what is tested has no effects, each case but the last one ends with ``break`` or
    ``continue``, no other ``break`` leaves it, and no case declares variables that others see.  ``integer``
    gives the value of a constant expression.
    """
    return [_rewritten(item, bindings, integer) for item in items]


def _rewritten(node: c_ast.Node, bindings: Bindings, integer: Integer) -> c_ast.Node:
    change_children(node, lambda child: _rewritten(child, bindings, integer))
    if not isinstance(node, c_ast.Switch) or not _is_pure(node.cond):
        return node
    cases = _cases(node, integer)
    return node if cases is None else _chain(node, cases, bindings)


def _is_pure(node: c_ast.Node) -> bool:
    return not any(True for _ in writes(node)) and not any(isinstance(n, c_ast.FuncCall) for n in walk(node))


def _cases(node: c_ast.Switch, integer: Integer) -> list[_Case] | None:
    """Return the cases of a ``switch`` in their order; None where they are no branches."""
    if not isinstance(node.stmt, c_ast.Compound):
        return None
    found: list[_Case] = []
    labels: list[c_ast.Node] = []
    otherwise = False
    items = list(node.stmt.block_items or [])
    for position, item in enumerate(items):
        if not isinstance(item, (c_ast.Case, c_ast.Default)):
            return None
        if isinstance(item, c_ast.Default):
            otherwise = True
        else:
            labels.append(item.expr)
        statements = list(item.stmts or [])
        is_last = position == len(items) - 1
        if not statements and not is_last:
            continue  # the label of what follows as well
        body = _body(statements, is_last)
        if body is None:
            return None
        found.append(_Case(tuple(labels), otherwise, c_ast.Compound(body, item.coord)))
        labels, otherwise = [], False
    values = [integer(label) for case in found for label in case.labels]
    return found if all(value is not None and _LEAST <= value <= _MOST for value in values) else None


def _body(statements: list[c_ast.Node], is_last: bool) -> list[c_ast.Node] | None:
    """Return the statements of a case without the ``break`` at its end; None where it is no branch."""
    ends = bool(statements) and isinstance(statements[-1], (c_ast.Break, c_ast.Continue))
    if statements and isinstance(statements[-1], c_ast.Break):
        statements = statements[:-1]
    elif statements and isinstance(statements[-1], c_ast.Compound):
        *before, block = statements
        inner = list(block.block_items or [])
        ends = bool(inner) and isinstance(inner[-1], (c_ast.Break, c_ast.Continue))
        if ends and isinstance(inner[-1], c_ast.Break):
            statements = [*before, c_ast.Compound(inner[:-1], block.coord)]
    if any(isinstance(each, (c_ast.Decl, c_ast.DeclList)) or breaks(each) for each in statements):
        return None
    if any(map(_is_entered, statements)):
        return None
    return statements if ends or is_last else None


def _is_entered(node: c_ast.Node) -> bool:
    """Whether the label of a case around it is at or below ``node``: that case begins in its middle."""
    if isinstance(node, c_ast.Switch):
        return False
    return isinstance(node, (c_ast.Case, c_ast.Default)) or any(map(_is_entered, node))


def _chain(node: c_ast.Switch, cases: Sequence[_Case], bindings: Bindings) -> c_ast.Node:
    """Return what runs the case whose label the value has: no two have the same."""
    chain: c_ast.Node | None = next((case.body for case in cases if case.otherwise), None)
    for case in reversed([case for case in cases if not case.otherwise]):
        test: c_ast.Node | None = None
        for label in case.labels:
            equal = c_ast.BinaryOp("==", bindings.copied(node.cond), label, node.coord)
            test = equal if test is None else c_ast.BinaryOp("||", test, equal, node.coord)
        chain = c_ast.If(test, case.body, chain, node.coord)
    return chain if chain is not None else c_ast.EmptyStatement(node.coord)
