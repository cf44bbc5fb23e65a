"""``if`` statements: split domains where the condition is affine, guarded statements where it is data."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.building import assignment, conditional, integer
from swbuild.expressions.statements import CStatement, Evaluation
from swbuild.expressions.types import INT
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.drafts import Object
from swbuild.frontend.emission import Emission
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.objects import Objects
from swbuild.frontend.places import Place
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.reading import Reader
from swbuild.frontend.scop import AccessKind, Storage
from swbuild.frontend.state import Current, Position
from swbuild.frontend.statements import Statements
from swbuild.frontend.symbols import Symbol
from swbuild.frontend.tracking import Tracker
from swbuild.frontend.walking import CONTROL, Walk

__all__ = ["Branches"]


class Branches:
    """Handles ``if`` statements; ``walk`` takes the branches."""

    def __init__(
        self,
        now: Current,
        reader: Reader,
        objects: Objects,
        tracker: Tracker,
        emission: Emission,
        statements: Statements,
        walk: Walk,
    ) -> None:
        self._now, self._reader, self._objects, self._tracker = now, reader, objects, tracker
        self._emission, self._statements, self._walk = emission, statements, walk

    def branch(self, node: c_ast.If, where: Position) -> None:
        """Walk an ``if`` statement."""
        before = self._now.state
        try:
            holds = self._reader.integers.condition(node.cond, where.domain)
        except NotModelledError:
            self._now.drop_assumptions(before)
            self._data_dependent(node, where)
            return
        entry = self._now.flow
        self._arm(node.iftrue, where, holds)
        taken = self._now.flow
        self._now.flow = entry
        self._arm(node.iffalse, where, holds.complement())
        self._now.flow = taken.joined(self._now.flow, holds, self._now.state.depths)

    def _arm(self, node: c_ast.Node | None, where: Position, holds: isl.Set) -> None:
        if node is not None:
            self._walk.statement(node, replace(where, domain=where.domain.intersect(holds).coalesce()))

    def _data_dependent(self, node: c_ast.If, where: Position) -> None:
        """An ``if`` whose condition is data: one statement if nothing in it repeats,
        else a flag for each part.
        """
        if _is_flat(node):
            self._statements.whole(node, where)
            return
        flag = self._flag(node, where)
        entry = self._now.flow
        for arm, holds in ((node.iftrue, True), (node.iffalse, False)):
            if arm is not None:
                self._now.flow = entry
                domain, _ = self._reader.integers.possible(node.cond, where.domain, holds)
                guards = (*where.guards, (flag, node.cond, holds))
                self._walk.statement(arm, Position(where.loops, domain, guards))
        self._now.flow = entry
        self._tracker.forget(node)

    def _flag(self, node: c_ast.If, where: Position) -> Object:
        """Add the statement that evaluates the condition into a variable of its own; return that."""
        flag = self._objects.object(self._new_variable(len(where.loops)), node)

        def make(emitter: Emitter, inner: Where) -> CStatement:
            holds = emitter.expression(node.cond, inner)
            kind = AccessKind.MAY_WRITE if where.is_guarded else AccessKind.MUST_WRITE
            ref = emitter.flag(flag, kind, node.cond, inner.domain)
            return Evaluation(assignment("=", ref, conditional(holds, integer(1), integer(0))))

        self._tracker.side_effects(node.cond, where.is_guarded)
        self._emission.add(node.cond, where, make)
        return flag

    def _new_variable(self, depth: int) -> Place:
        symbol = Symbol(f"sw_if{self._now.number()}", Scalar(INT), Storage.REGION, None)
        state = self._now.state
        self._now.state = replace(state, depths={**state.depths, symbol: depth})
        return Place(symbol, symbol.name, (), symbol.type, (), Scalar(INT), False)


def _is_flat(node: c_ast.Node | None) -> bool:
    """Whether a statement holds no loop and no array declaration (nothing that needs domains of its own)."""
    if node is None:
        return True
    if isinstance(node, c_ast.If):
        return _is_flat(node.iftrue) and _is_flat(node.iffalse)
    if isinstance(node, c_ast.Compound):
        return all(_is_flat(item) for item in node.block_items or ())
    if isinstance(node, c_ast.Decl):
        return not isinstance(node.type, c_ast.ArrayDecl)
    return not isinstance(node, (c_ast.For, c_ast.DeclList)) and type(node).__name__ not in CONTROL
