"""Which variables hold known values as the walk goes on."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import is_integer
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.reading import Reader
from swbuild.frontend.state import Current, Position, Surroundings, Tracked
from swbuild.frontend.symbols import Symbol

__all__ = ["Tracker"]


class Tracker:
    """Follows what statements write to integer variables, in the current :class:`Flow`."""

    def __init__(self, around: Surroundings, now: Current, reader: Reader) -> None:
        self._around, self._now, self._reader = around, now, reader

    def side_effects(self, node: c_ast.Node, conditional: bool) -> None:
        """Forget the variables that an expression or ``if`` writes anywhere but as a whole statement does.

        To be called before its text is made: which of its parts see the new value is not followed.
        """
        facts = self._around.facts
        for symbol, target in facts.symbols_written_in(node).items():
            if not isinstance(symbol.type, Scalar):
                continue
            is_stale = symbol in self._now.flow.stale
            value = facts.new_value(node, symbol)
            if value is not None and (value is getattr(node, "rvalue", None) or not is_stale):
                continue
            if is_stale:
                raise self._updated_behind(symbol, target)
            self.set(symbol, None, conditional)

    def _updated_behind(self, symbol: Symbol, target: c_ast.Node) -> NotModelledError:
        return self._around.problems.refuse(
            "SW220",
            f"'{symbol.name}' is updated behind a loop that counts with it",
            target,
            "set it with a statement of its own, or use another variable for the loop",
        )

    def assigned(self, node: c_ast.Node, where: Position) -> None:
        """Follow the value of the integer scalar that ``node`` as a whole assigns."""
        facts = self._around.facts
        target = node.lvalue if isinstance(node, c_ast.Assignment) else getattr(node, "expr", None)
        symbol = facts.bindings.symbol(target) if isinstance(target, c_ast.ID) else None
        if symbol is None or symbol not in facts.symbols_written_in(node):
            return
        if not isinstance(symbol.type, Scalar):
            return
        value = None if where.is_guarded else facts.new_value(node, symbol)
        known = None if value is None else self._value(symbol, value, where.domain)
        self.set(symbol, known, where.is_guarded)

    def _value(self, symbol: Symbol, node: c_ast.Node, domain: isl.Set) -> Tracked | None:
        if not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            return None
        before = self._now.state
        try:
            value = self._reader.converted(node, symbol.type.element, domain)
        except NotModelledError:
            value = None
        needs = self._now.drop_assumptions(before)
        return None if value is None else Tracked(value, needs)

    def set(self, symbol: Symbol, value: Tracked | None, conditional: bool) -> None:
        """Note that memory now holds ``value`` for ``symbol``."""
        loop = self._now.flow.stale.get(symbol)
        if loop is not None and conditional:
            raise self._around.problems.refuse(
                "SW220",
                f"the counter '{symbol.name}' is set behind its loop under a data-dependent condition",
                loop,
                "use a variable of its own",
            )
        self._now.flow = self._now.flow.stored(symbol).with_value(symbol, value)

    def forget(self, node: c_ast.Node) -> None:
        """Drop what is known of the variables that ``node`` may change."""
        facts, flow = self._around.facts, self._now.flow
        written = facts.scalars_written_in(node)
        counters = facts.outer_counters(node) if written else set()
        for symbol in written:
            flow = flow.with_value(symbol, None)
            flow = flow.outdated(symbol, node) if symbol in counters else flow
        self._now.flow = flow
