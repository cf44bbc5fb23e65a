"""Calls inside expressions of functions that read through pointers: their values, or their bodies ahead.

``b[i] = at(a, i - 1) + dot(x, y)``: a function that returns one expression is replaced by it; one that
takes several statements, and only reads what its caller sees, is computed into a variable before the
statement, unless a condition inside the expression decides whether it is called.
"""

from __future__ import annotations

import copy

from pycparser import c_ast

from swbuild.frontend.changes import writes
from swbuild.frontend.ctype import ArrayType, CType, Scalar, StructType
from swbuild.frontend.expand import Expander, UnfitError
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, bind_function, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["NestedExpander"]

_ARITHMETIC = frozenset("+-*")


class NestedExpander(Expander):
    """An :class:`Expander` that also looks for calls inside expressions."""

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        ahead: list[c_ast.Node] = []
        if isinstance(node, c_ast.Assignment):
            node.lvalue = self._value(node.lvalue, None)
            if not self._is_expandable(node.rvalue):
                node.rvalue = self._value(node.rvalue, ahead)
        elif isinstance(node, c_ast.Decl) and not self._is_expandable(node.init):
            node.init = self._value(node.init, ahead) if node.init is not None else None
        elif isinstance(node, c_ast.If):
            node.cond = self._value(node.cond, ahead)
        elif isinstance(node, c_ast.For):
            node.cond = self._value(node.cond, None) if node.cond is not None else None
            if isinstance(node.init, c_ast.Assignment):
                node.init.rvalue = self._value(node.init.rvalue, None)
        elif isinstance(node, (c_ast.While, c_ast.DoWhile)):
            node.cond = self._value(node.cond, None)
        found = super()._statement(node)
        if not ahead:
            return found
        together = [*ahead, *found]
        return together if isinstance(node, c_ast.Decl) else [c_ast.Compound(together, node.coord)]

    def _value(self, node: c_ast.Node, ahead: list[c_ast.Node] | None) -> c_ast.Node:
        """Return ``node`` with calls replaced; statements that must run first go to ``ahead``.

        ``ahead`` is None where it is not certain that the expression is evaluated.
        """
        if isinstance(node, c_ast.TernaryOp):
            node.cond = self._value(node.cond, ahead)
            node.iftrue, node.iffalse = self._value(node.iftrue, None), self._value(node.iffalse, None)
            return node
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            node.left, node.right = self._value(node.left, ahead), self._value(node.right, None)
            return node
        if isinstance(node, (c_ast.ExprList, c_ast.InitList)):
            return self._sequence(node, ahead)
        if isinstance(node, c_ast.Compound) or (isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"):
            ahead = None
        if isinstance(node, c_ast.FuncCall) and node.args is not None:
            change_children(node.args, lambda child: self._value(child, ahead))  # in no certain order
        else:
            change_children(node, lambda child: self._value(child, ahead))
        return self._called(node, ahead) if self._is_expandable(node) else node

    def _sequence(self, node: c_ast.Node, ahead: list[c_ast.Node] | None) -> c_ast.Node:
        """Return parts that are evaluated one after the other, calls replaced.

        What is behind a write stays there: the variables must have their new values.
        """
        for position, part in enumerate(node.exprs):
            writes_first = any(True for _ in writes(part))
            node.exprs[position] = self._value(part, ahead)
            ahead = None if writes_first else ahead
        return node

    def _called(self, call: c_ast.FuncCall, ahead: list[c_ast.Node] | None) -> c_ast.Node:
        """Return what stands for a call: an expression, a variable set ahead, or the call as it is."""
        self._chain.append(call.name.name)
        try:
            return self._one_expression(call)
        except UnfitError:
            pass
        finally:
            self._chain.pop()
        function = self._scope.functions[call.name.name]
        kind = self._scope.types.resolve(function.decl.type.type)
        if ahead is None or not isinstance(kind, Scalar) or not self._only_reads(function):
            return call
        symbol, declaration = self._bindings.variable(f"result_{call.name.name}", Scalar(kind.element), call)
        declaration.init = None
        target = self._bindings.named(symbol, call)
        assignment = c_ast.Assignment("=", target, call, call.coord)
        expanded = self._expanded(assignment, call, assignment)
        if expanded == [assignment]:
            return call
        ahead += [declaration, *expanded]
        return self._bindings.named(symbol, call)

    def _one_expression(self, call: c_ast.FuncCall) -> c_ast.Node:
        """Return the expression that the called function returns, over the call's arguments."""
        function, bound = self._prepared(call)
        items = function.body.block_items or []
        kind = self._scope.types.resolve(function.decl.type.type)
        if len(items) != 1 or not isinstance(items[0], c_ast.Return) or not isinstance(kind, Scalar):
            raise UnfitError
        holder = c_ast.ExprList([items[0].expr], call.coord)
        if items[0].expr is None or any(True for _ in writes(holder)):
            raise UnfitError
        for parameter in self._params(function):
            value = self._argument(function, parameter, bound)
            self._replace(holder, self._bindings.declared[id(parameter)], value)
        value = self._value(holder.exprs[0], None)
        return self._converted(value, kind, call)

    def _argument(
        self, function: c_ast.FuncDef, parameter: c_ast.Decl, bound: dict[str, c_ast.Node]
    ) -> c_ast.Node:
        """Return what replaces a parameter in the expression."""
        symbol, argument = self._bindings.declared[id(parameter)], bound[parameter.name]
        if not isinstance(symbol.type, Scalar):
            others = tuple(bound.values())
            if not self._is_fixed(function.body, symbol, argument, others) or not self._same_shape(
                symbol.type, argument, bound
            ):
                raise UnfitError
            return argument
        uses = sum(1 for n in identifiers(function.body) if self._bindings.symbol(n) is symbol)
        calls = any(isinstance(n, c_ast.FuncCall) for n in walk(argument))
        if any(True for _ in writes(argument)) or (calls and uses > 1):
            raise UnfitError
        if self._is_of_type(argument, symbol.type):
            return argument
        return self._converted(argument, symbol.type, argument)

    def _is_of_type(self, node: c_ast.Node, kind: Scalar) -> bool:
        """Whether an expression certainly has this very type."""
        if isinstance(node, c_ast.BinaryOp) and node.op in _ARITHMETIC:
            wide = kind.element.size >= 4
            return wide and self._is_of_type(node.left, kind) and self._is_of_type(node.right, kind)
        if isinstance(node, c_ast.Constant):
            return bool(node.type == kind.element.name)
        found = self._finder.type_of(node)
        return isinstance(found, Scalar) and found.element == kind.element

    def _converted(self, node: c_ast.Node, kind: Scalar, at: c_ast.Node) -> c_ast.Node:
        names = c_ast.IdentifierType(kind.element.name.split())
        to = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, names, at.coord), at.coord)
        cast = c_ast.Cast(to, node, at.coord)
        self._bindings.kept.append(cast)
        return cast

    def _only_reads(self, function: c_ast.FuncDef, callers: tuple[str, ...] = ()) -> bool:
        """Whether a function, called by ``callers``, changes nothing but its own variables."""
        function = copy.deepcopy(function)
        bindings = bind_function(function, self._scope)
        if not all(_is_own(target, bindings) for target, _, _ in writes(function.body)):
            return False
        chain = (*callers, function.decl.name)
        calls = (node for node in walk(function.body) if isinstance(node, c_ast.FuncCall))
        return all(self._is_harmless(call, chain) for call in calls)

    def _is_harmless(self, call: c_ast.FuncCall, callers: tuple[str, ...]) -> bool:
        """Whether a call inside a function that is put ahead has no effect, or is refused later on."""
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        if name in self._chain or name in callers:
            return False
        function = self._scope.functions.get(name)
        return function is None or self._calls.is_pure(name) or self._only_reads(function, callers)


def _is_own(target: c_ast.Node, bindings: Bindings) -> bool:
    """Whether an l-value is in a function's own variables, and not where one of them points to."""
    root = target
    while isinstance(root, (c_ast.ArrayRef, c_ast.StructRef)):
        root = root.name
    symbol = bindings.symbol(root) if isinstance(root, c_ast.ID) else None
    if symbol is None or symbol.storage is Storage.GLOBAL:
        return False
    if symbol.storage is Storage.PARAMETER and not isinstance(symbol.type, Scalar):
        return False
    return root is target or not _has_pointers(symbol.type)


def _has_pointers(kind: CType) -> bool:
    if isinstance(kind, ArrayType):
        return _has_pointers(kind.target)
    if isinstance(kind, StructType):
        return any(map(_has_pointers, kind.fields.values()))
    return not isinstance(kind, Scalar)
