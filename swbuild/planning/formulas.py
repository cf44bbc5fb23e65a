"""Values of isl's piecewise formulas at points, without isl where they are linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from swbuild.islnumbers import int_of, val_of

__all__ = ["Formula", "formula_of"]

#: Returns the value of a formula at a point, 0 where it has none.
Formula = Callable[[Sequence[int]], int]

_IN, _SET, _PARAM, _DIV = isl.dim_type.in_, isl.dim_type.set, isl.dim_type.param, isl.dim_type.div

#: ``constant + factors · point``
_Linear = tuple[int, tuple[tuple[int, int], ...]]

#: What is to be no less than 0, what is to be 0, and the value there.
_Piece = tuple[list[_Linear], list[_Linear], _Linear]


def formula_of(formula: isl.PwAff, outer: Sequence[str]) -> Formula:
    """Return ``formula`` over points that begin with the values of the parameters ``outer``.

    Other parameters are 0.
    """
    pieces = _pieces(formula, outer)
    return _evaluated(formula, outer) if pieces is None else _linear(pieces)


def _linear(pieces: Sequence[_Piece]) -> Formula:
    def value(point: Sequence[int]) -> int:
        for bounds, zeros, found in pieces:
            if all(_at(b, point) >= 0 for b in bounds) and not any(_at(z, point) for z in zeros):
                return _at(found, point)
        return 0

    return value


def _at(linear: _Linear, point: Sequence[int]) -> int:
    found, terms = linear
    for place, factor in terms:
        found += factor * point[place]
    return found


def _pieces(formula: isl.PwAff, outer: Sequence[str]) -> list[_Piece] | None:
    """Return the pieces of ``formula``, None where it takes divisions or fractions."""
    names = [str(formula.get_dim_name(_PARAM, k)) for k in range(formula.dim(_PARAM))]
    known = [(k, outer.index(name)) for k, name in enumerate(names) if name in outer]
    found: list[_Piece] = []
    for where, aff in formula.get_pieces():
        parts = where.get_basic_sets()
        if aff.dim(_DIV) or not aff.get_denominator_val().is_one() or any(p.dim(_DIV) for p in parts):
            return None
        value = _row(aff, _IN, known, len(outer))
        for part in parts:
            rows: dict[bool, list[_Linear]] = {False: [], True: []}
            for constraint in part.get_constraints():
                rows[bool(constraint.is_equality())].append(_row(constraint, _SET, known, len(outer)))
            found.append((rows[False], rows[True], value))
    return found


def _row(
    row: isl.Aff | isl.Constraint, kind: isl.dim_type, known: Sequence[tuple[int, int]], outer: int
) -> _Linear:
    factors = [(place, _number(row.get_coefficient_val(_PARAM, k))) for k, place in known]
    factors += [(outer + k, _number(row.get_coefficient_val(kind, k))) for k in range(row.dim(kind))]
    return _number(row.get_constant_val()), tuple((place, factor) for place, factor in factors if factor)


def _number(value: isl.Val) -> int:
    return int_of(value)


def _evaluated(formula: isl.PwAff, outer: Sequence[str]) -> Formula:
    zero = isl.Point.zero(formula.domain().get_space())
    places = [(number, formula.find_dim_by_name(_PARAM, name)) for number, name in enumerate(outer)]

    def value(point: Sequence[int]) -> int:
        place = zero
        for number, position in places:
            if position >= 0 and number < len(point):
                place = place.set_coordinate_val(_PARAM, position, val_of(point[number]))
        for k, number in enumerate(point[len(outer) :]):
            place = place.set_coordinate_val(_SET, k, val_of(number))
        found = formula.eval(place)
        return int_of(found) if found.is_int() else 0

    return value
