"""Statements beside tiled loops: what they access is moved for them alone, where all of it has no bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.options import KernelOptions, Preset

#: Nests that touch a row, column or element of ``A`` beside a loop that goes through all of it.
NESTS = {
    "first_column": "A[i][0] = B[i][0]; for (int j = 1; j < m; j++) A[i][j] = B[i][j] - 0.5 * A[i][j - 1];",
    "both_ends": "A[i][0] = 1.0; for (int j = 1; j < m - 1; j++) A[i][j] = B[i][j] / (2.0 + A[i][j - 1]);"
    " A[i][m - 1] = A[i][0] + A[i][m - 2];",
    "there_and_back": "A[i][0] = 0.25; for (int j = 1; j < m; j++) A[i][j] = B[i][j] * A[i][j - 1];"
    " for (int j = m - 2; j >= 0; j--) A[i][j] += 0.5 * A[i][j + 1];",
    "last_first": "for (int j = 1; j < m; j++) A[i][j] += A[i][j - 1] * B[i][j]; A[i][0] = A[i][m - 1];",
    "scaled": "A[i][0] = A[i][0] / (B[i][0] + 3.0); B[i][0] = 0.5;"
    " for (int j = 1; j < m; j++) { double k = 1.0 / (3.0 + B[i][j] - A[i][j - 1]); A[i][j] = A[i][j] * k;"
    " B[i][j] = (B[i][j] - B[i][j - 1]) * k; }"
    " for (int j = m - 2; j >= 0; j--) B[i][j] -= A[i][j] * B[i][j + 1];",
    "a_middle_one": "A[i][m / 2] = 3.0; for (int j = 1; j < m; j++) A[i][j] += A[i][j - 1] + B[i][j];",
}
FUNCTION = """\
void f_{name}(int n, int m, double A[restrict n][m], double B[restrict n][m])
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {body}
    }}
#pragma endscop
}}
"""
SIZES = ({"n": 1, "m": 2}, {"n": 5, "m": 70}, {"n": 67, "m": 9})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "beside.c"
    path.write_text("".join(FUNCTION.format(name=name, body=body) for name, body in NESTS.items()))
    return path


def _results(source: Path, options: KernelOptions) -> list[RegionResult]:
    model = read_source(source, CppOptions(), None)
    found = compile_regions(model, {f"f_{name}": options for name in NESTS})
    return [each.result for each in found if isinstance(each.result, RegionResult)]


def test_boundaries_do_not_keep_arrays_in_main_memory(source: Path) -> None:
    results = _results(source, KernelOptions())
    assert len(results) == len(NESTS)
    assert [d for result in results for place in result.placed for d in place.plan.direct] == []


def test_the_published_algorithm_has_no_such_levels(source: Path) -> None:
    results = _results(source, KernelOptions(preset=Preset.CLASSIC))
    assert any(place.plan.direct for result in results for place in result.placed)


@pytest.mark.parametrize(
    ("machine", "tile", "mode"), [("sw26010", (4, 8), "late"), ("sw26010-pro", (), "checked")]
)
def test_results_are_right(
    source: Path, machine: str, tile: tuple[int, ...], mode: str, tmp_path: Path
) -> None:
    names = [f"f_{name}" for name in NESTS]
    task = SourceTask(
        source,
        default_options=KernelOptions(machine=machine, tile=tile),
        checks=dict.fromkeys(names, RegionCheck(SIZES)),
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=(mode,)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
