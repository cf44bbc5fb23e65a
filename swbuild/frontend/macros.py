"""Control structure as the body of one statement: branches and loops whose conditions are data.

What is here has no domains of its own: whatever a branch or loop may write is a may-write of the one
statement, whose body is the whole.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from swbuild.expressions.c import Assignment, InitialList, Typed
from swbuild.expressions.statements import (
    Block,
    CStatement,
    Declaration,
    Declarator,
    DoWhile,
    Evaluation,
    For,
    If,
    Jump,
    Nothing,
    While,
)
from swbuild.expressions.types import INT, ElementType
from swbuild.frontend.changes import writes
from swbuild.frontend.ctype import ArrayType, CType, Scalar
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.naming import Naming
from swbuild.frontend.problems import Problems
from swbuild.frontend.symbols import FileScope, Symbol

__all__ = ["Macros", "counter_of"]

_LARGEST_ARRAY = 256


class Macros:
    """Makes trees of statements with control structure; ``naming`` names the variables declared in it."""

    def __init__(self, facts: RegionFacts, scope: FileScope, problems: Problems, naming: Naming) -> None:
        self._facts, self._scope, self._problems, self._naming = facts, scope, problems, naming

    def statement(self, node: c_ast.Node, emitter: Emitter, where: Where) -> CStatement:
        """Return a statement inside a data-dependent ``if``."""
        if isinstance(node, c_ast.If):
            return self._if(node, emitter, where)
        if isinstance(node, c_ast.For):
            return self._for(node, emitter, where)
        if isinstance(node, c_ast.While):
            return self._while(node, emitter, where)
        if isinstance(node, c_ast.DoWhile):
            return self._do(node, emitter, where)
        if isinstance(node, c_ast.Compound):
            skipped = (c_ast.EmptyStatement, c_ast.Pragma)
            items = [item for item in node.block_items or () if not isinstance(item, skipped)]
            return Block(tuple(self.statement(item, emitter, where) for item in items))
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, emitter, where)
        if isinstance(node, c_ast.EmptyStatement):
            return Nothing()
        if isinstance(node, (c_ast.Break, c_ast.Continue)):
            return Jump(type(node).__name__.lower())
        value = emitter.expression(node, where)
        if isinstance(node, c_ast.Assignment) and node.op == "=" and not emitter.is_local(node.lvalue):
            assert isinstance(value, Assignment)
            emitter.written(node.lvalue, value.target)
        return Evaluation(value)

    def _if(self, node: c_ast.If, emitter: Emitter, where: Where) -> CStatement:
        taken, other = emitter.under(node.cond, where, True), emitter.under(node.cond, where, False)
        if taken.domain.is_empty():
            return self.statement(node.iffalse or c_ast.EmptyStatement(), emitter, other)
        condition = emitter.expression(node.cond, where)
        owned = emitter.owned()
        then = self._braced(node.iftrue, emitter, taken)
        emitter.restore(owned)
        if node.iffalse is None or other.domain.is_empty():
            return If(condition, then)
        chained = isinstance(node.iffalse, c_ast.If)
        otherwise = (self.statement if chained else self._braced)(node.iffalse, emitter, other)
        emitter.restore(owned)
        return If(condition, then, otherwise)

    def _braced(self, node: c_ast.Node | None, emitter: Emitter, where: Where) -> CStatement:
        block = (
            node if isinstance(node, c_ast.Compound) else c_ast.Compound([node] if node is not None else [])
        )
        return self.statement(block, emitter, where)

    def _declaration(self, node: c_ast.Decl, emitter: Emitter, where: Where) -> Declaration:
        """A scalar declared inside a data-dependent ``if`` is a variable of the statement's own."""
        symbol = self._facts.bindings.declared[id(node)]
        if isinstance(symbol.type, ArrayType) and not symbol.is_static:
            kind = _elements(symbol.type)
            initial = Nothing() if node.init is None else self._list(node.init, kind, emitter, where)
            extents = self._extents(symbol, node)
            return Declaration(kind, (Declarator(self._naming.make_own(symbol), extents, initial),))
        if not isinstance(symbol.type, Scalar) or symbol.is_static:
            raise self._problems.refuse(
                "SW216",
                f"'{symbol.name}' is declared under a condition or in a loop that depends on data",
                node,
                "declare it before that",
            )
        value = Nothing() if node.init is None else emitter.expression(node.init, where)
        return Declaration(symbol.type.element, (Declarator(self._naming.make_own(symbol), (), value),))

    def _extents(self, symbol: Symbol, node: c_ast.Decl) -> tuple[int, ...]:
        """Return the sizes of an array of the statement's own: small ones that the compiler knows."""
        kind, count = symbol.type, 1
        extents: tuple[int, ...] = ()
        while isinstance(kind, ArrayType):
            extent = self._scope.integer(kind.extent) if kind.extent is not None else None
            if extent is None or extent <= 0 or count * extent > _LARGEST_ARRAY:
                raise self._problems.refuse(
                    "SW219",
                    f"the array '{symbol.name}' is declared in a loop that depends on data, and is not known "
                    f"to have at most {_LARGEST_ARRAY} elements",
                    node,
                    "declare it before that",
                )
            extents, count, kind = (*extents, extent), count * extent, kind.target
        if not isinstance(kind, Scalar):
            raise self._problems.refuse(
                "SW218", f"'{symbol.name}' is no array of numbers", node, "use arrays of numbers"
            )
        return extents

    def _list(self, node: c_ast.Node, kind: ElementType, emitter: Emitter, where: Where) -> Typed:
        """Return the initial value of an array of the statement's own."""
        if not isinstance(node, c_ast.InitList):
            return emitter.expression(node, where)
        return InitialList(kind, tuple(self._list(item, kind, emitter, where) for item in node.exprs))

    def _for(self, node: c_ast.For, emitter: Emitter, where: Where) -> CStatement:
        first = self._init(node, emitter, where)
        before = emitter.owned()
        inside = Where(where.domain, True)
        condition = emitter.expression(node.cond, inside) if node.cond is not None else Nothing()
        tested = emitter.owned()
        body = self._braced(node.stmt, emitter, inside)
        # The step also follows a `continue`, so what the body set is not known to be set there.
        emitter.restore(tested)
        step = emitter.expression(node.next, inside) if node.next is not None else Nothing()
        emitter.restore(before)
        return For(first, condition, step, body)

    def _init(self, node: c_ast.For, emitter: Emitter, where: Where) -> CStatement:
        """Return what a loop starts with."""
        if node.init is None:
            return Nothing()
        if isinstance(node.init, c_ast.DeclList):
            return self._counters(node.init.decls, emitter, where)
        symbol = counter_of(node, self._facts)
        own = None if symbol is None else self._naming.own(symbol)
        if symbol is not None and own is not None and isinstance(symbol.type, Scalar):
            value = emitter.expression(node.init.rvalue, where)
            return Declaration(symbol.type.element, (Declarator(own, (), value),))
        return self.statement(node.init, emitter, where)

    def _counters(self, declarations: list[c_ast.Decl], emitter: Emitter, where: Where) -> Declaration:
        """Return the declaration of what a loop counts with: numbers of one type."""
        whole = self._declaration(declarations[0], emitter, where)
        kind = self._facts.bindings.declared[id(declarations[0])].type
        for declaration in declarations[1:]:
            symbol = self._facts.bindings.declared[id(declaration)]
            if symbol.type != kind or not isinstance(kind, Scalar) or declaration.init is None:
                what = "the loop declares several variables"
                raise self._problems.refuse("SW210", what, declaration, "declare them before the loop")
            value = emitter.expression(declaration.init, where)
            variable = Declarator(self._naming.make_own(symbol), (), value)
            whole = replace(whole, declarators=(*whole.declarators, variable))
        return whole

    def _while(self, node: c_ast.While, emitter: Emitter, where: Where) -> CStatement:
        before, inside = emitter.owned(), Where(where.domain, True)
        condition = emitter.expression(node.cond, inside)
        body = self._braced(node.stmt, emitter, inside)
        emitter.restore(before)
        return While(condition, body)

    def _do(self, node: c_ast.DoWhile, emitter: Emitter, where: Where) -> CStatement:
        before, inside = emitter.owned(), Where(where.domain, True)
        body = self._braced(node.stmt, emitter, inside)
        emitter.restore(before)
        condition = emitter.expression(node.cond, inside)
        emitter.restore(before)
        return DoWhile(body, condition)


def _elements(kind: CType) -> ElementType:
    """Return the type of the numbers in an array; any, where they are none."""
    while isinstance(kind, ArrayType):
        kind = kind.target
    return kind.element if isinstance(kind, Scalar) else INT


def counter_of(node: c_ast.Node, facts: RegionFacts) -> Symbol | None:
    """Return the variable that a ``for`` loop sets before anything else, declared outside of it."""
    init = node.init if isinstance(node, c_ast.For) else None
    if not isinstance(init, c_ast.Assignment) or not isinstance(init.lvalue, c_ast.ID) or init.op != "=":
        return None
    symbol = facts.bindings.symbol(init.lvalue)
    if symbol is None or facts.mentions(init.rvalue, symbol) or any(True for _ in writes(init.rvalue)):
        return None
    return symbol
