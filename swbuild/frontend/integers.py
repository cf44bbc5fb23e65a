"""Integer expressions and conditions of C as quasi-affine functions and sets.

All values live over a parameter space: symbolic sizes and loop counters alike are isl
parameters here (counters move to set dimensions once a statement is complete).  C's own
arithmetic is kept: ``/`` and ``%`` truncate, unsigned values must not wrap (a condition on the
caller where that cannot be shown), signed overflow is undefined and taken not to happen.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import islpy as isl
from pycparser import c_ast, c_generator

from swbuild.classes import dataclass
from swbuild.expressions.types import (
    INT,
    LONG,
    ULONG,
    ElementType,
    TypeKind,
    common_type,
    element_range,
    is_integer,
)
from swbuild.frontend.constants import Constant, cut, integer_constant
from swbuild.frontend.counters import is_symbolic
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar, TypeNames
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.whole_bounds import with_whole_bounds
from swbuild.islnumbers import int_of, val_of
from swbuild.names import own

__all__ = ["QUOTIENT", "Integers", "Knowledge", "Value", "constant", "parameter", "single_value", "universe"]

_COMPARE: dict[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": lambda a, b: a.lt_set(b),
    "<=": lambda a, b: a.le_set(b),
    ">": lambda a, b: a.gt_set(b),
    ">=": lambda a, b: a.ge_set(b),
    "==": lambda a, b: a.eq_set(b),
    "!=": lambda a, b: a.ne_set(b),
}


#: What the front end calls for a quotient of two numbers that is to have a name in the model.
QUOTIENT = own("quotient")

#: The multiples of a size within which a quotient by it is split into cases.
_MOST_ROWS = 4


@dataclass(frozen=True, slots=True)
class Value:
    """An integer expression's value and C type."""

    pa: isl.PwAff
    type: ElementType


def universe() -> isl.Set:
    """Return the parameter set without any constraint."""
    return isl.Set.universe(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))


@lru_cache(maxsize=512)
def constant(value: int) -> isl.PwAff:
    """Return the function that is ``value`` everywhere."""
    space = isl.LocalSpace.from_space(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    return (
        isl.PwAff.from_aff(isl.Aff.val_on_domain(space, isl.Val.int_from_si(isl.DEFAULT_CONTEXT, value)))
        if -(2**31) <= value < 2**31
        else isl.PwAff(f"{{ [({value})] }}")
    )


@lru_cache(maxsize=512)
def parameter(name: str) -> isl.PwAff:
    """Return the function that yields the parameter ``name``."""
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_name(isl.dim_type.param, 0, name)
    return isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.param, 0)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the evaluator asks: the value of an l-value (raises where none is known), the value of a call,
    the type of an l-value, the value of a constant of file scope (or None), that of an element of an array
    which stays as it is (or None); ``require`` hears what must hold, ``quotient`` gives a formula a name.
    """

    lookup: Callable[[c_ast.Node], Value]
    inline: Callable[[c_ast.FuncCall, isl.Set], Value]
    type_of: Callable[[c_ast.Node], CType | None]
    constant: Callable[[c_ast.Node], Constant | None]
    element: Callable[[c_ast.Node], Value | None]
    require: Callable[[isl.Set, isl.Set, c_ast.Node, str], None]
    quotient: Callable[[isl.PwAff], isl.PwAff]


class Integers:
    """Evaluates the integer expressions and conditions of one region."""

    def __init__(self, problems: Problems, types: TypeNames, knowledge: Knowledge) -> None:
        self._problems, self._types, self._known = problems, types, knowledge

    def bound(self, names: Mapping[str, Value]) -> Integers:
        """Return an evaluator in which identifiers mean the values of ``names`` (a function's parameters)."""

        def lookup(node: c_ast.Node) -> Value:
            if isinstance(node, c_ast.ID) and node.name in names:
                return names[node.name]
            known = self._known.constant(node)
            if known is None:
                raise self._not_affine(node, "a name inside a called function")
            return Value(constant(known.value), known.type)

        known = replace(self._known, lookup=lookup, element=lambda node: None)
        return Integers(self._problems, self._types, known)

    def value(self, node: c_ast.Node, domain: isl.Set) -> Value:
        """Return the value of ``node`` for the points of ``domain``;
        raise NotModelledError if it is not affine.
        """
        method = getattr(self, f"_value_{type(node).__name__.lower()}", None)
        if method is None:
            raise self._not_affine(node, "this expression")
        found = method(node, domain)
        assert isinstance(found, Value)
        if found.type.kind is TypeKind.UNSIGNED and found.type.size == LONG.size:
            self._counted_with(single_value(found.pa), node)
        return found

    def _counted_with(self, number: int | None, node: c_ast.Node) -> None:
        """Refuse a ``number`` that no ``long`` holds, with which generated code counts."""
        low, high = element_range(LONG)
        if number is not None and not low <= number <= high:
            what = f"{number} is no number of the type 'long', with which kernels count"
            raise self._problems.refuse("SW211", what, node, "count from a smaller number")

    def condition(self, node: c_ast.Node, domain: isl.Set) -> isl.Set:
        """Return the points at which ``node`` is not zero; raise NotModelledError if that is not affine."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self.condition(node.expr, domain).complement()
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            return self._logical(node, domain)
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPARE:
            left, right = self._balanced(with_whole_bounds(node), domain)
            return _COMPARE[node.op](left.pa, right.pa)
        return self.value(node, domain).pa.ne_set(constant(0))

    def possible(self, node: c_ast.Node, domain: isl.Set, holds: bool) -> tuple[isl.Set, bool]:
        """Return the points of ``domain`` at which the truth of ``node`` may be ``holds``.

        The second value says that these are exactly the points: no data was involved.
        """
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self.possible(node.expr, domain, not holds)
        if isinstance(node, c_ast.BinaryOp) and node.op == ("&&" if holds else "||"):
            first, exact = self.possible(node.left, domain, holds)
            second, too = self.possible(node.right, first, holds)
            return second, exact and too
        try:
            true = self.condition(node, domain)
        except NotModelledError:
            return domain, False
        return domain.intersect(true if holds else true.complement()), True

    def _logical(self, node: c_ast.BinaryOp, domain: isl.Set) -> isl.Set:
        left = self.condition(node.left, domain)
        if node.op == "&&":
            return left.intersect(self.condition(node.right, domain.intersect(left))).coalesce()
        return left.union(self.condition(node.right, domain.subtract(left))).coalesce()

    def convert(self, value: Value, target: ElementType, domain: isl.Set, node: c_ast.Node) -> Value:
        """Return ``value`` in the integer type ``target``, requiring that it fits."""
        if target == value.type:
            return value
        if target.name == "_Bool":
            return Value(_indicator(value.pa.ne_set(constant(0))), target)
        self.require_range(value.pa, value.type, target, domain, node)
        return Value(value.pa, target)

    def require_range(
        self,
        pa: isl.PwAff,
        source: ElementType | None,
        target: ElementType,
        domain: isl.Set,
        node: c_ast.Node,
    ) -> None:
        """Require that ``pa`` lies in the range of ``target`` (ranges of 64 bits are taken as wide enough
        above).
        """
        low, high = element_range(target)
        known = element_range(source) if source is not None else (None, None)
        fits = universe()
        if (known[0] is None or known[0] < low) and low > -(2**62):
            fits = fits.intersect(pa.ge_set(constant(low)))
        if (known[1] is None or known[1] > high) and high < 2**62:
            fits = fits.intersect(pa.le_set(constant(high)))
        self._known.require(domain, fits, node, f"the value must fit '{target.name}'")

    # -- leaves ---------------------------------------------------------------------------------

    def _value_constant(self, node: c_ast.Constant, domain: isl.Set) -> Value:
        known = integer_constant(node)
        if known is None:
            raise self._not_affine(node, f"the constant {node.value}")
        return Value(constant(known.value), known.type)

    def _value_id(self, node: c_ast.ID, domain: isl.Set) -> Value:
        return self._known.lookup(node)

    def _value_structref(self, node: c_ast.StructRef, domain: isl.Set) -> Value:
        return self._known.lookup(node)

    def _value_arrayref(self, node: c_ast.ArrayRef, domain: isl.Set) -> Value:
        return self._loaded(node)

    def _loaded(self, node: c_ast.Node) -> Value:
        found = self._known.element(node)
        if found is None:
            raise self._not_affine(node, "a value loaded from an array")
        return found

    # -- operators ------------------------------------------------------------------------------

    def _value_unaryop(self, node: c_ast.UnaryOp, domain: isl.Set) -> Value:
        if node.op == "sizeof":
            return Value(constant(self.size_of(node.expr)), ULONG)
        if node.op == "!":
            return Value(_indicator(self.condition(node, domain)), INT)
        if node.op == "*":
            return self._loaded(node)
        if node.op not in ("-", "+", "~"):
            raise self._not_affine(node, f"the operator '{node.op}'")
        inner = self._promote(self.value(node.expr, domain))
        if node.op == "+":
            return inner
        if node.op == "~":
            if inner.type.kind is TypeKind.UNSIGNED:
                raise self._not_affine(node, "the complement of an unsigned value")
            return Value(inner.pa.neg().sub(constant(1)), inner.type)
        return self._checked(inner.pa.neg(), inner.type, domain, node)

    def _value_binaryop(self, node: c_ast.BinaryOp, domain: isl.Set) -> Value:
        if node.op in ("&&", "||") or node.op in _COMPARE:
            return Value(_indicator(self.condition(node, domain)), INT)
        if node.op in ("<<", ">>"):
            return self._shift(node, domain)
        left, right = self._balanced(node, domain)
        if node.op in ("+", "-"):
            pa = left.pa.add(right.pa) if node.op == "+" else left.pa.sub(right.pa)
            return self._checked(pa, left.type, domain, node)
        if node.op == "*":
            if not (_is_constant(left.pa) or _is_constant(right.pa)):
                raise self._product(node, left.pa, right.pa)
            return self._checked(left.pa.mul(right.pa), left.type, domain, node)
        if node.op in ("/", "%"):
            return self._divide(node, left, right, domain)
        if node.op == "&":
            return self._mask(node, left, right)
        raise self._not_affine(node, f"the operator '{node.op}'")

    def _divide(self, node: c_ast.BinaryOp, left: Value, right: Value, domain: isl.Set) -> Value:
        divisor = single_value(right.pa)
        if divisor is None:
            return self._divide_by_size(node, left, right, domain)
        if divisor == 0:
            raise self._problems.refuse("SW216", "division by zero", node, "divide by a positive constant")
        self._counted_with(abs(divisor), node)
        size = constant(abs(divisor))
        negative = left.type.kind is TypeKind.SIGNED and not domain.is_subset(left.pa.nonneg_set())
        if node.op == "%":
            pa = left.pa.tdiv_r(size) if negative else left.pa.mod_val(val_of(abs(divisor)))
        else:
            pa = left.pa.tdiv_q(size) if negative else left.pa.div(size).floor()
            pa = pa.neg() if divisor < 0 else pa
        return Value(pa.coalesce(), left.type)

    def _divide_by_size(self, node: c_ast.BinaryOp, left: Value, right: Value, domain: isl.Set) -> Value:
        """Return a quotient or remainder that the loops' bounds limit to few cases: ``(j + 1) % n``."""
        size = right.pa
        rows = [size.mul(constant(count)) for count in range(_MOST_ROWS + 1)]
        ends = itertools.pairwise(rows)
        cases = [left.pa.ge_set(low).intersect(left.pa.lt_set(high)) for low, high in ends]
        cases[0] = left.pa.gt_set(size.neg()).intersect(left.pa.lt_set(size))  # rounded towards zero
        known = functools.reduce(lambda all_cases, case: all_cases.union(case), cases)
        if not domain.is_subset(known.intersect(size.pos_set())):
            raise self._not_affine(node, f"'{node.op}' by something that is not a constant")
        values = rows if node.op == "%" else [constant(count) for count in range(_MOST_ROWS)]
        pieces = [
            (left.pa.sub(value) if node.op == "%" else value).intersect_domain(case)
            for value, case in zip(values, cases, strict=False)
            if not domain.is_disjoint(case)
        ]
        return Value(functools.reduce(lambda pa, piece: pa.union_add(piece), pieces).coalesce(), left.type)

    def _shift(self, node: c_ast.BinaryOp, domain: isl.Set) -> Value:
        left = self._promote(self.value(node.left, domain))
        count = single_value(self.value(node.right, domain).pa)
        if count is None or not 0 <= count < 8 * left.type.size:
            raise self._not_affine(node, f"'{node.op}' by something that is not a small constant")
        if node.op == "<<":
            return self._checked(left.pa.mul(constant(2**count)), left.type, domain, node)
        return Value(left.pa.div(constant(2**count)).floor(), left.type)

    def _mask(self, node: c_ast.BinaryOp, left: Value, right: Value) -> Value:
        for value, mask in ((left, single_value(right.pa)), (right, single_value(left.pa))):
            if mask is None:
                continue
            self._counted_with(max(mask + 1, -mask), node)
            if mask >= 0 and mask & (mask + 1) == 0:
                return Value(value.pa.mod_val(val_of(mask + 1)), left.type)
            if mask < 0 and -mask & (-mask - 1) == 0 and left.type.kind is TypeKind.SIGNED:
                return Value(value.pa.sub(value.pa.mod_val(val_of(-mask))), left.type)
        raise self._not_affine(node, "'&' with something other than a mask of low bits")

    def _value_ternaryop(self, node: c_ast.TernaryOp, domain: isl.Set) -> Value:
        taken = self.condition(node.cond, domain)
        other = taken.complement()
        first = self.value(node.iftrue, domain.intersect(taken))
        second = self.value(node.iffalse, domain.intersect(other))
        kind = common_type(first.type, second.type)
        first = self.convert(first, kind, domain.intersect(taken), node.iftrue)
        second = self.convert(second, kind, domain.intersect(other), node.iffalse)
        pa = first.pa.intersect_domain(taken).union_add(second.pa.intersect_domain(other))
        return Value(pa.coalesce(), kind)

    def _value_cast(self, node: c_ast.Cast, domain: isl.Set) -> Value:
        target = self._types.resolve(node.to_type)
        if not isinstance(target, Scalar) or not is_integer(target.element):
            raise self._not_affine(node, "a conversion to a type that is no integer")
        whole = cut(node.expr, target.element)
        if whole is not None:
            return Value(constant(whole.value), whole.type)
        rounded = self._rounded_quotient(node.expr, domain)
        return self.convert(rounded or self.value(node.expr, domain), target.element, domain, node)

    def _value_funccall(self, node: c_ast.FuncCall, domain: isl.Set) -> Value:
        if getattr(node.name, "name", "") == QUOTIENT:
            return Value(self._known.quotient(self._quotient(node.args.exprs, domain)), LONG)
        rounded = self._rounded_quotient(node, domain)
        return rounded or self._known.inline(node, domain)

    def _value_exprlist(self, node: c_ast.ExprList, domain: isl.Set) -> Value:
        if len(node.exprs) != 1:
            raise self._not_affine(node, "the comma operator")
        return self.value(node.exprs[0], domain)

    def _quotient(self, arguments: list[c_ast.Node], domain: isl.Set) -> isl.PwAff:
        """Return how often the second of ``arguments``, a constant, goes into the first, never negative."""
        number, divisor = arguments
        return self.value(number, domain).pa.div(self.value(divisor, domain).pa).floor()

    def _rounded_quotient(self, node: c_ast.Node, domain: isl.Set) -> Value | None:
        """``floor((double)a / (double)b)`` and ``ceil`` of it, as polyhedral tools print them."""
        if not (
            isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.args is not None
        ):
            return None
        quotient = node.args.exprs[0]
        if (
            node.name.name not in ("floor", "ceil")
            or not isinstance(quotient, c_ast.BinaryOp)
            or quotient.op != "/"
        ):
            return None
        left, right = _under_double(quotient.left), _under_double(quotient.right)
        if left is None or right is None:
            return None
        divisor = single_value(self.value(right, domain).pa)
        if not divisor:
            return None
        pa = self.value(left, domain).pa.div(constant(divisor))
        return Value(pa.floor() if node.name.name == "floor" else pa.ceil(), LONG)

    # -- types ----------------------------------------------------------------------------------

    def size_of(self, node: c_ast.Node) -> int:
        """Return ``sizeof`` of a type name or of a named object, where that is a constant known here."""
        size = self._size(
            self._types.resolve(node) if isinstance(node, c_ast.Typename) else self._known.type_of(node)
        )
        if size is None:
            raise self._not_affine(node, "sizeof of anything but numbers, pointers and arrays of fixed size")
        return size

    def _size(self, kind: CType | None) -> int | None:
        if isinstance(kind, Scalar):
            return kind.element.size
        if isinstance(kind, Pointer):
            return 8
        if not isinstance(kind, ArrayType) or kind.extent is None:
            return None
        inner = self._size(kind.target)
        known = self._known.constant(kind.extent)
        count = known.value if known is not None else single_value(self.value(kind.extent, universe()).pa)
        return None if inner is None or count is None else inner * count

    def _balanced(self, node: c_ast.BinaryOp, domain: isl.Set) -> tuple[Value, Value]:
        left, right = self.value(node.left, domain), self.value(node.right, domain)
        kind = common_type(left.type, right.type)
        return self.convert(left, kind, domain, node.left), self.convert(right, kind, domain, node.right)

    def _promote(self, value: Value) -> Value:
        return Value(value.pa, INT) if value.type.size < INT.size else value

    def _checked(self, pa: isl.PwAff, kind: ElementType, domain: isl.Set, node: c_ast.Node) -> Value:
        if kind.kind is TypeKind.UNSIGNED:
            self.require_range(pa, None, kind, domain, node)
        return Value(pa, kind)

    def _product(self, node: c_ast.Node, left: isl.PwAff, right: isl.PwAff) -> NotModelledError:
        """Return the problem of a product, and what may stand in its place: one of sizes is a size itself."""
        if not (is_symbolic(left) and is_symbolic(right)):
            return self._not_affine(node, "a product of two variables")
        text = c_generator.CGenerator().visit(node)
        hint = f"set a variable to it before the region, 'const long product = {text};', and use that"
        return self._not_affine(node, "a product of two sizes", hint)

    def _not_affine(self, node: c_ast.Node, what: str, hint: str = "") -> NotModelledError:
        return self._problems.refuse(
            "SW211",
            f"{what} is not affine in the loop counters and sizes",
            node,
            hint or "bounds and conditions must be sums of counters and sizes with constant factors",
        )


def _under_double(node: c_ast.Node) -> c_ast.Node | None:
    if isinstance(node, c_ast.Cast) and isinstance(node.to_type.type, c_ast.TypeDecl):
        names = getattr(node.to_type.type.type, "names", None)
        return node.expr if names == ["double"] else None
    return None


def _indicator(true: isl.Set) -> isl.PwAff:
    return true.indicator_function().coalesce()


def _is_constant(pa: isl.PwAff) -> bool:
    return bool(pa.is_cst())


def single_value(pa: isl.PwAff) -> int | None:
    """Return the value of a function that is one integer everywhere, or None."""
    if not pa.is_cst():  # constant on each piece
        return None
    values = {int_of(aff.get_constant_val()) for _, aff in pa.get_pieces()}
    return values.pop() if len(values) == 1 else None
