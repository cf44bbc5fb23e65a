"""Formulas of isl have the same values with and without isl."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest

from swbuild.planning.formulas import formula_of

OUTER = ("n", "h")

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


@pytest.mark.parametrize(
    "text",
    [
        "[n] -> { [i, j] -> [(i + 2n - 3)] : i >= j and n > 3; [i, j] -> [(-j)] : i < j and n != 2 }",
        "[h, m, n] -> { [i, j] -> [(h - 2j + m)] : i + j = n; [i, j] -> [(7)] : i + j > n + h }",
        "[n] -> { [i, j] -> [(floor((i + n)/4))] : j > 0 and n mod 3 = 1 }",
        "[n] -> { [i, j] -> [(i/2)] : j > 0 }",
    ],
)
def test_values_are_those_of_isl(text: str) -> None:
    formula = isl.PwAff(text)
    value = formula_of(formula, OUTER)
    for n, h, i, j in product(range(-1, 6), range(3), range(-2, 6), range(-2, 6)):
        point = isl.Point.zero(formula.domain().get_space())
        for name, number in (("n", n), ("h", h)):
            place = formula.find_dim_by_name(_PARAM, name)
            point = point if place < 0 else point.set_coordinate_val(_PARAM, place, isl.Val(number))
        for place, number in enumerate((i, j)):
            point = point.set_coordinate_val(_SET, place, isl.Val(number))
        found = formula.eval(point)
        assert value((n, h, i, j)) == (found.to_python() if found.is_int() else 0)


def test_a_formula_of_sizes_alone_has_no_further_places() -> None:
    assert formula_of(isl.PwAff("[h] -> { [(3h + 1)] }"), OUTER)((5, 2)) == 7
