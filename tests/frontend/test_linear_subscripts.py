# ruff: noqa: E501 (C text is easier to read in one line)
"""Linear subscripts, ``A[i * m + j]``, are taken apart into those of an array with rows."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import AccessKind, Scop


def _scop(tmp_path: Path, text: str) -> Scop:
    path = tmp_path / "file.c"
    path.write_text(text)
    found = read_source(path, CppOptions(), None)
    assert not found.refused, found.refused
    return found.scops[0]


def test_linearised_subscripts_get_their_dimensions_back(tmp_path: Path) -> None:
    scop = _scop(
        tmp_path,
        "void f(int n, int m, int k, double *A) {\n#pragma scop\nfor (int a = 0; a < n; a++) for (int b = 0; b < m; b++) "
        "for (int c = 0; c < k; c++) A[(a * m + b) * k + c] = A[a * m * k + k * b + c] + 1;\n#pragma endscop\n}\n",
    )
    array = scop.array("A")
    assert array.declaration == "double *A" and len(array.extents) == 3 and array.extents[0] is None
    assert all(a.affine for a in scop.statements[0].accesses)
    relations = {str(a.relation.range()) for a in scop.statements[0].accesses}
    assert len(relations) == 1


@pytest.mark.parametrize(
    ("subscript", "wanted"),
    [
        ("(m - 1) * m + j", "[m - 1, j]"),
        ("m * m + j", "[m, j]"),
        ("(n - 1) * m + (m - 1)", "[n - 1, m - 1]"),
        ("2 * n * m + 3 * m + j", "[2n + 3, j]"),
        ("m - 1", "[0, m - 1]"),
    ],
)
def test_products_of_sizes_are_rows_where_counters_have_rows(
    subscript: str, wanted: str, tmp_path: Path
) -> None:
    scop = _scop(
        tmp_path,
        "void f(int n, int m, double *A) {\n#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
        f"A[i * m + j] = A[{subscript}];\n#pragma endscop\n}}\n",
    )
    assert len(scop.array("A").extents) == 2
    found = next(a for a in scop.statements[0].accesses if a.kind is AccessKind.READ)
    expected = isl.Map(f"[n, m] -> {{ S0[i, j] -> A{wanted} : 0 <= i < n and 0 <= j < m }}")
    assert found.affine and found.relation.is_equal(expected.intersect_params(found.relation.params()))


@pytest.mark.parametrize(
    ("subscript", "wanted"),
    [
        ("(i + 4) * m + j - 3 * m", "[i + 1, j]"),
        ("i * m + j + 2 * m", "[i + 2, j]"),
        ("i * (2 * m) + j", "[2i, j]"),
        ("2 * (i * m + j) + 1", "[i, 2j + 1]"),
        ("(i * m + j) * 9 + 4", "[i, 9j + 4]"),
        ("i * 2 * m + m + j", "[2i + 1, j]"),
    ],
)
def test_whole_rows_and_records_are_recognised(subscript: str, wanted: str, tmp_path: Path) -> None:
    scop = _scop(
        tmp_path,
        "void f(int n, int m, double *A) {\n#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
        f"A[{subscript}] = 0;\n#pragma endscop\n}}\n",
    )
    (access,) = scop.statements[0].accesses
    assert access.affine
    assert access.relation.is_subset(isl.Map(f"[n, m] -> {{ S0[i, j] -> A{wanted} }}"))


_PLACES = {
    "variable": ("", "int p = i * m + j; A[p] = A[p] + 1;"),
    "outer variable": ("int p;", "p = i * m + j; A[p] = A[p] + 1;"),
    "wide variable": ("", "const unsigned long p = (unsigned long)i * m + j; A[p] = A[p - 0] + 1;"),
    "function": ("", "A[at(i, j, m)] = A[at(i, j, m)] + 1;"),
    "row": ("", "double *r = A + i * m; const double *q = r; r[j] = q[j] + 1;"),
    "stride": ("const long row = m;", "A[i * row + j] = A[row * i + j] + 1;"),
    "product": ("int row = m, plane = row * n;", "A[i * row + j + 0 * plane] = A[row * i + j] + 1;"),
}


@pytest.mark.parametrize("way", _PLACES)
def test_places_computed_ahead_are_as_good_as_subscripts(way: str, tmp_path: Path) -> None:
    before, body = _PLACES[way]
    scop = _scop(
        tmp_path,
        "static int at(int i, int j, int m) { return i * m + j; }\n"
        f"void f(int n, int m, double *A) {{\n{before}\n#pragma scop\nfor (int i = 0; i < n; i++) "
        f"for (int j = 0; j < m; j++) {{ {body} }}\n#pragma endscop\n}}\n",
    )
    assert [p.name for p in scop.parameters] == ["n", "m"]
    (statement,) = scop.statements
    assert len(scop.array("A").extents) == 2
    wanted = isl.Map(f"[n, m] -> {{ {statement.name}[i, j] -> A[i, j] }}")
    assert len(statement.accesses) == 2
    assert all(a.affine and a.relation.is_subset(wanted) for a in statement.accesses)


@pytest.mark.parametrize("size", ["n", "(n + 1)"])
def test_powers_of_one_size_are_strides_of_their_own(size: str, tmp_path: Path) -> None:
    scop = _scop(
        tmp_path,
        "void f(int n, double *A) {\n#pragma scop\nfor (int a = 0; a < n; a++) for (int b = 0; b < n; b++) "
        f"for (int c = 0; c < n; c++) A[(a * {size} + b) * {size} + c] = A[{size} * {size} * a + b * {size} + c] "
        f"+ A[{size} * c + {size} * {size} * b];\n#pragma endscop\n}}\n",
    )
    array = scop.array("A")
    assert len(array.extents) == 3
    wanted = isl.Map("{ S0[a, b, c] -> A[a, b, c]; S0[a, b, c] -> A[b, c, 0] }")
    assert all(a.relation.is_subset(wanted) for a in scop.statements[0].accesses)
    assert (
        sum(a.relation.range().is_subset(isl.Set("{ A[a, b, 0] }")) for a in scop.statements[0].accesses) == 1
    )
