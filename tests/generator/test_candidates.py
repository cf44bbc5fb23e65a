"""The choice of threads and tiles by cost: the numbers it rests on, and what comes out."""

from __future__ import annotations

from math import prod
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from generation import generated, model_of

from swbuild.attempt import RegionResult, Tried
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.codegen.unit import RegionUnit
from swbuild.compilation import compile_regions
from swbuild.diagnostics import SwbuildError
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.frontend.scop import Scop
from swbuild.generate import GeneratedUnit, generate_unit
from swbuild.machine import MachineModel, load, machine_names
from swbuild.mapping.busy import busy_cpes
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory import box
from swbuild.memory.budget import Option, within
from swbuild.memory.plan import Overflow
from swbuild.options import KernelOptions, Preset, Share, Where
from swbuild.planning import candidates, estimates, placing
from swbuild.planning.candidates import Dear, Estimate, Terms, estimate
from swbuild.planning.search import Ranking, Reason, ranked, sizes_of
from swbuild.planning.shape import Family, KernelShape, Loop, Place, Subscript, Work, joint_share
from swbuild.planning.shaping import shape_of
from swbuild.planning.tilings import Placed, Tiling
from swbuild.planning.view import Candidate, Views
from swbuild.region import compile_region

MACHINES = machine_names()

EXAMPLES = Path(__file__).parents[2] / "examples" / "polybench"


def region(unit: GeneratedUnit) -> RegionUnit:
    (only,) = unit.regions
    return only


def body(loops: str, signature: str) -> str:
    return f"void f({signature})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"


def test_the_busiest_has_its_rounds() -> None:
    assert Loop(100, 100.0, constant=True).share(tile=10, threads=4) == pytest.approx(0.3)
    assert Loop(96, 96.0, constant=True).share(tile=8, threads=4) == pytest.approx(0.25)
    assert Loop(7, 7.0, constant=True).share(tile=8, threads=4) == 1.0


@pytest.mark.parametrize(("first", "size", "tiles"), [(0, 498, 1), (1, 498, 2), (1, 499, 1), (7, 4, 126)])
def test_tiles_begin_at_multiples_of_their_size(first: int, size: int, tiles: int) -> None:
    loop = Loop(498, 498.0, constant=True, first=first)
    assert loop.tiles(size) == tiles
    assert loop.runs(size) == tiles


def test_sizes_take_as_few_tiles_as_if_the_loop_began_with_one() -> None:
    loop = Loop(498, 498.0, constant=True, first=1)
    assert {499, 250, 167} <= set(sizes_of(loop, 0))


def test_of_an_uneven_loop_the_busiest_has_the_heaviest_tiles() -> None:
    falling = Loop(64, 64.0, constant=True, weights=tuple(float(16 - k) for k in range(16)))
    blocks, cyclic = falling.share(16, 4), falling.share(1, 4)
    assert blocks > 0.4 and cyclic < 0.27


def test_of_an_uncertain_loop_half_a_round_is_lost() -> None:
    loop = Loop(1000, 1000.0, constant=False, certain=False)
    assert loop.share(tile=100, threads=10) == pytest.approx(0.145)
    assert loop.share(tile=800, threads=10) == pytest.approx(0.8)
    rising = Loop(1000, 1000.0, constant=False, certain=False, weights=(1.0, 2.0, 3.0))
    assert rising.share(tile=100, threads=10) == pytest.approx(0.1 + 1.5 * 0.045)


def test_of_loops_that_are_shared_together_no_one_has_to_have_many_tiles() -> None:
    short, long = (Loop(n, float(n), constant=True) for n in (3, 1000))
    assert joint_share((short, long), (1, 100), threads=30) == pytest.approx(1 / 30)
    assert joint_share((short, long), (1, 100), threads=64) == pytest.approx(1 / 30)
    assert joint_share((short, long), (1, 125), threads=23) == pytest.approx(2 / 24)
    assert joint_share((short, short), (8, 8), threads=64) == 1.0


def test_of_uneven_or_uncertain_loops_that_are_shared_together_half_a_tile_is_lost() -> None:
    loop = Loop(1000, 1000.0, constant=False, certain=False)
    assert joint_share((loop, loop), (100, 50), threads=50) == pytest.approx(0.02 + 0.5 * 0.98 / 200)
    row = Loop(1000, 1000.0, constant=True, weights=(1.0, 2.0, 3.0))
    part = Loop(1000, 500.0, constant=True, weights=(3.0, 2.0, 1.0))
    triangle = joint_share((row, part), (50, 50), threads=50)
    assert triangle == pytest.approx(0.02 + 0.5 * 0.98 * 0.05 * 0.1)
    assert triangle < row.share(50, 10) * part.share(50, 5)


@pytest.mark.parametrize(("joint", "penalty"), [(False, 4.0 * 16.0), (True, 1.0)])
def test_loops_that_nothing_limits_may_be_short(joint: bool, penalty: float) -> None:
    shape = product(1024)
    view = Views(shape, load(MACHINES[0])).of(Candidate((64, 1) if joint else (16, 4), (8, 8, 8), joint))
    assert view.dealing.risk == pytest.approx(penalty**0.05)


def test_the_buffer_that_loses_least_moves_inwards() -> None:
    costly = [Option(100, 0.0), Option(10, 900.0)]
    cheap = [Option(100, 0.0), Option(20, 40.0)]
    assert within([costly, cheap], 200) == (0, 0)
    assert within([costly, cheap], 150) == (0, 1)
    assert within([costly, cheap], 30) == (1, 1)
    assert within([costly, cheap], 29) is None


def test_a_visit_moves_what_one_run_of_the_loops_inside_it_takes() -> None:
    """Rows of a triangle: the buffer has room for the longest, half of it is moved on average."""
    row = (Subscript(((0, 1),), 0, 0, 0), Subscript(((1, 1),), 0, 0, 0))
    family = Family("a", 8, (100, 100), row, True, False, (0,), 5050.0, frozenset())
    place = Place(0, frozenset({0}), frozenset(), frozenset({"S0"}))
    loops = (Loop(100, 100.0, constant=True), Loop(100, 50.5, constant=True))
    shape = KernelShape(1, loops, (place,), (family,), (), 1.0, 0.0)
    buffer = Views(shape, load(MACHINES[0])).of(Candidate((4,), (10, 100))).options[0][0]
    assert buffer.bytes == 10 * 100 * 8
    assert [each.shape.row_bytes for each in buffer.moved] == [50 * 8]


@pytest.mark.parametrize(("dimension", "rows", "row"), [(0, 1, 100), (1, 10, 1)])
def test_what_a_recurrence_reads_of_the_values_from_before_is_got_alone(
    dimension: int, rows: int, row: int
) -> None:
    """Of a box of 10 or 11 rows of 101 or 100 elements, one row or one column; all of it is put."""
    width = (1, 0) if dimension == 0 else (0, 1)
    place = Place(0, frozenset({0}), frozenset(), frozenset({"S0"}))
    loops = (Loop(100, 100.0, constant=True), Loop(100, 100.0, constant=True))

    def moved(recurs: tuple[int, int] | None) -> list[tuple[bool, float, int, int]]:
        subscripts = tuple(Subscript(((k, 1),), -width[k], width[k], 0) for k in range(2))
        family = Family("a", 8, (200, 200), subscripts, True, True, (0,), 1e4, frozenset(), recurs=recurs)
        shape = KernelShape(1, loops, (place,), (family,), (), 1.0, 0.0)
        (buffer,) = Views(shape, load(MACHINES[0])).of(Candidate((4,), (10, 100))).options[0]
        return [(m.is_put, m.operations, m.shape.rows, m.shape.row_bytes) for m in buffer.moved]

    whole = [(put, 1.0, 10 + width[0], 8 * (100 + width[1])) for put in (False, True)]
    assert moved(None) == whole
    assert moved((dimension, 1)) == [(False, float(rows), 1, 8 * row), whole[1]]


def test_a_stream_is_cut_into_long_tiles_for_all_threads() -> None:
    """One loop over 2²⁰ doubles of two arrays."""
    machine = load(MACHINES[0])
    along = (Subscript(((0, 1),), 0, 0, 0),)
    families = tuple(
        Family(name, 8, (1 << 20,), along, name == "x", name == "y", (0,), 1e6, frozenset()) for name in "xy"
    )
    place = Place(0, frozenset({0}), frozenset(), frozenset({"S0"}))
    loop = Loop(1 << 20, float(1 << 20), constant=False)
    shape = KernelShape(1, (loop,), (place,), families, (Work("S0", 1e6, 10.0, (0,)),), 1.0, 0.0)
    best, *_ = ranked([Views(shape, machine)], [(machine.cpes,)], Terms(machine.ldm_budget)).best
    (tile,) = best.candidate.tile
    assert loop.share(tile, machine.cpes) <= 1.05 / machine.cpes
    assert tile >= 1000 and best.bytes == 2 * 8 * tile <= machine.ldm_budget


def product(n: int) -> KernelShape:
    """C[i][j] += A[i][k] * B[k][j] for three loops over n."""
    subscripts = {"C": (0, 1), "A": (0, 2), "B": (2, 1)}
    families = tuple(
        Family(
            name,
            8,
            (n, n),
            tuple(Subscript(((k, 1),), 0, 0, 0) for k in pair),
            True,
            name == "C",
            (0,) if name == "C" else (1,),
            float(n**3),
            frozenset(),
        )
        for name, pair in subscripts.items()
    )
    places = (
        Place(0, frozenset({0, 1}), frozenset(), frozenset({"S0"})),
        Place(1, frozenset({0, 1, 2}), frozenset(), frozenset({"S0"})),
    )
    loop = Loop(n, float(n), constant=False, certain=False)
    works = (Work("S0", float(n**3), 4.0, (0, 2, 1)),)
    return KernelShape(2, (loop, loop, loop), places, families, works, 1.0, 0.0)


def _of(shape: KernelShape, candidate: Candidate, machine: MachineModel) -> float:
    found = estimate([Views(shape, machine)], candidate, Terms(machine.ldm_budget))
    assert isinstance(found, Estimate)
    return found.total


@pytest.mark.parametrize("name", MACHINES)
def test_tiles_that_are_chosen_for_several_sizes_lose_little_at_each(name: str) -> None:
    """Those that are best at a small size lose more at a large one, and the other way round."""
    machine = load(name)
    grids, shapes = machine.thread_shapes, [product(n) for n in (123, 373, 1131)]
    kernel, terms = [Views(shape, machine) for shape in shapes], Terms(machine.ldm_budget)
    chosen = ranked(kernel, grids, terms).best[0].candidate
    own = [ranked([views], grids, terms).best[0] for views in kernel]
    losses = [_of(s, chosen, machine) / best.total for s, best in zip(shapes, own, strict=True)]
    of_small = [_of(s, own[0].candidate, machine) / best.total for s, best in zip(shapes, own, strict=True)]
    assert max(losses) < 1.25
    assert prod(losses) < prod(of_small) and max(losses) < max(of_small)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("hands_on", [False, True])
def test_candidates_that_are_left_out_would_change_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, hands_on: bool
) -> None:
    """Of those that cost too much whatever their buffers are, no more is found out."""
    machine, priced = load(name), []
    launches = candidates.launch_cycles
    monkeypatch.setattr(candidates, "launch_cycles", lambda *g: priced.append(g) or launches(*g))

    def found() -> tuple[Ranking, int]:
        priced.clear()
        kernel, terms = (
            [Views(product(n), machine) for n in (123, 373)],
            Terms(machine.ldm_budget, (), hands_on),
        )
        return ranked(kernel, machine.thread_shapes, terms, joint=machine.cpes), len(priced)

    few, less = found()
    monkeypatch.setattr(Dear, "exceeds", lambda *_: False)
    every, more = found()
    assert few == every and less < more


def test_the_mean_of_several_sizes_is_that_of_ratios() -> None:
    machine = load(MACHINES[0])
    shapes, candidate = [product(n) for n in (100, 400)], Candidate((8, 8), (8, 16, 16))
    single = [_of(shape, candidate, machine) for shape in shapes]
    kernel = [Views(shape, machine) for shape in shapes]
    found = estimate(kernel, candidate, Terms(machine.ldm_budget))
    assert isinstance(found, Estimate) and found.total == pytest.approx(geometric_mean(single))


def shape_at(tmp_path: Path, text: str, size: int) -> KernelShape:
    """Return the numbers of the only kernel of ``text``, whose parameter has the value ``size``."""
    (scop,) = model_of(tmp_path, text).scops
    options = KernelOptions(machine=MACHINES[0], where=Where.CPES)
    found = compile_region(scop, options, lambda _: None)
    (placed,) = found.placed
    sizes = {parameter.name: size for parameter in scop.parameters}
    names = found.order.scheduled.private.names
    return shape_of(scop, placed.tiled, names, sizes, options, {})


def test_runs_of_a_loop_are_counted_in_the_order_of_the_kernel(tmp_path: Path) -> None:
    """Rows of C are shared out: the loop over i, the outermost of the source, is the shorter the later."""
    loops = (
        "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    for (int k = 0; k < i; k++)\n"
        "      C[k][j] += B[i][j] * A[i][k];"
    )
    arrays = ", ".join(f"double {name}[restrict n][n]" for name in "ABC")
    shape = shape_at(tmp_path, body(loops, f"int n, {arrays}"), 600)
    assert shape.loops[2].trips == pytest.approx(300, rel=0.05)


def test_a_diagonal_that_the_host_counts_fixes_what_rows_are_accessed(tmp_path: Path) -> None:
    loops = (
        "for (int i = n - 1; i >= 0; i--)\n  for (int j = i + 1; j < n; j++)\n"
        "    for (int k = i + 1; k < j; k++)\n      a[i][j] += a[i][k] + a[k + 1][j];"
    )
    shape = shape_at(tmp_path, body(loops, "int n, int a[restrict n][n]"), 600)
    subscripts = [subscript for family in shape.families for subscript in family.subscripts]
    assert subscripts and all(subscript.free is not None for subscript in subscripts)


STENCIL = body(
    "for (int i = 1; i < 127; i++)\n  for (int j = 1; j < 127; j++)\n    for (int k = 1; k < 127; k++)\n"
    "      b[i][j][k] = a[i][j][k] + a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k]"
    " + a[i][j][k-1] + a[i][j][k+1];",
    "float a[restrict 128][128][128], float b[restrict 128][128][128]",
)
SMALL = body(
    "for (int i = 0; i < 24; i++)\n  for (int j = 0; j < 24; j++)\n    for (int k = 0; k < 2000; k++)\n"
    "      c[i][j] += a[i][k] * b[j][k];",
    "double a[restrict 24][2000], double b[restrict 24][2000], double c[restrict 24][24]",
)
DEEP = body(
    "for (int i = 0; i < 24; i++)\n for (int j = 0; j < 24; j++)\n  for (int k = 0; k < 24; k++)\n"
    "   for (int l = 0; l < 24; l++)\n    for (int p = 0; p < 24; p++)\n     for (int q = 0; q < 24; q++)\n"
    "      c[i][j][k][l] += a[i][p][j][q] * b[k][q][l][p];",
    ", ".join(f"double {name}[restrict 24][24][24][24]" for name in "abc"),
)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("text", [STENCIL, DEEP])
def test_all_cpes_have_work_and_the_ldm_is_used(text: str, machine: str, tmp_path: Path) -> None:
    made = region(generated(tmp_path, text, KernelOptions(machine=machine)))
    (kernel,), (grid,) = made.report["kernels"], made.grids
    busy = busy_cpes(grid, {})
    assert busy is not None and busy.cpes >= 36 and not kernel["main_memory"]
    assert kernel["ldm_bytes"] > load(machine).ldm_budget / 4


@pytest.mark.parametrize("machine", MACHINES)
def test_fewer_cpes_have_work_where_transfers_count(machine: str, tmp_path: Path) -> None:
    """With 36 tiles of 4 x 4, rows come into the LDM 12 times: that takes half as long again."""
    options = KernelOptions(machine=machine, share=Share.NEVER)
    (grid,) = region(generated(tmp_path, SMALL, options)).grids
    busy = busy_cpes(grid, {})
    assert busy is not None and busy.cpes <= 24


def test_more_cpes_have_work_where_rows_come_once_for_a_row_of_the_mesh(tmp_path: Path) -> None:
    (grid,) = region(generated(tmp_path, SMALL, KernelOptions(machine="sw26010"))).grids
    busy = busy_cpes(grid, {})
    assert busy is not None and busy.cpes > 24


@pytest.mark.parametrize("machine", MACHINES)
def test_rows_are_whole_requests(machine: str, tmp_path: Path) -> None:
    loops = (
        "for (int i = 0; i < 1024; i++)\n  for (int j = 0; j < 2048; j++)\n    c[i][j] = a[i][j] + b[j][i];"
    )
    signature = "double a[restrict 1024][2048], double b[restrict 2048][1024], double c[restrict 1024][2048]"
    (kernel,) = region(generated(tmp_path, body(loops, signature), KernelOptions(machine=machine))).report[
        "kernels"
    ]
    for buffer in kernel["buffers"]:
        assert buffer["shape"][-1] * 8 % load(machine).dma.request_bytes == 0


def test_a_level_inside_the_iterations_of_a_tile_is_visited_for_each() -> None:
    """The same array at the level of its tile, and in each of its iterations."""
    machine = load(MACHINES[0])
    along = (Subscript(((0, 1),), 0, 0, 0),)
    loop = Loop(1024, 1024.0, constant=True)
    for fixed, bytes_ in ((frozenset[int](), 8 * 16), (frozenset({0}), 8)):
        place = Place(0, frozenset({0}), fixed, frozenset({"S0"}))
        family = Family("x", 8, (1024,), along, True, False, (0,), 1e6, frozenset())
        shape = KernelShape(1, (loop,), (place,), (family,), (Work("S0", 1e6, 10.0, (0,)),), 1.0, 0.0)
        view = Views(shape, machine).of(Candidate((64,), (16,)))
        ((buffer,),) = view.options
        assert buffer.bytes == bytes_
        assert view.visits(0) * bytes_ == pytest.approx(1024 / 64 * 8)


def test_a_single_cpe_has_a_single_tile_where_that_fits(tmp_path: Path) -> None:
    text = (EXAMPLES / "cholesky.c").read_text(encoding="utf-8")
    for budget, is_whole in ((None, True), (6000, False)):
        options = KernelOptions(machine="sw26010-pro", where=Where.CPES, ldm_budget=budget)
        kernels: Any = region(generated(tmp_path, text, options)).report["kernels"]
        (alone,) = (found for found in kernels if found["name"].startswith("cholesky_single"))
        assert (alone["tile"] == [32, 32, 32]) is is_whole, alone["choice"]
        assert (alone["choice"]["because"] == Reason.WHOLE.value) is is_whole


def test_the_search_does_not_end_where_only_two_tiles_at_once_could_change() -> None:
    sizes = {"ni": 1000, "nj": 1100, "nk": 1200}
    request = RegionRequest("gemm", function="gemm", params=sizes)
    model = read_source(EXAMPLES / "gemm.c", CppOptions(), (request,))

    def cycles(tile: tuple[int, ...]) -> float:
        options = KernelOptions(machine="sw26010", params=sizes, tile=tile, where=Where.AUTO)
        return float(region(generate_unit(model, {"gemm": options})).report["where"]["cpes_cycles"])

    tiles = [(64, 32, 24), (32, 48, 24), (32, 48, 32), (16, 48, 32)]
    assert cycles(()) <= 1.03 * min(map(cycles, tiles))


def test_what_costs_far_more_once_it_is_placed_gives_way_to_the_next() -> None:
    sizes = {"nr": 150, "nq": 140, "np": 160}
    options = KernelOptions(machine="sw26010", params=sizes)
    request = RegionRequest("doitgen", function="doitgen", params=sizes)
    model = read_source(EXAMPLES / "doitgen.c", CppOptions(), (request,))
    (result,) = (each.result for each in compile_regions(model, {"doitgen": options}))
    assert isinstance(result, RegionResult)
    place = next(each for each in result.placed if each.among is not None)
    mapping, best = place.tiled.mapping, place.among.best if place.among else ()
    chosen = Candidate(mapping.threads, mapping.tile, mapping.is_joint)
    (cost,) = (e.total for e in best if e.candidate == chosen)
    scop, private = result.assembled.code.scop, result.order.scheduled.private
    found = estimates.estimate(scop, place, private, sizes, options)
    assert best[0].candidate != chosen  # its tiles were to be handed on, which they have no room for
    assert found.cycles.total < 1.25 * cost


def test_threads_of_the_user_are_kept(tmp_path: Path) -> None:
    (grid,) = region(generated(tmp_path, SMALL, KernelOptions(threads=(2, 8)))).grids
    assert grid.threads == (2, 8)


def test_buffers_that_cannot_all_be_outermost_still_fit(tmp_path: Path) -> None:
    """A star of 25 points with the tiles 4 x 8 x 128: its box alone takes most of the budget."""
    star = " + ".join(
        ["a[i][j][k]"]
        + [f"a[i{d:+d}][j][k] + a[i][j{d:+d}][k] + a[i][j][k{d:+d}]" for d in (-3, -2, -1, 1, 2, 3)]
    )
    text = body(
        "for (int i = 3; i < n - 3; i++)\n  for (int j = 3; j < n - 3; j++)\n"
        f"    for (int k = 3; k < n - 3; k++)\n      b[i][j][k] = w[i][j][k] * ({star});",
        "int n, " + ", ".join(f"float {name}[restrict n][n][n]" for name in "abw"),
    )
    options = KernelOptions(machine=MACHINES[0], tile=(4, 4, 32), ldm_budget=24 * 1024)
    (kernel,) = region(generated(tmp_path, text, options)).report["kernels"]
    assert not kernel["main_memory"] and kernel["ldm_bytes"] <= 24 * 1024


def test_what_does_not_fit_is_listed(tmp_path: Path) -> None:
    text = body(
        "for (int i = 0; i < n; i++)\n  a[i] = b[i + 1];", "int n, double a[restrict n], double b[n + 1]"
    )
    with pytest.raises(SwbuildError) as caught:
        generated(tmp_path, text, KernelOptions(machine=MACHINES[0], tile=(100_000,)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SW302"
    assert "a 800000 bytes at level 0, b 800000 bytes at level 0" in diagnostic.message


RIGHT = """
void f(int n, int m, int k, double C[n][m], double A[n][k], double B[k][m], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = 2 * x[i];
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        y[i] = t + 1;
    }
    for (int i = 1; i < n - 1; i++)
        x[i] = y[i - 1] + y[i + 1];
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_chosen_tiles_are_right_at_all_sizes(machine: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(RIGHT)
    sizes = ({"n": 1, "m": 1, "k": 1}, {"n": 7, "m": 3, "k": 131}, {"n": 211, "m": 67, "k": 5})
    task = SourceTask(source, options={"f": KernelOptions(machine=machine)}, checks={"f": RegionCheck(sizes)})
    (result,) = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert result.outcome is Outcome.PASS and result.kernels, explain(result)


def test_extents_of_arrays_bound_what_a_tile_touches(tmp_path: Path) -> None:
    """Sizes are only known at run time, but those of the arrays are: a whole row of them fits."""
    loops = (
        "for (int i = 0; i < n; i++) {\n  for (int p = 0; p < m; p++) {\n    sum[p] = 0;\n"
        "    for (int s = 0; s < m; s++)\n      sum[p] += a[i][s] * c[s][p];\n  }\n"
        "  for (int p = 0; p < m; p++)\n    a[i][p] = sum[p];\n}"
    )
    text = body(
        loops, "int n, int m, double a[restrict 900][160], double c[restrict 160][160], double sum[160]"
    )
    options = KernelOptions(machine=MACHINES[0], share=Share.NEVER)
    (kernel,) = region(generated(tmp_path, text, options)).report["kernels"]
    (rows,) = [buffer for buffer in kernel["buffers"] if buffer["array"] == "a"]
    assert rows["level"] == 0 and rows["shape"][-1] == 160


#: A nest in which every tile reads from far more than it writes: few tiles fit.
REACHING = body(
    "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n"
    "    b[i][j] += a[i][0] * a[5 * j][7 * i] + a[9 * i][20 * j];",
    "int n, double a[restrict 3000][3000], double b[restrict n][n]",
)


def tilings_of(text: str, tmp_path: Path, preset: Preset = Preset.DEFAULT) -> list[Tiling]:
    """Return what is tried for the only region of ``text``."""
    source = tmp_path / "f.c"
    source.write_text(text)
    (scop,) = read_source(source, CppOptions(), None).scops
    tried: list[Tried] = []
    compile_region(scop, KernelOptions(preset=preset), tried.append)
    return [each for each in tried if isinstance(each, Tiling)]


def test_no_tiling_is_tried_twice(tmp_path: Path) -> None:
    tried = tilings_of(REACHING, tmp_path, Preset.CLASSIC)
    mappings = [tiling.mapping for tiling in tried]
    assert len(mappings) > 2 and len(mappings) == len(set(mappings))


def test_the_first_tiling_that_costs_least_fits(tmp_path: Path) -> None:
    """What a candidate is estimated to cost counts no buffer out that it has to have."""
    (tiling,) = tilings_of(REACHING, tmp_path)
    assert isinstance(tiling.outcome, Placed) and not tiling.outcome.plan.direct


def test_ends_of_boxes_are_found_for_tilings_that_fit_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They take isl much longer than whether the boxes fit."""
    asked: list[object] = []
    ends = box._ends
    monkeypatch.setattr(box, "_ends", lambda footprint: asked.append(footprint) or ends(footprint))
    *given_up, last = tilings_of(REACHING, tmp_path, Preset.CLASSIC)
    assert all(isinstance(tiling.outcome, Overflow) for tiling in given_up)
    assert given_up and isinstance(last.outcome, Placed)
    assert 0 < len(asked) <= 2 * len(last.outcome.plan.buffers)


def test_a_box_without_ends_has_no_buffer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever isl finds them too hard for; the search goes on as if it had no bound."""
    monkeypatch.setattr(box, "_ends", lambda _: None)
    *_, last = tilings_of(STENCIL, tmp_path)
    assert isinstance(last.outcome, Placed)
    assert not last.outcome.plan.buffers and last.outcome.plan.direct


#: A nest with reads of what other tiles write, for which loops in steps of 1 are looked at, too.
SCATTERED = body(
    "for (int t = 0; t < 3; t++)\n  for (int i = 0; i < m; i++)\n    for (int j = 0; j <= i; j++)\n"
    "      for (int k = 1; k < n - 1; k++)\n        if (k % 4 == 0)\n"
    "          A[k][i] += A[n - 1 - k][j] * A[k][i];",
    "int n, int m, double A[n][m]",
)


def test_numbers_of_an_order_are_taken_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However many searches look for tiles in that order."""
    asked: list[tuple[Kernel, object, object]] = []
    searches: list[object] = []
    taken = placing.shape_of

    def shape(scop: Scop, tiled: TiledKernel, *rest: Any) -> KernelShape:
        asked.append((tiled.kernel, tiled.mapping, rest[1]))
        return taken(scop, tiled, *rest)

    monkeypatch.setattr(placing, "shape_of", shape)
    monkeypatch.setattr(placing, "ranked", lambda *given: searches.append(given) or ranked(*given))
    tilings_of(SCATTERED, tmp_path)
    orders = {(id(kernel), mapping) for kernel, mapping, _ in asked}
    assert len(searches) > len(orders)
    assert len(asked) == len({(id(kernel), mapping, str(sizes)) for kernel, mapping, sizes in asked})
