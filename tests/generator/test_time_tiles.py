"""Sweeps that a loop over time repeats run in tiles over several steps where that takes less time."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, generated, unit_of
from turns import MACHINES, dealt, in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.islnumbers import int_of
from swbuild.mapping.diamonds import in_diamonds, sweeps_of
from swbuild.memory.box import bounding_box, loose_box
from swbuild.options import Distribution, KernelOptions, Preset, Spawn, Where

LINE = "int steps, int n, double a[restrict n], double b[restrict n]"

#: programs of the examples
STENCILS = ("jacobi-1d", "jacobi-2d", "fdtd-2d")

SWEEPS = {
    "far": """
  for (int i = 2; i < n - 2; i++) b[i] = 0.2 * (a[i - 2] + a[i - 1] + a[i] + a[i + 1] + a[i + 2]);
  for (int i = 2; i < n - 2; i++) a[i] = b[i];""",
    "oneway": """
  for (int i = 1; i < n; i++) b[i] = 0.5 * (a[i - 1] + a[i]);
  for (int i = 1; i < n; i++) a[i] = b[i] * 0.9;""",
    "shorter": """
  for (int i = 1; i < n - 1; i++) b[i] = 0.3 * (a[i - 1] + a[i + 1]);
  for (int i = 3; i < n - 5; i++) a[i] = b[i - 1] + 0.5 * b[i];""",
    "ends": """
  a[0] = 0.5 * t;
  a[n - 1] = 1.0 / (t + 1);
  for (int i = 1; i < n - 1; i++) b[i] = 0.3 * (a[i - 1] + a[i] + a[i + 1]);
  for (int i = 1; i < n - 1; i++) a[i] = b[i];""",
}

#: a sweep of a plane, beside something else in a step
_SWEEP = """
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)
    v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) u[i][j] = v[i][j];"""

#: in a plane: two fields whose sweeps do not depend on each other, staggered grids of different sizes, of
#: which isl's scheduler orders the loops in different ways, and a first row that is set in every step
PLANES = {
    "fields": (
        "double u[restrict n][m], double v[restrict n][m], double w[restrict n][m], double x[restrict n][m]",
        """
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)
    w[i][j] = u[i][j] + 0.1 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) - v[i][j] * u[i][j];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)
    x[i][j] = v[i][j] + 0.05 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]) + v[i][j] * u[i][j];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) u[i][j] = w[i][j];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) v[i][j] = x[i][j];""",
    ),
    "staggered": (
        "double ex[restrict n][m], double ey[restrict n][m], double hz[restrict n][m]",
        """
  for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
  for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
  for (int i = 0; i < n - 1; i++) for (int j = 0; j < m - 1; j++)
    hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);""",
    ),
    "inflow": (
        "double u[restrict n][m], double v[restrict n][m]",
        f"""
  for (int j = 0; j < m; j++) u[0][j] = 0.25 * t + j;{_SWEEP}""",
    ),
}

#: on a line: a loop over time beside other nests, in steps of two, and with a last step of fewer sweeps
_TO_B = "for (int i = 1; i < n - 1; i++) b[i] = 0.3 * (a[i - 1] + a[i] + a[i + 1]);"
_TO_A = "for (int i = 1; i < n - 1; i++) a[i] = 0.3 * (b[i - 1] + b[i] + b[i + 1]);"
LOOPS = {
    "beside": f"""
  for (int i = 0; i < n; i++) b[i] = a[i];
  for (int t = 0; t < steps; t++) {{ {_TO_B} {_TO_A} }}
  for (int i = 0; i < n; i++) b[i] -= a[i];""",
    "by_twos": f"""
  for (int t = 0; t + 1 < steps; t += 2) {{ {_TO_B} {_TO_A} }}
  if (steps % 2 == 1) {{ {_TO_B} }}""",
    "halves": f"""
  for (int t = 0; 2 * t < steps; t++) {{ {_TO_B} if (2 * t + 1 < steps) {_TO_A} }}""",
}

#: edges for which isl would take too long over tiles
_OTHER_EDGES = {
    "last column": "for (int i = 0; i < n; i++) u[i][m - 1] = 0.25 * t + i;",
    "last row": "for (int j = 0; j < m; j++) u[n - 1][j] = 0.25 * t + j;",
    "one point": "u[n / 2][m / 2] = 0.25 * t;",
}


def _plane(name: str) -> str:
    return _of_plane(*PLANES[name])


def _of_plane(line: str, sweeps: str) -> str:
    head = f"void f(int steps, int n, int m, {line})"
    return f"{head}\n{{\n#pragma scop\nfor (int t = 0; t < steps; t++) {{{sweeps}\n}}\n#pragma endscop\n}}\n"


def _region(sweeps: str, head: str = "for (int t = 0; t < steps; t++)") -> str:
    return f"void f({LINE})\n{{\n#pragma scop\n{head} {{{sweeps}\n}}\n#pragma endscop\n}}\n"


def _line(size: int, steps: int, reach: int) -> tuple[isl.Schedule, isl.UnionMap]:
    """Return two sweeps in each of ``steps`` over ``size`` elements, and the pairs that they keep."""
    inside = f"0 <= t < {steps} and 0 <= i < {size}"
    domain = isl.UnionSet(f"{{ S[t, i] : {inside}; R[t, i] : {inside} }}")
    near = f"-{reach} <= k - i <= {reach}"
    pairs = isl.UnionMap(f"{{ S[t, i] -> R[t, k] : {near}; R[t, i] -> S[t + 1, k] : {near} }}")
    pairs = pairs.intersect_domain(domain).intersect_range(domain)
    parts = [
        isl.Schedule.from_domain(isl.UnionSet(f"{{ {name}[t, i] : {inside} }}")).insert_partial_schedule(
            isl.MultiUnionPwAff(f"[{{ {name}[t, i] -> [(i)] }}]")
        )
        for name in "SR"
    ]
    schedule = parts[0].sequence(parts[1])
    time = isl.MultiUnionPwAff("[{ S[t, i] -> [(t)]; R[t, i] -> [(t)] }]")
    schedule = schedule.insert_partial_schedule(time)
    node = schedule.get_root().child(0).child(0)
    for k in range(2):
        band = node.child(k).child(0).band_set_permutable(1).band_member_set_coincident(0, 1)
        node = band.parent().parent()
    return node.get_schedule(), pairs


@pytest.mark.parametrize("reach", [1, 2, 3])
@pytest.mark.parametrize("width", [4, 5, 12])
def test_diamonds_keep_every_dependence_and_those_of_a_front_have_none(reach: int, width: int) -> None:
    schedule, pairs = _line(19, 7, reach)
    sweeps = sweeps_of(schedule, pairs)
    assert sweeps is not None
    assert sweeps.slopes == (reach,)
    found = in_diamonds(sweeps, (width,))
    order = found.get_map()
    assert order.domain().is_equal(schedule.get_domain())
    assert order.is_injective()
    assert pairs.is_subset(order.lex_lt_union_map(order))
    tiles = found.get_root().child(0).child(0).child(0)
    fronts = tiles.get_prefix_schedule_union_map()
    inside = pairs.intersect(fronts.apply_range(fronts.reverse()))
    numbers = isl.UnionMap.from_multi_union_pw_aff(tiles.band_get_partial_schedule())
    assert not inside.is_empty()
    assert inside.is_subset(numbers.apply_range(numbers.reverse()))


def test_what_reaches_too_far_or_everywhere_has_no_sweeps() -> None:
    schedule, pairs = _line(19, 7, 5)
    assert sweeps_of(schedule, pairs) is None


def test_a_loose_box_has_simple_ends_and_stays_inside_what_is_touched() -> None:
    touched = isl.Map(
        """[n, h] -> { [u, d] -> A[x] : u + d = h and exists (t : 0 <= t < n and 0 < x < n - 1 and
        16u - x <= 2t <= 15 + 16u - x and 16d + x <= 2t <= 15 + 16d + x) }"""
    )
    box = loose_box(touched)
    held = box.as_map(touched.get_space())
    assert touched.is_subset(held)
    assert held.range().is_subset(isl.Set("[n, h] -> { A[x] : 0 < x < n - 1 }"))
    assert box.bound == (15,)
    assert [end.n_piece() for end in (*box.low, *box.high)] == [2, 2]


@pytest.mark.parametrize("loose", [(True, True), (True, False), (False, True)])
def test_each_of_two_loose_boxes_counts_in_its_own_visits(loose: tuple[bool, bool]) -> None:
    """The first row is touched in some visits alone: others do not begin with it."""
    here = "[n, h] -> { [r] -> A[x] : 0 <= h < n"
    first = isl.Map(f"{here} and x = 0 and 2r = h }}")
    rows = isl.Map(f"{here} and h <= 2r <= h + 6 and -6 <= x - 12r + 6h <= 6 and 0 < x <= n }}")
    one, other = (
        (loose_box if wide else bounding_box)(touched)
        for wide, touched in zip(loose, (first, rows), strict=True)
    )
    for box in (one.hull(other), other.hull(one)):
        assert box.bound is not None
        assert first.union(rows).is_subset(box.as_map(rows.get_space()))
        (size,) = box.size
        sizes = isl.Map.from_pw_aff(size).intersect_domain(box.visits).range()
        assert int_of(sizes.dim_max_val(0)) <= box.bound[0]
        assert box.low[0].n_piece() <= 3


@pytest.mark.parametrize(("name", "machine"), in_turn(STENCILS, MACHINES))
def test_stencils_run_in_tiles_over_time(name: str, machine: str) -> None:
    (region,) = unit_of(name, KernelOptions(machine=machine)).regions
    (kernel,) = region.report["kernels"]
    assert len(region.report["wavefront_tile"]) == int(name[-2])
    assert region.report["host_statements"] == []
    read_only = {"none"} if name == "fdtd-2d" else set()  # the source
    assert {buffer["store"] for buffer in kernel["buffers"]} == {"box"} | read_only


@pytest.mark.parametrize(("name", "machine"), in_turn([*PLANES], MACHINES))
def test_sweeps_over_several_fields_run_in_tiles_over_time(name: str, machine: str, tmp_path: Path) -> None:
    (region,) = generated(tmp_path, _plane(name), KernelOptions(machine=machine)).regions
    (kernel,) = region.report["kernels"]
    assert len(region.report["wavefront_tile"]) == 2
    # what is last in a tile is the index that is contiguous in memory
    assert all(buffer["shape"][1] > buffer["shape"][0] for buffer in kernel["buffers"])


def _of_loops(name: str) -> str:
    return f"void f({LINE})\n{{\n#pragma scop\n{LOOPS[name]}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("name", LOOPS)
def test_loops_over_time_run_in_tiles_whatever_is_beside_them(name: str, tmp_path: Path) -> None:
    (region,) = generated(tmp_path, _of_loops(name)).regions
    assert len(region.report["wavefront_tile"]) == 1
    kernels = [kernel["statements"] for kernel in region.report["kernels"]]
    assert sum(len(statements) == 2 for statements in kernels) == 1  # both sweeps
    # as many steps fit a diamond as where each has a sweep more
    (usual,) = generated(tmp_path, _region(f"{_TO_B} {_TO_A}")).regions
    assert region.report["wavefront_tile"] == usual.report["wavefront_tile"]


@pytest.mark.parametrize("machine", MACHINES)
def test_loops_over_time_with_nests_beside_them_compute_what_the_source_does(
    machine: str, tmp_path: Path
) -> None:
    sizes = RegionCheck(
        tuple({"n": n, "steps": t} for n, t in ((1, 3), (5, 0), (67, 1), (130, 2), (131, 7), (509, 96)))
    )
    tasks = []
    for name in LOOPS:
        path = tmp_path / f"{name}.c"
        path.write_text(_of_loops(name), encoding="utf-8")
        tasks.append(SourceTask(path, default_options=_options(machine, (64, 1)), default_check=sizes))
    results = check_sources(tasks, CheckSettings(modes=("checked",), jobs=1))
    assert len(results) == len(LOOPS)
    for result in results:
        assert result.outcome is Outcome.PASS, result.message


def test_the_ends_of_a_line_are_set_in_the_tiles_that_have_them(tmp_path: Path) -> None:
    (region,) = generated(tmp_path, _region(SWEEPS["ends"])).regions
    (kernel,) = region.report["kernels"]
    assert len(region.report["wavefront_tile"]) == 1
    assert len(kernel["statements"]) == 4


@pytest.mark.parametrize("edge", _OTHER_EDGES.values(), ids=_OTHER_EDGES.keys())
def test_steps_run_one_by_one_with_other_edges_of_a_plane(edge: str, tmp_path: Path) -> None:
    text = _of_plane(PLANES["inflow"][0], f"\n  {edge}{_SWEEP}")
    (region,) = generated(tmp_path, text).regions
    assert region.report["wavefront_tile"] == []
    assert region.report["host_statements"] == []


def test_sweeps_that_do_not_depend_on_each_other_count_as_one() -> None:
    domain = isl.UnionSet("{ S[t, i] : 0 <= t < 5 and 0 <= i < 9; R[t, i] : 0 <= t < 5 and 0 <= i < 9 }")
    near = isl.UnionMap("{ S[t, i] -> S[t + 1, k] : i - 1 <= k <= i + 1; R[t, i] -> R[t + 1, k] : k = i }")
    schedule, _ = _line(9, 5, 1)
    sweeps = sweeps_of(schedule, near.intersect_domain(domain).intersect_range(domain))
    assert sweeps is not None
    step = isl.UnionMap("{ S[t, i] -> [t]; R[t, i] -> [t] }").intersect_domain(domain)
    assert isl.UnionMap.from_union_pw_aff(sweeps.time).is_equal(step)


def test_constant_extents_of_arrays_change_nothing(tmp_path: Path) -> None:
    text = (EXAMPLES / "jacobi-2d.c").read_text().replace("restrict n][n]", "restrict 1000][1000]")
    options = KernelOptions(machine="sw26010-pro")
    regions = [
        made.regions[0] for made in (generated(tmp_path, text, options), unit_of("jacobi-2d", options))
    ]
    assert [len(region.report["wavefront_tile"]) for region in regions] == [2, 2]


#: Fields of constant extents, of which one has its first row set in each step.
FIXED = """void f(double ex[restrict 37][30], double ey[restrict 38][29], double hz[restrict 37][29])
{
#pragma scop
  for (int t = 0; t < 29; t++) {
    for (int j = 0; j < 29; j++) ey[0][j] = t;
    for (int i = 1; i < 37; i++) for (int j = 0; j < 29; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < 37; i++) for (int j = 1; j < 29; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < 37; i++)
      for (int j = 0; j < 29; j++)
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_a_row_that_some_tiles_set_is_in_the_boxes_of_these_alone(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "fixed.c"
    path.write_text(FIXED, encoding="utf-8")
    options = {"f": KernelOptions(machine=machine, where=Where.CPES)}
    task = SourceTask(path, options=options, default_check=RegionCheck(({},)))
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message


@pytest.mark.parametrize(
    "options",
    [
        KernelOptions(tile=(8, 8, 8)),
        KernelOptions(spawn=Spawn.KERNEL),
        KernelOptions(preset=Preset.CLASSIC),
        KernelOptions(distribution=Distribution.BLOCK),
    ],
)
def test_steps_run_one_by_one_where_the_user_chooses_tiles_or_how_they_are_dealt_out(
    options: KernelOptions,
) -> None:
    (region,) = unit_of("jacobi-1d", options).regions
    assert region.report["wavefront_tile"] == []


def test_sweeps_in_place_have_no_diamonds(tmp_path: Path) -> None:
    text = _region("\n  for (int i = 1; i < n - 1; i++) a[i] = 0.3 * (a[i - 1] + a[i + 1]);")
    (region,) = generated(tmp_path, text).regions
    assert len(region.report["wavefront_tile"]) in (0, 2)


@pytest.mark.parametrize(
    ("machine", "names"), dealt([*STENCILS, *PLANES, *SWEEPS], *zip(MACHINES, strict=True))
)
def test_stencils_give_the_serial_results_at_odd_sizes(
    machine: str, names: list[str], tmp_path: Path
) -> None:
    line = RegionCheck(tuple({"n": n, "steps": t} for n, t in ((1, 3), (5, 0), (67, 1), (131, 2), (509, 97))))
    plane = RegionCheck(tuple({"n": n, "steps": t} for n, t in ((1, 2), (3, 1), (53, 7))))
    grid = RegionCheck(
        tuple(
            {"nx": n, "ny": m, "steps": t} for n, m, t in ((1, 5, 2), (3, 2, 3), (59, 67, 6), (101, 401, 8))
        )
    )
    tasks = [
        SourceTask(EXAMPLES / f"{name}.c", options={region: _options(machine, threads)}, default_check=sizes)
        for name, region, threads, sizes in (
            ("jacobi-1d", "jacobi_1d", (4, 16), line),
            ("jacobi-2d", "jacobi_2d", (8, 8), plane),
            ("fdtd-2d", "fdtd_2d", (64, 1), grid),
        )
        if name in names
    ]
    fields = RegionCheck(
        tuple({"n": n, "m": m, "steps": t} for n, m, t in ((1, 3, 2), (2, 2, 3), (53, 47, 7), (131, 401, 9)))
    )
    for name in (each for each in PLANES if each in names):
        path = tmp_path / f"{name}.c"
        path.write_text(_plane(name), encoding="utf-8")
        tasks.append(SourceTask(path, options={"f": _options(machine, (64, 1))}, default_check=fields))
    for name in (each for each in SWEEPS if each in names):
        path = tmp_path / f"{name}.c"
        path.write_text(_region(SWEEPS[name]), encoding="utf-8")
        tasks.append(SourceTask(path, options={"f": _options(machine, (64, 1))}, default_check=line))
    results = check_sources(tasks, CheckSettings(modes=("checked",), jobs=1))
    assert len(results) == len(names)
    for result in results:
        assert result.outcome is Outcome.PASS, result.message


def _options(machine: str, threads: tuple[int, int]) -> KernelOptions:
    return KernelOptions(machine=machine, threads=threads, where=Where.CPES)
