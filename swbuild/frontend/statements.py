"""Plain statements and declarations of a region."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.constants import integer_constant
from swbuild.frontend.ctype import ArrayType, CType, OtherType, Pointer, Scalar
from swbuild.frontend.drafts import Draft
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.formulas import formula
from swbuild.frontend.integers import constant, single_value, universe
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.scop import AccessKind, AccessRef, BodyPart
from swbuild.frontend.state import Position, RegionState, sizes_only
from swbuild.frontend.symbols import Symbol

__all__ = ["PlainStatements"]

_LARGEST_INITIALISER = 256


class PlainStatements(RegionState):
    """Turns assignments, calls, assumptions and declarations into drafts."""

    def _assume(self, node: c_ast.FuncCall, where: Position) -> None:
        try:
            holds = (
                self.integers.condition(node.args.exprs[0], where.domain)
                if node.args is not None
                else universe()
            )
        except NotModelledError:
            return  # a hint that is not understood is only a hint less
        bad = sizes_only(where.domain.subtract(holds))
        if not where.guards:
            self.context = self.context.subtract(bad)

    def _is_idle(self, node: c_ast.Node) -> bool:
        """Whether a statement is a value thrown away, ``(void)x`` or ``0``."""
        if isinstance(node, c_ast.Cast):
            kind = self._types.resolve(node.to_type)
            return isinstance(kind, OtherType) and kind.name == "void" and self._is_idle(node.expr)
        return isinstance(node, (c_ast.Constant, c_ast.ID))

    def _expression(self, node: c_ast.Node, where: Position) -> None:
        draft = Draft(where.domain, where.loops, node)
        emitter = self._emitter(draft)
        self._side_effects(node, bool(where.guards))
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(node, Where(where.domain, bool(where.guards)))
        draft.body = [*prefix, *piece.parts, ";"]
        if draft.accesses:
            where.block.items.append(draft)
        self._track(node, where)

    def _guard_text(self, emitter: Emitter, where: Position) -> list[BodyPart]:
        """Return ``if (flag) `` for the conditions that were evaluated into flags, reading those."""
        parts: list[BodyPart] = []
        for index, (flag, node, holds) in enumerate(where.guards):
            ref = emitter.flag(flag, AccessKind.READ, node, where.domain)
            parts += ["if (" if not index else " && ", "" if holds else "!", AccessRef(ref.ref)]
        return [p for p in [*parts, ") "] if p != ""] if parts else []

    def _declaration(self, node: c_ast.Decl, where: Position) -> None:
        symbol = self.facts.bindings.declared.get(id(node))
        if symbol is None:
            return
        if symbol.is_static:
            raise self.problems.refuse(
                "SW216",
                f"'{symbol.name}' is static or extern inside a region",
                node,
                "declare it before the region",
            )
        self._depths[symbol] = len(where.loops)
        self._values.pop(symbol, None)
        if isinstance(symbol.type, Pointer):
            raise self.problems.refuse(
                "SW223",
                f"'{symbol.name}' is a pointer that is not seen to stay where its declaration puts it",
                node,
                "give it its place in an array where an inner block declares it and leave it there, "
                "or use the array itself",
            )
        if isinstance(symbol.type, OtherType):
            raise self.problems.refuse(
                "SW223",
                f"'{symbol.name}' has type {symbol.type.name}, which kernels cannot hold",
                node,
                "declare numbers and arrays of numbers inside a region",
            )
        if isinstance(symbol.type, ArrayType):
            self.local_extents[symbol] = self._local_extents(node, symbol.type, where)
        if node.init is None:
            return
        if isinstance(symbol.type, ArrayType):
            self._array_initialiser(node, symbol, where)
            return
        target = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(target)] = symbol
        value = (
            node.init.exprs[0]
            if isinstance(node.init, c_ast.InitList) and len(node.init.exprs) == 1
            else node.init
        )
        self._initialise(target, symbol, value, where)

    def _initialise(self, target: c_ast.Node, symbol: Symbol, value: c_ast.Node, where: Position) -> None:
        assignment = c_ast.Assignment("=", target, value, target.coord)
        draft = Draft(where.domain, where.loops, assignment)
        emitter = self._emitter(draft)
        emitter.initialising = True
        self._side_effects(value, bool(where.guards))
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(assignment, Where(where.domain, bool(where.guards)))
        draft.body = [*prefix, *piece.parts, ";"]
        where.block.items.append(draft)
        self.facts.keep(assignment)
        if isinstance(target, c_ast.ID):
            self._track(assignment, where)

    def _array_initialiser(self, node: c_ast.Decl, symbol: Symbol, where: Position) -> None:
        extents = self._constant_extents(symbol)
        if extents is None or not isinstance(node.init, c_ast.InitList) or _product(extents) > 256:
            raise self.problems.refuse(
                "SW216",
                f"the initialiser of the array '{symbol.name}' is too big or not a list",
                node,
                "set the elements with loops",
            )
        base = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(base)] = symbol
        for index, value in _flatten(node.init, extents, self.problems):
            target: c_ast.Node = base
            for position in index:
                target = c_ast.ArrayRef(target, c_ast.Constant("int", str(position), node.coord), node.coord)
            self._initialise(target, symbol, value or c_ast.Constant("int", "0", node.coord), where)

    def _local_extents(self, node: c_ast.Decl, kind: CType, where: Position) -> tuple[isl.PwAff, ...]:
        extents: list[isl.PwAff] = []
        while isinstance(kind, ArrayType):
            extent = None
            if kind.extent is not None:
                extent = self.integers.value(kind.extent, where.domain).pa
            elif isinstance(node.init, c_ast.InitList) and not extents:
                extent = constant(len(node.init.exprs))
            if extent is None or not self.is_symbolic(extent):
                raise self.problems.refuse(
                    "SW219",
                    f"the size of the array '{node.name}', declared inside the region, "
                    "is no function of the region's sizes alone",
                    node,
                    "declare it with its largest size",
                )
            extents.append(extent)
            kind = kind.target
        return tuple(extents)

    def _constant_extents(self, symbol: Symbol) -> list[int] | None:
        extents = self.local_extents[symbol]
        values = [single_value(extent) for extent in extents]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def write_back(self, symbol: Symbol) -> bool:
        """Add the statement that leaves in memory what a counter is behind the region;
        False if that is unknown.
        """
        value = self._value_of(symbol)
        if value is None or not isinstance(symbol.type, Scalar):
            return False
        node = self.stale.pop(symbol)
        target = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(target)] = symbol
        self.facts.keep(target)
        draft = Draft(universe(), (), target)
        ref = self._emitter(draft).flag(
            self.object(self.finder.find(target), target), AccessKind.MUST_WRITE, target, universe()
        )
        draft.body = [ref, " = ", *formula(value.pa, self.context, self._variables(), value.type), ";"]
        self.root.items.append(draft)
        return True


def _product(values: list[int]) -> int:
    result = 1
    for value in values:
        result *= value
    return result


def _is_zero(node: c_ast.Constant) -> bool:
    known = integer_constant(node)
    return known is not None and known.value == 0


def _flatten(
    init: c_ast.InitList, extents: list[int], problems: Problems
) -> list[tuple[tuple[int, ...], c_ast.Node | None]]:
    """Return (index, value) for every element of an initialised array; None means zero."""
    found: list[tuple[tuple[int, ...], c_ast.Node | None]] = []
    items = list(init.exprs)
    if len(items) > extents[0] or any(isinstance(item, c_ast.NamedInitializer) for item in items):
        raise problems.refuse("SW216", "this initialiser has no model", init, "set the elements one by one")
    for position in range(extents[0]):
        item = items[position] if position < len(items) else None
        if len(extents) == 1:
            found.append(((position,), item))
            continue
        if item is not None and not isinstance(item, c_ast.InitList):
            if isinstance(item, c_ast.Constant) and _is_zero(item):
                item = None
            else:
                raise problems.refuse("SW216", "this initialiser leaves out braces", init, "write all braces")
        inner = item if item is not None else c_ast.InitList([], init.coord)
        found += [((position, *index), value) for index, value in _flatten(inner, extents[1:], problems)]
    return found
