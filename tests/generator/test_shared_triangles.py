"""In triangles, too, CPEs are handed boxes: those that the diagonal cuts are widened to what all have."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, generated, unit_of
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.check import (
    CheckSettings,
    Outcome,
    RegionCheck,
    SourceTask,
    check_source,
    check_sources,
    explain,
)
from swbuild.codegen.report import choice_report
from swbuild.frontend import RegionRequest
from swbuild.mapping.tiling import Mapping
from swbuild.memory.box import bounding_box
from swbuild.options import Distribution, Fusion, KernelOptions, Share, Vectorize, Where
from swbuild.planning.candidates import Estimate
from swbuild.planning.search import Ranking, Reason, merged
from swbuild.planning.view import Candidate

#: the loops of a pair of rows
TRIANGLES = {
    "lower": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)",
    "below": "for (int i = 1; i < n; i++) for (int j = 0; j < i; j++)",
    "upper": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++)",
    "above": "for (int i = 0; i < n - 1; i++) for (int j = i + 1; j < n; j++)",
}


def function(name: str) -> str:
    arguments = "double A[restrict p][n], double B[restrict p][n], double C[restrict n][n]"
    return (
        f"void {name}(int n, int p, {arguments})\n"
        f"{{\n#pragma scop\n{TRIANGLES[name]} for (int k = 0; k < p; k++) C[i][j] += A[k][i] * B[k][j];\n"
        "#pragma endscop\n}\n"
    )


#: loops whose inner one begins or ends with the row of C
SUMS = {
    "to_row": "for (int k = 0; k <= i; k++)",
    "before_row": "for (int k = 0; k < i; k++)",
    "from_row": "for (int k = i; k < n; k++)",
    "after_row": "for (int k = i + 1; k < n; k++)",
}


def product(name: str) -> str:
    arguments = "double A[restrict n][n], double B[restrict n][p], double C[restrict n][p]"
    loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < p; j++) {SUMS[name]}"
    return (
        f"void {name}(int n, int p, {arguments})\n"
        f"{{\n#pragma scop\n{loops} C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}}\n"
    )


def options_of(machine: str) -> KernelOptions:
    return KernelOptions(
        machine=machine,
        where=Where.CPES,
        threads=(8, 8),
        tile=(8, 8, 8),
        distribution=Distribution.CYCLIC,
        share=Share.ALWAYS,
    )


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
@pytest.mark.parametrize("name", TRIANGLES)
def test_rows_and_columns_of_a_triangle_are_handed_on(tmp_path: Path, name: str, machine: str) -> None:
    unit = generated(tmp_path, function(name), options_of(machine))
    (kernel,) = unit.regions[0].report["kernels"]  # type: ignore[misc]
    found = {row["buffer"]: row["along"] for row in kernel["handed_on"]}
    assert found == {"A": "row", "B": "column"}


@pytest.mark.parametrize("name", ["covariance", "syrk", "syr2k"])
def test_symmetric_products_hand_their_tiles_on_at_sizes_that_nobody_knows(name: str) -> None:
    kernels = unit_of(name, KernelOptions(machine="sw26010")).regions[0].report["kernels"]
    along = [row["along"] for row in kernels[-1]["handed_on"]]  # type: ignore[misc]
    assert {"row", "column"} <= set(along)


def test_what_is_taken_because_it_hands_tiles_on_is_explained_so() -> None:
    alone = Estimate(Candidate((64,), (16, 32, 8), joint=True), 1000.0, 8192)
    handed = Estimate(Candidate((8, 8), (16, 16, 8)), 1010.0, 8192, hands_on=True)
    found = merged(
        [Ranking((alone,), 1, None, Reason.CHEAPEST), Ranking((handed,), 1, None, Reason.CHEAPEST)]
    )
    assert found.best[0] is handed
    mapping = Mapping(handed.candidate.threads, handed.candidate.tile, Distribution.CYCLIC)
    choice = choice_report(mapping, found)
    assert choice["because"] == "one within 2 % of the cheapest that hands tiles on"
    assert choice["runner_up"]["quick_cycles"] < choice["quick_cycles"]  # type: ignore[index, operator]


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
@pytest.mark.parametrize("name", TRIANGLES)
def test_rounds_of_both_loops_are_as_long_where_tiles_are_handed_on(
    tmp_path: Path, name: str, machine: str
) -> None:
    options = KernelOptions(machine=machine, where=Where.CPES)
    (kernel,) = generated(tmp_path, function(name), options).regions[0].report["kernels"]  # type: ignore[misc]
    assert {row["along"] for row in kernel["handed_on"]} == {"row", "column"}
    assert kernel["tile"][0] == kernel["tile"][1] and kernel["threads"] == [8, 8]


@pytest.mark.parametrize(
    ("name", "tile", "along"),
    [
        ("upper", (8, 16, 8), set()),  # CPEs would come to the same tiles in different rounds
        ("above", (16, 8, 8), set()),
        ("upper", (16, 16, 8), {"row", "column"}),
        ("lower", (8, 16, 8), {"row", "column"}),  # all begin in the first round
    ],
)
def test_what_begins_at_the_diagonal_is_handed_on_in_rounds_of_one_length(
    tmp_path: Path, name: str, tile: tuple[int, ...], along: set[str]
) -> None:
    options = replace(options_of("sw26010-pro"), tile=tile)
    (kernel,) = generated(tmp_path, function(name), options).regions[0].report["kernels"]  # type: ignore[misc]
    assert {row["along"] for row in kernel.get("handed_on", ())} == along
    assert "not_handed_on" not in kernel  # nobody planned for it


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_results_of_triangles_are_those_of_the_serial_loops(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "all.c"
    path.write_text("".join(map(function, TRIANGLES)))
    sizes = ({"n": 1, "p": 1}, {"n": 63, "p": 17}, {"n": 150, "p": 9})
    checks = {name: RegionCheck(sizes=sizes) for name in TRIANGLES}
    task = SourceTask(path, options=dict.fromkeys(TRIANGLES, options_of(machine)), checks=checks)
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(TRIANGLES)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize(("n", "machine"), in_turn([144, 145, 150, 129], MACHINES))
@pytest.mark.parametrize("name", TRIANGLES)
def test_boxes_of_triangles_are_handed_on_where_sizes_are_known(
    tmp_path: Path, name: str, n: int, machine: str
) -> None:
    """What limits an iterator may follow from another one then, and isl tells the last tile from others."""
    path = tmp_path / "known.c"
    path.write_text(function(name))
    task = SourceTask(
        path,
        requests=(RegionRequest(name, function=name, params={"n": n}),),
        options={name: replace(options_of(machine), params={"n": n})},
        default_check=RegionCheck(sizes=({"n": n, "p": 1}, {"n": n, "p": 19})),
    )
    (result,) = check_source(task, CheckSettings(modes=("checked",)), tmp_path, shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)
    (slave,) = tmp_path.rglob("known.slave.c")
    assert "once for each row" in slave.read_text() and "once for each column" in slave.read_text()


@pytest.mark.parametrize("machine", ["sw26010", pytest.param("sw26010-pro", marks=pytest.mark.matrix)])
def test_columns_are_handed_on_in_the_only_round_of_a_launch(tmp_path: Path, machine: str) -> None:
    """There is no loop over rounds, which would say how long the host's loop lasts."""
    sizes = {"m": 37, "n": 70}
    task = SourceTask(
        EXAMPLES / "gramschmidt.c",
        requests=(RegionRequest("gramschmidt", function="gramschmidt", params=sizes),),
        options={"gramschmidt": KernelOptions(machine=machine, params=sizes, where=Where.CPES)},
        default_check=RegionCheck(sizes=(sizes,)),
    )
    (result,) = check_source(task, CheckSettings(modes=("checked",)), tmp_path, shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)
    (slave,) = tmp_path.rglob("gramschmidt.slave.c")
    assert re.search(r"Q .* once for all CPEs", slave.read_text())


def test_columns_are_handed_on_where_arrays_allow_one_round_only(tmp_path: Path) -> None:
    """How long the host's loop lasts is known of the launches, though the sizes are not."""
    text = (EXAMPLES / "gramschmidt.c").read_text()
    for size, extent in (("m", 500), ("n", 600)):
        text = text.replace(f"restrict {size}]", f"restrict {extent}]").replace("[n]", "[600]")
    path = tmp_path / "gramschmidt.c"
    path.write_text(text)
    sizes = tuple({"m": m, "n": n} for m, n in ((1, 1), (130, 33), (2, 150)))
    task = SourceTask(
        path,
        options={"gramschmidt": KernelOptions(machine="sw26010-pro", where=Where.CPES)},
        default_check=RegionCheck(sizes=sizes),
    )
    (result,) = check_source(task, CheckSettings(modes=("checked",)), tmp_path / "out", shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)
    (slave,) = (tmp_path / "out").rglob("gramschmidt.slave.c")
    assert re.search(r"Q .* once for all CPEs", slave.read_text())
    assert "A stays in the LDM" in slave.read_text()


@pytest.mark.parametrize("tile", [(8, 8, 8), (6, 8, 4), (8, 8, 12)])
@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_over_a_part_of_each_row_take_what_is_handed_on(
    tmp_path: Path, name: str, machine: str, tile: tuple[int, ...]
) -> None:
    unit = generated(tmp_path, product(name), replace(options_of(machine), tile=tile))
    (kernel,) = unit.regions[0].report["kernels"]  # type: ignore[misc]
    found = {row["buffer"]: row["along"] for row in kernel["handed_on"]}
    assert found == {"A": "row", "B": "column"}


@pytest.mark.parametrize(
    ("tile", "machine"), in_turn([(8, 8, 8), (4, 16, 8), (16, 8, 4), (6, 8, 4), (8, 8, 12)], MACHINES)
)
def test_such_sums_are_those_of_the_serial_loops(tmp_path: Path, machine: str, tile: tuple[int, ...]) -> None:
    path = tmp_path / "all.c"
    path.write_text("".join(map(product, SUMS)))
    sizes = ({"n": 1, "p": 1}, {"n": 63, "p": 17}, {"n": 149, "p": 70})
    checks = {name: RegionCheck(sizes=sizes) for name in SUMS}
    options = dict.fromkeys(SUMS, replace(options_of(machine), tile=tile))
    results = check_source(
        SourceTask(path, options=options, checks=checks), CheckSettings(), tmp_path, shared_objects()
    )
    assert {result.region for result in results} == set(SUMS)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_both_sums_of_a_symmetric_matrix_hand_their_tiles_on(machine: str) -> None:
    kernels = unit_of("symm", KernelOptions(machine=machine)).regions[0].report["kernels"]
    along = [{row["along"] for row in kernel["handed_on"]} for kernel in kernels]  # type: ignore[attr-defined]
    assert along == [{"row", "column"}, {"row", "column"}]


def test_an_end_is_the_least_of_its_formulas_where_it_is_that_in_all_visits() -> None:
    tiles = "b mod 4 = 0 and 0 <= b <= a < 10"
    box = bounding_box(isl.Map(f"{{ [a, b] -> A[i] : {tiles} and b <= i < b + 4 and i < 10 }}"))
    (high,) = box.plain().high
    assert not high.involves_dims(isl.dim_type.in_, 0, 1)
    values = isl.Map.from_pw_aff(high).intersect_domain(box.visits)
    assert values.is_equal(isl.Map(f"{{ [a, b] -> [min(b + 3, 9)] : {tiles} }}"))


def test_a_box_that_another_loop_cuts_is_widened() -> None:
    # the rows from a on, of tiles of 4 by 4 below the diagonal
    tiles = "a mod 4 = 0 and b mod 4 = 0 and 0 <= b <= a < 10"
    box = bounding_box(isl.Map(f"{{ [a, b] -> A[i] : {tiles} and a <= i < a + 4 and b < i < 10 }}"))
    other = box.regardless_of(1)
    assert box.bound == (4,) and other is not None and other.bound == (4,)
    low, high = (
        isl.Map.from_pw_aff(end[0]).intersect_domain(other.visits) for end in (other.low, other.high)
    )
    assert low.is_equal(isl.Map(f"{{ [a, b] -> [max(a, 1)] : {tiles} }}"))
    assert high.is_equal(isl.Map(f"{{ [a, b] -> [min(a + 3, 9)] : {tiles} }}"))


def test_a_box_that_another_loop_moves_is_not_widened() -> None:
    box = bounding_box(isl.Map("{ [a, b] -> A[i] : 0 <= a < 10 and 0 <= b < 10 and a + b <= i < a + b + 4 }"))
    assert box.regardless_of(0) is None and box.regardless_of(1) is None


#: The box of a00 depends on the row of CPEs where it begins at i + 1, and not in later rounds of k.
LATER_ALIKE = """void f(int n, int m, int *restrict c0, int a00[n + 1], int a01[m + 1][n], short a02[m])
{
#pragma scop
for (int i = 1; i < m; i++)
  for (int j = 1; j < m; j++)
    for (int k = i + 1; k < n - 2; k++)
      c0[i * m + j] = ((a00[k] % 13 - a01[i + 1][k + 2] % 13) * (a02[i] % 13)) % 1000;
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_who_gets_a_box_hands_it_on(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "later.c"
    path.write_text(LATER_ALIKE, encoding="utf-8")
    options = KernelOptions(
        machine=machine,
        share=Share.ALWAYS,
        threads=(8, 8),
        fusion=Fusion.MIN,
        ldm_budget=2048,
        where=Where.CPES,
    )
    check = RegionCheck(({"n": 31, "m": 33}, {"n": 67, "m": 20}))
    for vectorize in Vectorize:
        chosen = replace(options, vectorize=vectorize)
        task = SourceTask(path, options={"f": chosen}, default_check=check)
        (result,) = check_sources([task], CheckSettings(modes=("checked", "late"), jobs=1))
        assert result.outcome is Outcome.PASS, result.message
