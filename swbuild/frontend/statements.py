"""Plain statements of a region, and statements whose text holds control structure."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from swbuild.expressions.building import assignment
from swbuild.expressions.statements import Block, CStatement, Evaluation
from swbuild.frontend.ctype import OtherType, Scalar
from swbuild.frontend.emission import Emission
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.integers import universe
from swbuild.frontend.macros import Macros
from swbuild.frontend.objects import Objects
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.reading import Reader
from swbuild.frontend.scop import AccessKind
from swbuild.frontend.sizes import sizes_only
from swbuild.frontend.state import Current, Position, Surroundings
from swbuild.frontend.symbols import Symbol
from swbuild.frontend.tracking import Tracker

__all__ = ["Statements"]


class Statements:
    """Turns assignments, calls and assumptions into drafts."""

    def __init__(
        self,
        around: Surroundings,
        now: Current,
        reader: Reader,
        objects: Objects,
        tracker: Tracker,
        emission: Emission,
        macros: Macros,
    ) -> None:
        self._around, self._now, self._reader, self._objects = around, now, reader, objects
        self._tracker, self._emission, self._macros = tracker, emission, macros

    def assume(self, node: c_ast.FuncCall, where: Position) -> None:
        """Take what ``__builtin_assume`` says into the context."""
        try:
            holds = (
                self._reader.integers.condition(node.args.exprs[0], where.domain)
                if node.args is not None
                else universe()
            )
        except NotModelledError:
            return  # a hint that is not understood is only a hint less
        if not where.is_guarded:
            state, bad = self._now.state, sizes_only(where.domain.subtract(holds))
            self._now.state = replace(state, context=state.context.subtract(bad))

    def require_not_negative(self, node: c_ast.FuncCall, where: Position) -> None:
        """Leave sizes at which an argument of ``node`` is below zero to the source."""
        for count in node.args.exprs:
            value = self._reader.integers.value(count, where.domain).pa
            self._objects.require(
                where.domain, value.nonneg_set(), count, "numbers of elements must not be below zero"
            )

    def is_idle(self, node: c_ast.Node) -> bool:
        """Whether a statement is a value thrown away, ``(void)x`` or ``0``."""
        if isinstance(node, c_ast.Cast):
            kind = self._around.scope.types.resolve(node.to_type)
            return isinstance(kind, OtherType) and kind.name == "void" and self.is_idle(node.expr)
        return isinstance(node, (c_ast.Constant, c_ast.ID))

    def expression(self, node: c_ast.Node, where: Position) -> None:
        """Add an expression that stands as a statement."""
        self._tracker.side_effects(node, where.is_guarded)
        self._emission.add(node, where, lambda emitter, inner: Evaluation(emitter.expression(node, inner)))
        self._tracker.assigned(node, where)

    def initialise(self, target: c_ast.Node, value: c_ast.Node, where: Position) -> None:
        """Add the assignment of the initial ``value`` of a variable or element, which may be const."""
        setting = c_ast.Assignment("=", target, value, target.coord)

        def make(emitter: Emitter, inner: Where) -> CStatement:
            emitter.initialising = True
            return Evaluation(emitter.expression(setting, inner))

        self._tracker.side_effects(value, where.is_guarded)
        self._emission.add(setting, where, make)
        self._around.facts.keep(setting)
        if isinstance(target, c_ast.ID):
            self._tracker.assigned(setting, where)

    def whole(self, node: c_ast.Node, where: Position) -> None:
        """Add ``node``, with all that it holds, as one statement."""

        def make(emitter: Emitter, inner: Where) -> CStatement:
            body = self._macros.statement(node, emitter, inner)
            return Block((body,), indented=False) if where.is_guarded else body

        self._tracker.side_effects(node, True)
        self._emission.add(node, where, make)

    def write_back(self, symbol: Symbol) -> bool:
        """Add the statement that leaves in memory what a counter is behind the region;
        False if that is unknown.
        """
        value = self._reader.value_of(symbol)
        if value is None or not isinstance(symbol.type, Scalar):
            return False
        facts = self._around.facts
        target = c_ast.ID(symbol.name, self._now.flow.stale[symbol].coord)
        self._now.flow = self._now.flow.stored(symbol)
        facts.bindings.uses[id(target)] = symbol
        facts.keep(target)

        def make(emitter: Emitter, inner: Where) -> CStatement:
            thing = self._objects.object(self._around.finder.find(target), target)
            ref = emitter.flag(thing, AccessKind.MUST_WRITE, target, inner.domain)
            return Evaluation(assignment("=", ref, self._emission.formula(value)))

        self._emission.add(target, Position((), universe()), make)
        return True
