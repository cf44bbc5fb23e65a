"""Deep bands run in blocks of a sequential loop, in classes of instances, where that takes less time."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, generated, unit_of
from turns import MACHINES, in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.mapping.blocking import blocked
from swbuild.options import Distribution, KernelOptions, Preset, Spawn, Where

BOTH_TRIANGLES = """void f(int n, double a[restrict n][n])
{
#pragma scop
for (int k = 0; k < n; k++)
  for (int i = k + 1; i < n; i++) {
    a[i][k] /= a[k][k];
    for (int j = k + 1; j < n; j++)
      a[i][j] -= a[i][k] * a[k][j];
  }
#pragma endscop
}
"""

CARRIED_EVERYWHERE = """void f(int n, double u[restrict n][n])
{
#pragma scop
for (int t = 0; t < n; t++) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      u[i][j] += u[i - 1][j] + u[i][j - 1];
  for (int j = 0; j < n; j++)
    u[0][j] += u[n - 1][j];
}
#pragma endscop
}
"""

#: A band of three loops over a factorisation of ``size`` rows, with the pairs that it has to keep.
FACTORS = "{{ S[k, i, j] : 0 <= k < {0} and k <= i < {0} and k <= j < {0} }}"
PAIRS = """{ S[k, i, j] -> S[k + 1, i, j]; S[k, i, j] -> S[k2, i, j2] : k2 = j and j2 > j and j > k and i > j;
  S[k, i, j] -> S[k2, i2, j] : k2 = i and i2 > i and i > k and j > i }"""


def _deep(size: int) -> tuple[isl.Schedule, isl.UnionMap]:
    domain = isl.UnionSet(FACTORS.format(size))
    pairs = isl.UnionMap(PAIRS).intersect_domain(domain).intersect_range(domain)
    loops = ", ".join(f"{{ S[k, i, j] -> [({loop})] }}" for loop in "kij")
    schedule = isl.Schedule.from_domain(domain).insert_partial_schedule(isl.MultiUnionPwAff(f"[{loops}]"))
    return schedule.get_root().child(0).band_set_permutable(1).get_schedule(), pairs


@pytest.mark.parametrize("edge", [1, 2, 3])
@pytest.mark.parametrize("size", [5, 9])
def test_every_dependence_is_kept_and_no_loop_marked_as_parallel_carries_one(size: int, edge: int) -> None:
    schedule, pairs = _deep(size)
    found = blocked(schedule, edge, pairs)
    assert found is not None
    order = found.get_map()
    assert order.domain().is_equal(schedule.get_domain())
    assert order.is_injective()
    assert pairs.is_subset(order.lex_lt_union_map(order))
    classes = found.get_root().child(0).child(0)
    assert classes.n_children() == 4
    for band in (classes.child(k).child(0) for k in range(4)):
        inside, before = band.get_domain(), band.get_prefix_schedule_union_map()
        mine = pairs.intersect_domain(inside).intersect_range(inside)
        mine = mine.intersect(before.apply_range(before.reverse()))
        for member in range(3):
            value = isl.UnionMap.from_union_pw_aff(band.band_get_partial_schedule().get_at(member))
            same = mine.is_subset(value.apply_range(value.reverse()))
            assert bool(band.band_member_get_coincident(member)) == same


def test_a_band_that_is_not_permutable_is_never_turned_round() -> None:
    schedule, _ = _deep(5)
    pairs = isl.UnionMap("{ S[k, i, j] -> S[k + 1, i - 1, j] : i >= 1 and k >= 0 }")
    pairs = pairs.intersect_domain(schedule.get_domain()).intersect_range(schedule.get_domain())
    assert blocked(schedule, 2, pairs) is None


@pytest.mark.parametrize("name", ["lu", "cholesky", "trisolv"])
def test_factorisations_and_substitutions_run_in_blocks(name: str) -> None:
    (region,) = unit_of(name, KernelOptions()).regions
    assert region.report["block"] == 32
    assert region.report["host_statements"] == []
    assert len(region.report["spawns"]) == 1
    assert [kernel["single"] for kernel in region.report["kernels"]].count(True) == 1


def test_the_order_is_the_users_where_he_chooses_it_or_its_tiles() -> None:
    for options in (
        KernelOptions(tile=(8, 8, 8)),
        KernelOptions(spawn=Spawn.KERNEL),
        KernelOptions(preset=Preset.CLASSIC),
    ):
        (region,) = unit_of("cholesky", options).regions
        assert region.report["block"] == 0, options


@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_blocks_give_the_serial_results_at_sizes_that_no_block_divides(machine: str) -> None:
    settings = CheckSettings(modes=("checked",), jobs=1)
    tasks = []
    for name, threads in (("lu", (4, 16)), ("cholesky", (64, 1)), ("trisolv", (8, 8))):
        options = KernelOptions(machine=machine, threads=threads, where=Where.CPES)
        sizes = tuple({"n": n} for n in (1, 31, 33, 67))
        tasks.append(
            SourceTask(EXAMPLES / f"{name}.c", options={name: options}, default_check=RegionCheck(sizes))
        )
    for result in check_sources(tasks, settings):
        assert result.outcome is Outcome.PASS, result.message


def test_a_band_that_is_never_outside_one_block_stays_as_it_is(tmp_path: Path) -> None:
    loops = "for (int i = n - 4; i >= 2; i--)\n  for (int j = 0; j < 5; j++)\n    b[i + j + 1] = b[i + j];"
    head = "void f(int n, double b[restrict n + 4])"
    (region,) = generated(tmp_path, f"{head}\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n").regions
    assert region.report["block"] == 0


def test_nests_without_other_parallel_loops_stay_as_they_are(tmp_path: Path) -> None:
    (region,) = generated(tmp_path, CARRIED_EVERYWHERE).regions
    assert region.report["block"] == 0
    (region,) = generated(tmp_path, BOTH_TRIANGLES, KernelOptions(distribution=Distribution.BLOCK)).regions
    assert region.report["block"] == 32


#: Triangular systems of many right-hand sides: in rows, by unknowns found or by those to come; in columns.
SYSTEMS = {
    "found": (
        "double a[restrict n][m], double b[restrict m][m]",
        """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    for (int k = 0; k < j; k++)
      a[i][j] -= a[i][k] * b[j][k];
    a[i][j] /= b[j][j];
  }""",
    ),
    "in_a_variable": (
        "double a[restrict n][m], double b[restrict m][m]",
        """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    double s = a[i][j];
    for (int k = 0; k < j; k++)
      s -= a[i][k] * b[j][k];
    a[i][j] = s / b[j][j];
  }""",
    ),
    "to_come": (
        "double a[restrict n][m], double b[restrict m][m]",
        """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    a[i][j] /= b[j][j];
    for (int k = j + 1; k < m; k++)
      a[i][k] -= a[i][j] * b[j][k];
  }""",
    ),
    "columns": (
        "float a[restrict m][n], float b[restrict m][m]",
        """for (int j = m - 1; j >= 0; j--) {
  for (int k = m - 1; k > j; k--)
    for (int i = 0; i < n; i++)
      a[j][i] -= b[k][j] * a[k][i];
  for (int i = 0; i < n; i++)
    a[j][i] /= b[j][j];
}""",
    ),
}


def _system(name: str) -> str:
    arguments, loops = SYSTEMS[name]
    return f"void {name}(int n, int m, {arguments})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_of_many_right_hand_sides_run_in_blocks_of_unknowns(name: str, tmp_path: Path) -> None:
    """No loop is outside those over right-hand sides, which are parallel: blocks come outside of them."""
    (region,) = generated(tmp_path, _system(name), KernelOptions(where=Where.CPES)).regions
    assert region.report["block"] == 32
    assert len(region.report["kernels"]) == 2 and len(region.report["spawns"]) == 1
    assert not any(kernel["single"] for kernel in region.report["kernels"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), in_turn([*SYSTEMS], MACHINES))
def test_systems_have_the_serial_solutions(name: str, machine: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.c"
    path.write_text(_system(name), encoding="utf-8")
    options = KernelOptions(machine=machine, where=Where.CPES)
    sizes = tuple({"n": n, "m": m} for n, m in ((1, 1), (3, 33), (70, 31), (131, 65), (17, 101)))
    task = SourceTask(path, options={name: options}, default_check=RegionCheck(sizes))
    for result in check_sources([task], CheckSettings(modes=("checked", "late"), jobs=1)):
        assert result.outcome is Outcome.PASS, result.message


def test_sums_in_several_loops_have_no_blocks(tmp_path: Path) -> None:
    convolution = """void f(int n, float x[restrict n + 2][n + 2], float w[restrict 3][3], float y[n][n])
{
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int p = 0; p < 3; p++)
      for (int q = 0; q < 3; q++)
        y[i][j] += x[i + p][j + q] * w[p][q];
#pragma endscop
}
"""
    (region,) = generated(tmp_path, convolution).regions
    assert region.report["block"] == 0
