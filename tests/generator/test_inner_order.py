"""Parallel loops below the shared ones: in a tile they go inside the loops whose order is fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.options import KernelOptions
from swbuild.region import RegionResult

#: What is done for each ``r`` and ``q``; all go through ``C`` by columns as they are written.
BODIES = {
    "in_place": "for (int p = 0; p < n; p++) { row[p] = 0.0; for (int s = 0; s < n; s++)"
    " row[p] += A[r][q][s] * C[s][p]; } for (int p = 0; p < n; p++) A[r][q][p] = row[p];",
    "elsewhere": "for (int p = 0; p < n; p++) { B[r][q][p] = 1.0; for (int s = 0; s < n; s++)"
    " B[r][q][p] += A[r][q][s] * C[s][p]; }",
    "scaled": "for (int p = 0; p < n; p++) { B[r][q][p] *= 0.5; for (int s = 0; s < n; s++)"
    " B[r][q][p] -= A[r][q][s] * C[s][p]; B[r][q][p] += A[r][q][p]; }",
}
FUNCTION = """\
void f_{name}(int m, int n, double A[restrict m][m][n], double B[restrict m][m][n], double C[restrict n][n],
              double row[restrict n])
{{
#pragma scop
    for (int r = 0; r < m; r++)
        for (int q = 0; q < m; q++) {{
            {body}
        }}
#pragma endscop
}}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "inner.c"
    path.write_text("".join(FUNCTION.format(name=name, body=body) for name, body in BODIES.items()))
    return path


def test_rows_are_fetched_where_the_source_goes_through_columns(source: Path) -> None:
    found = compile_regions(read_source(source, CppOptions(), None), {})
    results = [each.result for each in found if isinstance(each.result, RegionResult)]
    boxes = [
        buffer.box.bound
        for result in results
        for place in result.placed
        for buffer in place.plan.buffers
        if buffer.array == "C"
    ]
    assert len(boxes) == len(BODIES)
    assert all(box is not None and box[1] >= 16 for box in boxes), boxes


def test_results_are_right(source: Path, tmp_path: Path) -> None:
    names = [f"f_{name}" for name in BODIES]
    task = SourceTask(
        source,
        default_options=KernelOptions(tile=(2, 3, 4, 5)),
        checks=dict.fromkeys(names, RegionCheck(({"m": 3, "n": 7}, {"m": 5, "n": 13}))),
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
