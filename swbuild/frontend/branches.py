"""``if`` statements: split domains where the condition is affine, guarded statements where it is data."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import INT
from swbuild.frontend.ctype import ArrayType, Scalar
from swbuild.frontend.drafts import Draft, Object
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.integers import Value
from swbuild.frontend.places import Place
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import AccessKind, BodyPart, Storage
from swbuild.frontend.state import Known, Position
from swbuild.frontend.statements import PlainStatements
from swbuild.frontend.symbols import Symbol

__all__ = ["CONTROL", "Branches"]

#: Statements that leave the structure of blocks and counted loops, in words.
CONTROL = {
    "Goto": "goto", "Break": "break", "Continue": "continue", "Return": "return", "While": "a while loop",
    "DoWhile": "a do-while loop", "Switch": "switch", "Label": "a label", "Case": "case",
}  # fmt: skip


_LARGEST_ARRAY = 256


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
        body = self._macro_text(node, emitter, Where(where.domain, bool(where.guards)), "")
        draft.body = [*prefix, "{\n", *body, "\n}"] if prefix else body
        if draft.accesses:
            where.block.items.append(draft)

    def _macro_text(self, node: c_ast.Node, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        """Return the text of a statement inside a data-dependent ``if``."""
        if isinstance(node, c_ast.If):
            return self._macro_if(node, emitter, where, indent)
        if isinstance(node, c_ast.Compound):
            inner = indent + "  "
            parts: list[BodyPart] = ["{"]
            for item in node.block_items or ():
                if not isinstance(item, (c_ast.EmptyStatement, c_ast.Pragma)):
                    parts += [f"\n{inner}", *self._macro_text(item, emitter, where, inner)]
            return [*parts, f"\n{indent}}}"]
        if isinstance(node, c_ast.Decl):
            return self._macro_declaration(node, emitter, where)
        if isinstance(node, c_ast.EmptyStatement):
            return [";"]
        piece = emitter.expression(node, where)
        if isinstance(node, c_ast.Assignment) and node.op == "=" and not emitter.is_local(node.lvalue):
            emitter.written(node.lvalue, piece.parts[0])
        return [*piece.parts, ";"]

    def _macro_if(self, node: c_ast.If, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        taken, other = emitter.under(node.cond, where, True), emitter.under(node.cond, where, False)
        if taken.domain.is_empty():
            return self._macro_text(node.iffalse or c_ast.EmptyStatement(), emitter, other, indent)
        cond = emitter.expression(node.cond, where)
        parts: list[BodyPart] = ["if (", *cond.parts, ") "]
        owned = emitter.owned()
        parts += self._braced(node.iftrue, emitter, taken, indent)
        emitter.restore(owned)
        if node.iffalse is not None and not other.domain.is_empty():
            chained = isinstance(node.iffalse, c_ast.If)
            parts += [" else "]
            parts += (
                self._macro_text(node.iffalse, emitter, other, indent)
                if chained
                else self._braced(node.iffalse, emitter, other, indent)
            )
            emitter.restore(owned)
        return parts

    def _braced(self, node: c_ast.Node | None, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        block = (
            node if isinstance(node, c_ast.Compound) else c_ast.Compound([node] if node is not None else [])
        )
        return self._macro_text(block, emitter, where, indent)

    def _macro_declaration(self, node: c_ast.Decl, emitter: Emitter, where: Where) -> list[BodyPart]:
        """A scalar declared inside a data-dependent ``if`` is a variable of the statement's own text."""
        symbol = self.facts.bindings.declared[id(node)]
        if isinstance(symbol.type, ArrayType) and not symbol.is_static:
            initial = [] if node.init is None else [" = ", *self._macro_list(node.init, emitter, where)]
            return [*self._macro_array(symbol, node), *initial, ";"]
        if not isinstance(symbol.type, Scalar) or symbol.is_static:
            raise self.problems.refuse(
                "SW216",
                f"'{symbol.name}' is declared under a condition or in a loop that depends on data",
                node,
                "declare it before that",
            )
        value = None if node.init is None else emitter.expression(node.init, where)
        text = f"{symbol.type.element.name} {self._own_name(symbol)}"
        return [f"{text};"] if value is None else [f"{text} = ", *value.at(2), ";"]

    def _macro_array(self, symbol: Symbol, node: c_ast.Decl) -> list[BodyPart]:
        """Declare an array of the statement's own text: small, of a size that the compiler knows."""
        kind, extents, count = symbol.type, "", 1
        while isinstance(kind, ArrayType):
            extent = self.scope.integer(kind.extent) if kind.extent is not None else None
            if extent is None or extent <= 0 or count * extent > _LARGEST_ARRAY:
                raise self.problems.refuse(
                    "SW219",
                    f"the array '{symbol.name}' is declared in a loop that depends on data, and is not known "
                    f"to have at most {_LARGEST_ARRAY} elements",
                    node,
                    "declare it before that",
                )
            extents, count, kind = f"{extents}[{extent}]", count * extent, kind.target
        if not isinstance(kind, Scalar):
            raise self.problems.refuse(
                "SW218", f"'{symbol.name}' is no array of numbers", node, "use arrays of numbers"
            )
        return [f"{kind.element.name} {self._own_name(symbol)}{extents}"]

    def _macro_list(self, node: c_ast.Node, emitter: Emitter, where: Where) -> list[BodyPart]:
        """Return the initial value of an array of the statement's own text."""
        if not isinstance(node, c_ast.InitList):
            return emitter.expression(node, where).at(2)
        parts: list[BodyPart] = ["{"]
        for index, item in enumerate(node.exprs):
            parts += [", "] if index else []
            parts += self._macro_list(item, emitter, where)
        return [*parts, "}"]


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
