"""Which sizes a check runs at, and what they reach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from generation import EXAMPLES, generated

from swbuild.check.goals import GoalKind, feasible_sizes, region_goals
from swbuild.check.plan import Plan, plan_region
from swbuild.check.sizes import complete_sizes
from swbuild.check.tasks import RegionCheck
from swbuild.check.work import Work
from swbuild.codegen.unit import RegionUnit
from swbuild.diagnostics import SwbuildError
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import Scop
from swbuild.mapping import busy
from swbuild.mapping.busy import busy_cpes
from swbuild.mapping.grid import Grid
from swbuild.options import Distribution, KernelOptions
from swbuild.polyhedral.points import Points

HEAD = "void f(int n, int m, int p, unsigned q, double *restrict a, double *restrict b) {\n#pragma scop\n"
TAIL = "#pragma endscop\n}\n"


def region(directory: Path, body: str, options: KernelOptions | None = None) -> RegionUnit:
    (found,) = generated(directory, HEAD + body + TAIL, options).regions
    return found


def planned(found: RegionUnit, options: KernelOptions | None = None) -> Plan:
    return plan_region(found, options or KernelOptions(), RegionCheck())


def missed(found: RegionUnit, plan: Plan) -> list[str]:
    points = [found.scop.at(case.sizes) for case in plan.cases]
    return [goal.what for goal in plan.goals if not any(map(goal.reached_at, points))]


@pytest.fixture(scope="module")
def gemm() -> Scop:
    (scop,) = read_source(EXAMPLES / "gemm.c", CppOptions(), None).scops
    return scop


def test_sizes_left_out_are_filled_in(gemm: Scop) -> None:
    sizes = complete_sizes(gemm, {"ni": 5, "elsewhere": 9}, {})
    assert sizes["ni"] == 5
    assert set(sizes) == {"ni", "nj", "nk"}


def test_sizes_of_which_none_is_known_are_an_error(gemm: Scop) -> None:
    with pytest.raises(SwbuildError) as caught:
        complete_sizes(gemm, {"n": 30}, {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SW504"
    assert "ni, nj, nk" in diagnostic.message


#: Regions whose statements and branches need sizes that no single number for all of them gives, and a
#: condition over the sizes in Python that some of the chosen ones must meet, for each of their sides.
BRANCHES = {
    "equal": (
        "if (p == 3) for (int i = 0; i < n; i++) a[i] = b[i];",
        ["p == 3 and n > 1", "p != 3 and n > 0"],
    ),
    "unequal": (
        "if (p != 3) for (int i = 0; i < n; i++) a[i] = b[i];",
        ["p < 3 and n > 1", "p > 3 and n > 1", "p == 3 and n > 0"],
    ),
    "order": (
        "for (int i = 0; i < n; i++) { if (n > m) a[i] = b[i]; else b[i] = 2 * b[i]; }",
        ["n > m", "0 < n <= m"],
    ),
    "modulo": (
        "for (int i = 0; i < n; i++) { a[i] = 1; if (m % 3 == 2) a[i] += b[i]; }",
        ["n > 0 and m % 3 == 2", "n > 0 and m % 3 != 2 and m > 0"],
    ),
    "far": ("if (p > 700) for (int i = 0; i < n; i++) a[i] = b[i];", ["p > 700 and n > 32 * 64", "p <= 700"]),
    "cut": (
        "for (int i = 0; i < n; i++) if (i < m) a[i] = b[i];",
        ["0 < m < n", "0 < n < m", "n <= 0 and m > 0", "m <= 0 and n > 0"],
    ),
    "nested": (
        """if (p == 1) { if (m == 2) a[0] = 1; else a[0] = 2; } else if (p == 5) a[0] = 3;
        for (int i = 0; i < n; i++) b[i] = b[i] + 1;""",
        ["p == 1 and m == 2", "p == 1 and m != 2", "p == 5", "p not in (1, 5)", "n > 2048", "n <= 0"],
    ),
    "unsigned": ("if (q > 9u) for (int i = 0; i < n; i++) a[i] = b[i];", ["q > 9 and n > 1", "q <= 9"]),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_both_sides_of_every_condition_are_seen(tmp_path: Path, name: str) -> None:
    body, wanted = BRANCHES[name]
    found = region(tmp_path, body + "\n")
    plan = planned(found)
    assert not plan.skipped
    assert missed(found, plan) == []
    sizes = [{"n": 1, "m": 1, "p": 0, "q": 0, **case.sizes} for case in plan.cases]
    for condition in wanted:
        assert any(eval(condition, {}, row) for row in sizes), (condition, sizes)
    assert [case.sizes for case in planned(found).cases] == [case.sizes for case in plan.cases]


def test_sizes_that_are_fixed_stay(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) if (p == 3) a[i] = b[i]; else a[i] = 2 * b[i];\n"
    options = KernelOptions(params={"p": 3}, assume=("n >= 10",))
    found = region(tmp_path, body, options)
    plan = plan_region(found, options, RegionCheck())
    assert {case.sizes.get("p", 3) for case in plan.cases} == {3}


def test_what_would_cost_too_much_is_left_out_and_told(tmp_path: Path) -> None:
    body = (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
        " for (int l = 0; l < n; l++) a[i * n + j] += b[k * n + l];\n"
    )
    options = KernelOptions(tile=(32,))
    found = region(tmp_path, body, options)
    plan = planned(found, options)
    work = Work(found)
    assert max(work.instances(case.sizes) or 0 for case in plan.cases) < 20_000_000
    assert any("second round" in what for what in missed(found, plan))
    assert not any("statement" in what for what in missed(found, plan))


KERNELS = {
    "strided": "for (int i = 3; i < n; i += 5) a[i] = b[i];",
    "triangle": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i * n + j] = b[i * n + j];",
    "steps": "for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) a[i] = a[i] + b[i] * t;",
    "host": "for (int t = 0; t < m; t++) { for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"
    " for (int i = 1; i < n - 1; i++) a[i] = b[i]; }",
}


@pytest.mark.parametrize("name", KERNELS)
def test_goals_of_tiles_say_what_counting_says(tmp_path: Path, name: str) -> None:
    options = KernelOptions(tile=(4, 4), threads=(2, 8))
    found = region(tmp_path, KERNELS[name] + "\n", options)
    goals = region_goals(found, feasible_sizes(found.scop))
    for n in (0, 1, 2, 5, 8, 12, 17, 40, 70, 131):
        sizes = {"n": n, "m": 2, "p": 1, "q": 1}
        point = found.scop.at(sizes)
        reached = {goal.what for goal in goals if goal.reached_at(point)}
        for grid in found.grids:
            assert _counted(grid, sizes) <= reached, (n, grid.kernel)
            of_kernel = {what for what in reached if what.endswith(f"in {grid.kernel}")}
            assert of_kernel - _inner(grid, of_kernel) == _counted(grid, sizes), (n, grid.kernel)


def _inner(grid: Grid, whats: set[str]) -> set[str]:
    mapped = {loop.name for loop in grid.mapped}
    return {w for w in whats if not any(f"loop over {name} in" in w for name in mapped)}


def _counted(grid: Grid, sizes: dict[str, int]) -> set[str]:
    """Return which goals of the mapped loops are reached, from a list of all iterations."""
    rows = Points(grid.points).all(sizes, 10**6)
    reached = set()
    for launch in np.unique(rows[:, : grid.hosts], axis=0) if len(rows) else ():
        mine = rows[(rows[:, : grid.hosts] == launch).all(axis=1)]
        for k, loop in enumerate(grid.mapped):
            values = np.unique(mine[:, grid.hosts + k])
            tiles, filled = np.unique(values // loop.tile, return_counts=True)
            where = f"of the loop over {loop.name} in {grid.kernel}"
            if tiles[-1] > tiles[0]:
                reached.add(f"a second tile {where}")
                even = (filled == loop.tile).all()
                reached.add(f"only full tiles {where}" if even else f"a ragged tile beside others {where}")
            if tiles[-1] - tiles[0] >= loop.threads:
                reached.add(f"a second round (more tiles than the {loop.threads} threads) {where}")
    return reached


@pytest.mark.parametrize(
    ("distribution", "n", "cpes"),
    [(Distribution.CYCLIC, 65, 3), (Distribution.CYCLIC, 2100, 64), (Distribution.BLOCK, 2100, 33)],
)
def test_busy_cpes_are_counted(tmp_path: Path, distribution: Distribution, n: int, cpes: int) -> None:
    options = KernelOptions(tile=(32,), distribution=distribution)
    found = region(tmp_path, "for (int i = 0; i < n; i++) a[i] = b[i];\n", options)
    (grid,) = found.grids
    busy = busy_cpes(grid, {"n": n})
    assert busy is not None
    assert (busy.cpes, busy.launches) == (cpes, 1)


@pytest.mark.parametrize("distribution", list(Distribution))
@pytest.mark.parametrize("sizes", [(1, 1), (7, 300), (33, 64), (2100, 65), (1, 4000)])
def test_busy_cpes_of_a_box_are_those_of_its_tiles(
    tmp_path: Path, distribution: Distribution, sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = KernelOptions(tile=(32, 2), threads=(4, 8), distribution=distribution)
    body = "for (int i = 0; i < n; i++) for (int j = 3; j < m + 3; j++) a[i * p + j] = b[j];\n"
    found = region(tmp_path, body, options)
    (grid,) = found.grids
    given = {"n": sizes[0], "m": sizes[1]}
    counted = busy_cpes(grid, given)
    monkeypatch.setattr(busy, "_of_box", busy._one_by_one)
    assert counted == busy_cpes(grid, given)


def test_sizes_that_leave_nothing_to_do_are_not_enough(tmp_path: Path) -> None:
    text = (
        "void f(int n, int *restrict c, double *restrict a, double *restrict b) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) a[i] = b[c[i]];\n"
    )
    (found,) = generated(tmp_path, text + TAIL).regions
    plan = planned(found)
    assert not plan.cases, "how long b is nobody knows where anything is read of it"
    assert "the size of b is not known" in plan.skipped[0].message


def test_sizes_that_cannot_be_modest_are_run_all_the_same(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] += b[i];\n"
    options = KernelOptions(params={"n": 20_000})
    found = region(tmp_path, body, options)
    (case,) = planned(found, options).cases
    assert (Work(found).instances(case.sizes) or 0) == 20_000**2


def test_a_statement_that_no_sizes_reach_is_a_goal(tmp_path: Path) -> None:
    found = region(tmp_path, "for (int i = 0; i < n; i++) { a[i] = 1; if (i > n) b[i] = 2; }\n")
    plan = planned(found)
    kinds = {goal.kind for goal in plan.goals if goal.what in missed(found, plan)}
    assert kinds <= {GoalKind.STATEMENTS}


def test_sizes_are_known_by_the_names_of_the_source(tmp_path: Path) -> None:
    text = "void f(int PE_MODE, double a[restrict PE_MODE]) {\n#pragma scop\n"
    (found,) = generated(tmp_path, text + "for (int i = 0; i < PE_MODE; i++) a[i] = 1;\n" + TAIL).regions
    assert list(complete_sizes(found.scop, {"PE_MODE": 40}, {}).values()) == [40]


def test_sizes_reach_no_further_than_arrays_are_declared(tmp_path: Path) -> None:
    text = (
        "double a[1000];\nvoid f(int inc) {\n#pragma scop\nfor (int i = 0; i < 100; i++) a[i * inc] += 1;\n"
    )
    (found,) = generated(tmp_path, text + TAIL).regions
    cases = planned(found).cases
    assert cases and all(case.sizes["inc"] * 99 < 1000 for case in cases)
    plan = plan_region(found, KernelOptions(), RegionCheck(sizes=({"inc": 11},)))
    assert not plan.cases and "behind the end of 'a'" in plan.skipped[0].message
