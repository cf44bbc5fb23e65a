"""Which rows of arrays of unknown length are in memory for certain: those between what a region touches."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from swbuild.frontend import CppOptions, read_source

#: Parameters, the region, and the rows of `a` that are in memory at n >= 5 and m >= 5: None for none.
ROWS = {
    "what is read": ("double *a, double *b", "for (int i = 0; i < n; i++) b[i] = a[i];", "0 <= x < n"),
    "what is written": ("double *a, double *b", "for (int i = 2; i < n; i++) a[i] = b[i];", "2 <= x < n"),
    "what lies between": (
        "double *a, double *b",
        "b[0] = a[1]; for (int i = 4; i < n; i++) b[i] = a[i];",
        "1 <= x < n",
    ),
    "from one on": ("double *a, double *b", "for (int i = 1; i <= n; i++) b[i] = a[i];", "1 <= x <= n"),
    "before a pointer": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) b[i] = a[i - 1];",
        "-1 <= x < n - 1",
    ),
    "whole rows": (
        "double (*a)[m], double *b",
        "for (int i = 0; i < n; i++) for (int j = 1; j < m - 1; j++) b[i] += a[i][j];",
        "0 <= x < n",
    ),
    "rows of a parameter": (
        "double a[][m], double *b",
        "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] += b[i];",
        "1 <= x < n",
    ),
    "linear from corner to corner": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i] += a[i * m + j];",
        "0 <= x < n",
    ),
    "linear without corners": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) for (int j = 1; j < m - 1; j++) b[i] += a[i * m + j];",
        "0 < x < n - 1",
    ),
    "linear with a corner": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m - 1; j++) b[i] += a[i * m + j];",
        "0 <= x < n - 1",
    ),
    "under a condition": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 1;",
        None,
    ),
    "in a condition": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) if (a[i] > 0) b[i] = a[i + 9];",
        "0 <= x < n",
    ),
    "in a choice": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) b[i] = a[i] > 0 ? a[i + 9] : a[i + 8];",
        "0 <= x < n",
    ),
    "first of two conditions": (
        "double *a, double *b",
        "for (int i = 0; i < n; i++) b[i] = a[i] > 0 && a[i + 9] > 0;",
        "0 <= x < n",
    ),
    "at places that are read": (
        "double *a, double *b, int *at",
        "for (int i = 0; i < n; i++) b[i] = a[at[i]];",
        None,
    ),
    "in some iterations": (
        "double *a, double *b, int *at",
        "for (int i = 0; i < n; i++) b[i] = a[at[i]] + a[2];",
        "x = 2",
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_are_in_memory_between_what_is_certainly_touched(case: str, tmp_path: Path) -> None:
    parameters, region, expected = ROWS[case]
    path = tmp_path / "region.c"
    text = f"void f(int n, int m, {parameters}) {{\n#pragma scop\n{region}\n#pragma endscop\n}}\n"
    path.write_text(text, encoding="utf-8")
    model = read_source(path, CppOptions(), None)
    assert not model.refused, model.refused
    (scop,) = model.scops
    found = scop.array("a").whole_rows
    if expected is None:
        assert found is None
        return
    assert found is not None
    sizes = isl.Set("[n, m] -> { : n >= 5 and m >= 5 }")
    wanted = isl.Set(f"[n, m] -> {{ [x] : {expected} }}").intersect_params(sizes)
    assert found.intersect_params(sizes).is_equal(wanted), found
    assert scop.has_rows("a", wanted)
    assert not scop.has_rows("a", isl.Set("{ [x] }"))


def test_arrays_of_known_length_have_all_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "region.c"
    path.write_text(
        "void f(int n, double a[n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) a[i] = i;\n#pragma endscop\n}\n",
        encoding="utf-8",
    )
    (scop,) = read_source(path, CppOptions(), None).scops
    assert scop.array("a").whole_rows is None
    assert scop.has_rows("a", isl.Set("[n] -> { [x] : 0 <= x < n }"))
