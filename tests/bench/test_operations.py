"""Operations are counted from trees, instance by instance."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.bench.operations import operations
from swbuild.frontend import CppOptions, read_source

HEAD = "void f(int n, int m, double x, double a[restrict n], double A[restrict n][m], int k[restrict n][n])"

#: The loops of a region, and its operations at n = 6, m = 10.
REGIONS = {
    "for (int i = 0; i < n; i++) a[i] = 2.0 * a[i] + x;": 2 * 6,
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] += x * A[i][j];": 2 * 60,
    # A factor that only the outer loop changes; in a written array it may differ each time.
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] *= x * a[i];": 60 + 6,
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { A[i][j] *= x * a[i]; a[i] = 0; }": 2 * 60,
    # The same sum twice, once in parentheses.
    "for (int i = 0; i < n; i++) a[i] = (a[i] + x) * (a[i] + x);": 2 * 6,
    # A triangle, and a factor whose loop has rows of it.
    "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) A[i][j] -= x / a[j];": 21 + 6,
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = __builtin_sqrt(A[i][j]);": 15,
    # Subscripts, conditions on counters and copies are no operations.
    "for (int i = 0; i + 1 < n; i++) if (i > 2) a[i + 1] = -a[i];": 0,
    # Integers count where there is nothing else: a sum, which stands there twice, and a comparison.
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " k[i][j] = k[i][j] < k[j][i] + 1 ? k[i][j] : k[j][i] + 1;": 2 * 36,
    "for (int i = 0; i < n; i++) { k[i][0] += 3; a[i] *= x; }": 6,
}


@pytest.mark.parametrize("loops", REGIONS)
def test_operations(loops: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"{HEAD}\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
    (scop,) = read_source(path, CppOptions(), None).scops
    assert operations(scop, {"n": 6, "m": 10}) == REGIONS[loops]
