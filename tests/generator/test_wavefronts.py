"""Nests whose loops all carry a dependence run in wavefronts of tiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from generation import generated
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, check_sources
from swbuild.codegen.unit import GeneratedUnit, RegionUnit
from swbuild.diagnostics import SwbuildError
from swbuild.mapping.wavefront import front_depth, wavefronts
from swbuild.options import KernelOptions, Preset, Where

RELAX = """void f(int n, double u[restrict n][n])
{
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++)
    u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i][j + 1] + u[i + 1][j]);
#pragma endscop
}
"""

SEIDEL = """void f(int steps, int n, double u[restrict n][n])
{
#pragma scop
for (int t = 0; t < steps; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = (u[i - 1][j + 1] + u[i][j - 1] + u[i][j] + u[i][j + 1] + u[i + 1][j]) / 5.0;
#pragma endscop
}
"""

ALIGNMENT = """void f(int n, int m, int gap, int score[restrict n][m])
{
#pragma scop
for (int j = 0; j < m; j++)
  score[0][j] = j * gap;
for (int i = 0; i < n; i++)
  score[i][0] = i * gap;
for (int i = 1; i < n; i++)
  for (int j = 1; j < m; j++) {
    int match = score[i - 1][j - 1] + 3, up = score[i - 1][j] + gap, left = score[i][j - 1] + gap;
    int best = match > up ? match : up;
    score[i][j] = best > left ? best : left;
  }
#pragma endscop
}
"""

#: isl's scheduler skews the nest, for a launch per diagonal, to have both edges in its first and last ones.
SUBSEQUENCE = """void f(int n, int m, int a[restrict n], int b[restrict m], int common[restrict n + 1][m + 1])
{
#pragma scop
for (int i = 0; i <= n; i++)
  common[i][0] = 0;
for (int j = 0; j <= m; j++)
  common[0][j] = 0;
for (int i = 1; i <= n; i++)
  for (int j = 1; j <= m; j++)
    if (a[i - 1] == b[j - 1])
      common[i][j] = common[i - 1][j - 1] + 1;
    else
      common[i][j] = common[i - 1][j] > common[i][j - 1] ? common[i - 1][j] : common[i][j - 1];
#pragma endscop
}
"""

BACK_AND_FORTH = """void f(int steps, int n, double u[restrict n])
{
#pragma scop
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n; i++)
    u[i] = 0.5 * (u[i] + u[i - 1]);
  for (int i = n - 2; i >= 0; i--)
    u[i] = 0.5 * (u[i] + u[i + 1]);
}
#pragma endscop
}
"""


def _region(directory: Path, text: str, options: KernelOptions | None = None) -> RegionUnit:
    unit: GeneratedUnit = generated(directory, text, options or KernelOptions())
    (region,) = unit.regions
    return region


def test_a_sequential_nest_is_run_in_wavefronts_of_tiles(tmp_path: Path) -> None:
    region = _region(tmp_path, RELAX)
    (kernel,) = region.report["kernels"]
    rows, columns = region.report["wavefront_tile"]
    assert (kernel["host_loops"], kernel["mapped_loops"], kernel["tile"]) == (1, 1, [1])
    (buffer,) = kernel["buffers"]
    assert buffer["shape"] == [rows + 2, columns + 2]
    assert region.exact_order


def test_the_loop_over_time_is_tiled_as_well(tmp_path: Path) -> None:
    """Two loops over tiles are left for the grid of threads; one tile's rows go back one by one."""
    region = _region(tmp_path, SEIDEL)
    (kernel,) = region.report["kernels"]
    assert region.report["wavefront_tile"][0] > 1
    assert (kernel["host_loops"], kernel["mapped_loops"]) == (1, 2)
    assert [buffer["store"] for buffer in kernel["buffers"]] == ["rows"]
    assert kernel["main_memory"] == []


def test_points_of_a_diagonal_are_computed_side_by_side(tmp_path: Path) -> None:
    (kernel,) = _region(tmp_path, SEIDEL).report["kernels"]
    (tile,) = kernel["register_tiles"]
    assert [jammed.split()[0] for jammed in tile["jammed"]] == ["8"]


@pytest.mark.parametrize(("machine", "vector"), [("sw26010", "doublev4"), ("sw26010-pro", "doublev8")])
def test_points_of_a_diagonal_are_divided_in_vectors(tmp_path: Path, machine: str, vector: str) -> None:
    unit = generated(tmp_path, SEIDEL, KernelOptions(machine=machine))
    assert unit.slave is not None
    body = unit.slave.text
    lanes = int(vector.removeprefix("doublev"))
    assert body.count(f"{vector} quotients_") == 8 // lanes
    assert [body.count(f"= simd_vextf{lane}(quotients_") for lane in range(lanes)] == [8 // lanes] * lanes
    assert body.count(" / 5.0") == 1  # of points that are left over


#: What a point is divided by: the same everywhere, or a number of its own.
DIVISORS = {"(1.0 + c)": "double", "w[i][j]": "double", "3.0f": "float", "(w[i][j] - 0.5f)": "float"}


@pytest.mark.parametrize(("divisor", "machine"), in_turn([*DIVISORS], MACHINES))
def test_quotients_are_those_of_the_serial_loop(tmp_path: Path, divisor: str, machine: str) -> None:
    element = DIVISORS[divisor]
    text = SEIDEL.replace("int n, double", f"int n, {element} c, {element} w[restrict n][n], {element}")
    path = tmp_path / "quotients.c"
    path.write_text(text.replace("5.0", divisor), encoding="utf-8")
    options = KernelOptions(machine=machine, where=Where.CPES)
    check = RegionCheck(({"n": 40, "steps": 3}, {"n": 83, "steps": 7}))
    task = SourceTask(path, options={"f": options}, default_check=check)
    (result,) = check_source(task, CheckSettings(modes=("checked",)), tmp_path, shared_objects())
    assert result.outcome is Outcome.PASS, result.message
    (slave,) = tmp_path.rglob("quotients.slave.c")
    assert "quotients_" in slave.read_text()


#: Tiles of all loops, those over time, rows and columns.
DEEP = [(2, 4, 8), (3, 5, 7), (4, 8, 16), (8, 8, 32), (5, 16, 64)]


@pytest.mark.parametrize(("tile", "machine"), in_turn(DEEP, MACHINES))
def test_tiles_over_time_give_the_serial_results(tmp_path: Path, tile: tuple[int, ...], machine: str) -> None:
    path = tmp_path / "seidel.c"
    path.write_text(SEIDEL, encoding="utf-8")
    sizes = [(1, 40), (2, 3), (5, 4), (13, 17), (7, 67), (40, 11), (0, 9)]
    options = KernelOptions(machine=machine, where=Where.CPES, tile=tile)
    check = RegionCheck(tuple({"steps": steps, "n": n} for steps, n in sizes))
    task = SourceTask(path, options={"f": options}, default_check=check)
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_points_of_a_diagonal_give_the_serial_results(tmp_path: Path, machine: str) -> None:
    tasks = []
    options = KernelOptions(machine=machine, where=Where.CPES)
    for name, text, steps in (("relax", RELAX, {}), ("seidel", SEIDEL, {"steps": 3})):
        path = tmp_path / f"{name}.c"
        path.write_text(text, encoding="utf-8")
        sizes = RegionCheck(tuple({"n": n, **steps} for n in (1, 3, 4, 53, 131)))
        tasks.append(SourceTask(path, options={"f": options}, default_check=sizes))
    for result in check_sources(tasks, CheckSettings(modes=("checked",), jobs=1)):
        assert result.outcome is Outcome.PASS, result.message


@pytest.mark.parametrize("extent", [20, 40, 120, 400])
def test_arrays_of_about_a_tile_do_not_multiply_the_cases(extent: int, tmp_path: Path) -> None:
    text = SEIDEL.replace("u[restrict n][n]", f"u[restrict {extent}][{extent}]")
    unit = generated(tmp_path, text, KernelOptions())
    assert len(unit.regions[0].report["wavefront_tile"]) == 3
    assert unit.slave is not None
    assert len(unit.slave.text) < 20_000


def test_tiles_shrink_until_they_fit_the_ldm(tmp_path: Path) -> None:
    region = _region(tmp_path, RELAX, KernelOptions(ldm_budget=1000))
    (kernel,) = region.report["kernels"]
    rows, columns = region.report["wavefront_tile"]
    assert kernel["ldm_bytes"] == 8 * (rows + 2) * (columns + 2) <= 1000


def test_a_tile_of_the_users_is_taken_or_refused(tmp_path: Path) -> None:
    region = _region(tmp_path, RELAX, KernelOptions(tile=(5, 70)))
    assert region.report["wavefront_tile"] == [5, 70]
    assert [buffer["shape"] for buffer in region.report["kernels"][0]["buffers"]] == [[7, 72]]
    with pytest.raises(SwbuildError) as caught:
        _region(tmp_path, RELAX, KernelOptions(tile=(500, 500)))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["SW302"]


def test_a_nest_beside_parallel_loops_gets_its_wavefronts(tmp_path: Path) -> None:
    region = _region(tmp_path, ALIGNMENT)
    assert region.report["host_statements"] == []
    assert len(region.report["wavefront_tile"]) == 2


def test_tiles_in_wavefronts_take_less_than_diagonals_of_iterations(tmp_path: Path) -> None:
    region = _region(tmp_path, SUBSEQUENCE, KernelOptions(where=Where.AUTO))
    assert len(region.report["wavefront_tile"]) == 2
    assert region.report["where"]["cpes_cycles"] < region.report["where"]["host_cycles"] / 2


@pytest.mark.parametrize("machine", MACHINES)
def test_edges_and_what_is_between_give_the_serial_results(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "subsequence.c"
    path.write_text(SUBSEQUENCE, encoding="utf-8")
    sizes = RegionCheck(({"n": 1, "m": 1}, {"n": 4, "m": 400}, {"n": 67, "m": 130}))
    task = SourceTask(
        path, options={"f": KernelOptions(machine=machine, where=Where.CPES)}, default_check=sizes
    )
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message


NESTS = {"relax": RELAX, "seidel": SEIDEL, "alignment": ALIGNMENT}


@pytest.mark.parametrize(("name", "machine"), in_turn([*NESTS], MACHINES))
def test_tiles_are_of_the_shape_that_takes_least(machine: str, name: str, tmp_path: Path) -> None:
    """No shape beside the one that is chosen is estimated to take less, nor is a square."""
    options = KernelOptions(machine=machine, where=Where.AUTO, typical={"n": 800, "m": 800, "steps": 10})

    def cycles(tile: tuple[int, ...]) -> float:
        unit = generated(tmp_path, NESTS[name], replace(options, tile=tile))
        return float(unit.regions[0].report["where"]["cpes_cycles"])

    chosen = generated(tmp_path, NESTS[name], options).regions[0].report
    *outer, others, innermost = chosen["wavefront_tile"]
    beside = [(others, 2 * innermost), (2 * others, innermost), (others, innermost // 2), (32, 32), (8, 8)]
    shapes = [(*outer, *shape) for shape in beside]
    shapes += [(time, others, innermost) for each in outer for time in (1, each // 2, 2 * each)]
    least = chosen["where"]["cpes_cycles"]
    assert {shape: cycles(shape) for shape in shapes if cycles(shape) < least} == {}


def test_classic_leaves_such_a_nest_on_the_host(tmp_path: Path) -> None:
    region = _region(tmp_path, RELAX, KernelOptions(preset=Preset.CLASSIC))
    assert region.kernels == ()
    assert region.report["wavefront_tile"] == []


def test_sweeps_in_turns_have_no_wavefront(tmp_path: Path) -> None:
    region = _region(tmp_path, BACK_AND_FORTH)
    assert region.kernels == ()
    assert {loop["loop"]: loop["parallel"] for loop in region.report["loops"]} == {"t": False, "i": False}


def test_the_code_for_four_loops_stays_small(tmp_path: Path) -> None:
    """Launches and bounds of such a nest can be written exactly in pages of cases only: they are not."""
    text = """void f(int steps, int n, double u[restrict n][n][n])
{
#pragma scop
for (int t = 0; t < steps; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        u[i][j][k] = 0.2 * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j][k + 1]);
#pragma endscop
}
"""
    unit = generated(tmp_path, text, KernelOptions())
    assert unit.regions[0].report["wavefront_tile"][0] == 1
    assert unit.slave is not None
    assert len(unit.slave.text) < 20_000
    assert len(unit.host.text) < 10_000


@pytest.mark.parametrize("tile", [(1, 1), (2, 2), (3, 3), (8, 8), (2, 5), (3, 1)])
@pytest.mark.parametrize("size", [1, 4, 7])
def test_every_dependence_is_kept_by_the_fronts_alone_or_within_a_tile(
    size: int, tile: tuple[int, int]
) -> None:
    """By enumeration: for ``(1, 0), (0, 1), (2, 1)`` on a square of every size, no pair is turned round."""
    domain = isl.UnionSet(f"{{ S[i, j] : 0 <= i < {size} and 0 <= j < {size} }}")
    pairs = isl.UnionMap("{ S[i, j] -> S[i + 1, j]; S[i, j] -> S[i, j + 1]; S[i, j] -> S[i + 2, j + 1] }")
    pairs = pairs.intersect_domain(domain).intersect_range(domain)
    band = isl.MultiUnionPwAff("[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]")
    schedule = isl.Schedule.from_domain(domain).insert_partial_schedule(band)
    schedule = schedule.get_root().child(0).band_set_permutable(1).get_schedule()
    assert front_depth(schedule) == 2
    fronts = wavefronts(schedule, tile)
    order = fronts.get_map()
    assert pairs.is_subset(order.lex_lt_union_map(order))
    tiles = fronts.get_root().child(0).child(0).child(0)
    assert tiles.band_member_get_coincident(0)
    before = tiles.get_prefix_schedule_union_map()
    number = tiles.band_get_partial_schedule_union_map()
    same_front = pairs.intersect(before.apply_range(before.reverse()))
    assert same_front.is_subset(number.apply_range(number.reverse()))
