"""In triangles, too, CPEs are handed boxes: those that the diagonal cuts are widened to what all have."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import generated, unit_of
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.memory.box import bounding_box
from swbuild.options import Distribution, KernelOptions, Share, Where

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
    (*_, kernel) = unit_of("covariance", KernelOptions(machine="sw26010")).regions[0].report["kernels"]  # type: ignore[misc]
    assert kernel["choice"]["because"] == "one within 2 % of the cheapest that hands tiles on"
    assert kernel["choice"]["runner_up"]["quick_cycles"] < kernel["choice"]["quick_cycles"]


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
