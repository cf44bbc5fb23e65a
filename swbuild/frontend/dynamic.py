"""Loops whose iterations depend on data: the whole loop is the text of one statement.

``for (k = row[i]; k < row[i + 1]; k++)``, ``while``, ``do`` and loops left by ``break`` have no bounds
over counters and sizes.  Inside a counted loop such a loop becomes part of the text of one statement,
like a data-dependent ``if``: what it may write are may-writes, and its subscripts that depend on its own
counter are followed no further than to the array.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from swbuild.frontend.ctype import Scalar
from swbuild.frontend.macros import counter_of
from swbuild.frontend.naming import Naming
from swbuild.frontend.scop import Storage
from swbuild.frontend.state import Current, Position, Surroundings
from swbuild.frontend.statements import Statements
from swbuild.frontend.symbols import Symbol, identifiers, walk
from swbuild.frontend.syntax import LOOPS
from swbuild.frontend.tracking import Tracker
from swbuild.frontend.walking import jump_hint

__all__ = ["DynamicLoops", "leaves_early"]

_JUMPS = {"Goto": "goto", "Return": "return", "Switch": "switch", "Label": "a label"}


class DynamicLoops:
    """Turns loops that depend on data into statements."""

    def __init__(
        self, around: Surroundings, now: Current, naming: Naming, tracker: Tracker, statements: Statements
    ) -> None:
        self._around, self._now, self._naming = around, now, naming
        self._tracker, self._statements = tracker, statements

    def loop(self, node: c_ast.Node, where: Position) -> None:
        """Model a loop as one statement; raise NotModelledError where its text cannot be one."""
        self._refuse_jumps(node)
        own = [s for s in self._local_counters(node) if self._naming.own(s) is None]
        for symbol in own:
            self._now.flow = self._now.flow.stored(symbol).with_value(symbol, None)
            self._naming.make_own(symbol)
        first = counter_of(node, self._around.facts)
        if first is not None and first not in own:
            self._tracker.set(first, None, where.is_guarded)
        try:
            self._statements.whole(node, where)
        finally:
            for symbol in own:
                self._naming.drop_own(symbol)
        self._leave(node, own)

    def _leave(self, node: c_ast.Node, own: list[Symbol]) -> None:
        flow = self._now.flow
        for symbol in self._around.facts.scalars_written_in(node):
            flow = flow.with_value(symbol, None)
        for symbol in own:
            flow = flow.outdated(symbol, node)  # memory does not hold what the text's own variable was
        self._now.flow = flow

    def _refuse_jumps(self, node: c_ast.Node) -> None:
        for item in walk(node):
            if type(item).__name__ in _JUMPS:
                raise self._around.problems.refuse(
                    "SW213",
                    f"{_JUMPS[type(item).__name__]} inside a region: which statements run is not known "
                    "from the loops' bounds",
                    item,
                    jump_hint(item),
                )

    def _local_counters(self, node: c_ast.Node) -> list[Symbol]:
        """Return the counters of ``for`` loops in ``node``, declared outside, that no one else looks at."""
        found: list[Symbol] = []
        for loop in walk(node):
            symbol = counter_of(loop, self._around.facts)
            if symbol is not None and symbol not in found and self._only_counts(symbol):
                found.append(symbol)
        return found

    def _only_counts(self, symbol: Symbol) -> bool:
        """Whether the function names a variable only inside loops that set it first."""
        if symbol.storage is Storage.GLOBAL or symbol.is_static or not isinstance(symbol.type, Scalar):
            return False
        facts = self._around.facts
        everywhere = self._names_of(symbol, facts.function.body)
        inside: set[int] = set()
        for loop in walk(facts.function.body):
            if counter_of(loop, facts) is symbol:
                inside |= self._names_of(symbol, loop)
        return everywhere <= inside and not any(
            isinstance(n, c_ast.UnaryOp) and n.op == "&" and facts.mentions(n, symbol)
            for n in walk(facts.function.body)
        )

    def _names_of(self, symbol: Symbol, node: c_ast.Node) -> set[int]:
        bindings = self._around.facts.bindings
        return {id(n) for n in identifiers(node) if bindings.symbol(n) is symbol}


def leaves_early(node: c_ast.Node) -> bool:
    """Whether a ``break``, or a ``continue`` that is still there, leaves the loop whose body ``node`` is."""
    return any(isinstance(item, (c_ast.Break, c_ast.Continue)) for item in _own_level(node))


def _own_level(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield ``node`` and what is below it, but not what is in loops and switches inside."""
    yield node
    for child in node:
        if not isinstance(child, (*LOOPS, c_ast.Switch)):
            yield from _own_level(child)
