"""Thread grids of every shape: right against the serial loops, at sizes that do not divide."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.frontend.reader import read_source
from swbuild.frontend.request import CppOptions, RegionRequest
from swbuild.generate import generate_unit
from swbuild.machine import load, machine_names
from swbuild.options import Distribution, KernelOptions, Preset

SOURCE = """\
void product(int n, int m, int k, double C[n][m], double A[n][k], double B[k][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
#pragma endscop
}

void rows(int n, int m, double A[n][m], double x[m], double y[n], double *sum)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            y[i] = 0.5 * y[i] + A[i][j] * x[j];
        *sum += y[i];
    }
#pragma endscop
}

void in_place(int n, int m, double A[n][m])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            A[i][j] = 0.25 * (A[i - 1][j] + A[i][j - 1]) + 0.5 * A[i][j];
#pragma endscop
}
"""
SIZES = {
    "product": ({"n": 1, "m": 1, "k": 1}, {"n": 5, "m": 67, "k": 3}, {"n": 131, "m": 37, "k": 2}),
    "rows": ({"n": 1, "m": 3}, {"n": 37, "m": 5}, {"n": 139, "m": 1}),
    "in_place": ({"n": 2, "m": 3}, {"n": 7, "m": 67}, {"n": 43, "m": 11}),
}
MACHINES = machine_names()
WHOLE = load(MACHINES[0]).thread_shapes
FAST = ((MACHINES[0], (64, 1)), (MACHINES[1], (1, 64)), (MACHINES[0], (2, 32)), (MACHINES[1], (7, 9)))
SHAPES = (*WHOLE, (1, 1), (1, 61), (61, 1), (31, 2))
GRIDS = tuple((MACHINES[number % len(MACHINES)], shape) for number, shape in enumerate(SHAPES))
CASES = (*FAST, *(pytest.param(*grid, marks=pytest.mark.slow) for grid in GRIDS if grid not in FAST))


@pytest.mark.parametrize(("machine", "shape"), CASES)
def test_kernels_are_right_on_every_grid(machine: str, shape: tuple[int, int], tmp_path: Path) -> None:
    source = tmp_path / "grids.c"
    source.write_text(SOURCE)
    distribution = Distribution.BLOCK if shape[0] % 3 == 1 else Distribution.CYCLIC
    options = KernelOptions(
        machine=machine, threads=shape, tile=(2, 3, 2), distribution=distribution, reassociate=True
    )
    task = SourceTask(
        source,
        options=dict.fromkeys(SIZES, options),
        checks={name: RegionCheck(sizes) for name, sizes in SIZES.items()},
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(SIZES)
    for result in results:
        assert result.outcome is Outcome.PASS and result.kernels and result.threads == shape, explain(result)


@pytest.mark.parametrize(
    ("shape", "preset", "shared"),
    [
        ((1, 64), Preset.DEFAULT, [("i", 1), ("j", 64)]),
        ((64, 1), Preset.DEFAULT, [("i", 64), ("j", 1)]),
        ((4, 9), Preset.DEFAULT, [("i", 4), ("j", 9)]),
        ((1, 64), Preset.CLASSIC, [("i", 64)]),
    ],
)
def test_rows_are_for_the_outer_loop_and_columns_for_the_inner(
    shape: tuple[int, int], preset: Preset, shared: list[tuple[str, int]], tmp_path: Path
) -> None:
    source = tmp_path / "grids.c"
    source.write_text(SOURCE)
    options = {"product": KernelOptions(threads=shape, preset=preset)}
    requests = (RegionRequest("product", function="product"),)
    unit = generate_unit(read_source(source, CppOptions(), requests), options)
    (grid,) = next(region.grids for region in unit.regions if region.scop.name == "product")
    assert [(loop.name, loop.threads) for loop in grid.mapped] == shared
