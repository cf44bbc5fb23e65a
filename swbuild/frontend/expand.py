"""Calls of functions with effects, replaced by the functions' bodies.

Only calls that are statements (``f(A, n);``, ``x = f(A, i);``, ``double t = f(A);``) of functions
in the same file are expanded.  Parameters passed by value become variables; pointers and arrays
are replaced by their arguments, which must have the very same shape.  A call that does not fit
stays, and is refused where it is met.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence, Set

from pycparser import c_ast

from swbuild.frontend.blockcopies import BlockCopies
from swbuild.frontend.calls import Calls
from swbuild.frontend.changes import writes
from swbuild.frontend.ctype import ArrayType, CType, OtherType, Pointer, Scalar, StructType
from swbuild.frontend.places import PlaceFinder
from swbuild.frontend.plain_forms import in_plain_forms
from swbuild.frontend.scop import Storage
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.structcopies import copies, initial_values
from swbuild.frontend.symbols import (
    Bindings,
    FileScope,
    Symbol,
    bind_function,
    identifiers,
    walk,
)
from swbuild.frontend.syntax import change_children

__all__ = ["Expander", "UnfitError"]

_DEPTH = 8
#: Nodes of the syntax tree that the bodies put into one region may have together.
_MOST = 10_000
_UNFIT = (c_ast.Goto, c_ast.Label, c_ast.Return, c_ast.StaticAssert)


def _outlives_calls(symbol: Symbol) -> bool:
    """Whether a variable that a function names has its value when the function has returned."""
    return symbol.is_static or symbol.storage is Storage.GLOBAL


def _is_address(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "&"


def _without_detours(node: c_ast.Node) -> c_ast.Node:
    """Return ``node`` with ``*&x``, ``(&x)[0]`` and ``(&x)->y`` spelled ``x`` and ``x.y`` all over.

    What a call's body does to a variable whose address it is given is then seen as done to the variable.
    """
    change_children(node, _without_detours)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*" and _is_address(node.expr):
        return node.expr.expr
    if isinstance(node, c_ast.ArrayRef) and _is_address(node.name):
        zero = isinstance(node.subscript, c_ast.Constant) and node.subscript.value == "0"
        return node.name.expr if zero else node
    if isinstance(node, c_ast.StructRef) and node.type == "->" and _is_address(node.name):
        node.type, node.name = ".", node.name.expr
    return node


class UnfitError(Exception):
    """This call cannot be expanded (raised and caught inside the front end)."""


class Expander:
    """Expands the calls in a region's statements; new nodes are entered into ``bindings``."""

    def __init__(self, scope: FileScope, bindings: Bindings, calls: Calls, finder: PlaceFinder) -> None:
        self._scope, self._bindings, self._calls, self._finder = scope, bindings, calls, finder
        self._blocks = BlockCopies(scope, bindings, finder)
        self._chain: list[str] = []
        self._count = 0

    def items(self, items: Sequence[c_ast.Node], elsewhere: Set[Symbol] = frozenset()) -> list[c_ast.Node]:
        """Return the region's statements with calls expanded; without such calls they are kept as they are.

        Pointers that they declare and never move are replaced by what they point to, except for those that
        are named ``elsewhere``, after the region.
        """
        return [_without_detours(item) for item in self._inner(items, elsewhere=elsewhere)]

    def _inner(
        self,
        items: Sequence[c_ast.Node],
        result: c_ast.Node | None = None,
        elsewhere: Set[Symbol] = frozenset(),
    ) -> list[c_ast.Node]:
        """Return the statements of a block, calls expanded.

        Pointers that the block declares and never moves are replaced by what they point to, also in
        ``result``, what follows the block; not those that are named ``elsewhere``.
        """
        found: list[c_ast.Node] = []
        behind = [result] if result is not None else []
        for position, item in enumerate(items):
            scope = c_ast.Compound([*items[position + 1 :], *behind], item.coord)
            kept = isinstance(item, c_ast.Decl) and self._bindings.declared.get(id(item)) in elsewhere
            if isinstance(item, c_ast.Decl) and not kept and self._is_alias(item, scope):
                self._replace(scope, self._bindings.declared[id(item)], item.init)
            else:
                found += self._statement(item)
        return found

    def _is_alias(self, node: c_ast.Decl, scope: c_ast.Node) -> bool:
        """Whether ``node`` declares another name for an array, or for a part of one, all over ``scope``."""
        symbol = self._bindings.declared.get(id(node))
        if symbol is None or not isinstance(symbol.type, Pointer) or node.init is None or symbol.is_static:
            return False
        return self._is_fixed(scope, symbol, node.init) and self._same_shape(symbol.type, node.init, {})

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Compound):
            node.block_items = self._inner(node.block_items or [])
        elif isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
            node.stmt = self._block(node.stmt)
        elif isinstance(node, c_ast.If):
            node.iftrue = self._block(node.iftrue)
            node.iffalse = self._block(node.iffalse) if node.iffalse is not None else None
        elif isinstance(node, c_ast.FuncCall) and (loop := self._blocks.written_out(node)) is not None:
            return [loop]
        elif self._is_expandable(node):
            return self._expanded(node, node, None)
        elif isinstance(node, c_ast.Assignment) and self._is_expandable(node.rvalue):
            return self._expanded(node, node.rvalue, node)
        elif isinstance(node, c_ast.Decl) and self._is_expandable(node.init):
            return self._declared(node)
        elif isinstance(node, c_ast.Assignment):
            return self._copied_members(node)
        elif isinstance(node, c_ast.Decl) and node.init is not None:
            return self._initial_members(node)
        return [node]

    def _copied_members(self, node: c_ast.Assignment) -> list[c_ast.Node]:
        """Return the copies of members that the assignment of a whole structure stands for."""
        kind = self._finder.type_of(node.lvalue)
        if not isinstance(kind, StructType) or self._finder.type_of(node.rvalue) is not kind:
            return [node]
        found = copies(node, kind, self._constant, self._bindings.copied)
        return [node] if found is None else [c_ast.Compound(found, node.coord)]

    def _initial_members(self, node: c_ast.Decl) -> list[c_ast.Node]:
        """Return the declaration of a structure without its initial value, and assignments for that."""
        symbol = self._bindings.declared.get(id(node))
        if symbol is None or not isinstance(symbol.type, StructType) or symbol.is_static:
            return [node]
        target = self._bindings.named(symbol, node)
        if isinstance(node.init, c_ast.InitList):
            found = initial_values(target, node.init, symbol.type, self._constant, self._bindings.copied)
        else:
            whole = c_ast.Assignment("=", target, node.init, node.coord)
            same = self._finder.type_of(node.init) is symbol.type
            found = copies(whole, symbol.type, self._constant, self._bindings.copied) if same else None
        if found is None:
            return [node]
        self._bindings.kept.append(node.init)
        node.init = None
        return [node, *found]

    def _constant(self, node: c_ast.Node) -> int | None:
        return self._scope.integer(node)

    def _block(self, node: c_ast.Node) -> c_ast.Node:
        items = self._statement(node)
        return items[0] if len(items) == 1 else c_ast.Compound(items, node.coord)

    def _is_expandable(self, node: c_ast.Node | None) -> bool:
        if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
            return False
        name = node.name.name
        if name in self._chain or len(self._chain) > _DEPTH:
            raise UnfitError  # recursive: refused where the region calls it
        known = name in self._scope.functions
        return known and not self._calls.is_pure(name)

    def _declared(self, node: c_ast.Decl) -> list[c_ast.Node]:
        symbol = self._bindings.declared.get(id(node))
        if symbol is None or not isinstance(symbol.type, Scalar) or symbol.type.const:
            return [node]
        call, node.init = node.init, None
        target = self._bindings.named(symbol, call)
        assignment = c_ast.Assignment("=", target, call, node.coord)
        expanded = self._expanded(assignment, call, assignment)
        if expanded == [assignment]:
            node.init = call
            return [node]
        return [node, *expanded]

    # -- one call -------------------------------------------------------------------------------

    def _expanded(
        self, node: c_ast.Node, call: c_ast.FuncCall, assignment: c_ast.Assignment | None
    ) -> list[c_ast.Node]:
        """Return the statements that ``node`` becomes, or ``[node]`` if the call does not fit."""
        self._chain.append(call.name.name)
        try:
            return [c_ast.Compound(self._body(call, assignment), node.coord)]
        except UnfitError:
            return [node]
        finally:
            self._chain.pop()

    def _body(self, call: c_ast.FuncCall, assignment: c_ast.Assignment | None) -> list[c_ast.Node]:
        function, bound = self._prepared(call)
        params = [p for p in self._params(function) if p.name in bound]
        items, result = self._without_return(list(function.body.block_items or []))
        nodes = [node for item in [*items, *([result] if result is not None else [])] for node in walk(item)]
        if any(self._is_unfit(node) for node in nodes):
            raise UnfitError
        heads = [head for p in params for head in self._parameter(function, p, bound)]
        holder = c_ast.Compound(items, call.coord)
        value = c_ast.ExprList([result] if result is not None else [], call.coord)
        holder.block_items = self._inner(holder.block_items, value)
        tail = self._result(value.exprs[0] if value.exprs else None, assignment, holder)
        return [*heads, *holder.block_items, *tail]

    def _prepared(self, call: c_ast.FuncCall) -> tuple[c_ast.FuncDef, dict[str, c_ast.Node]]:
        """Return a copy of the called function, names bound, and its parameters' arguments by name."""
        function = self._scope.functions[call.name.name]
        self._count += sum(1 for _ in walk(function))
        if self._count > _MOST:
            raise UnfitError
        function = copy.deepcopy(function)
        self._adopt(function, bind_function(function, self._scope))
        body = function.body
        items = body.block_items or []
        body.block_items = in_plain_forms(items, function, self._bindings, self._scope, _outlives_calls)
        params = self._params(function)
        arguments = list(call.args.exprs) if call.args is not None else []
        if len(params) != len(arguments) or any(not isinstance(p, c_ast.Decl) for p in params):
            raise UnfitError
        return function, dict(zip((p.name for p in params), arguments, strict=True))

    def _params(self, function: c_ast.FuncDef) -> list[c_ast.Node]:
        params = function.decl.type.args.params if function.decl.type.args is not None else []
        return [p for p in params if not self._is_void(p)]

    def _is_unfit(self, node: c_ast.Node) -> bool:
        """Whether a node keeps a body from being put in place of a call."""
        if isinstance(node, c_ast.Decl):
            return bool(node.storage)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            return node.name.name in self._chain
        return isinstance(node, _UNFIT)

    @staticmethod
    def _is_void(node: c_ast.Node) -> bool:
        inner = getattr(getattr(node, "type", None), "type", None)
        return (
            isinstance(inner, c_ast.IdentifierType) and inner.names == ["void"] and node.type.declname is None
        )

    @staticmethod
    def _without_return(items: list[c_ast.Node]) -> tuple[list[c_ast.Node], c_ast.Node | None]:
        if items and isinstance(items[-1], c_ast.Return):
            return items[:-1], items[-1].expr
        return items, None

    def _result(
        self, result: c_ast.Node | None, assignment: c_ast.Assignment | None, holder: c_ast.Compound
    ) -> list[c_ast.Node]:
        """Return the assignment of the returned value; without a target its effects are all that counts."""
        if assignment is None:
            return []
        if result is None:
            raise UnfitError
        kind = self._scope.types.resolve(self._scope.functions[self._chain[-1]].decl.type.type)
        if not isinstance(kind, Scalar):
            raise UnfitError
        name = f"result_{self._chain[-1]}"
        symbol, declaration = self._bindings.variable(name, Scalar(kind.element), result)
        value = self._bindings.named(symbol, result)
        final = c_ast.Assignment(assignment.op, assignment.lvalue, value, assignment.coord)
        return [declaration, final]

    # -- parameters -----------------------------------------------------------------------------

    def _parameter(
        self, function: c_ast.FuncDef, parameter: c_ast.Decl, bound: dict[str, c_ast.Node]
    ) -> list[c_ast.Node]:
        """Bind one parameter: a variable for a number (returned as its declaration), else by replacement."""
        symbol, argument = self._bindings.declared[id(parameter)], bound[parameter.name]
        if isinstance(symbol.type, Scalar):
            fresh, declaration = self._bindings.variable(
                symbol.name, Scalar(symbol.type.element), self._bindings.copied(argument)
            )
            for node in identifiers(function):
                if self._bindings.symbol(node) is symbol:
                    self._bindings.uses[id(node)] = fresh
            return [declaration]
        others = tuple(bound.values())
        if not self._is_fixed(function.body, symbol, argument, others) or not self._same_shape(
            symbol.type, argument, bound
        ):
            raise UnfitError
        self._replace(function.body, symbol, argument)
        return []

    def _is_fixed(
        self, body: c_ast.Node, symbol: Symbol, argument: c_ast.Node, others: Sequence[c_ast.Node] = ()
    ) -> bool:
        """Whether a pointer means all over ``body`` what ``argument`` means before it.

        ``others`` are what the other pointers in ``body`` point to.
        """
        sized = [n.expr for n in walk(body) if isinstance(n, c_ast.UnaryOp) and n.op == "sizeof"]
        for target in [*sized, *(target for target, _, _ in writes(body))]:
            if isinstance(target, c_ast.ID) and self._bindings.symbol(target) is symbol:
                return False
        if any(True for _ in writes(argument)) or any(isinstance(n, c_ast.FuncCall) for n in walk(argument)):
            return False
        changed = {self._bindings.symbol(t) for t, _, _ in writes(body) if isinstance(t, c_ast.ID)}
        root = self._finder.root(argument.expr if isinstance(argument, c_ast.UnaryOp) else argument)
        if root is None or root in changed:
            return False
        addresses = [n for part in (body, *others) for n in walk(part) if _is_address(n)]
        changed |= {self._finder.root(n.expr) for n in addresses}
        members = [n for n in walk(argument) if self._is_number_in_structure(n)]
        written = {t.field.name for t, _, _ in writes(body) if isinstance(t, c_ast.StructRef)}
        if any(n.field.name in written or self._finder.root(n) in changed for n in members):
            return False
        done = {id(name) for member in members for name in identifiers(member)}
        names = [self._bindings.symbol(n) for n in identifiers(argument) if id(n) not in done]
        return all(
            isinstance(s.type, (Scalar, OtherType)) and s not in changed and s.storage is not Storage.GLOBAL
            for s in names
            if s is not None and s is not root
        )

    def _is_number_in_structure(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a number in a structure that a variable is or points to, such as ``f->n``."""
        if not isinstance(node, c_ast.StructRef) or not isinstance(node.name, c_ast.ID):
            return False
        return isinstance(self._finder.type_of(node), Scalar)

    def _same_shape(self, kind: CType, argument: c_ast.Node, names: dict[str, c_ast.Node]) -> bool:
        given = self._decayed(argument)
        if not isinstance(kind, (Pointer, ArrayType)) or given is None:
            return False
        return self._equal(kind.target, given, names)

    def _decayed(self, argument: c_ast.Node) -> CType | None:
        """Return the type that the argument points to."""
        if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
            return self._finder.type_of(argument.expr)
        if isinstance(argument, c_ast.BinaryOp) and argument.op in ("+", "-"):
            return self._decayed(argument.left)
        kind = self._finder.type_of(argument)
        return kind.target if isinstance(kind, (Pointer, ArrayType)) else None

    def _equal(self, mine: CType, given: CType, names: dict[str, c_ast.Node]) -> bool:
        if isinstance(mine, ArrayType) and isinstance(given, ArrayType):
            if mine.extent is None or given.extent is None:
                return False
            return self._extent(mine.extent, names) == self._extent(given.extent, {}) and self._equal(
                mine.target, given.target, names
            )
        if isinstance(mine, Scalar) and isinstance(given, Scalar):
            return mine.element == given.element
        if isinstance(mine, Pointer) and isinstance(given, Pointer):
            return self._equal(mine.target, given.target, names)
        return isinstance(mine, StructType) and mine is given

    def _extent(self, node: c_ast.Node, names: dict[str, c_ast.Node]) -> str:
        """Return a size's text with the names of parameters replaced by their arguments."""
        holder = c_ast.ExprList([copy.deepcopy(node)])
        for parent in walk(holder):
            for slot in parent.__slots__:
                child = getattr(parent, slot, None)
                if isinstance(child, c_ast.ID) and child.name in names:
                    setattr(parent, slot, names[child.name])
                elif isinstance(child, list):
                    child[:] = [names.get(c.name, c) if isinstance(c, c_ast.ID) else c for c in child]
        return expression_text(holder.exprs[0], self._scope)

    # -- nodes ----------------------------------------------------------------------------------

    def _replace(self, body: c_ast.Node, symbol: Symbol, argument: c_ast.Node) -> None:
        for parent in list(walk(body)):
            for slot in parent.__slots__:
                child = getattr(parent, slot, None)
                if isinstance(child, c_ast.ID) and self._bindings.symbol(child) is symbol:
                    setattr(parent, slot, self._bindings.copied(argument))
                elif isinstance(child, list):
                    child[:] = [
                        self._bindings.copied(argument)
                        if isinstance(c, c_ast.ID) and self._bindings.symbol(c) is symbol
                        else c
                        for c in child
                    ]

    def _adopt(self, function: c_ast.FuncDef, bindings: Bindings) -> None:
        self._bindings.uses.update(bindings.uses)
        self._bindings.declared.update(bindings.declared)
        self._bindings.kept.append(function)
