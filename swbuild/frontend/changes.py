"""Where a function, or what it calls, changes variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from pycparser import c_ast

from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, walk
from swbuild.frontend.unread import Unread

__all__ = ["Changes", "changed_symbols", "is_write", "writes"]

_STEPS = ("p++", "p--", "++", "--")


def writes(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, str, c_ast.Node | None]]:
    """Yield (l-value, operator, value) for all assignments and steps below ``node``."""
    for item in walk(node):
        if isinstance(item, c_ast.Assignment):
            yield item.lvalue, item.op, item.rvalue
        elif isinstance(item, c_ast.UnaryOp) and item.op in _STEPS:
            yield item.expr, item.op, None


def changed_symbols(node: c_ast.Node, bindings: Bindings) -> list[Symbol]:
    """Return the variables that something at or below ``node`` changes, or lends to what may, each time."""
    lent = (n.expr for n in walk(node) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    targets = (*(target for target, _, _ in writes(node)), *lent)
    found = (bindings.symbol(target) for target in targets if isinstance(target, c_ast.ID))
    return [symbol for symbol in found if symbol is not None]


def is_write(node: c_ast.Node) -> bool:
    """Whether ``node`` itself is an assignment or a step."""
    return isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.UnaryOp) and node.op in _STEPS)


class Changes:
    """What ``function`` changes, whose names are bound, and what the functions of its file may."""

    def __init__(self, function: c_ast.FuncDef, bindings: Bindings, scope: FileScope) -> None:
        self._bindings, self._scope = bindings, scope
        self._nodes = list(walk(function.body))
        self._order = {id(node): place for place, node in enumerate(self._nodes)}
        self._places = self._find_places()

    def place(self, node: c_ast.Node | None, otherwise: int = -1) -> int:
        """Return how far into the body ``node`` stands, ``otherwise`` for one outside."""
        return self._order.get(id(node), otherwise)

    def is_changed(self, symbol: Symbol) -> bool:
        """Whether the function itself writes ``symbol``, or takes its address."""
        return bool(self._places.get(symbol))

    def may_change_since(self, symbol: Symbol, place: int, extent: c_ast.Node) -> bool:
        """Whether what ``extent`` reads of ``symbol`` may be another value at some time after ``place``."""
        if symbol in self._lent or any(where >= place for where in self._places.get(symbol, ())):
            return True
        members = {n.field.name for n in walk(extent) if isinstance(n, c_ast.StructRef)}
        later = self._nodes[max(0, place) :]
        written = (target for node in later if is_write(node) for target in _targets(node))
        if any(isinstance(target, c_ast.StructRef) and target.field.name in members for target in written):
            return True
        shared = symbol.storage is Storage.GLOBAL or symbol.is_static
        return self._calls_what_writes(members | ({symbol.name} if shared else set()), later)

    @cached_property
    def _lent(self) -> set[Symbol]:
        """The variables whose addresses are kept: taken anywhere but for the time of a call."""
        passed = {
            id(_without_casts(argument))
            for node in self._nodes
            if isinstance(node, c_ast.FuncCall) and node.args is not None and not isinstance(node, Unread)
            for argument in node.args.exprs
        }
        taken = (
            n for n in self._nodes if isinstance(n, c_ast.UnaryOp) and n.op == "&" and id(n) not in passed
        )
        found = (self._variable(node.expr) for node in taken)
        return {symbol for symbol in found if symbol is not None}

    def _calls_what_writes(self, names: set[str], later: list[c_ast.Node]) -> bool:
        """Whether one of the nodes ``later`` calls a function of the file, which may write one of ``names``.

        Most functions' bodies are not read: what their text looks like is all that is known of them.
        """
        callees = [n.name for n in later if isinstance(n, c_ast.FuncCall)]
        if not any(map(self._may_be_of_the_file, callees)):
            return False
        return any(_count_in_text(self._scope.text, name) > self._count(name) for name in names)

    def _may_be_of_the_file(self, callee: c_ast.Node) -> bool:
        named = isinstance(callee, c_ast.ID) and self._bindings.symbol(callee) is None
        return not named or self._scope.is_defined(callee.name)

    def _count(self, name: str) -> int:
        """Return how often the function writes a variable or member ``name``, or takes its address."""
        taken = [n.expr for n in self._nodes if isinstance(n, c_ast.UnaryOp) and n.op == "&"]
        targets = [*taken, *(target for node in self._nodes if is_write(node) for target in _targets(node))]
        return sum(_last_name(target) == name for target in targets)

    def _find_places(self) -> dict[Symbol, list[int]]:
        """Return where in the function each variable is written or has its address taken."""
        found: dict[Symbol, list[int]] = {}
        for node in self._nodes:
            targets = [t for t, _, _ in writes(node)] if is_write(node) else []
            if isinstance(node, c_ast.UnaryOp) and node.op == "&":
                targets.append(node.expr)
            for target in targets:
                symbol = self._variable(target)
                if symbol is not None:
                    found.setdefault(symbol, []).append(self._order[id(node)])
        return found

    def _variable(self, target: c_ast.Node) -> Symbol | None:
        """Return the variable that ``target`` is, or that it is a member of."""
        while isinstance(target, c_ast.StructRef):
            target = target.name
        return self._bindings.symbol(target) if isinstance(target, c_ast.ID) else None


def _without_casts(node: c_ast.Node) -> c_ast.Node:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node


def _targets(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield what ``node`` itself writes."""
    target, _, _ = next(writes(node))
    yield target


def _last_name(target: c_ast.Node) -> str | None:
    """Return the name of a variable, or of a member of whatever structure."""
    if isinstance(target, c_ast.StructRef):
        return str(target.field.name)
    return str(target.name) if isinstance(target, c_ast.ID) else None


def _count_in_text(text: str, name: str) -> int:
    """Return how often ``text`` looks as if it wrote a variable or member ``name``, or took its address."""
    target = rf"(?:[\w$]+\s*(?:->|\.)\s*)*(?<![\w$]){re.escape(name)}(?![\w$])"
    beginning = r"(?:(?<![\w$*\s])|(?<=\belse)|(?<=\bdo))\s*"  # what is declared comes after a type
    written = rf"{beginning}{target}\s*(?:\+\+|--|[-+*/%&|^]?=(?!=)|<<=|>>=)"
    stepped_or_taken = rf"(?:\+\+|--|(?<!&)&(?!&))\s*\(?\s*{target}"
    return len(re.findall(written, text)) + len(re.findall(stepped_or_taken, text))
