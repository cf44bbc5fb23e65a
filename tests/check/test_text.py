"""Outputs as text: to the byte without a tolerance, number by number with one."""

from __future__ import annotations

import pytest

from swbuild.check.compare import EXACT, Tolerance
from swbuild.check.text import compare_texts

NEAR = Tolerance(relative=1e-3)


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "same"),
    [
        ("a 1.0\n", "a 1.0\n", EXACT, True),
        ("a 1.0\n", "a  1.0\n", EXACT, False),
        ("a 1.0\n", "a 1.0", EXACT, False),
        ("a 1.0\n", "a 1.0001\n", NEAR, True),
        ("a 1.0\n", "b 1.0\n", NEAR, False),
        ("a 1.0\n", "a 1.1\n", NEAR, False),
        ("1.0 2.0\n", "1.0\n", NEAR, False),
        ("1.0\n2.0\n", "1.0\n", NEAR, False),
        ("nan\n", "nan\n", NEAR, True),
        ("nan\n", "1.0\n", NEAR, False),
        ("-1e-3\n", "-1.0001E-03\n", NEAR, True),
        ("x=1.0\n", "x=1.00001\n", NEAR, False),
        (None, "", EXACT, False),
        ("", None, NEAR, False),
    ],
)
def test_texts(expected: str | None, actual: str | None, tolerance: Tolerance, same: bool) -> None:
    assert (compare_texts("out", expected, actual, tolerance) is None) is same


def test_first_difference_is_shown_and_all_are_counted() -> None:
    found = compare_texts("standard output", "a\nb\nc\n", "a\nx\ny\n", EXACT)
    assert found is not None
    assert str(found) == "standard output, line 2: expected 'b', got 'x' (2 lines differ)"


def test_missing_output_file_is_a_difference() -> None:
    found = compare_texts("result.txt", "1\n", None, EXACT)
    assert found is not None
    assert "expected '1', got nothing" in str(found)
