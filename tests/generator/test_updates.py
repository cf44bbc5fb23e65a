"""Updates that may come in any order run before the tiles of wavefronts that they belong to."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import generated, model_of
from turns import MACHINES, dealt

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions, Where
from swbuild.planning.ordering import choose_order
from swbuild.planning.updating import Divided, with_early_updates
from swbuild.polyhedral.islutil import maps_of
from swbuild.polyhedral.privatise import find_private
from swbuild.polyhedral.updates import find_updates

#: The cheapest order of a chain of products, and the like.
CHAIN = "c[i][j] = c[i][j] <= {terms} ? c[i][j] : {terms};"
TERMS = "c[i][k] + c[k + 1][j] + p[i] * p[k]"


def _chain(
    update: str = CHAIN.format(terms=TERMS), element: str = "int", before: str = "", after: str = ""
) -> str:
    return f"""void f(int n, {element} p[restrict n], {element} c[restrict n][n])
{{
#pragma scop
for (int i = n - 1; i >= 0; i--)
  for (int j = i + 1; j < n; j++) {{
    {before}
    for (int k = i; k < j; k++)
      {update}
    {after}
  }}
#pragma endscop
}}
"""


#: Upwards in both loops: what an element takes comes from rows above, and from columns before.
PATHS = """void f(int n, long a[restrict n][n], long w[restrict n][n])
{
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < i; k++)
      a[i][j] = a[i][j] > a[k][j] + w[k][i] ? a[i][j] : a[k][j] + w[k][i];
    for (int k = 0; k < j; k++)
      a[i][j] = a[i][j] < a[i][k] - w[k][j] ? a[i][k] - w[k][j] : a[i][j];
  }
#pragma endscop
}
"""

#: What an update leaves is read before the next one: the order shows.
WATCHED = """void f(int n, int c[restrict n][n], int seen[restrict n][n])
{
#pragma scop
for (int i = n - 1; i >= 0; i--)
  for (int j = i + 1; j < n; j++)
    for (int k = i; k < j; k++) {
      c[i][j] = c[i][j] > c[i][k] + c[k + 1][j] ? c[i][j] : c[i][k] + c[k + 1][j];
      seen[i][j] = seen[i][j] * 3 + c[i][j];
    }
#pragma endscop
}
"""

#: An element is set to something before all updates, or behind them.
RESET, ENDED = (_chain(**{side: "if (p[i] % 3 == 1) c[i][j] = p[j];"}) for side in ("before", "after"))


def _scop(directory: Path, text: str) -> Scop:
    (scop,) = model_of(directory, text).scops
    return scop


def _early(directory: Path, text: str) -> Divided | None:
    scop, options = _scop(directory, text), KernelOptions()
    order = choose_order(scop, options, find_private(scop), (), lambda _: None)
    return with_early_updates(scop, options, order)


def _region(directory: Path, text: str, options: KernelOptions) -> RegionUnit:
    (region,) = generated(directory, text, options).regions
    return region


@pytest.mark.parametrize("element", ["int", "unsigned", "long"])
def test_minima_of_integers_are_updates_in_any_order(tmp_path: Path, element: str) -> None:
    (found,) = find_updates(_scop(tmp_path, _chain(element=element)))
    assert (found.array, found.operator.value, found.statements) == ("c", "min", {"S0"})


@pytest.mark.parametrize(
    ("update", "element"),
    [
        (CHAIN.format(terms=TERMS), "double"),  # a NaN is neither less nor more
        (CHAIN.format(terms=TERMS), "short"),  # compared as int, and cut off afterwards
        (CHAIN.format(terms="(long)c[i][k]"), "int"),
        (CHAIN.format(terms="c[i][k] * 1u"), "int"),
        ("c[i][j] = c[i][j] <= c[i][k] ? c[i][j] : c[k + 1][j];", "int"),
        ("c[i][j] = c[i][j] <= c[i][j] + 1 ? c[i][j] : c[i][j] + 1;", "int"),
        ("c[i][j] += c[i][k];", "int"),
    ],
)
def test_what_depends_on_the_order_is_no_such_update(tmp_path: Path, update: str, element: str) -> None:
    assert find_updates(_scop(tmp_path, _chain(update, element))) == ()


def test_updates_with_operands_of_earlier_fronts_are_a_kernel_of_their_own(tmp_path: Path) -> None:
    options = KernelOptions(where=Where.CPES, typical={"n": 1000})
    report = _region(tmp_path, _chain(), options).report
    early, rest = report["kernels"]
    assert (early["statements"], early["mapped_loops"]) == (["S0_0"], 2)
    assert set(rest["statements"]) == {"S0_1", "S0_2", "S0_3"}
    assert early["main_memory"] == rest["main_memory"] == []


@pytest.mark.parametrize("text", [_chain(), ENDED])
def test_what_is_kept_is_kept_in_the_new_order(tmp_path: Path, text: str) -> None:
    found = _early(tmp_path, text)
    assert found is not None
    scheduled = found.order.scheduled
    times = scheduled.schedule.get_map()
    assert scheduled.kept.is_subset(times.lex_lt_union_map(times))
    instances = found.scop.schedule.get_domain()
    assert instances.intersect_params(found.scop.context).is_equal(scheduled.schedule.get_domain())


def test_tiles_are_whole_where_a_triangle_is_wide(tmp_path: Path) -> None:
    """The last columns have the most to do; tiles that begin at the first one would cut them off."""
    found = _early(tmp_path, _chain())
    assert found is not None
    times = found.order.scheduled.schedule.get_map()
    (early,) = (m for m in maps_of(times) if m.get_tuple_name(isl.dim_type.in_) == "S0_0")
    front = early.project_out(isl.dim_type.out, 1, early.dim(isl.dim_type.out) - 1)
    last = isl.Map("[n] -> { S0_0[i, j, k] -> [f] : n = 100 and i = 3 }").intersect(front)
    columns = [
        isl.Set(f"[n] -> {{ S0_0[i, j, k] : j = {j} }}").intersect(last.domain()).apply(last)
        for j in (83, 84, 99)
    ]
    assert columns[1].is_equal(columns[2]) and not columns[0].is_equal(columns[1])


@pytest.mark.parametrize("text", [WATCHED, RESET])
def test_updates_stay_where_something_else_meets_their_element(tmp_path: Path, text: str) -> None:
    assert find_updates(_scop(tmp_path, text))
    assert _early(tmp_path, text) is None


PROGRAMS = {
    "chain": _chain(),
    "longest": _chain("c[i][j] = c[i][k] + c[k + 1][j] > c[i][j] ? c[i][k] + c[k + 1][j] : c[i][j];"),
    "paths": PATHS,
    "watched": WATCHED,
    "reset": RESET,
    "ended": ENDED,
    "chars": _chain(element="unsigned").replace("unsigned p", "unsigned char p"),
}


@pytest.mark.parametrize(("machine", "names"), dealt(PROGRAMS, *zip(MACHINES, strict=True)))
def test_results_are_those_of_the_serial_loops(tmp_path: Path, machine: str, names: list[str]) -> None:
    options = KernelOptions(machine=machine, where=Where.CPES, typical={"n": 1000})
    sizes = RegionCheck(tuple({"n": n} for n in (1, 16, 17, 67)))
    tasks = []
    for name in names:
        path = tmp_path / f"{name}.c"
        path.write_text(PROGRAMS[name], encoding="utf-8")
        tasks.append(SourceTask(path, options={"f": options}, default_check=sizes))
    for result in check_sources(tasks, CheckSettings(modes=("checked",), jobs=1)):
        assert result.outcome is Outcome.PASS, result.message
