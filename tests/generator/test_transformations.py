"""Every transformation keeps what it must: dependences, and each iteration on exactly one thread."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, model_of

from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import Scop
from swbuild.machine import DEFAULT_MACHINE, load
from swbuild.mapping.regiontree import Kernel, split_region
from swbuild.mapping.tiling import Mapping, TiledKernel, thread_parameters, tile_kernel
from swbuild.options import Distribution, Fusion
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.dataflow import analyse, relations
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.looptree import banded, loop_tree
from swbuild.polyhedral.privatise import find_private
from swbuild.polyhedral.scheduling import Scheduled, compute_schedule

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.c"))


def scop_of(name: str) -> Scop:
    (scop,) = read_source(EXAMPLES / f"{name}.c", CppOptions(), None).scops
    return lightened(scop)


def scheduled_of(scop: Scop, fusion: Fusion = Fusion.MAX) -> Scheduled:
    private = find_private(scop)
    dependences = analyse(relations(scop, private.expansions), scop.schedule)
    return compute_schedule(scop, private, fusion, dependences, dependences.all)


def kernels_of(scop: Scop, scheduled: Scheduled) -> tuple[Kernel, ...]:
    return split_region(scheduled.schedule, "k", lambda _: True).kernels


@pytest.mark.parametrize("fusion", list(Fusion))
@pytest.mark.parametrize("name", NAMES)
def test_schedule_keeps_every_dependence(name: str, fusion: Fusion) -> None:
    scop = scop_of(name)
    scheduled = scheduled_of(scop, fusion)
    order = scheduled.schedule.get_map()
    assert scheduled.dependences.all.is_subset(order.lex_lt_union_map(order))
    assert scheduled.schedule.get_domain().is_equal(scop.schedule.get_domain().intersect_params(scop.context))


@pytest.mark.parametrize("restructure", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_tiles_keep_order_and_threads_are_independent(name: str, restructure: bool) -> None:
    scop = scop_of(name)
    scheduled = scheduled_of(scop)
    for kernel in kernels_of(scop, scheduled):
        threads = (8, 8)[: min(kernel.parallel, 2)]
        mapping = Mapping(threads, (4,), Distribution.CYCLIC, restructure)
        tiled = tile_kernel(kernel, mapping, scheduled.dependences.all)
        inside = scheduled.dependences.all.intersect_domain(kernel.domain).intersect_range(kernel.domain)
        order = tiled.schedule.get_map()
        assert inside.is_subset(order.lex_lt_union_map(order))
        tile = isl.UnionMap.from_multi_union_pw_aff(tiled.coordinates)
        assert inside.is_subset(tile.apply_range(tile.reverse())), "two threads would depend on each other"


@pytest.mark.parametrize("shape", [*load(DEFAULT_MACHINE).thread_shapes, (3, 5), (1, 1)])
@pytest.mark.parametrize("size", [1, 2, 7, 31, 33, 65])
def test_every_iteration_belongs_to_exactly_one_thread(shape: tuple[int, int], size: int) -> None:
    scop = scop_of("gemm")
    scheduled = scheduled_of(scop)
    (kernel,) = kernels_of(scop, scheduled)
    tiled = tile_kernel(kernel, Mapping(shape, (5, 3, 4), Distribution.CYCLIC), scheduled.dependences.all)
    fixed = isl.Set(f"[ni, nj, nk] -> {{ : ni = {size} and nj = {size + 2} and nk = 2 }}")
    wanted = kernel.domain.intersect_params(fixed)
    covered = isl.UnionSet("{ }")
    for thread in range(shape[0] * shape[1]):
        mine = _iterations_of(tiled, shape, thread).intersect_params(fixed).intersect(wanted)
        mine = _without_parameters(mine)
        assert covered.intersect(mine).is_empty(), f"thread {thread} repeats work"
        covered = covered.union(mine)
    assert covered.is_equal(_without_parameters(wanted))


def _iterations_of(tiled: TiledKernel, shape: tuple[int, int], thread: int) -> isl.UnionSet:
    names = thread_parameters(tiled.mapping)
    values = (thread // shape[1], thread % shape[1])
    place = isl.Set("{ : }")
    for name, value in zip(names, values, strict=True):
        place = place.intersect_params(_fixed(name, value))
    return tiled.filter.intersect_params(place)


def _fixed(name: str, value: int) -> isl.Set:
    """Return the set of parameters in which ``name``, which isl need not be able to read, is ``value``."""
    parameters = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_name(isl.dim_type.param, 0, name)
    return isl.Set.universe(parameters).fix_val(isl.dim_type.param, 0, isl.Val(value))


def _without_parameters(instances: isl.UnionSet) -> isl.UnionSet:
    result = isl.UnionSet("{ }")
    for piece in sets_of(instances):
        plain = piece.project_out(isl.dim_type.param, 0, piece.dim(isl.dim_type.param))
        result = result.union(plain.to_union_set())
    return result


ONE_LOOP = "for (int i = n - 3; 2 <= i; i -= 1)\n  a[i][0] = a[i - 1][0] * 0.5;"

TIME_BACKWARDS = """for (int t = 9; t >= 0; t--)
  for (int i = 1; i < n - 1; i++)
    a[i][t] = a[i - 1][t + 1] + a[i + 1][t + 1];"""

SPACE_BACKWARDS = """for (int t = 0; t < n; t++)
  for (int i = n - 2; i > 0; i--)
    a[i][1] = a[i - 1][1] + a[i + 1][1];"""

COUNTDOWNS = [ONE_LOOP, TIME_BACKWARDS, SPACE_BACKWARDS]


@pytest.mark.parametrize("loops", COUNTDOWNS)
def test_loops_that_count_down_keep_their_order(tmp_path: Path, loops: str) -> None:
    text = f"void f(int n, double a[n + 3][n + 12])\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
    (scop,) = model_of(tmp_path, text).scops
    scheduled = scheduled_of(lightened(scop))
    order = scheduled.schedule.get_map()
    assert not scheduled.dependences.all.is_empty()
    assert scheduled.dependences.all.is_subset(order.lex_lt_union_map(order))


#: loops around all, and which element of the step before the inner statement reads
OVER_I, OVER_J = "for (int i = 0; i < n; i++)", "for (int j = 0; j < n; j++)"
LATE = {
    "one loop over threads": (OVER_I, "[i][0]", "[k - 1][l + 1]"),
    "two loops over threads": (f"{OVER_I} {OVER_J}", "[i][j]", "[k - 1][l + 2]"),
    "the inner loops stay parallel": (OVER_I, "[i][0]", "[k][l]"),
    "tiles, but one parallel loop": (OVER_I, "[i][0]", "[k][l - 1]"),
    "tiles, and no parallel loop": (OVER_I, "[i][0]", "[k - 1][l - 1]"),
}


def late(around: str, place: str, element: str) -> str:
    return f"""void f(int n, double a[n][n][n][n][n], double b[n][n][n])
{{
#pragma scop
{around}
  for (int t = 0; t < n - 1; t++) {{
    b{place}[t] = 2.0;
    for (int k = 1; k < n; k++)
      for (int l = 1; l < n - 2; l++)
        a{place}[t + 1][k][l] = 0.5 * a{place}[t]{element};
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize("case", LATE)
def test_what_a_loop_keeps_for_those_inside_is_kept_where_it_sinks(tmp_path: Path, case: str) -> None:
    """Loops that may be tiled, or are parallel, inside a sequential loop need not be so around it."""
    (model,) = model_of(tmp_path, late(*LATE[case])).scops
    scop = lightened(model)
    found = scheduled_of(scop).dependences
    (kernel,) = split_region(banded(loop_tree(scop), found.all), "k", lambda _: True).kernels
    threads = (8, 8)[: min(kernel.parallel, 2)]
    tiled = tile_kernel(kernel, Mapping(threads, (4,), Distribution.CYCLIC), found.all)
    order = tiled.schedule.get_map()
    assert found.all.is_subset(order.lex_lt_union_map(order))
    assert _wrongly_parallel(tiled.schedule.get_root(), found.all) == []


#: what a statement under the loops i, j, k and the sequential p, q adds up, and what stands beside q in p
INSIDE = {
    "a product of tensors": ("c[i][j][k] += a[i][p][q] * b[p][q][k];", ""),
    "a convolution": ("c[i][j][k] += a[i + p][j + q][0] * b[p][q][k];", ""),
    "two statements": ("c[i][j][k] += a[i][p][q] * b[p][q][k];", "c[i][j][k] *= 0.5;"),
}


@pytest.mark.parametrize("case", INSIDE)
def test_loops_whose_order_is_fixed_run_around_tiles_of_parallel_ones(tmp_path: Path, case: str) -> None:
    inner, beside = INSIDE[case]
    text = f"""void f(int n, double a[n + 9][n + 9][n], double b[n][n][n], double c[n][n][n])
{{
#pragma scop
{OVER_I} {OVER_J}
    for (int k = 0; k < n; k++)
      for (int p = 0; p < n; p++) {{
        {beside}
        for (int q = 0; q < n; q++)
          {inner}
      }}
#pragma endscop
}}
"""
    (model,) = model_of(tmp_path, text).scops
    scop = lightened(model)
    scheduled = scheduled_of(scop)
    (kernel,) = kernels_of(scop, scheduled)
    kept = scheduled.dependences.all
    tiled = tile_kernel(kernel, Mapping((8, 8), (4,), Distribution.CYCLIC), kept)
    order = tiled.schedule.get_map()
    assert kept.is_subset(order.lex_lt_union_map(order))
    assert _wrongly_parallel(tiled.schedule.get_root(), kept) == []
    sequential, parallel = _depths(tiled.schedule.get_root(), 0)
    assert max(sequential) < min(parallel), "a box of all of q would be needed"


def _depths(node: isl.ScheduleNode, depth: int) -> tuple[list[int], list[int]]:
    """Return at which depths single iterations are counted, of q and of i, j and k, around what is in q."""
    found: tuple[list[int], list[int]] = [], []
    if node.get_type() == isl.schedule_node_type.band:
        for member in range(node.band_n_member()):
            value = str(node.band_get_partial_schedule().get_at(member))
            iterators = set(re.findall(r"q\] -> \[\((\w)\)\]", value))
            found[0].extend([depth] * ("q" in iterators))
            found[1].extend([depth] * bool(iterators & set("ijk")))
    for position in range(node.n_children()):
        for mine, below in zip(found, _depths(node.child(position), depth + 1), strict=True):
            mine.extend(below)
    return found


def _wrongly_parallel(node: isl.ScheduleNode, dependences: isl.UnionMap) -> list[str]:
    """Return the loops marked as parallel between iterations of which one of ``dependences`` goes."""
    wrong = []
    if node.get_type() == isl.schedule_node_type.band:
        before = node.get_prefix_schedule_union_map()
        inside = dependences.intersect_domain(node.get_domain()).intersect_range(node.get_domain())
        inside = inside.intersect(before.apply_range(before.reverse()))
        for member in range(node.band_n_member()):
            value = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_at(member))
            carried = not inside.is_subset(value.apply_range(value.reverse()))
            if carried and node.band_member_get_coincident(member):
                wrong.append(str(value))
    return wrong + [
        x for k in range(node.n_children()) for x in _wrongly_parallel(node.child(k), dependences)
    ]


def test_loops_that_add_to_one_element_run_inside_those_over_elements(tmp_path: Path) -> None:
    text = """void f(int m, int n, double a[restrict m][m], double b[restrict m][n])
{
#pragma scop
for (int i = 0; i < m; i++)
  for (int j = 0; j < n; j++)
    for (int k = i + 1; k < m; k++)
      b[i][j] += a[k][i] * b[k][j];
#pragma endscop
}
"""
    (scop,) = model_of(tmp_path, text).scops
    band = scheduled_of(scop).schedule.get_root().child(0)
    assert band.band_get_permutable() and band.band_member_get_coincident(0)
    loops = band.band_get_partial_schedule()
    counted = [re.findall(r"\[\((\w)\)\]", str(loops.get_at(k))) for k in range(3)]
    assert counted == [["j"], ["i"], ["k"]]
