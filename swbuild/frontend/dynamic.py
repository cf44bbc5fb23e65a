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
from swbuild.frontend.macros import counter_of
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import Storage
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
        own = [s for s in self._local_counters(node) if self._own.get(s) is None]
        for symbol in own:
            self.stale.pop(symbol, None)
            self._values[symbol] = None
            self._own.name(symbol)
        first = counter_of(node, self.facts)
        if first is not None and first not in own:
            self._set(first, None, bool(where.guards))
        try:
            self._macro(node, where)
        finally:
            for symbol in own:
                self._own.drop(symbol)
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
            symbol = counter_of(loop, self.facts)
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
            if counter_of(loop, self.facts) is symbol:
                inside |= self._names_of(symbol, loop)
        return everywhere <= inside and not any(
            isinstance(n, c_ast.UnaryOp) and n.op == "&" and self.facts.mentions(n, symbol)
            for n in walk(self.facts.function.body)
        )

    def _names_of(self, symbol: Symbol, node: c_ast.Node) -> set[int]:
        return {id(n) for n in identifiers(node) if self.facts.bindings.symbol(n) is symbol}

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
