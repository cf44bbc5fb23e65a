"""Calls in bounds and subscripts: functions of the file that return one expression, and min/max."""

from __future__ import annotations

import copy

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import ElementType, common_type, is_integer
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.integers import Integers, Value
from swbuild.frontend.problems import Problems
from swbuild.frontend.symbols import FileScope, bind_function

__all__ = ["Inliner"]

_DEPTH = 16
_BINARY = frozenset({"min", "max", "floord", "ceild", "imin", "imax", "umin", "umax"})


class Inliner:
    """Evaluates calls of integer functions to quasi-affine values."""

    def __init__(self, scope: FileScope, problems: Problems) -> None:
        self._scope, self._problems = scope, problems
        self._depth = 0

    def value(self, call: c_ast.FuncCall, domain: isl.Set, integers: Integers) -> Value:
        """Return the value of ``call``; raise NotModelledError if it is not affine."""
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        arguments = list(call.args.exprs) if call.args is not None else []
        function = self._scope.functions.get(name)
        if function is not None:
            return self._body(call, domain, integers)
        return self._known(call, name, arguments, domain, integers)

    def _known(
        self,
        call: c_ast.FuncCall,
        name: str,
        arguments: list[c_ast.Node],
        domain: isl.Set,
        integers: Integers,
    ) -> Value:
        values = [integers.value(argument, domain) for argument in arguments]
        if name in ("abs", "labs") and len(values) == 1:
            return Value(values[0].pa.max(values[0].pa.neg()), values[0].type)
        if name in _BINARY and len(values) == 2:
            first, second = values
            kind = common_type(first.type, second.type)
            if name.endswith(("min", "max")):
                pa = first.pa.min(second.pa) if name.endswith("min") else first.pa.max(second.pa)
                return Value(pa.coalesce(), kind)
            if second.pa.is_cst() and second.pa.pos_set().is_params():
                quotient = first.pa.div(second.pa)
                return Value(quotient.floor() if name == "floord" else quotient.ceil(), kind)
        raise self._problems.refuse(
            "SW211",
            f"the value of '{name or 'this call'}' is not affine in the loop counters and sizes",
            call,
            "compute it before the region and use a variable",
        )

    def opened(
        self, call: c_ast.FuncCall, domain: isl.Set, integers: Integers
    ) -> tuple[c_ast.Node, Integers, ElementType]:
        """Return the expression that the called function returns, an evaluator for it, and its type.

        Raise NotModelledError if the function does anything else, or an argument is not affine.
        """
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        function = self._scope.functions.get(name)
        params = _parameters(function) if function is not None else []
        arguments = list(call.args.exprs) if call.args is not None else []
        items = function.body.block_items or [] if function is not None else []
        simple = (
            function is not None
            and len(items) == 1
            and isinstance(items[0], c_ast.Return)
            and items[0].expr is not None
            and len(params) == len(arguments)
            and all(self._is_integer(p) for p in params)
            and self._depth < _DEPTH
            and self._is_integer(function.decl.type.type)
        )
        if function is None or not simple:
            raise self._problems.refuse(
                "SW211",
                f"'{name or 'this call'}' does not just return one integer expression, so its value is not "
                "affine",
                call,
                "compute it before the region and use a variable",
            )
        bind_function(function, self._scope)
        bound = {}
        for parameter, argument in zip(params, arguments, strict=True):
            kind = self._scope.types.resolve(parameter)
            assert isinstance(kind, Scalar)
            value = integers.value(argument, domain)
            bound[parameter.name] = integers.convert(value, kind.element, domain, argument)
        result = self._scope.types.resolve(function.decl.type.type)
        assert isinstance(result, Scalar)
        return copy.copy(items[0].expr), integers.bound(bound), result.element

    def _is_integer(self, node: c_ast.Node) -> bool:
        kind = self._scope.types.resolve(node)
        return isinstance(kind, Scalar) and is_integer(kind.element)

    def _body(self, call: c_ast.FuncCall, domain: isl.Set, integers: Integers) -> Value:
        expression, inside, kind = self.opened(call, domain, integers)
        self._depth += 1
        try:
            value = inside.value(expression, domain)
        finally:
            self._depth -= 1
        return integers.convert(value, kind, domain, call)


def _parameters(function: c_ast.FuncDef) -> list[c_ast.Decl]:
    args = function.decl.type.args
    return [p for p in (args.params if args is not None else ()) if isinstance(p, c_ast.Decl)]
