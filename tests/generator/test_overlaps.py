"""References to one array that overlap: buffers of their own where nothing is read after it was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import model_of
from turns import dealt

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.memory.buffers import Store
from swbuild.options import Distribution, KernelOptions, Preset, Where

#: Reads of values from before the kernel, or from visits that are over: all buffered, without unit steps.
OLDER = {
    "rows_below": "for (int k = i + 1; k < n; k++) B[i][j] += A[k][i] * B[k][j];",
    "columns_behind": "for (int k = j + 1; k < m; k++) B[i][j] += B[i][k] * C[k][j];",
    "shifted": "for (int k = i + 3; k < n; k++) B[i][j] -= A[i][k] * B[k][j];",
    "twice": "for (int k = i + 1; k < n; k++) B[i][j] += A[k][i] * B[k][j] - A[i][k] * B[n + i - k][j];",
}
#: Reads of what was just written: one buffer or none.
NEWER = {
    "rows_above": "for (int k = 0; k < i; k++) B[i][j] += A[k][i] * B[k][j];",
    "columns_before": "for (int k = 0; k < j; k++) B[i][j] += B[i][k] * C[k][j];",
    "both_sides": "for (int k = 0; k < n; k++) if (k != i) B[i][j] += A[k][i] * B[k][j];",
    "neighbours": "for (int k = 1; k < n; k++) B[k][j] += A[i][k] * B[k - 1][j];",
    "repeated": "for (int c = 0; c < (T[j] & 3); c++) B[i][j] = 0.5 * B[i][j] + B[n - 1 - i][j];",
    "mirrored": "for (int k = 0; k < n; k++) B[k][j] += A[i][k] * B[n - 1 - k][j];",
}
FUNCTION = """\
void {name}(int n, int m, double A[n][n], double B[n][m], double C[m][m], int T[m])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
            {body}
        }}
#pragma endscop
}}
"""
#: Two statements of one nest that write what the other one leaves out.
BESIDE = """\
void f(int n, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j < i)
                B[i][j] = A[i][j];
            else
                B[i][j] = 2.0 * A[i][j];
#pragma endscop
}
"""
SIZES = ({"n": 1, "m": 1}, {"n": 5, "m": 19}, {"n": 23, "m": 13})


def _source(bodies: dict[str, str], directory: Path) -> Path:
    path = directory / "overlaps.c"
    path.write_text("".join(FUNCTION.format(name=f"f_{name}", body=bodies[name]) for name in bodies))
    return path


def _compiled(name: str, directory: Path, options: KernelOptions) -> RegionResult:
    model = read_source(_source({name: (OLDER | NEWER)[name]}, directory), CppOptions(), None)
    (compilation,) = compile_regions(model, {f"f_{name}": options})
    assert isinstance(compilation.result, RegionResult)
    return compilation.result


@pytest.mark.parametrize("name", ["rows_below", "columns_behind", "shifted"])
def test_reads_of_older_values_have_buffers_of_their_own(name: str, tmp_path: Path) -> None:
    result = _compiled(name, tmp_path, KernelOptions())
    plans = [place.plan for place in result.placed]
    assert not any(plan.direct for plan in plans)
    assert all(1 not in place.tiled.sizes for place in result.placed)
    assert any(sum(b.array == "B" for b in plan.buffers) == 2 for plan in plans)


def test_a_common_box_too_large_for_the_ldm_leaves_one_that_is_not_where_it_is(tmp_path: Path) -> None:
    """With constant extents there is a box around all rows: no reason to get a tile of sums ever again."""
    text = FUNCTION.format(name="f", body=OLDER["rows_below"]).replace("B[n][m]", "B[1000][1200]")
    model = model_of(tmp_path, text.replace("A[n][n]", "A[1000][1000]"))
    (compilation,) = compile_regions(model, {"f": KernelOptions()})
    assert isinstance(compilation.result, RegionResult)
    place = compilation.result.placed[0]
    levels = {buffer.store: buffer.level for buffer in place.plan.buffers if buffer.array == "B"}
    assert levels[Store.BOX] < levels[Store.NONE]


def test_writes_that_fill_a_box_together_share_a_buffer(tmp_path: Path) -> None:
    model = model_of(tmp_path, BESIDE)
    (compilation,) = compile_regions(model, {"f": KernelOptions(where=Where.CPES)})
    assert isinstance(compilation.result, RegionResult)
    (place,) = compilation.result.placed
    (buffer,) = [b for b in place.plan.buffers if b.array == "B"]
    assert buffer.store is Store.BOX
    assert not buffer.load


@pytest.mark.parametrize("name", ["rows_above", "columns_before"])
def test_reads_of_newer_values_have_not(name: str, tmp_path: Path) -> None:
    result = _compiled(name, tmp_path, KernelOptions(tile=(8,)))
    for place in result.placed:
        assert len({b.name for b in place.plan.buffers if b.array == "B"}) < 2
        assert place.plan.direct


def test_the_published_algorithm_keeps_to_one_buffer(tmp_path: Path) -> None:
    result = _compiled("rows_below", tmp_path, KernelOptions(preset=Preset.CLASSIC, tile=(8,)))
    assert any(place.plan.direct for place in result.placed)


@pytest.mark.parametrize(
    ("machine", "tile", "distribution", "mode", "chosen"),
    dealt(
        OLDER | NEWER,
        ("sw26010", (4, 3, 5), Distribution.CYCLIC, "late"),
        ("sw26010-pro", (), Distribution.BLOCK, "checked"),
    ),
)
def test_results_are_right(
    machine: str,
    tile: tuple[int, ...],
    distribution: Distribution,
    mode: str,
    chosen: list[str],
    tmp_path: Path,
) -> None:
    bodies = {name: (OLDER | NEWER)[name] for name in chosen}
    names = [f"f_{name}" for name in bodies]
    task = SourceTask(
        _source(bodies, tmp_path),
        default_options=KernelOptions(machine=machine, tile=tile, distribution=distribution),
        checks=dict.fromkeys(names, RegionCheck(SIZES)),
    )
    settings = CheckSettings(timeout=120.0, modes=(mode,))
    results = check_source(task, settings, tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
