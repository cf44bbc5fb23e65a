"""The iterators of a statement in terms of the loops around it, which may count sums of several of them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.islnumbers import int_of

__all__ = ["iterators_by", "sum_of"]

_IN, _PARAM = isl.dim_type.in_, isl.dim_type.param

#: Factors of names, of parameters too; the constant has the empty name.
_Linear = dict[str, int]


def iterators_by(
    loops: Sequence[isl.Aff], names: Sequence[str], own: Sequence[str]
) -> tuple[Expression, ...] | None:
    """Return the iterators, which are called ``own``, where ``loops`` over them have the values ``names``.

    Each loop is solved for an iterator that it counts in steps of one, the innermost that is left: what comes
    out is whole for all values.  Iterators that no loop counts stay as they are.  None where a loop counts no
    iterator like that.
    """
    found: list[_Linear] = [{name: 1} for name in own]
    left = dict(enumerate(own))
    for loop, name in zip(loops, names, strict=True):
        row = _row(loop)
        if row is None:
            return None
        factors, fixed = row
        value = _added([(fixed, 1), *((found[k], factor) for k, factor in enumerate(factors))])
        pivot = next((k for k in reversed(left) if abs(value.get(left[k], 0)) == 1), None)
        if pivot is None:
            return None
        iterator = left.pop(pivot)
        sign = value.pop(iterator)
        solved = _added([({name: 1}, sign), (value, -sign)])  # name = value + sign * iterator
        found = [_added([(_without(each, iterator), 1), (solved, each.get(iterator, 0))]) for each in found]
    return tuple(sum_of([(Name(n), f) for n, f in each.items() if n], each.get("", 0)) for each in found)


def sum_of(terms: Sequence[tuple[Expression, int]], constant: int) -> Expression:
    """Return the sum of ``terms``, each with its factor, and ``constant``: what is added comes first."""
    found: Expression | None = None
    for value, factor in sorted((t for t in terms if t[1]), key=lambda term: term[1] < 0):
        term = value if abs(factor) == 1 else Binary(BinaryOperator.MUL, Constant(abs(factor)), value)
        if found is None and factor < 0:
            found, constant = Binary(BinaryOperator.SUB, Constant(constant), term), 0
        else:
            operator = BinaryOperator.ADD if factor > 0 else BinaryOperator.SUB
            found = term if found is None else Binary(operator, found, term)
    if found is None:
        return Constant(constant)
    operator = BinaryOperator.ADD if constant > 0 else BinaryOperator.SUB
    return Binary(operator, found, Constant(abs(constant))) if constant else found


def _row(loop: isl.Aff) -> tuple[list[int], _Linear] | None:
    """Return the factors of the iterators in ``loop`` and what is added, None where there is more to it."""
    if loop.dim(isl.dim_type.div):
        return None
    factors = [int_of(loop.get_coefficient_val(_IN, k)) for k in range(loop.dim(_IN))]
    fixed = {
        str(loop.get_dim_name(_PARAM, k)): int_of(loop.get_coefficient_val(_PARAM, k))
        for k in range(loop.dim(_PARAM))
        if loop.involves_dims(_PARAM, k, 1)
    }
    return factors, {**fixed, "": int_of(loop.get_constant_val())}


def _without(linear: _Linear, name: str) -> _Linear:
    return {other: factor for other, factor in linear.items() if other != name}


def _added(parts: Sequence[tuple[_Linear, int]]) -> _Linear:
    found: _Linear = {}
    for linear, times in parts:
        for name, factor in linear.items():
            found[name] = found.get(name, 0) + times * factor
    return {name: factor for name, factor in found.items() if factor}
