"""The comparison itself: what counts as equal, and how far apart the rest is said to be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swbuild.check.compare import EXACT, Tolerance, compare_arrays, dtype_of, tolerance_for
from swbuild.expressions.types import ElementType, TypeKind

NAN, INF = math.nan, math.inf
FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def mismatches(
    expected: list[Any], actual: list[Any], tolerance: Tolerance = EXACT, dtype: str = "f8"
) -> int:
    left, right = np.array(expected, dtype=dtype), np.array(actual, dtype=dtype)
    return compare_arrays("x", left, right, tolerance).mismatches


@pytest.mark.parametrize(
    ("expected", "actual", "bad"),
    [
        ([1.0], [1.0], 0),
        ([1.0], [np.nextafter(1.0, 2)], 1),
        ([NAN], [NAN], 0),
        ([NAN], [1.0], 1),
        ([1.0], [NAN], 1),
        ([INF], [INF], 0),
        ([INF], [-INF], 1),
        ([INF], [1e308], 1),
        ([0.0], [-0.0], 1),
        ([], [], 0),
    ],
)
def test_bit_exact(expected: list[float], actual: list[float], bad: int) -> None:
    assert mismatches(expected, actual) == bad


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "bad"),
    [
        ([100.0], [100.1], Tolerance(relative=1e-2), 0),
        ([100.0], [102.0], Tolerance(relative=1e-2), 1),
        ([0.0], [1e-9], Tolerance(absolute=1e-8), 0),
        ([0.0], [1e-7], Tolerance(absolute=1e-8), 1),
        ([1.0], [1.0 + 2**-51], Tolerance(ulp=2), 0),
        ([1.0], [1.0 + 2**-51], Tolerance(ulp=1), 1),
        ([0.0], [-0.0], Tolerance(ulp=1), 0),
        ([INF], [1e308], Tolerance(relative=1.0), 1),
        ([INF], [INF], Tolerance(relative=1e-3), 0),
        ([INF], [-INF], Tolerance(relative=1e-3), 1),
        ([1.0], [NAN], Tolerance(absolute=1e9, relative=1e9), 1),
        ([NAN], [1.0], Tolerance(absolute=1e9, relative=1e9, ulp=9), 1),
        ([NAN], [NAN], Tolerance(relative=1e-3), 0),
    ],
)
def test_tolerance(expected: list[float], actual: list[float], tolerance: Tolerance, bad: int) -> None:
    assert mismatches(expected, actual, tolerance) == bad


def test_integers_are_exact_whatever_the_tolerance() -> None:
    assert mismatches([5], [6], Tolerance(absolute=3), "i4") == 1
    assert mismatches([2**63 - 1], [2**63 - 2], EXACT, "i8") == 1


def test_report_counts_locates_and_measures() -> None:
    expected = np.ones((4, 5))
    actual = expected.copy()
    actual[1, 2] = 1.5
    actual[3, 4] = -1.0
    report = compare_arrays("A", expected, actual, EXACT)
    assert (report.elements, report.mismatches) == (20, 2)
    assert [bad.index for bad in report.first] == [(1, 2), (3, 4)]
    assert (report.first[0].expected, report.first[0].actual) == ("1.0", "1.5")
    assert report.box == ((1, 3), (2, 4))
    assert (report.max_absolute, report.max_relative) == (2.0, 2.0)
    assert report.max_ulp == 2 * 0x3FF0000000000000


def test_single_precision_ulp() -> None:
    expected = np.array([1.0], dtype="f4")
    report = compare_arrays("x", expected, np.nextafter(expected, np.float32(2)), EXACT)
    assert report.max_ulp == 1


def test_ulp_counts_across_zero() -> None:
    tiny = np.nextafter(0.0, 1.0)
    report = compare_arrays("x", np.array([-tiny]), np.array([tiny]), EXACT)
    assert report.max_ulp == 2


def test_error_against_nan_is_infinite() -> None:
    report = compare_arrays("x", np.array([1.0, 2.0]), np.array([NAN, 2.5]), EXACT)
    assert report.max_absolute == INF


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the machine may be busy
@given(st.lists(st.tuples(FLOATS, FLOATS)))
def test_exact_is_what_the_bits_say(pairs: list[tuple[float, float]]) -> None:
    def same(a: float, b: float) -> bool:
        return (math.isnan(a) and math.isnan(b)) or np.float64(a).tobytes() == np.float64(b).tobytes()

    expected = sum(not same(a, b) for a, b in pairs)
    assert mismatches([a for a, _ in pairs], [b for _, b in pairs]) == expected


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the machine may be busy
@given(st.lists(FLOATS))
def test_everything_matches_itself(values: list[float]) -> None:
    for tolerance in (EXACT, Tolerance(relative=1e-6), Tolerance(ulp=4)):
        assert mismatches(values, values, tolerance) == 0


@pytest.mark.parametrize("name", ["float", "double"])
def test_default_tolerance_is_none_unless_sums_were_reordered(name: str) -> None:
    element = ElementType(name, {"float": 4, "double": 8}[name], TypeKind.FLOAT)
    assert tolerance_for(element, exact=True) == EXACT
    assert 0 < tolerance_for(element, exact=False).relative <= 1e-4


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        (TypeKind.FLOAT, 4, "<f4"),
        (TypeKind.FLOAT, 8, "<f8"),
        (TypeKind.SIGNED, 1, "<i1"),
        (TypeKind.SIGNED, 8, "<i8"),
        (TypeKind.UNSIGNED, 2, "<u2"),
    ],
)
def test_element_types_have_their_layout(kind: TypeKind, size: int, expected: str) -> None:
    assert dtype_of(ElementType("t", size, kind)) == np.dtype(expected)
