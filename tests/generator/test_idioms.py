"""Ways to write loops that real programs are full of get tiles and buffers, not accesses one by one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from generation import generated
from turns import MACHINES, dealt

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.memory.buffers import Store
from swbuild.options import KernelOptions, Where

#: functions by name: parameters, body, and sizes to check them at
IDIOMS = {
    # each of four statements writes every second element of every second row; together they write all
    "prolongation": (
        "int n, double c[restrict n + 1][n + 1], double p[restrict 2 * n][2 * n]",
        """for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            p[2 * i][2 * j] += c[i][j];
            p[2 * i + 1][2 * j] += 0.5 * (c[i][j] + c[i + 1][j]);
            p[2 * i][2 * j + 1] += 0.5 * (c[i][j] + c[i][j + 1]);
            p[2 * i + 1][2 * j + 1] += 0.25 * (c[i][j] + c[i + 1][j] + c[i][j + 1] + c[i + 1][j + 1]);
        }""",
        ({"n": 1}, {"n": 3}, {"n": 37}),
    ),
    # two planes take turns from step to step
    "leapfrog": (
        "int n, int steps, float p[restrict 2][n][n], float w[restrict n][n]",
        """for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                p[(t + 1) % 2][i][j] = 2.0f * p[t % 2][i][j] - p[(t + 1) % 2][i][j] + w[i][j]
                    * (p[t % 2][i - 1][j] + p[t % 2][i + 1][j] + p[t % 2][i][j - 1] + p[t % 2][i][j + 1]);""",
        ({"n": 3, "steps": 1}, {"n": 23, "steps": 3}, {"n": 70, "steps": 2}),
    ),
    # the loops of a small window are isl's to join: 2 r + s
    "pooling": (
        "int n, int h, int w, const float in[restrict n][2 * h][2 * w], float out[restrict n][h][w]",
        """for (int k = 0; k < n; k++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                float most = in[k][2 * y][2 * x];
                for (int r = 0; r < 2; r++)
                    for (int s = 0; s < 2; s++)
                        most = in[k][2 * y + r][2 * x + s] > most ? in[k][2 * y + r][2 * x + s] : most;
                out[k][y][x] = most;
            }""",
        ({"n": 1, "h": 1, "w": 1}, {"n": 2, "h": 5, "w": 33}, {"n": 3, "h": 9, "w": 70}),
    ),
    # the sum of each pixel is a scalar; those of a whole row of pixels are too many
    "convolution": (
        (
            "int k, int h, int w, int c, const float in[restrict c][h + 2][w + 2],"
            " const float f[restrict k][c][3][3], const float b[restrict k], float out[restrict k][h][w]"
        ),
        """for (int i = 0; i < k; i++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                float sum = b[i];
                for (int j = 0; j < c; j++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++)
                            sum += in[j][y + r][x + s] * f[i][j][r][s];
                out[i][y][x] = sum > 0 ? sum : 0;
            }""",
        (
            {"k": 1, "h": 1, "w": 1, "c": 1},
            {"k": 3, "h": 5, "w": 37, "c": 2},
            {"k": 9, "h": 9, "w": 11, "c": 7},
        ),
    ),
    # each pair of bodies has numbers of its own, and all sums go through the bodies in their order
    "gravity": (
        "int n, double x[restrict n], double y[restrict n], double f[restrict n], double g[restrict n]",
        """for (int i = 0; i < n; i++) {
        double fx = 0.0, fy = 0.0;
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i];
            double r = 1.0 / sqrt(dx * dx + dy * dy + 1e-3);
            fx += dx * r * r * r;
            fy += dy * r * r * r;
        }
        f[i] = fx;
        g[i] = fy;
    }""",
        ({"n": 1}, {"n": 9}, {"n": 131}),
    ),
    # a row is scaled by what all of it says, and multiplied by a matrix
    "attention": (
        "int n, int d, const float q[restrict n][n], const float v[restrict n][d], float o[restrict n][d]",
        """for (int i = 0; i < n; i++) {
        float most = q[i][0];
        for (int j = 1; j < n; j++) most = q[i][j] > most ? q[i][j] : most;
        for (int l = 0; l < d; l++) {
            float sum = 0.0f;
            for (int j = 0; j < n; j++) sum += q[i][j] * v[j][l];
            o[i][l] = sum / (1.0f + most);
        }
    }""",
        ({"n": 1, "d": 1}, {"n": 5, "d": 300}, {"n": 70, "d": 33}),
    ),
    # of a row, one half changes, and its neighbours do not
    "chessboard": (
        "int n, int steps, double u[restrict n][n], const double f[restrict n][n]",
        """for (int t = 0; t < steps; t++)
        for (int c = 0; c < 2; c++)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    if ((i + j) % 2 == c)
                        u[i][j] += 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]
                                          - f[i][j]);""",
        ({"n": 3, "steps": 1}, {"n": 24, "steps": 2}, {"n": 71, "steps": 2}),
    ),
    # small matrices one after the other
    "matrices": (
        "int n, const double a[restrict n][3][3], double b[restrict n][3][3]",
        """for (int e = 0; e < n; e++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                b[e][i][j] = 0.0;
                for (int k = 0; k < 3; k++) b[e][i][j] += a[e][i][k] * a[e][j][k];
            }""",
        ({"n": 1}, {"n": 5}, {"n": 131}),
    ),
    # components side by side at each point of a grid
    "components": (
        "int n, int m, const float u[restrict n][m][5], float v[restrict n][m][5]",
        """for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            for (int c = 0; c < 5; c++)
                v[i][j][c] = 0.5f * u[i][j][c] + 0.25f * (u[i - 1][j][c] + u[i][j - 1][4 - c]);""",
        ({"n": 1, "m": 1}, {"n": 3, "m": 70}, {"n": 67, "m": 9}),
    ),
    # records of an array of unknown length, of which a part changes
    "records": (
        "int n, struct mote *restrict p, float dt",
        """for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            p[i].at[d] += dt * p[i].to[d];""",
        ({"n": 1}, {"n": 67}, {"n": 1000}),
    ),
    # the neighbours of an edge are at the other end, in both dimensions
    "periodic": (
        "int n, double u[restrict n][n], double v[restrict n][n]",
        """for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            v[i][j] = u[i][j] + 0.125 * (u[(i + 1) % n][j] + u[(i + n - 1) % n][j]
                                         + u[i][(j + 1) % n] + u[i][(j + n - 1) % n]);""",
        ({"n": 1}, {"n": 2}, {"n": 3}, {"n": 71}),
    ),
}


def _program(names: Iterable[str]) -> str:
    return "#include <math.h>\nstruct mote { float at[3], to[3]; };\n" + "".join(
        f"void {name}({parameters})\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
        for name, (parameters, body, _) in ((name, IDIOMS[name]) for name in names)
    )


PROGRAM = _program(IDIOMS)


#: what the generator makes of each function
Results = dict[str, RegionResult]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("idioms") / "idioms.c"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def results(source: Path) -> Results:
    """Compile each function, half a minute's work, once for all tests."""
    model = read_source(source, CppOptions(), None)
    found = compile_regions(model, dict.fromkeys(IDIOMS, KernelOptions(where=Where.CPES)))
    return {each.scop.name: each.result for each in found if isinstance(each.result, RegionResult)}


def test_all_elements_move_in_boxes(results: Results) -> None:
    assert set(results) == set(IDIOMS)
    for name, result in results.items():
        assert result.placed, name
        assert [d for place in result.placed for d in place.plan.direct] == [], name


def test_tiles_are_not_chosen_for_accesses_one_by_one(results: Results) -> None:
    """Where the planner sees no boxes it takes the smallest tiles, or the largest that fit somehow."""
    for name in ("leapfrog", "pooling"):
        for place in results[name].placed:
            tiles = len(place.tiled.sizes) + place.tiled.kernel.in_front  # a box lasts for a tile over time
            assert place.plan.bytes > 4096, name
            assert all(buffer.level < tiles for buffer in place.plan.buffers), name


def test_what_is_written_by_turns_is_put_in_one_box(results: Results) -> None:
    (place,) = results["prolongation"].placed
    (written,) = [buffer for buffer in place.plan.buffers if buffer.array == "p"]
    assert written.store is Store.BOX


def test_all_that_a_visit_accesses_certainly_is_put_in_one_box(results: Results) -> None:
    """Nobody knows where the array ends, but what is read is in it."""
    (place,) = results["records"].placed
    (changed,) = place.plan.buffers
    assert changed.store is Store.BOX and changed.box.bound is not None and changed.box.bound[1] == 6


def test_rows_that_nobody_else_writes_are_put_with_their_gaps(results: Results) -> None:
    (place,) = results["chessboard"].placed
    (changed,) = [buffer for buffer in place.plan.buffers if buffer.array == "u"]
    assert changed.store is Store.ROWS and changed.load


def test_dimensions_that_a_box_has_whole_are_part_of_its_rows(tmp_path: Path) -> None:
    """One operation moves many matrices, or the points of many rows."""
    names = ("matrices", "components")
    for machine in MACHINES:
        unit = generated(tmp_path, _program(names), KernelOptions(machine=machine, where=Where.CPES))
        assert unit.slave is not None
        starts = [unit.slave.text.partition(f"{name}_k0(void")[2] for name in names]
        matrices, components = (start.partition("\n}")[0] for start in starts)
        assert "sw_d0" not in matrices + components  # the counter of a loop over operations
        assert "(a_n0 * 9) * 8" in matrices and "stride" not in matrices
        assert "(m * 5L - (u_n1 * 5)) * 4" in components


def test_copies_of_a_sum_for_all_columns_last_as_long_as_a_tile_of_columns(results: Results) -> None:
    (place,) = results["attention"].placed
    levels = {buffer.array: buffer.level for buffer in place.plan.buffers}
    assert place.tiled.mapping.restructure and place.expanded >= {"sum"}
    assert levels["sum"] > 0  # there is no bound on how many columns a whole row has


def test_a_sum_leaves_statements_of_its_loop_that_are_parallel_to_vectors(results: Results) -> None:
    (kernel,) = results["gravity"].assembled.code.kernels
    along = {name: tile.along for tile in kernel.tiles for name in tile.statements}
    assert [along[name] for name in ("S2", "S3", "S4")] == ["j"] * 3


def test_copies_of_a_sum_are_for_tiles_of_all_parallel_loops(results: Results) -> None:
    (place,) = results["convolution"].placed
    assert place.tiled.mapping.together
    assert place.expanded == {"sum"}
    assert place.tiled.mapping.restructure  # else, gets are in a loop over pixels


@pytest.mark.parametrize(
    ("machine", "mode", "names"), dealt(IDIOMS, ("sw26010", "late"), ("sw26010-pro", "checked"))
)
def test_results_are_right(machine: str, mode: str, names: list[str], tmp_path: Path) -> None:
    source = tmp_path / "some.c"
    source.write_text(_program(names), encoding="utf-8")
    task = SourceTask(
        source,
        default_options=KernelOptions(machine=machine, where=Where.CPES),
        checks={name: RegionCheck(IDIOMS[name][2]) for name in names},
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=(mode,)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
