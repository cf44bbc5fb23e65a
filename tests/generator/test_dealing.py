"""Tiles of several loops that are dealt to the threads together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.cli.choices import choices
from swbuild.frontend import CppOptions, RegionRequest, SourceModel, read_source
from swbuild.generate import generate_unit
from swbuild.mapping.busy import busy_cpes
from swbuild.options import Distribution, KernelOptions

PROGRAM = """\
void product(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < p; l++)
                C[i][j] += A[i][l] * B[l][j];
#pragma endscop
}

void triangle(int n, int m, double C[n][n], double A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int l = 0; l < m; l++)
                C[j][i] += A[i][l] * A[j][l];
#pragma endscop
}

void box(int b, int k, int h, int w, double out[b][k][h][w], double in[b][k][h + 2][w])
{
#pragma scop
    for (int n = 0; n < b; n++)
        for (int c = 0; c < k; c++)
            for (int y = -3; y < h - 3; y++)
                for (int x = 0; x < w; x++)
                    out[n][c][y + 3][x] = in[n][c][y + 3][x] + in[n][c][y + 5][x];
#pragma endscop
}

void pieces(int n, int m, double A[n][n], double B[m][m], double *sum)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = 2 * A[i][j];
    for (int i = 2; i < m; i += 3)
        for (int j = i - 2; j < m; j++)
            B[i][j] = A[0][0] + B[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            *sum += A[i][j];
#pragma endscop
}

void steps(int t, int n, int m, double u[n][m], double v[n][m])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] - u[i][j + 1];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                u[i][j] = 0.25 * v[i][j];
    }
#pragma endscop
}

void front(int n, int m, int p, double u[n][m][p])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            for (int l = 1; l < p; l++)
                u[i][j][l] = 0.25 * (u[i - 1][j][l] + u[i][j - 1][l] + u[i][j][l - 1]);
#pragma endscop
}
"""

#: none, one, fewer tiles than threads, primes, a loop that is short, extents below nothing
SIZES = {
    "product": (
        {"n": 1, "m": 1, "p": 1},
        {"n": 3, "m": 131, "p": 2},
        {"n": 67, "m": 41, "p": 5},
        {"n": 5, "m": 0, "p": 3},
        {"n": 7, "m": 5, "p": -2},
    ),
    "triangle": ({"n": 1, "m": 1}, {"n": 7, "m": 3}, {"n": 61, "m": 2}, {"n": 97, "m": 1}, {"n": 0, "m": 4}),
    "box": (
        {"b": 1, "k": 1, "h": 1, "w": 1},
        {"b": 1, "k": 7, "h": 13, "w": 11},
        {"b": 17, "k": 2, "h": 1, "w": 3},
        {"b": 3, "k": 11, "h": 5, "w": 8},
        {"b": 2, "k": 0, "h": 3, "w": 5},
    ),
    "pieces": ({"n": 1, "m": 1}, {"n": 13, "m": 67}, {"n": 59, "m": 8}, {"n": 31, "m": 0}),
    "steps": (
        {"t": 1, "n": 3, "m": 3},
        {"t": 3, "n": 5, "m": 71},
        {"t": 2, "n": 43, "m": 29},
        {"t": 0, "n": 9, "m": 9},
        {"t": 2, "n": 1, "m": 7},
    ),
    "front": ({"n": 2, "m": 2, "p": 2}, {"n": 13, "m": 11, "p": 7}, {"n": 23, "m": 5, "p": 19}),
}
CHIPS = Path(__file__).parents[1] / "machine" / "chips"


@pytest.mark.parametrize(
    ("machine", "threads", "tile"),
    [
        ("sw26010", (0, 0), (2, 3, 2)),
        pytest.param("sw26010", (1, 1), (4,), marks=pytest.mark.matrix),
        ("sw26010-pro", (8, 8), ()),
        pytest.param("sw26010-pro", (3, 7), (1, 2), marks=pytest.mark.matrix),
        ("tern", (4, 16), (3,)),
    ],
)
def test_results_are_those_of_the_serial_loops(
    machine: str,
    threads: tuple[int, int],
    tile: tuple[int, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SWBUILD_MACHINES", str(CHIPS))
    source = tmp_path / "dealing.c"
    source.write_text(PROGRAM)
    options = KernelOptions(machine, threads, tile, Distribution.JOINT, reassociate=True)
    task = SourceTask(
        source,
        options=dict.fromkeys(SIZES, options),
        checks={name: RegionCheck(sizes) for name, sizes in SIZES.items()},
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(SIZES)
    for result in results:
        assert result.outcome is Outcome.PASS and result.kernels, explain(result)


def model_of_region(source: Path, name: str) -> SourceModel:
    """Return the model of one region of the program."""
    source.write_text(PROGRAM)
    return read_source(source, CppOptions(), (RegionRequest(name, function=name),))


def test_loops_count_tiles_and_threads_take_turns_from_row_to_row(tmp_path: Path) -> None:
    source = tmp_path / "dealing.c"
    options = KernelOptions(tile=(4, 5), distribution=Distribution.JOINT)
    unit = generate_unit(model_of_region(source, "triangle"), {"triangle": options})
    assert unit.slave is not None
    text = unit.slave.text[unit.slave.text.index("void triangle_k0") :]
    assert re.search(
        r"for \(long i_tile = 0; i_tile <= \(n - 1\) / 4; i_tile\+\+\) {\s*"
        r"long j_tile = .*i_tile.* \+ sw_turn;\s*for \(; j_tile <= \(n - 1\) / 5; j_tile \+= 64\) {",
        text,
    )
    assert "sw_turn = j_tile - ((n - 1) / 5 + 1);" in text
    assert "64 threads, tiles of 2 loops dealt out together" in unit.slave.text


@pytest.mark.parametrize(
    ("name", "tile", "sizes", "cpes"),
    [
        ("product", (4, 4), {"n": 1, "m": 400, "p": 9}, 64),  # 8 with a grid of 8 x 8
        ("product", (4, 4), {"n": 24, "m": 24, "p": 9}, 36),
        ("triangle", (4, 4), {"n": 40, "m": 9}, 55),
        ("box", (1, 1, 8, 8), {"b": 1, "k": 4, "h": 16, "w": 16}, 24),
        ("box", (1, 1, 2, 8), {"b": 1, "k": 8, "h": 64, "w": 16}, 64),
    ],
)
def test_no_loop_alone_has_to_have_a_tile_for_each_thread(
    tmp_path: Path, name: str, tile: tuple[int, ...], sizes: dict[str, int], cpes: int
) -> None:
    source = tmp_path / "dealing.c"
    options = KernelOptions(tile=tile, distribution=Distribution.JOINT)
    (region,) = generate_unit(model_of_region(source, name), {name: options}).regions
    (grid,) = region.grids
    (kernel,) = region.report["kernels"]
    assert kernel["threads"] == [64] and kernel["mapped_loops"] == len(grid.mapped)
    busy = busy_cpes(grid, sizes)
    assert busy is not None and busy.cpes == cpes


SHORT = """\
void f(int b, int k, int n, double out[restrict b][k][n], double in[restrict b][k][n])
{
#pragma scop
    for (int i = 0; i < b; i++)
        for (int c = 0; c < k; c++)
            for (int x = 0; x < n; x++)
                out[i][c][x] = 2 * in[i][c][x] + 1;
#pragma endscop
}
"""


def test_loops_of_any_length_are_shared_together_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    chosen = region_of(tmp_path, KernelOptions())
    assert chosen["distribution"] == "joint" and chosen["threads"] == [64]
    assert len(chosen["shared_loops"]) == chosen["mapped_loops"] >= 2
    assert region_of(tmp_path, KernelOptions(distribution=Distribution.CYCLIC))["distribution"] == "cyclic"
    assert region_of(tmp_path, KernelOptions(distribution=Distribution.BLOCK))["distribution"] == "block"
    shaped = region_of(tmp_path, KernelOptions(threads=(4, 8)))
    assert (shaped["distribution"], shaped["threads"]) == ("cyclic", [4, 8])
    both = region_of(tmp_path, KernelOptions(threads=(4, 8), distribution=Distribution.JOINT))
    assert (both["distribution"], both["threads"]) == ("joint", [32])


def region_of(tmp_path: Path, options: KernelOptions) -> dict[str, Any]:
    source = tmp_path / "short.c"
    source.write_text(SHORT)
    (region,) = generate_unit(read_source(source, CppOptions(), None), {"f": options}).regions
    (kernel,) = region.report["kernels"]
    return dict(kernel)


def test_what_is_said_of_them(tmp_path: Path) -> None:
    source = tmp_path / "short.c"
    source.write_text(SHORT)
    unit = generate_unit(read_source(source, CppOptions(), None), {"f": KernelOptions()})
    (line,) = [line for line in choices(unit.regions[0].report) if "candidates" in line]
    assert re.search(r"tiles [\dx ]+, those of i, c(, x)? dealt together to 64 threads, of", line)
