"""Linearised subscripts taken apart: strides, and the multiples of them in an affine function.

A subscript is a sum over *monomials* (products of symbolic sizes) of affine functions of counters and sizes:
``terms`` maps each monomial to its function, () to the one without a product.  All are isl functions over a
parameter space in which counters and sizes are parameters alike; here they are read coefficient by
coefficient.  To read ``i*100 + j`` as ``[i, j]`` is legal for every way of cutting the sum into
``stride * outer + rest``, since the address is the same.  That the parts stay inside their extents, so that
no two of them name one element, is for the caller to show.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.counters import is_counter
from swbuild.frontend.integers import constant, single_value
from swbuild.frontend.polynomials import Monomial, Polynomial
from swbuild.islnumbers import int_of, val_of

__all__ = [
    "Stride",
    "counter_steps",
    "in_strides_of_counters",
    "is_zero",
    "quotient",
    "rows_in",
    "strides_of",
    "take",
    "terms_of",
]

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Stride:
    """A stride as (symbolic atoms, constant factor)."""

    monomial: Monomial
    factor: int


def strides_of(extents: Sequence[isl.PwAff]) -> list[Stride]:
    """Return the distances between neighbours in each dimension of an array, in elements.

    Those of the innermost dimension are 1; each other is the next inner one times its extent.
    """
    found = [Stride((), 1)]
    for extent in reversed(extents[1:]):
        last = found[0]
        count = single_value(extent)
        if count is not None:
            found.insert(0, Stride(last.monomial, last.factor * count))
        else:
            found.insert(0, Stride(tuple(sorted((*last.monomial, str(extent)))), last.factor))
    return found


def terms_of(subscript: isl.PwAff | Polynomial) -> dict[Monomial, isl.PwAff]:
    """Return a subscript as a sum over monomials, in a dictionary of the caller's own."""
    return dict(subscript.terms) if isinstance(subscript, Polynomial) else {(): subscript}


def in_strides_of_counters(
    subscripts: Sequence[Mapping[Monomial, isl.PwAff]], atoms: Mapping[str, isl.PwAff]
) -> list[dict[Monomial, isl.PwAff]]:
    """Return the terms of ``subscripts`` with products of sizes alone in a stride that counters have.

    So ``(n - 1)*n + j`` is in row ``n - 1`` where ``i*n + j`` is in row ``i``.  The sum stays what it is: a
    number times a product of ``atoms`` is that number times one of them, in the stride of the others.
    """
    used = {m for terms in subscripts for m, factor in terms.items() if m and single_value(factor) is None}

    def moved(terms: Mapping[Monomial, isl.PwAff]) -> dict[Monomial, isl.PwAff]:
        result = dict(terms)
        for monomial, factor in terms.items():
            if monomial in used or single_value(factor) is None:
                continue
            rests = ((atom, _without(monomial, atom)) for atom in dict.fromkeys(monomial))
            found = next(((atom, rest) for atom, rest in rests if rest in used), None)
            if found is not None:
                atom, rest = found
                del result[monomial]
                result[rest] = result.get(rest, constant(0)).add(atoms[atom].mul(factor))
        return result

    return [moved(terms) for terms in subscripts]


def _without(monomial: Monomial, atom: str) -> Monomial:
    position = monomial.index(atom)
    return (*monomial[:position], *monomial[position + 1 :])


def take(terms: dict[Monomial, isl.PwAff], stride: Stride) -> isl.PwAff:
    """Take from ``terms`` the part that is a multiple of ``stride`` and return the multiple."""
    factor = terms.get(stride.monomial)
    if factor is None:
        return constant(0)
    if stride.factor == 1:
        del terms[stride.monomial]
        return factor
    # The coefficients that the stride divides belong to this dimension, the others further in.
    mine, rest = _divided(factor, stride.factor)
    terms[stride.monomial] = rest
    return mine


def _divided(pa: isl.PwAff, factor: int) -> tuple[isl.PwAff, isl.PwAff]:
    """Split an affine function into ``factor * first + second`` coefficient by coefficient."""
    pieces = pa.get_pieces()
    if len(pieces) != 1:
        return constant(0), pa
    aff = pieces[0][1]
    first = isl.Aff.zero_on_domain(aff.get_domain_local_space())
    if aff.dim(isl.dim_type.div):
        return constant(0), pa
    for position in range(aff.dim(_PARAM)):
        coefficient = int_of(aff.get_coefficient_val(_PARAM, position))
        first = first.set_coefficient_val(_PARAM, position, val_of(int(coefficient / factor)))
    value = int_of(aff.get_constant_val())
    first = first.set_constant_val(val_of(value // factor))
    mine = isl.PwAff.from_aff(first)
    return mine, pa.sub(mine.mul(constant(factor)))


def counter_steps(functions: Sequence[isl.PwAff]) -> list[int] | None:
    """Return the factors (above 1) of loop counters, each dividing the one before; None if they do not."""
    found: set[int] = set()
    for function in functions:
        pieces = function.get_pieces()
        if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
            return None
        aff = pieces[0][1]
        for position in range(aff.dim(_PARAM)):
            if is_counter(aff.get_domain_space(), position):
                found.add(abs(int_of(aff.get_coefficient_val(_PARAM, position))))
    steps = sorted(found - {0, 1}, reverse=True)
    return steps if all(big % small == 0 for big, small in itertools.pairwise(steps)) else None


def rows_in(subscript: isl.PwAff, extent: isl.PwAff) -> int:
    """Return how often ``subscript`` holds the size in ``extent``: ``j + 2 * n`` holds two rows of ``n``."""
    functions = [function.get_pieces() for function in (subscript, extent)]
    if any(len(pieces) != 1 for pieces in functions):
        return 0
    inner, row = (pieces[0][1] for pieces in functions)
    for position in range(row.dim(_PARAM)):
        size = row.get_coefficient_val(_PARAM, position)
        name = str(row.get_dim_name(_PARAM, position))
        here = inner.find_dim_by_name(_PARAM, name)
        if not size.is_zero() and here >= 0:
            return int_of(inner.get_coefficient_val(_PARAM, here).div(size).floor())
    return 0


def is_zero(pa: isl.PwAff) -> bool:
    return single_value(pa) == 0


def quotient(big: Monomial, small: Monomial) -> str:
    rest = list(big)
    for atom in small:
        rest.remove(atom)
    return rest[0]
