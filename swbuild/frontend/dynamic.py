"""Loops whose iterations depend on data: the whole loop is the text of one statement.

``for (k = row[i]; k < row[i + 1]; k++)``, ``while``, ``do`` and loops left by ``break`` have no bounds
over counters and sizes.  Inside a counted loop such a loop becomes part of the text of one statement,
like a data-dependent ``if``: what it may write are may-writes, and its subscripts that depend on its own
counter are followed no further than to the array.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from swbuild.frontend.branches import Branches
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.facts import RegionFacts, writes
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import BodyPart, Storage
from swbuild.frontend.state import Position
from swbuild.frontend.symbols import Symbol, identifiers, walk

__all__ = ["DynamicLoops", "leaves_early"]

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_JUMPS = {"Goto": "goto", "Return": "return", "Switch": "switch", "Label": "a label", "Case": "case"}


class DynamicLoops(Branches):
    """Turns loops that depend on data into statements."""

    def _dynamic(self, node: c_ast.Node, where: Position) -> None:
        """Model a loop as one statement; raise NotModelledError where its text cannot be one."""
        self._refuse_jumps(node)
        own = [s for s in self._local_counters(node) if s not in self._locals]
        for symbol in own:
            self.stale.pop(symbol, None)
            self._values[symbol] = None
            self._own_name(symbol)
        first = _first_set(node, self.facts)
        if first is not None and first not in own:
            self._set(first, None, bool(where.guards))
        try:
            self._macro(node, where)
        finally:
            for symbol in own:
                del self._locals[symbol]
        self._forget_values(node, own)

    def _forget_values(self, node: c_ast.Node, own: list[Symbol]) -> None:
        for symbol in self.facts.scalars_written_in(node):
            self._values[symbol] = None
        for symbol in own:
            self.stale[symbol] = node  # memory does not hold what the text's own variable was

    def _refuse_jumps(self, node: c_ast.Node) -> None:
        for item in walk(node):
            if type(item).__name__ in _JUMPS:
                raise self.problems.refuse(
                    "SW213",
                    f"{_JUMPS[type(item).__name__]} inside a region: which statements run is not known "
                    "from the loops' bounds",
                    item,
                    "use for loops with affine bounds, and if",
                )

    def _local_counters(self, node: c_ast.Node) -> list[Symbol]:
        """Return the counters of ``for`` loops in ``node``, declared outside, that no one else looks at."""
        found: list[Symbol] = []
        for loop in walk(node):
            symbol = _counter(loop, self.facts)
            if symbol is not None and symbol not in found and self._only_counts(symbol):
                found.append(symbol)
        return found

    def _only_counts(self, symbol: Symbol) -> bool:
        """Whether the function names a variable only inside loops that set it first."""
        if symbol.storage is Storage.GLOBAL or symbol.is_static or not isinstance(symbol.type, Scalar):
            return False
        everywhere = self._names_of(symbol, self.facts.function.body)
        inside: set[int] = set()
        for loop in walk(self.facts.function.body):
            if _counter(loop, self.facts) is symbol:
                inside |= self._names_of(symbol, loop)
        return everywhere <= inside and not any(
            isinstance(n, c_ast.UnaryOp) and n.op == "&" and self.facts.mentions(n, symbol)
            for n in walk(self.facts.function.body)
        )

    def _names_of(self, symbol: Symbol, node: c_ast.Node) -> set[int]:
        return {id(n) for n in identifiers(node) if self.facts.bindings.symbol(n) is symbol}

    # -- text -----------------------------------------------------------------------------------

    def _macro_text(self, node: c_ast.Node, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        if isinstance(node, c_ast.For):
            return self._macro_for(node, emitter, where, indent)
        if isinstance(node, c_ast.While):
            return self._macro_while(node, emitter, where, indent)
        if isinstance(node, c_ast.DoWhile):
            return self._macro_do(node, emitter, where, indent)
        if isinstance(node, (c_ast.Break, c_ast.Continue)):
            return [f"{type(node).__name__.lower()};"]
        return super()._macro_text(node, emitter, where, indent)

    def _macro_for(self, node: c_ast.For, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        head = self._macro_init(node, emitter, where)
        before = emitter.owned()
        inside = Where(where.domain, True)
        cond = emitter.expression(node.cond, inside).parts if node.cond is not None else []
        tested = emitter.owned()
        body = self._braced(node.stmt, emitter, inside, indent)
        # The step also follows a `continue`, so what the body set is not known to be set there.
        emitter.restore(tested)
        step = emitter.expression(node.next, inside).parts if node.next is not None else []
        emitter.restore(before)
        return ["for (", *head, "; ", *cond, "; ", *step, ") ", *body]

    def _macro_init(self, node: c_ast.For, emitter: Emitter, where: Where) -> list[BodyPart]:
        """Return the text of what a loop starts with, without the semicolon."""
        if node.init is None:
            return []
        if isinstance(node.init, c_ast.DeclList):
            return self._macro_counters(node.init.decls, emitter, where)
        symbol = _counter(node, self.facts)
        if symbol is not None and symbol in self._locals and isinstance(symbol.type, Scalar):
            value = emitter.expression(node.init.rvalue, where)
            return [f"{symbol.type.element.name} {self._locals[symbol]} = ", *value.at(2)]
        return _without_semicolon(self._macro_text(node.init, emitter, where, ""))

    def _macro_counters(
        self, declarations: list[c_ast.Decl], emitter: Emitter, where: Where
    ) -> list[BodyPart]:
        """Return the declaration of what a loop counts with: numbers of one type."""
        parts = self._macro_declaration(declarations[0], emitter, where)
        kind = self.facts.bindings.declared[id(declarations[0])].type
        for declaration in declarations[1:]:
            symbol = self.facts.bindings.declared[id(declaration)]
            if symbol.type != kind or not isinstance(kind, Scalar) or declaration.init is None:
                what = "the loop declares several variables"
                raise self.problems.refuse("SW210", what, declaration, "declare them before the loop")
            value = emitter.expression(declaration.init, where)
            parts = [*_without_semicolon(parts), f", {self._own_name(symbol)} = ", *value.at(2), ";"]
        return _without_semicolon(parts)

    def _macro_while(self, node: c_ast.While, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        before, inside = emitter.owned(), Where(where.domain, True)
        cond = emitter.expression(node.cond, inside)
        body = self._braced(node.stmt, emitter, inside, indent)
        emitter.restore(before)
        return ["while (", *cond.parts, ") ", *body]

    def _macro_do(self, node: c_ast.DoWhile, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        before, inside = emitter.owned(), Where(where.domain, True)
        body = self._braced(node.stmt, emitter, inside, indent)
        emitter.restore(before)
        cond = emitter.expression(node.cond, inside)
        emitter.restore(before)
        return ["do ", *body, " while (", *cond.parts, ");"]

    def _attempted(self, node: c_ast.For, where: Position, reason: NotModelledError) -> None:
        """Model a loop that is no counted one as a statement, or refuse it for the first ``reason``."""
        if not where.loops or reason.diagnostic.code not in ("SW210", "SW211", "SW212", "SW226"):
            raise reason
        self._dynamic(node, where)


def leaves_early(node: c_ast.Node) -> bool:
    """Whether a ``break``, or a ``continue`` that is still there, leaves the loop whose body ``node`` is."""
    return any(isinstance(item, (c_ast.Break, c_ast.Continue)) for item in _own_level(node))


def _own_level(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield ``node`` and what is below it, but not what is in loops and switches inside."""
    yield node
    for child in node:
        if not isinstance(child, (*_LOOPS, c_ast.Switch)):
            yield from _own_level(child)


def _counter(node: c_ast.Node, facts: RegionFacts) -> Symbol | None:
    """Return the variable that a ``for`` loop sets before anything else, declared outside of it."""
    init = node.init if isinstance(node, c_ast.For) else None
    if not isinstance(init, c_ast.Assignment) or not isinstance(init.lvalue, c_ast.ID) or init.op != "=":
        return None
    symbol = facts.bindings.symbol(init.lvalue)
    if symbol is None or facts.mentions(init.rvalue, symbol) or any(True for _ in writes(init.rvalue)):
        return None
    return symbol


def _first_set(node: c_ast.Node, facts: RegionFacts) -> Symbol | None:
    return _counter(node, facts)


def _without_semicolon(parts: list[BodyPart]) -> list[BodyPart]:
    last = parts[-1]
    return [*parts[:-1], *([last.removesuffix(";")] if isinstance(last, str) and last != ";" else [])]
