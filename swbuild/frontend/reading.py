"""What the integers of a region's text are: counters, values that the walk follows, formulas, sizes.

A reading that fails leaves the sizes that it has met: the text that is made instead reads them as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import ElementType, is_integer
from swbuild.frontend.changes import writes
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.counters import is_symbolic
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.inline import Inliner
from swbuild.frontend.integers import Integers, Knowledge, Value, constant, parameter, universe
from swbuild.frontend.objects import Objects
from swbuild.frontend.places import Place
from swbuild.frontend.polynomials import Polynomial, Products
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.sizes import sizes_only
from swbuild.frontend.state import Current, Known, Surroundings
from swbuild.frontend.symbols import Symbol

__all__ = ["Reader"]


class Reader:
    """Reads expressions and conditions as functions and sets over counters and sizes."""

    def __init__(self, around: Surroundings, now: Current, objects: Objects) -> None:
        self._around, self._now, self._objects = around, now, objects
        types, problems = around.scope.types, around.problems
        inliner = Inliner(around.scope, problems)
        knowledge = Knowledge(
            self._lookup,
            lambda call, domain: inliner.value(call, domain, self.integers),
            around.finder.type_of,
            around.scope.constant,
            self._fixed_element,
            objects.require,
            objects.quotient,
        )
        self.integers = Integers(problems, types, knowledge)
        self._products = Products(self.integers, types, is_symbolic, self._polynomial, inliner.opened)

    def place(self, node: c_ast.Node, domain: isl.Set) -> isl.PwAff | Polynomial:
        """Return a first subscript: an affine function, or a polynomial where there are products of sizes.

        Raise NotModelledError where it is neither.
        """
        try:
            return self.integers.value(node, domain).pa
        except NotModelledError:
            return self._products.polynomial(node, domain)

    def converted(self, node: c_ast.Node, target: ElementType, domain: isl.Set) -> Known | None:
        """Return the value of ``node`` as one of type ``target``, None where that may change it."""
        before = self._now.state
        try:
            return self.integers.convert(self.integers.value(node, domain), target, domain, node)
        except NotModelledError:
            self._now.drop_assumptions(before)
            return self._products.polynomial(node, domain).converted(target)

    def possible(self, node: c_ast.Node, domain: isl.Set, holds: bool) -> tuple[isl.Set, bool]:
        """Return where a condition inside an expression may be ``holds``, and whether that is exact.

        A flag that is only tested (``mode ? x : y``) is data: it is not made a parameter for that.
        """
        before = self._now.state
        found, exact = self.integers.possible(node, domain, holds)
        fresh = len(self._now.state.parameters) > len(before.parameters)
        if fresh and domain.intersect(sizes_only(found)).is_equal(found):
            self._now.back_to(before)
            return domain, False
        return found, exact

    def value_of(self, symbol: Symbol) -> Value | None:
        """Return the value of a variable if it is known to be an affine function."""
        known = self._now.flow.values.get(symbol)
        return known.value if known is not None and isinstance(known.value, Value) else None

    # -- variables ------------------------------------------------------------------------------

    def _lookup(self, node: c_ast.Node) -> Value:
        """Return the value of a variable: of a counter, a tracked local, a constant or a parameter."""
        around = self._around
        root = around.finder.root(node)
        if root is not None and root.value is not None:
            return Value(constant(root.value), root.element)
        place = around.finder.find(node)
        if place.subscripts or not is_integer(place.element.element):
            what = f"'{place.path}', which is no integer variable,"
            message = f"{what} is not affine in the loop counters and sizes"
            hint = "use integer variables that the region does not change"
            raise around.problems.refuse("SW211", message, node, hint)
        known = None if place.fields else self._variable(place.symbol, place.element.element)
        if known is not None:
            return known
        if around.facts.is_written(place.symbol, place.fields):
            message = f"'{place.path}' changes inside the region, so it is not affine in counters and sizes"
            raise around.problems.refuse("SW211", message, node, "compute it before the region")
        return self._objects.parameter(place, node)

    def _variable(self, symbol: Symbol, element: ElementType) -> Value | None:
        """Return the value of a whole variable that is no size, None for all others."""
        if symbol in self._now.state.active:
            return Value(parameter(self._now.state.active[symbol][0].variable), element)
        value = self.value_of(symbol)
        if value is not None:
            self._rely_on(symbol)
            return value
        formula = self._around.definitions.formula(symbol)
        if formula is not None:
            read = self.integers.value(formula, universe())
            return self.integers.convert(read, element, universe(), formula)
        known = self._around.facts.constant(symbol)
        return None if known is None else Value(constant(known), element)

    def _polynomial(self, node: c_ast.ID) -> Polynomial | None:
        """Return the value of a variable that is known to hold a polynomial."""
        symbol = self._around.facts.bindings.symbol(node)
        if symbol is None:
            return None
        known = self._now.flow.values.get(symbol)
        if known is not None and isinstance(known.value, Polynomial):
            self._rely_on(symbol)
            return known.value
        formula = self._around.definitions.formula(symbol)
        if formula is None or not isinstance(symbol.type, Scalar):
            return None
        return self._products.polynomial(formula, universe()).converted(symbol.type.element)

    def _rely_on(self, symbol: Symbol) -> None:
        """Assume what the known value of a variable needs to be right."""
        known = self._now.flow.values.get(symbol)
        if known is not None:
            self._objects.rely_on(known.needs)

    # -- elements that stay as they are ---------------------------------------------------------

    def _fixed_element(self, node: c_ast.Node) -> Value | None:
        """Return the value of an integer that the region never changes, at fixed subscripts (``size[0]``,
        ``*size``).
        """
        if self._integers_may_change or not _has_fixed_subscripts(node):
            return None
        facts, place = self._around.facts, self._around.finder.find(node)
        if place.record is not None or not is_integer(place.element.element):
            return None
        inside = place.symbol in facts.inside or facts.writes_into(place.symbol)
        return None if inside else self._objects.parameter(_as_variable(place), node)

    @cached_property
    def _integers_may_change(self) -> bool:
        """Whether the region writes an integer anywhere but in variables: through pointers it may be any."""
        targets = [target for item in self._around.facts.items for target, _, _ in writes(item)]
        kinds = [self._around.finder.type_of(t) for t in targets if not isinstance(t, c_ast.ID)]
        return any(not isinstance(kind, Scalar) or is_integer(kind.element) for kind in kinds)


def _has_fixed_subscripts(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        node = node.expr
    while isinstance(node, c_ast.ArrayRef):
        index = node.subscript
        if not isinstance(index, c_ast.Constant) or integer_constant(index) is None:
            return False
        node = node.name
    return isinstance(node, (c_ast.ID, c_ast.StructRef))


def _as_variable(place: Place) -> Place:
    """Return a fixed element of an array as a variable: its subscripts are part of its name."""
    indices = [str(s.value) for s in place.subscripts if isinstance(s, c_ast.Constant)]
    path = place.path + "".join(f"[{index}]" for index in indices)
    return replace(place, path=path, fields=(*place.fields, *indices), kind=place.element, subscripts=())
