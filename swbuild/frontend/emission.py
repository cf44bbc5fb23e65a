"""Statements put into the model: their bodies are made, and what the bodies do is recorded."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from swbuild.expressions.building import operation, unary
from swbuild.expressions.c import IteratorRef, ParameterRef, Typed
from swbuild.expressions.statements import CStatement, If
from swbuild.frontend.drafts import Draft, Record
from swbuild.frontend.emit import Emitter, Names, Where
from swbuild.frontend.formulas import formula
from swbuild.frontend.integers import Value
from swbuild.frontend.naming import Naming
from swbuild.frontend.objects import Objects
from swbuild.frontend.reading import Reader
from swbuild.frontend.scop import AccessKind
from swbuild.frontend.state import Current, Position, Surroundings
from swbuild.frontend.symbols import Symbol

__all__ = ["Body", "Emission"]

#: Makes the body of a statement: what stands behind the conditions of flags.
Body = Callable[[Emitter, Where], CStatement]


class Emission:
    """Adds statements to the block that the walk is in."""

    def __init__(
        self, around: Surroundings, now: Current, reader: Reader, objects: Objects, naming: Naming
    ) -> None:
        self._around, self._now, self._reader = around, now, reader
        self._names = Names(
            objects.object,
            self._level,
            self._after_loop,
            around.definitions.formula,
            reader.place,
            reader.possible,
            naming.own,
            around.facts.constant,
        )

    def add(self, node: c_ast.Node, where: Position, make: Body) -> None:
        """Add the statement whose body ``make`` makes of ``node``, unless it touches nothing."""
        record = Record()
        emitter = self._emitter(record)
        guard = self._guard(emitter, where)
        body = make(emitter, Where(where.domain, where.is_guarded))
        if guard is not None:
            body = If(guard, body)
        if record.accesses:
            self._now.add(Draft(where.domain, where.loops, node, tuple(record.accesses), body))

    def _emitter(self, record: Record) -> Emitter:
        around = self._around
        return Emitter(
            record, around.finder, self._reader.integers, self._names, around.calls, around.scope.types,
            around.problems,
        )  # fmt: skip

    @staticmethod
    def _guard(emitter: Emitter, where: Position) -> Typed | None:
        """Return the conditions that were evaluated into flags, reading those; None if there are none."""
        guard: Typed | None = None
        for flag, node, holds in where.guards:
            ref: Typed = emitter.flag(flag, AccessKind.READ, node, where.domain)
            ref = ref if holds else unary("!", ref)
            guard = ref if guard is None else operation("&&", guard, ref)
        return guard

    def formula(self, value: Value) -> Typed:
        """Return the C expression of a value over the sizes and counters that are known here."""
        state = self._now.state
        names: dict[str, Typed] = {
            size.name: ParameterRef(size.place.element.element, size.name)
            for size in state.parameters.values()
        }
        names.update({loop.variable: IteratorRef(loop.type, level) for loop, level in state.active.values()})
        return formula(value.pa, state.context, names, value.type)

    def _level(self, symbol: Symbol) -> int | None:
        active = self._now.state.active.get(symbol)
        return None if active is None else active[1]

    def _after_loop(self, symbol: Symbol, node: c_ast.Node) -> Typed | None:
        """Return the formula of a counter's value behind its loop, None if memory holds the value."""
        if symbol not in self._now.flow.stale:
            return None
        value = self._reader.value_of(symbol)
        if value is None:
            raise self._around.problems.refuse(
                "SW220",
                f"the value of '{symbol.name}' behind its loop is needed here and has no formula",
                node,
                "set the variable before using it",
            )
        return self.formula(value)
