"""Parallel loops below the shared ones: in a tile they go inside the loops whose order is fixed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.request import RefusedRegion
from swbuild.mapping import regiontree, tiling
from swbuild.mapping.regiontree import Kernel
from swbuild.options import Distribution, Fusion, KernelOptions, Prefetch
from swbuild.planning import placing
from swbuild.polyhedral.islutil import is_constant, varies

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


def test_constants_put_statements_in_order_only_where_they_differ() -> None:
    ordered = isl.UnionPwAff("{ S[i] -> [(0)]; T[i] -> [(-1)] }")
    assert not varies(ordered) and not is_constant(ordered)
    assert is_constant(isl.UnionPwAff("{ S[i] -> [(3)]; T[i] -> [(3)] }"))
    loop = isl.UnionPwAff("{ S[i] -> [(i)]; T[i] -> [(3)] }")
    assert varies(loop) and not is_constant(loop)


def test_an_order_that_breaks_a_dependence_ends_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong where tiles are made, what comes out of it is looked at again."""
    path = Path(__file__).parents[1] / "fuzz" / "regressions" / "constants_that_order_statements.c"
    options = KernelOptions(distribution=Distribution.JOINT, fusion=Fusion.MIN, prefetch=Prefetch.NEVER)
    (right,) = compile_regions(read_source(path, CppOptions(), None), {"f": options})
    assert isinstance(right.result, RegionResult)
    monkeypatch.setattr(tiling, "is_constant", lambda member: not varies(member))
    (wrong,) = compile_regions(read_source(path, CppOptions(), None), {"f": options})
    assert isinstance(wrong.result, RefusedRegion)
    assert "a dependence leads back in its order" in str(wrong.result.diagnostics[0])


def test_a_loop_that_is_not_parallel_ends_as_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "sum.c"
    path.write_text(
        "void f(int n, double a[restrict n][n]) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
        "for (int j = 1; j < n; j++) a[i][j] += a[i][j - 1];\n#pragma endscop\n}\n"
    )
    model = read_source(path, CppOptions(), None)
    tile_kernel = placing.tile_kernel

    def turned(kernel: Kernel, *arguments: Any) -> tiling.TiledKernel:
        """Take the inner loop for the parallel one."""
        band = kernel.schedule.get_root().child(0).band_get_partial_schedule()
        members = regiontree.multi_union([band.get_at(1), band.get_at(0)])
        schedule = isl.Schedule.from_domain(kernel.domain).insert_partial_schedule(members)
        return tile_kernel(
            replace(kernel, schedule=regiontree.flagged(schedule, True, [True, False])), *arguments
        )

    monkeypatch.setattr(placing, "tile_kernel", turned)
    (wrong,) = compile_regions(model, {"f": KernelOptions()})
    assert isinstance(wrong.result, RefusedRegion)
    assert "a dependence leads from one tile to another" in str(wrong.result.diagnostics[0])
