"""``if`` statements: split domains where the condition is affine, guarded statements where it is data."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import INT
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.drafts import Draft, Object
from swbuild.frontend.emit import Where
from swbuild.frontend.integers import Value
from swbuild.frontend.places import Place
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import AccessKind, Storage
from swbuild.frontend.state import Known, Position
from swbuild.frontend.statements import PlainStatements
from swbuild.frontend.symbols import Symbol

__all__ = ["CONTROL", "Branches"]

#: Statements that leave the structure of blocks and counted loops, in words.
CONTROL = {
    "Goto": "goto", "Break": "break", "Continue": "continue", "Return": "return", "While": "a while loop",
    "DoWhile": "a do-while loop", "Switch": "switch", "Label": "a label", "Case": "case",
}  # fmt: skip


class Branches(PlainStatements):
    """Handles ``if`` statements."""

    def statement(self, node: c_ast.Node, where: Position) -> None:
        """Walk one statement."""
        raise NotImplementedError

    def _if(self, node: c_ast.If, where: Position) -> None:
        try:
            before = len(self.assumptions)
            holds = self.integers.condition(node.cond, where.domain)
        except NotModelledError as reason:
            del self.assumptions[before:]
            self._data_dependent(node, where, reason)
            return
        entry, entry_stale = dict(self._values), dict(self.stale)
        self._branch(node.iftrue, where, holds)
        taken, taken_stale = self._values, self.stale
        self._values, self.stale = entry, entry_stale
        self._branch(node.iffalse, where, holds.complement())
        self._merge(taken, taken_stale, holds)

    def _branch(self, node: c_ast.Node | None, where: Position, holds: isl.Set) -> None:
        if node is not None:
            inside = Position(
                where.block, where.loops, where.domain.intersect(holds).coalesce(), where.guards
            )
            self.statement(node, inside)

    def _merge(
        self, taken: dict[Symbol, Known | None], stale: dict[Symbol, c_ast.Node], holds: isl.Set
    ) -> None:
        """Join the values known behind the two branches of an affine ``if``."""
        for symbol in taken.keys() | self._values.keys():
            first, second = taken.get(symbol), self._values.get(symbol)
            if first is second or (
                symbol in self._depths and (symbol not in taken or symbol not in self._values)
            ):
                continue
            if not (isinstance(first, Value) and isinstance(second, Value)):
                self._values[symbol] = None
            else:
                joined = first.pa.intersect_domain(holds).union_add(
                    second.pa.intersect_domain(holds.complement())
                )
                self._values[symbol] = Value(joined.coalesce(), first.type)
        for symbol in stale.keys() ^ self.stale.keys():
            self._values[symbol] = None
        self.stale.update(stale)

    def _data_dependent(self, node: c_ast.If, where: Position, reason: NotModelledError) -> None:
        """An ``if`` whose condition is data: one statement if nothing in it repeats,
        else a flag for each part.
        """
        if _is_flat(node):
            self._macro(node, where)
            return
        flag = self._flag(node, where)
        values, stale = dict(self._values), dict(self.stale)
        for branch, holds in ((node.iftrue, True), (node.iffalse, False)):
            if branch is not None:
                self._values, self.stale = dict(values), dict(stale)
                guards = (*where.guards, (flag, node.cond, holds))
                domain, _ = self.integers.possible(node.cond, where.domain, holds)
                self.statement(branch, Position(where.block, where.loops, domain, guards))
        self._values, self.stale = values, stale
        self._forget(node)

    def _flag(self, node: c_ast.If, where: Position) -> Object:
        """Add the statement that evaluates the condition into a variable of its own; return that."""
        self._counters += 1
        symbol = Symbol(f"sw_if{self._counters}", Scalar(INT), Storage.REGION, None)
        self._depths[symbol] = len(where.loops)
        place = Place(symbol, symbol.name, (), symbol.type, (), Scalar(INT), False)
        flag = self.object(place, node)
        draft = Draft(where.domain, where.loops, node.cond)
        emitter = self._emitter(draft)
        self._side_effects(node.cond, bool(where.guards))
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(node.cond, Where(where.domain, bool(where.guards)))
        kind = AccessKind.MAY_WRITE if where.guards else AccessKind.MUST_WRITE
        ref = emitter.flag(flag, kind, node.cond, where.domain)
        draft.body = [*prefix, ref, " = ", *piece.at(4), " ? 1 : 0;"]
        where.block.items.append(draft)
        return flag

    def _macro(self, node: c_ast.Node, where: Position) -> None:
        """Add ``node`` as one statement."""
        draft = Draft(where.domain, where.loops, node)
        emitter = self._emitter(draft)
        self._side_effects(node, True)
        prefix = self._guard_text(emitter, where)
        body = self._macros.text(node, emitter, Where(where.domain, bool(where.guards)), "")
        draft.body = [*prefix, "{\n", *body, "\n}"] if prefix else body
        if draft.accesses:
            where.block.items.append(draft)


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
