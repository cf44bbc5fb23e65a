"""Declarations in a region: how deep its variables live, how big its arrays are, and their initial values."""

from __future__ import annotations

import math
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.constants import integer_constant
from swbuild.frontend.counters import is_symbolic
from swbuild.frontend.ctype import ArrayType, CType, OtherType, Pointer
from swbuild.frontend.integers import constant, single_value
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.reading import Reader
from swbuild.frontend.state import Current, Position, Surroundings
from swbuild.frontend.statements import Statements
from swbuild.frontend.symbols import Symbol

__all__ = ["Declarations"]

_LARGEST_INITIALISER = 256


class Declarations:
    """Handles declarations of numbers and arrays of numbers."""

    def __init__(self, around: Surroundings, now: Current, reader: Reader, statements: Statements) -> None:
        self._around, self._now, self._reader, self._statements = around, now, reader, statements

    def declaration(self, node: c_ast.Decl, where: Position) -> None:
        """Take in a declaration; raise NotModelledError for what kernels cannot hold."""
        symbol = self._around.facts.bindings.declared.get(id(node))
        if symbol is None:
            return
        if symbol.is_static:
            message = f"'{symbol.name}' is static or extern inside a region"
            raise self._around.problems.refuse("SW216", message, node, "declare it before the region")
        self._enter(symbol, where)
        self._refuse_unfit(symbol, node)
        if isinstance(symbol.type, ArrayType):
            extents = self._extents(node, symbol.type, where)
            state = self._now.state
            self._now.state = replace(state, extents={**state.extents, symbol: extents})
        if node.init is not None:
            self._initial_value(node, symbol, where)

    def _enter(self, symbol: Symbol, where: Position) -> None:
        state = self._now.state
        depths = {**state.depths, symbol: len(where.loops)}
        self._now.state = replace(state, depths=depths, flow=state.flow.without_value(symbol))

    def _refuse_unfit(self, symbol: Symbol, node: c_ast.Decl) -> None:
        if isinstance(symbol.type, Pointer):
            raise self._around.problems.refuse(
                "SW223",
                f"'{symbol.name}' is a pointer that is not seen to stay where its declaration puts it",
                node,
                "give it its place in an array where it is declared, leave it there and do not name it after "
                "the region, or use the array itself",
            )
        if isinstance(symbol.type, OtherType):
            message = f"'{symbol.name}' has type {symbol.type.name}, which kernels cannot hold"
            hint = "declare numbers and arrays of numbers inside a region"
            raise self._around.problems.refuse("SW223", message, node, hint)

    def _initial_value(self, node: c_ast.Decl, symbol: Symbol, where: Position) -> None:
        target = c_ast.ID(symbol.name, node.coord)
        if isinstance(symbol.type, ArrayType):
            self._elements(node, symbol, target, where)
            return
        self._around.facts.bindings.uses[id(target)] = symbol
        alone = isinstance(node.init, c_ast.InitList) and len(node.init.exprs) == 1
        value = node.init.exprs[0] if alone else node.init
        self._statements.initialise(target, value, where)

    def _elements(self, node: c_ast.Decl, symbol: Symbol, base: c_ast.ID, where: Position) -> None:
        known = [single_value(extent) for extent in self._now.state.extents[symbol]]
        extents = [extent for extent in known if extent is not None]
        is_big = len(extents) < len(known) or math.prod(extents) > _LARGEST_INITIALISER
        if is_big or not isinstance(node.init, c_ast.InitList):
            message = f"the initialiser of the array '{symbol.name}' is too big or not a list"
            raise self._around.problems.refuse("SW216", message, node, "set the elements with loops")
        self._around.facts.bindings.uses[id(base)] = symbol
        for index, value in _flatten(node.init, extents, self._around.problems):
            target: c_ast.Node = base
            for position in index:
                target = c_ast.ArrayRef(target, c_ast.Constant("int", str(position), node.coord), node.coord)
            self._statements.initialise(target, value or c_ast.Constant("int", "0", node.coord), where)

    # -- extents --------------------------------------------------------------------------------

    def _extents(self, node: c_ast.Decl, kind: CType, where: Position) -> tuple[isl.PwAff, ...]:
        extents: list[isl.PwAff] = []
        while isinstance(kind, ArrayType):
            extent = self._extent(node, kind, where, not extents)
            if extent is None or not is_symbolic(extent):
                raise self._no_size(node)
            extents.append(extent)
            kind = kind.target
        return tuple(extents)

    def _extent(self, node: c_ast.Decl, kind: ArrayType, where: Position, is_first: bool) -> isl.PwAff | None:
        if kind.extent is not None:
            return self._reader.integers.value(kind.extent, where.domain).pa
        if isinstance(node.init, c_ast.InitList) and is_first:
            return constant(len(node.init.exprs))
        return None

    def _no_size(self, node: c_ast.Decl) -> NotModelledError:
        return self._around.problems.refuse(
            "SW219",
            f"the size of the array '{node.name}', declared inside the region, "
            "is no function of the region's sizes alone",
            node,
            "declare it with its largest size",
        )


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
        inner = _row(item, init, problems)
        found += [((position, *index), value) for index, value in _flatten(inner, extents[1:], problems)]
    return found


def _row(item: c_ast.Node | None, init: c_ast.InitList, problems: Problems) -> c_ast.InitList:
    """Return the list of values of one row: an empty one where there is none, or a plain zero."""
    if isinstance(item, c_ast.InitList):
        return item
    if item is not None and not (isinstance(item, c_ast.Constant) and _is_zero(item)):
        raise problems.refuse("SW216", "this initialiser leaves out braces", init, "write all braces")
    return c_ast.InitList([], init.coord)


def _is_zero(node: c_ast.Constant) -> bool:
    known = integer_constant(node)
    return known is not None and known.value == 0
