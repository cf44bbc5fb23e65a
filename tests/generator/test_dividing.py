"""Nests that are divided where their parts have more parallel loops and are estimated to take less time."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import Compilation, compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.options import Distribution, KernelOptions, Preset
from swbuild.planning.ordering import Judgement, Ordered

#: Statements of fewer loops beside nests of two parallel ones.
DIVIDED = {
    "diagonal": "for (int i = 0; i < n; i++) { S[i][i] = 1.0; for (int j = i + 1; j < n; j++) {"
    " S[i][j] = 0.0; for (int k = 0; k < n; k++) S[i][j] += A[k][i] * A[k][j]; S[j][i] = S[i][j]; } }",
    "border": "for (int t = 0; t < 3; t++) { for (int j = 0; j < n; j++) S[0][j] = T[t];"
    " for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) S[i][j] -= 0.5 * (A[i][j] - A[i - 1][j]);"
    " for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) E[i][j] -= 0.5 * (A[i][j] - A[i][j - 1]);"
    " for (int i = 0; i < n - 1; i++) for (int j = 0; j < n - 1; j++)"
    " A[i][j] -= 0.7 * (E[i][j + 1] - E[i][j] + S[i + 1][j] - S[i][j]); }",
    "sums": "for (int i = 0; i < n; i++) { T[i] = 0.0; for (int j = 0; j < n; j++) T[i] += A[i][j];"
    " for (int j = 0; j < n; j++) { S[i][j] = 0.0; for (int k = 0; k < n; k++)"
    " S[i][j] += A[i][k] * A[k][j]; } }",
}
#: Rows of a constant length that stay in the LDM from one part to the next.
WHOLE = {
    "rows": "for (int i = 0; i < n; i++) { T[i] = R[i][7]; for (int j = 0; j < 96; j++) R[i][j] += T[i];"
    " for (int j = 0; j < 96; j++) Q[i][j] = R[i][j] + R[i][95 - j]; }",
}
FUNCTION = """\
void f_{name}(int n, double S[restrict n][n], double A[restrict n][n], double E[restrict n][n],
              double T[restrict n], double R[restrict n][96], double Q[restrict n][96])
{{
#pragma scop
    {body}
#pragma endscop
}}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "dividing.c"
    bodies = DIVIDED | WHOLE
    path.write_text("".join(FUNCTION.format(name=name, body=bodies[name]) for name in bodies))
    return path


def _compiled(source: Path, options: KernelOptions, **others: KernelOptions) -> dict[str, Compilation]:
    chosen = {f"f_{name}": others.get(name, options) for name in DIVIDED | WHOLE}
    found = compile_regions(read_source(source, CppOptions(), None), chosen)
    return {each.name.removeprefix("f_"): each for each in found}


def _parallel(found: Compilation) -> list[int]:
    """Return how many parallel loops the kernels have."""
    assert isinstance(found.result, RegionResult)
    return [min(2, kernel.parallel) for kernel in found.result.order.tree.kernels]


def _judgements(found: Compilation) -> set[Judgement]:
    return {each.judgement for each in found.search if isinstance(each, Ordered)}


def test_parts_with_more_parallel_loops_are_kernels_of_their_own(source: Path) -> None:
    # tiles that are not dealt out in turn are none over time
    found = _compiled(source, KernelOptions(), border=KernelOptions(distribution=Distribution.BLOCK))
    assert {name: _parallel(found[name]).count(2) for name in DIVIDED} == {
        "diagonal": 1,
        "border": 3,
        "sums": 1,
    }
    assert Judgement.CHEAPER in _judgements(found["border"])


def test_nests_stay_whole_where_that_is_cheaper(source: Path) -> None:
    found = _compiled(source, KernelOptions())["rows"]
    assert _parallel(found) == [1, 2]
    assert Judgement.DEARER in _judgements(found)


def test_the_published_algorithm_divides_nothing(source: Path) -> None:
    found = _compiled(source, KernelOptions(preset=Preset.CLASSIC))
    seen = set().union(*map(_judgements, found.values()))
    assert not seen & {Judgement.CHEAPER, Judgement.DEARER}


@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_results_are_right(source: Path, machine: str, tmp_path: Path) -> None:
    names = [f"f_{name}" for name in DIVIDED | WHOLE]
    task = SourceTask(
        source,
        default_options=KernelOptions(machine=machine),
        checks=dict.fromkeys(names, RegionCheck(({"n": 3}, {"n": 29}))),
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
