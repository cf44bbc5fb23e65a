"""Control structure as the text of one statement: branches and loops whose conditions are data.

What is here has no domains of its own: whatever a branch or loop may write is a may-write of the one
statement, whose text holds the C of the whole.
"""

from __future__ import annotations

from pycparser import c_ast

from swbuild.frontend.ctype import ArrayType, Scalar
from swbuild.frontend.emit import Emitter, Where
from swbuild.frontend.facts import RegionFacts, writes
from swbuild.frontend.naming import Naming
from swbuild.frontend.problems import Problems
from swbuild.frontend.scop import BodyPart
from swbuild.frontend.symbols import FileScope, Symbol

__all__ = ["Macros", "counter_of"]

_LARGEST_ARRAY = 256


class Macros:
    """Writes statements with control structure as text; ``naming`` names the variables declared in it."""

    def __init__(self, facts: RegionFacts, scope: FileScope, problems: Problems, naming: Naming) -> None:
        self._facts, self._scope, self._problems, self._naming = facts, scope, problems, naming

    def text(self, node: c_ast.Node, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        """Return the text of a statement inside a data-dependent ``if``."""
        if isinstance(node, c_ast.If):
            return self._if(node, emitter, where, indent)
        if isinstance(node, c_ast.For):
            return self._for(node, emitter, where, indent)
        if isinstance(node, c_ast.While):
            return self._while(node, emitter, where, indent)
        if isinstance(node, c_ast.DoWhile):
            return self._do(node, emitter, where, indent)
        if isinstance(node, c_ast.Compound):
            inner = indent + "  "
            parts: list[BodyPart] = ["{"]
            for item in node.block_items or ():
                if not isinstance(item, (c_ast.EmptyStatement, c_ast.Pragma)):
                    parts += [f"\n{inner}", *self.text(item, emitter, where, inner)]
            return [*parts, f"\n{indent}}}"]
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, emitter, where)
        if isinstance(node, c_ast.EmptyStatement):
            return [";"]
        if isinstance(node, (c_ast.Break, c_ast.Continue)):
            return [f"{type(node).__name__.lower()};"]
        piece = emitter.expression(node, where)
        if isinstance(node, c_ast.Assignment) and node.op == "=" and not emitter.is_local(node.lvalue):
            emitter.written(node.lvalue, piece.parts[0])
        return [*piece.parts, ";"]

    def _if(self, node: c_ast.If, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        taken, other = emitter.under(node.cond, where, True), emitter.under(node.cond, where, False)
        if taken.domain.is_empty():
            return self.text(node.iffalse or c_ast.EmptyStatement(), emitter, other, indent)
        cond = emitter.expression(node.cond, where)
        parts: list[BodyPart] = ["if (", *cond.parts, ") "]
        owned = emitter.owned()
        parts += self._braced(node.iftrue, emitter, taken, indent)
        emitter.restore(owned)
        if node.iffalse is not None and not other.domain.is_empty():
            chained = isinstance(node.iffalse, c_ast.If)
            parts += [" else "]
            parts += (
                self.text(node.iffalse, emitter, other, indent)
                if chained
                else self._braced(node.iffalse, emitter, other, indent)
            )
            emitter.restore(owned)
        return parts

    def _braced(self, node: c_ast.Node | None, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        block = (
            node if isinstance(node, c_ast.Compound) else c_ast.Compound([node] if node is not None else [])
        )
        return self.text(block, emitter, where, indent)

    def _declaration(self, node: c_ast.Decl, emitter: Emitter, where: Where) -> list[BodyPart]:
        """A scalar declared inside a data-dependent ``if`` is a variable of the statement's own text."""
        symbol = self._facts.bindings.declared[id(node)]
        if isinstance(symbol.type, ArrayType) and not symbol.is_static:
            initial = [] if node.init is None else [" = ", *self._list(node.init, emitter, where)]
            return [*self._array(symbol, node), *initial, ";"]
        if not isinstance(symbol.type, Scalar) or symbol.is_static:
            raise self._problems.refuse(
                "SW216",
                f"'{symbol.name}' is declared under a condition or in a loop that depends on data",
                node,
                "declare it before that",
            )
        value = None if node.init is None else emitter.expression(node.init, where)
        text = f"{symbol.type.element.name} {self._naming.make_own(symbol)}"
        return [f"{text};"] if value is None else [f"{text} = ", *value.at(2), ";"]

    def _array(self, symbol: Symbol, node: c_ast.Decl) -> list[BodyPart]:
        """Declare an array of the statement's own text: small, of a size that the compiler knows."""
        kind, extents, count = symbol.type, "", 1
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
            extents, count, kind = f"{extents}[{extent}]", count * extent, kind.target
        if not isinstance(kind, Scalar):
            raise self._problems.refuse(
                "SW218", f"'{symbol.name}' is no array of numbers", node, "use arrays of numbers"
            )
        return [f"{kind.element.name} {self._naming.make_own(symbol)}{extents}"]

    def _list(self, node: c_ast.Node, emitter: Emitter, where: Where) -> list[BodyPart]:
        """Return the initial value of an array of the statement's own text."""
        if not isinstance(node, c_ast.InitList):
            return emitter.expression(node, where).at(2)
        parts: list[BodyPart] = ["{"]
        for index, item in enumerate(node.exprs):
            parts += [", "] if index else []
            parts += self._list(item, emitter, where)
        return [*parts, "}"]

    def _for(self, node: c_ast.For, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        head = self._init(node, emitter, where)
        before = emitter.owned()
        inside = Where(where.domain, True)
        cond = emitter.expression(node.cond, inside).parts if node.cond is not None else []
        tested = emitter.owned()
        body = self._braced(node.stmt, emitter, inside, indent)
        # The step also follows a `continue`, so what the body set is not known to be set there.
        emitter.restore(tested)
        step = emitter.expression(node.next, inside).parts if node.next is not None else []
        emitter.restore(before)
        return ["for (", *head, "; ", *cond, "; ", *step, ") ", *body]

    def _init(self, node: c_ast.For, emitter: Emitter, where: Where) -> list[BodyPart]:
        """Return the text of what a loop starts with, without the semicolon."""
        if node.init is None:
            return []
        if isinstance(node.init, c_ast.DeclList):
            return self._counters(node.init.decls, emitter, where)
        symbol = counter_of(node, self._facts)
        own = None if symbol is None else self._naming.own(symbol)
        if symbol is not None and own is not None and isinstance(symbol.type, Scalar):
            value = emitter.expression(node.init.rvalue, where)
            return [f"{symbol.type.element.name} {own} = ", *value.at(2)]
        return _without_semicolon(self.text(node.init, emitter, where, ""))

    def _counters(self, declarations: list[c_ast.Decl], emitter: Emitter, where: Where) -> list[BodyPart]:
        """Return the declaration of what a loop counts with: numbers of one type."""
        parts = self._declaration(declarations[0], emitter, where)
        kind = self._facts.bindings.declared[id(declarations[0])].type
        for declaration in declarations[1:]:
            symbol = self._facts.bindings.declared[id(declaration)]
            if symbol.type != kind or not isinstance(kind, Scalar) or declaration.init is None:
                what = "the loop declares several variables"
                raise self._problems.refuse("SW210", what, declaration, "declare them before the loop")
            value = emitter.expression(declaration.init, where)
            parts = [*_without_semicolon(parts), f", {self._naming.make_own(symbol)} = ", *value.at(2), ";"]
        return _without_semicolon(parts)

    def _while(self, node: c_ast.While, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        before, inside = emitter.owned(), Where(where.domain, True)
        cond = emitter.expression(node.cond, inside)
        body = self._braced(node.stmt, emitter, inside, indent)
        emitter.restore(before)
        return ["while (", *cond.parts, ") ", *body]

    def _do(self, node: c_ast.DoWhile, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        before, inside = emitter.owned(), Where(where.domain, True)
        body = self._braced(node.stmt, emitter, inside, indent)
        emitter.restore(before)
        cond = emitter.expression(node.cond, inside)
        emitter.restore(before)
        return ["do ", *body, " while (", *cond.parts, ");"]


def counter_of(node: c_ast.Node, facts: RegionFacts) -> Symbol | None:
    """Return the variable that a ``for`` loop sets before anything else, declared outside of it."""
    init = node.init if isinstance(node, c_ast.For) else None
    if not isinstance(init, c_ast.Assignment) or not isinstance(init.lvalue, c_ast.ID) or init.op != "=":
        return None
    symbol = facts.bindings.symbol(init.lvalue)
    if symbol is None or facts.mentions(init.rvalue, symbol) or any(True for _ in writes(init.rvalue)):
        return None
    return symbol


def _without_semicolon(parts: list[BodyPart]) -> list[BodyPart]:
    last = parts[-1]
    return [*parts[:-1], *([last.removesuffix(";")] if isinstance(last, str) and last != ";" else [])]
