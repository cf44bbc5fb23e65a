"""Statements put into the model: their text is made, and what the text does is recorded."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from swbuild.frontend.drafts import Draft, Record
from swbuild.frontend.emit import Emitter, Names, Where
from swbuild.frontend.formulas import formula
from swbuild.frontend.integers import Value
from swbuild.frontend.naming import Naming
from swbuild.frontend.objects import Objects
from swbuild.frontend.reading import Reader
from swbuild.frontend.scop import AccessKind, AccessRef, BodyPart, IteratorRef, ParameterRef
from swbuild.frontend.state import Current, Position, Surroundings
from swbuild.frontend.symbols import Symbol

__all__ = ["Emission", "Text"]

#: Makes the text of a statement: what stands behind the conditions of flags.
Text = Callable[[Emitter, Where], list[BodyPart]]


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

    def add(self, node: c_ast.Node, where: Position, text: Text) -> None:
        """Add the statement that ``text`` makes of ``node``, unless it touches nothing."""
        record = Record()
        emitter = self._emitter(record)
        guards = self._guards(emitter, where)
        body = text(emitter, Where(where.domain, where.is_guarded))
        if record.accesses:
            accesses, calls = tuple(record.accesses), tuple(record.calls)
            self._now.add(
                Draft(where.domain, where.loops, node, accesses, (*guards, *body), record.flops, calls)
            )

    def _emitter(self, record: Record) -> Emitter:
        around = self._around
        return Emitter(
            record, around.finder, self._reader.integers, self._names, around.calls, around.scope.types,
            around.problems,
        )  # fmt: skip

    @staticmethod
    def _guards(emitter: Emitter, where: Position) -> list[BodyPart]:
        """Return ``if (flag) `` for the conditions that were evaluated into flags, reading those."""
        parts: list[BodyPart] = []
        for index, (flag, node, holds) in enumerate(where.guards):
            ref = emitter.flag(flag, AccessKind.READ, node, where.domain)
            parts += ["if (" if not index else " && ", "" if holds else "!", AccessRef(ref.ref)]
        return [p for p in [*parts, ") "] if p != ""] if parts else []

    def formula(self, value: Value) -> list[BodyPart]:
        """Return the C expression of a value over the sizes and counters that are known here."""
        state = self._now.state
        names: dict[str, BodyPart] = {
            size.name: ParameterRef(size.name) for size in state.parameters.values()
        }
        names.update({loop.variable: IteratorRef(level) for loop, level in state.active.values()})
        return formula(value.pa, state.context, names, value.type)

    def _level(self, symbol: Symbol) -> int | None:
        active = self._now.state.active.get(symbol)
        return None if active is None else active[1]

    def _after_loop(self, symbol: Symbol, node: c_ast.Node) -> list[BodyPart] | None:
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
