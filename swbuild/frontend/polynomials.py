"""Polynomial subscripts (``i*n + j``): sums of affine functions times products of symbolic sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.integers import Integers, Value, constant
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import TypeKind

__all__ = ["Monomial", "Polynomial", "chain", "polynomial"]

#: Sorted names of the atoms (functions of the parameters alone) that are multiplied.
Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The sum over ``terms`` of (product of the monomial's atoms) times (an affine function)."""

    terms: dict[Monomial, isl.PwAff]
    atoms: dict[str, isl.PwAff]
    wraps: bool = False  # of an unsigned type so narrow that products may well overflow

    def add(self, other: Polynomial, sign: int) -> Polynomial:
        """Return ``self + sign * other``."""
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            factor = factor if sign > 0 else factor.neg()
            terms[monomial] = terms[monomial].add(factor) if monomial in terms else factor
        return Polynomial(terms, {**self.atoms, **other.atoms}, self.wraps or other.wraps)


def polynomial(
    node: c_ast.Node, domain: isl.Set, integers: Integers, is_symbolic: Callable[[isl.PwAff], bool]
) -> Polynomial:
    """Return ``node`` as a polynomial; ``is_symbolic`` tells functions of the sizes alone.

    Raises NotModelledError where it is none.
    """
    try:
        return _of(integers.value(node, domain))
    except NotModelledError as reason:
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("+", "-", "*"):
            raise reason
        left = polynomial(node.left, domain, integers, is_symbolic)
        right = polynomial(node.right, domain, integers, is_symbolic)
        if left.wraps or right.wraps:
            raise reason from None
        if node.op != "*":
            return left.add(right, 1 if node.op == "+" else -1)
        product = _multiply(left, right, is_symbolic)
        if product is None:
            raise reason from None
        return product


def _of(value: Value) -> Polynomial:
    narrow = value.type.kind is TypeKind.UNSIGNED and value.type.size <= 4
    return Polynomial({(): value.pa}, {}, narrow)


def _multiply(
    left: Polynomial, right: Polynomial, is_symbolic: Callable[[isl.PwAff], bool]
) -> Polynomial | None:
    result = Polynomial({}, {**left.atoms, **right.atoms})
    for first, a in left.terms.items():
        for second, b in right.terms.items():
            term = _product(a, b, is_symbolic)
            if term is None:
                return None
            atoms, factor = term
            monomial = tuple(sorted((*first, *second, *map(str, atoms))))
            result = result.add(Polynomial({monomial: factor}, {str(atom): atom for atom in atoms}), 1)
    return result


def _product(
    a: isl.PwAff, b: isl.PwAff, is_symbolic: Callable[[isl.PwAff], bool]
) -> tuple[tuple[isl.PwAff, ...], isl.PwAff] | None:
    """Return a*b as (atoms to multiply with each other, affine factor)."""
    if a.is_cst() or b.is_cst():
        return (), a.mul(b)
    symbolic = [is_symbolic(a), is_symbolic(b)]
    if all(symbolic):
        return (a, b), constant(1)
    if symbolic[1]:
        return (b,), a
    if symbolic[0]:
        return (a,), b
    return None


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
