"""Whether the value of a variable may still be used after the region."""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from swbuild.frontend.ctype import Scalar
from swbuild.frontend.escapes import escapes_of
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk

__all__ = ["Liveness"]


class Liveness:
    """Answers for one function and one region in it (``items`` of the block ``block``).

    A backward walk over the syntax tree for one variable at a time: loops to their fixed point,
    jumps and switches conservatively.  Any doubt (address taken, ``goto``) means "may be used".
    """

    def __init__(self, function: c_ast.FuncDef, bindings: Bindings, end: c_ast.Node) -> None:
        self._function = function
        self._bindings = bindings
        self._end = end
        self._jumps = any(isinstance(n, c_ast.Goto) for n in walk(function.body))
        self._escapes = escapes_of(function, bindings)
        self._named: dict[int, frozenset[Symbol]] = {}
        self._live: dict[Symbol, bool] = {}

    def escapes(self, symbol: Symbol) -> bool:
        """Whether a pointer to the object or a part of it may exist (``&x``, an array named by itself)."""
        return symbol in self._escapes.variables

    def leaks(self, symbol: Symbol) -> bool:
        """Whether another pointer may hold the value of this one, or an address in what it points to."""
        return symbol in self._escapes.pointers

    def leaks_member(self, name: str) -> bool:
        """Whether that may be so for a pointer that is a member ``name`` of a structure."""
        return name in self._escapes.members

    def live_after(self, symbol: Symbol) -> bool:
        """Whether the value that ``symbol`` has at the end of the region may be read later."""
        if symbol not in self._live:
            self._live[symbol] = self._is_live_after(symbol)
        return self._live[symbol]

    def _is_live_after(self, symbol: Symbol) -> bool:
        if symbol.storage is Storage.GLOBAL or symbol.is_static:
            return True
        if self.escapes(symbol):
            return True
        if self._jumps:
            return sum(1 for n in identifiers(self._function.body) if self._is(n, symbol)) > 0
        query = _Query(self._bindings, symbol, self._end, self._named)
        query.before(self._function.body, False)
        return query.answer

    def named_outside(self, symbol: Symbol, items: Sequence[c_ast.Node]) -> bool:
        """Whether the function names ``symbol``, which the region's ``items`` declare, anywhere else."""
        inside = {id(n) for item in items for n in identifiers(item)}
        return any(self._is(n, symbol) and id(n) not in inside for n in identifiers(self._function.body))

    def _is(self, node: c_ast.ID, symbol: Symbol) -> bool:
        return self._bindings.symbol(node) is symbol


class _Query:
    """Liveness of one symbol; ``answer`` collects what holds at the end pragma."""

    def __init__(
        self, bindings: Bindings, symbol: Symbol, end: c_ast.Node, named: dict[int, frozenset[Symbol]]
    ) -> None:
        self.bindings, self.symbol, self.end = bindings, symbol, end
        self.named = named
        self.answer = False
        self.break_live: list[bool] = []
        self.continue_live: list[bool] = []

    def before(self, node: c_ast.Node | None, after: bool) -> bool:
        """Return whether the symbol is live before ``node`` if it is live (``after``) behind it."""
        if node is None:
            return after
        if node is self.end:
            self.answer = self.answer or after
            return after
        method = getattr(self, f"_before_{type(node).__name__.lower()}", None)
        return bool(method(node, after)) if method is not None else self._expression(node, after)

    def _sequence(self, nodes: Sequence[c_ast.Node | None], after: bool) -> bool:
        for node in reversed(nodes):
            after = self.before(node, after)
        return after

    def _before_compound(self, node: c_ast.Compound, after: bool) -> bool:
        return self._sequence(node.block_items or [], after)

    def _before_decllist(self, node: c_ast.DeclList, after: bool) -> bool:
        return self._sequence(node.decls, after)

    def _before_decl(self, node: c_ast.Decl, after: bool) -> bool:
        if self.bindings.declared.get(id(node)) is self.symbol:
            after = False
        if node.init is not None:
            after = self._expression(node.init, after)
        return self._expression(node.type, after)

    def _before_label(self, node: c_ast.Label, after: bool) -> bool:
        return self.before(node.stmt, after)  # no goto leads to it

    def _before_if(self, node: c_ast.If, after: bool) -> bool:
        taken, other = self.before(node.iftrue, after), self.before(node.iffalse, after)
        return self._expression(node.cond, taken or other)

    def _before_for(self, node: c_ast.For, after: bool) -> bool:
        return self.before(node.init, self._loop(node.cond, node.stmt, node.next, after))

    def _before_while(self, node: c_ast.While, after: bool) -> bool:
        return self._loop(node.cond, node.stmt, None, after)

    def _before_dowhile(self, node: c_ast.DoWhile, after: bool) -> bool:
        head = False
        for _ in range(2):
            self.break_live.append(after)
            tail = self._expression(node.cond, after or head)
            self.continue_live.append(tail)
            head = self.before(node.stmt, tail)
            self.break_live.pop(), self.continue_live.pop()
        return head

    def _loop(self, cond: c_ast.Node | None, body: c_ast.Node, step: c_ast.Node | None, after: bool) -> bool:
        head = self._condition(cond, after)
        for _ in range(2):
            tail = self.before(step, head)
            self.break_live.append(after)
            self.continue_live.append(tail)
            inside = self.before(body, tail)
            self.break_live.pop(), self.continue_live.pop()
            head = self._condition(cond, after or inside)
        return head

    def _condition(self, cond: c_ast.Node | None, after: bool) -> bool:
        return after if cond is None else self._expression(cond, after)

    def _before_switch(self, node: c_ast.Switch, after: bool) -> bool:
        reads = any(self.bindings.symbol(n) is self.symbol for n in identifiers(node))
        self.break_live.append(after)
        self.continue_live.append(after or (bool(self.continue_live) and self.continue_live[-1]))
        self.before(node.stmt, after)
        self.break_live.pop(), self.continue_live.pop()
        if self._inside(node):
            self.answer = self.answer or reads or after
        return reads or after

    def _inside(self, node: c_ast.Node) -> bool:
        return any(n is self.end for n in walk(node))

    def _before_break(self, node: c_ast.Break, after: bool) -> bool:
        return self.break_live[-1] if self.break_live else True

    def _before_continue(self, node: c_ast.Continue, after: bool) -> bool:
        return self.continue_live[-1] if self.continue_live else True

    def _before_return(self, node: c_ast.Return, after: bool) -> bool:
        return self._expression(node.expr, False) if node.expr is not None else False

    def _expression(self, node: c_ast.Node, after: bool) -> bool:
        """An expression reads the symbol, or, as a plain assignment to it, ends its old value's life."""
        if isinstance(node, c_ast.Assignment) and self._sets(node):
            return self._reads(node.rvalue)
        if isinstance(node, c_ast.ExprList):
            return self._sequence(node.exprs, after)
        return self._reads(node) or after

    def _sets(self, node: c_ast.Assignment) -> bool:
        if node.op != "=" or not isinstance(node.lvalue, c_ast.ID):
            return False
        return self.bindings.symbol(node.lvalue) is self.symbol and isinstance(self.symbol.type, Scalar)

    def _reads(self, node: c_ast.Node) -> bool:
        if id(node) not in self.named:
            found = (self.bindings.symbol(n) for n in identifiers(node))
            self.named[id(node)] = frozenset(symbol for symbol in found if symbol is not None)
        return self.symbol in self.named[id(node)]
