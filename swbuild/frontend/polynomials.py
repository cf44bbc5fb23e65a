"""Polynomial subscripts (``i*n + j``): sums of affine functions times products of symbolic sizes.

isl has no products of parameters, so they are kept beside it: each term is a product of *atoms* (functions of
the sizes alone, known by their text) times an affine function over the space in which counters and sizes are
parameters.  Sums and products of such are exact as long as C's arithmetic does not wrap, which is why what
has an unsigned type below 64 bits is not added or multiplied any further (:attr:`Polynomial.wraps`); signed
overflow is undefined.  ``shapes`` reads the atoms as extents of an array's dimensions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import ElementType, TypeKind, common_type, is_integer
from swbuild.frontend.ctype import Scalar, TypeNames
from swbuild.frontend.integers import Integers, constant
from swbuild.frontend.problems import NotModelledError
from swbuild.islnumbers import int_of, val_of

__all__ = ["Monomial", "Polynomial", "Products", "chain", "common_factor"]

#: Sorted names of the atoms (functions of the parameters alone) that are multiplied.
Monomial = tuple[str, ...]

_LONG = 8
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The sum over ``terms`` of (product of the monomial's atoms) times (an affine function).

    ``type`` is its type in C.
    """

    terms: dict[Monomial, isl.PwAff]
    atoms: dict[str, isl.PwAff]
    type: ElementType

    @property
    def wraps(self) -> bool:
        """Whether the type is unsigned and so narrow that products may well overflow."""
        return self.type.kind is TypeKind.UNSIGNED and self.type.size < _LONG

    def add(self, other: Polynomial, sign: int) -> Polynomial:
        """Return ``self + sign * other``."""
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            factor = factor if sign > 0 else factor.neg()
            terms[monomial] = terms[monomial].add(factor) if monomial in terms else factor
        return Polynomial(terms, {**self.atoms, **other.atoms}, common_type(self.type, other.type))

    def converted(self, target: ElementType) -> Polynomial | None:
        """Return the polynomial after C's conversion to ``target``, None if that may change the value.

        64 bits hold every subscript, be they signed or not: what wraps around comes back in the address.
        """
        kept = target.size == self.type.size and target.kind is TypeKind.SIGNED
        if not is_integer(target) or self.wraps or not (target.size >= _LONG or kept):
            return None
        return Polynomial(self.terms, self.atoms, target)


@dataclass(frozen=True, slots=True)
class Products:
    """Reads polynomials: ``is_symbolic`` tells functions of the sizes alone, ``variable`` knows the variables
    that hold polynomials, ``opened`` gives a called function's expression, the evaluator in which it stands
    and its type.
    """

    integers: Integers
    types: TypeNames
    is_symbolic: Callable[[isl.PwAff], bool]
    variable: Callable[[c_ast.ID], Polynomial | None]
    opened: Callable[[c_ast.FuncCall, isl.Set, Integers], tuple[c_ast.Node, Integers, ElementType]]
    depth: int = 0  # of the calls that are open

    def polynomial(self, node: c_ast.Node, domain: isl.Set) -> Polynomial:
        """Return ``node`` as a polynomial; raise NotModelledError where it is none."""
        held = self.variable(node) if isinstance(node, c_ast.ID) else None
        if held is not None:
            return held
        try:
            value = self.integers.value(node, domain)
            return Polynomial({(): value.pa}, {}, value.type)
        except NotModelledError as reason:
            found = self._composed(node, domain)
            if found is None:
                raise reason
            return found

    def _composed(self, node: c_ast.Node, domain: isl.Set) -> Polynomial | None:
        """Return what is no affine function as a polynomial; None if it is none either."""
        if isinstance(node, c_ast.Cast):
            target = self.types.resolve(node.to_type)
            inner = self.polynomial(node.expr, domain)
            return inner.converted(target.element) if isinstance(target, Scalar) else None
        if isinstance(node, c_ast.FuncCall):
            if self.depth == _DEEPEST:
                return None
            expression, inside, kind = self.opened(node, domain, self.integers)
            products = replace(self, integers=inside, variable=lambda _: None, depth=self.depth + 1)
            return products.polynomial(expression, domain).converted(kind)
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("+", "-", "*"):
            return None
        left, right = self.polynomial(node.left, domain), self.polynomial(node.right, domain)
        if left.wraps or right.wraps:
            return None
        return _multiply(left, right, self.is_symbolic) if node.op == "*" else left.add(right, _SIGN[node.op])


_SIGN = {"+": 1, "-": -1}


def _multiply(
    left: Polynomial, right: Polynomial, is_symbolic: Callable[[isl.PwAff], bool]
) -> Polynomial | None:
    kind = common_type(left.type, right.type)
    result = Polynomial({}, {**left.atoms, **right.atoms}, kind)
    for first, a in left.terms.items():
        for second, b in right.terms.items():
            term = _product(a, b, is_symbolic)
            if term is None:
                return None
            atoms, factor = term
            monomial = tuple(sorted((*first, *second, *map(str, atoms))))
            result = result.add(Polynomial({monomial: factor}, {str(atom): atom for atom in atoms}, kind), 1)
    return result


def _product(
    a: isl.PwAff, b: isl.PwAff, is_symbolic: Callable[[isl.PwAff], bool]
) -> tuple[tuple[isl.PwAff, ...], isl.PwAff] | None:
    """Return a*b as (atoms to multiply with each other, affine factor)."""
    if a.is_cst() or b.is_cst():
        return (), a.mul(b)
    symbolic = [is_symbolic(a), is_symbolic(b)]
    if not any(symbolic):
        return None
    factor, atoms = constant(1), []
    for value, is_size in zip((a, b), symbolic, strict=True):
        if is_size:
            scale = common_factor([value])
            atoms.append(value.scale_down_val(val_of(scale)))
            factor = factor.mul(constant(scale))
        else:
            factor = factor.mul(value)
    return tuple(atoms), factor


def common_factor(functions: Sequence[isl.PwAff]) -> int:
    """Return the largest number that divides all coefficients of ``functions``, 1 where that is hard."""
    factor = 0
    for function in functions:
        pieces = function.get_pieces()
        if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
            return 1
        aff = pieces[0][1]
        values = [aff.get_coefficient_val(isl.dim_type.param, k) for k in range(aff.dim(isl.dim_type.param))]
        factor = math.gcd(factor, *(int_of(value) for value in (*values, aff.get_constant_val())))
    return factor or 1


def chain(monomials: set[Monomial]) -> tuple[Monomial, ...] | None:
    """Return the strides from outermost to innermost if each divides the one before by one atom, else None.

    The innermost stride is the empty monomial, 1.
    """
    ordered = sorted(monomials | {()}, key=len, reverse=True)
    for outer, inner in itertools.pairwise(ordered):
        rest = list(outer)
        for atom in inner:
            if atom not in rest:
                return None
            rest.remove(atom)
        if len(rest) != 1:
            return None
    return tuple(ordered)
