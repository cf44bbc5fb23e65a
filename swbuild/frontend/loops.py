"""``for`` loops: counter, start, step and the values that the counter takes."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import TypeKind, is_integer
from swbuild.frontend.counters import previous_dimension
from swbuild.frontend.ctype import Pointer, Scalar
from swbuild.frontend.integers import Integers, Value, constant, parameter, single_value
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.symbols import Bindings, Symbol
from swbuild.islnumbers import val_of

__all__ = ["Iterations", "LoopHead", "LoopReader", "iterations", "without", "wraps"]

_FORM = "write it as for (i = start; i < end; i += step) with a constant step"
_PLACES = (
    "let it go up between two places in one array, as in for (p = a; p < a + n; p++), or count with an int"
)


@dataclass(frozen=True, slots=True)
class LoopHead:
    """The parts of a loop's head; ``start`` is None where the counter keeps the value that it has."""

    symbol: Symbol
    start: c_ast.Node | None
    step: int
    condition: c_ast.Node


class LoopReader:
    """Takes loop heads apart."""

    def __init__(self, bindings: Bindings, integers: Integers, problems: Problems) -> None:
        self._bindings, self._integers, self._problems = bindings, integers, problems

    def head(self, node: c_ast.For, domain: isl.Set) -> LoopHead:
        """Return the head of ``node``; raise NotModelledError for any form but a counted loop."""
        if node.cond is None:
            raise self._problems.refuse("SW210", "the loop has no condition", node, _FORM)
        if node.next is None:
            raise self._problems.refuse("SW210", "the loop has no step", node, _FORM)
        symbol, step = self._step(node.next, domain)
        start = self._start(node, symbol)
        if not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            pointer = isinstance(symbol.type, Pointer)
            message = f"the loop counter '{symbol.name}' is no integer variable"
            raise self._problems.refuse(
                "SW210", message, node.next, _PLACES if pointer else "count with an int"
            )
        if symbol.type.volatile:
            raise self._problems.refuse(
                "SW217",
                f"the loop counter '{symbol.name}' is volatile",
                node.next,
                "add or subtract a constant that is not zero",
            )
        if step == 0:
            raise self._problems.refuse(
                "SW226", "the loop's step is zero, so it never ends", node.next, "count with an ordinary int"
            )
        return LoopHead(symbol, start, step, self._compared(node.cond, symbol))

    def _compared(self, condition: c_ast.Node, symbol: Symbol) -> c_ast.Node:
        """Return ``condition``, as a comparison where it is the counter itself (``for (i = n; i; i--)``)."""
        if not self._is(condition, symbol):
            return condition
        return c_ast.BinaryOp("!=", condition, c_ast.Constant("int", "0", condition.coord), condition.coord)

    def _start(self, node: c_ast.For, symbol: Symbol) -> c_ast.Node | None:
        init = node.init
        if init is None:
            return None
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
            declared = init.decls[0]
            if self._bindings.declared.get(id(declared)) is symbol and declared.init is not None:
                return declared.init
        if isinstance(init, c_ast.ExprList) and len(init.exprs) == 1:
            init = init.exprs[0]
        if isinstance(init, c_ast.Assignment) and init.op == "=" and self._is(init.lvalue, symbol):
            return init.rvalue
        raise self._problems.refuse(
            "SW210", f"the loop does not start by setting its counter '{symbol.name}' alone", init, _FORM
        )

    def _step(self, node: c_ast.Node, domain: isl.Set) -> tuple[Symbol, int]:
        if isinstance(node, c_ast.ExprList) and len(node.exprs) == 1:
            node = node.exprs[0]
        if isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "++", "p--", "--"):
            return self._counter(node.expr, node), 1 if node.op.endswith("++") else -1
        if isinstance(node, c_ast.Assignment):
            symbol = self._counter(node.lvalue, node)
            if node.op in ("+=", "-="):
                return symbol, self._constant(node.rvalue, domain) * (1 if node.op == "+=" else -1)
            if node.op == "=" and isinstance(node.rvalue, c_ast.BinaryOp) and node.rvalue.op in ("+", "-"):
                return symbol, self._added(node.rvalue, symbol, domain)
        raise self._problems.refuse(
            "SW210", "the loop's step does not add a constant to its counter", node, _FORM
        )

    def _added(self, node: c_ast.BinaryOp, symbol: Symbol, domain: isl.Set) -> int:
        if self._is(node.left, symbol):
            return self._constant(node.right, domain) * (1 if node.op == "+" else -1)
        if node.op == "+" and self._is(node.right, symbol):
            return self._constant(node.left, domain)
        raise self._problems.refuse(
            "SW210", "the loop's step does not add a constant to its counter", node, _FORM
        )

    def _counter(self, node: c_ast.Node, step: c_ast.Node) -> Symbol:
        symbol = self._bindings.symbol(node) if isinstance(node, c_ast.ID) else None
        if symbol is None:
            raise self._problems.refuse(
                "SW210", "the loop counts with something that is no variable", step, _FORM
            )
        return symbol

    def _is(self, node: c_ast.Node, symbol: Symbol) -> bool:
        return isinstance(node, c_ast.ID) and self._bindings.symbol(node) is symbol

    def _constant(self, node: c_ast.Node, domain: isl.Set) -> int:
        try:
            pa = self._integers.value(node, domain).pa
        except NotModelledError:
            pa = None
        value = None if pa is None else single_value(pa)
        if value is None:
            raise self._problems.refuse("SW210", "the loop's step is not a constant", node, _FORM)
        return value


@dataclass(frozen=True, slots=True)
class Iterations:
    """What a loop does: the points it visits, the values after its steps, and whether it may never end."""

    visited: isl.Set
    stepped: isl.Set


def iterations(
    variable: str, start: Value, step: int, holds: isl.Set, simple: bool, domain: isl.Set
) -> Iterations:
    """Return the iterations of a counter that starts at ``start``, while it is in ``holds``.

    ``simple`` says that once ``holds`` fails it fails for all later values, too.
    """
    counter = parameter(variable)
    reached = counter.ge_set(start.pa) if step > 0 else counter.le_set(start.pa)
    if abs(step) > 1:
        distance = counter.sub(start.pa)
        reached = reached.intersect(distance.mod_val(val_of(abs(step))).eq_set(constant(0)))
    reached = reached.intersect(domain)
    visited = reached.intersect(holds)
    if not simple:
        visited = visited.subtract(_later(reached.subtract(holds), variable, step))
    return Iterations(visited, _shifted(visited, variable, step))


def _later(failed: isl.Set, variable: str, step: int) -> isl.Set:
    """Return the values at or behind one of ``failed``, in the direction of ``step``."""
    other = previous_dimension(variable)
    position = failed.find_dim_by_name(isl.dim_type.param, variable)
    earlier = failed.set_dim_name(isl.dim_type.param, position, other)
    now, then = parameter(variable), parameter(other)
    behind = earlier.intersect(now.ge_set(then) if step > 0 else now.le_set(then))
    return without(behind, [other])


def _shifted(visited: isl.Set, variable: str, step: int) -> isl.Set:
    """Return ``visited`` moved on by one step."""
    other = previous_dimension(variable)
    position = visited.find_dim_by_name(isl.dim_type.param, variable)
    if position < 0:
        return visited
    earlier = visited.set_dim_name(isl.dim_type.param, position, other)
    moved = earlier.intersect(parameter(variable).eq_set(parameter(other).add(constant(step))))
    return without(moved, [other])


def without(points: isl.Set, variables: list[str]) -> isl.Set:
    """Return ``points`` with these parameters projected out."""
    for variable in variables:
        position = points.find_dim_by_name(isl.dim_type.param, variable)
        if position >= 0:
            points = points.project_out(isl.dim_type.param, position, 1)
    return points


def wraps(counter: Value) -> bool:
    """Whether stepping past the range of the counter's type is defined (and so must be excluded)."""
    return counter.type.kind is TypeKind.UNSIGNED or counter.type.size < 4
