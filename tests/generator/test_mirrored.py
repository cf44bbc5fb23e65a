"""Two places that write common elements have buffers of their own where one of them writes last."""

from __future__ import annotations

from pathlib import Path

import pytest
from turns import dealt

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.options import Distribution, KernelOptions, Preset

#: The transposed place writes last, and nothing reads that: two buffers.
APART = {
    "upper": "for (int j = i; j < n; j++) { S[i][j] = A[i][j] - A[j][i]; S[i][j] /= 3.0;"
    " S[j][i] = S[i][j]; }",
    "lower": "for (int j = 0; j <= i; j++) { S[i][j] = A[i][j] + 1.0; S[j][i] = 2.0 * S[i][j]; }",
    "strictly": "for (int j = i + 1; j < n; j++) { S[i][j] = A[j][i]; S[j][i] = -S[i][j]; }",
    "summed": "for (int j = i; j < n; j++) { S[i][j] = 0.5; for (int k = 0; k < n; k++)"
    " S[i][j] += A[k][i] * A[k][j]; S[j][i] = S[i][j]; }",
    "plain": "for (int j = i; j < n; j++) { S[i][j] = A[i][j]; S[j][i] = A[j][i] * 2.0; }",
}
#: What was written in one place is read, or written again, through the other one: one buffer or none.
TOGETHER = {
    "read_again": "for (int j = i; j < n; j++) { S[i][j] = A[i][j]; S[j][i] = 1.0 + S[i][j];"
    " S[i][j] += 4.0; }",
    "under_a_condition": "for (int j = i; j < n; j++) { S[i][j] = A[i][j];"
    " if (A[j][i] > 0.5) S[j][i] = 7.0; }",
    "both_ways": "for (int j = i; j < n; j++) { S[j][i] = A[i][j]; S[i][j] = 2.0 * S[j][i];"
    " S[j][i] = A[j][i] - S[i][j]; }",
    "in_one_statement": "for (int j = i; j < n; j++) { S[j][i] = S[i][j] = A[i][j]; }",
}
FUNCTION = """\
void f_{name}(int n, double S[restrict n][n], double A[restrict n][n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        {body}
#pragma endscop
}}
"""
SIZES = ({"n": 1}, {"n": 13}, {"n": 37})


def _source(bodies: dict[str, str], directory: Path) -> Path:
    path = directory / "mirrored.c"
    path.write_text("".join(FUNCTION.format(name=name, body=body) for name, body in bodies.items()))
    return path


def _directs(bodies: dict[str, str], directory: Path, options: KernelOptions) -> dict[str, int]:
    """Return how many references to ``S`` stay in main memory, per function."""
    model = read_source(_source(bodies, directory), CppOptions(), None)
    found = compile_regions(model, {f"f_{name}": options for name in bodies})
    results = {each.name: each.result for each in found if isinstance(each.result, RegionResult)}
    assert set(results) == {f"f_{name}" for name in bodies}
    return {
        name: sum(d.array == "S" for place in result.placed for d in place.plan.direct)
        for name, result in results.items()
    }


def test_what_is_mirrored_has_a_buffer_of_its_own(tmp_path: Path) -> None:
    assert not any(_directs(APART, tmp_path, KernelOptions()).values())


def test_the_published_algorithm_has_one_buffer(tmp_path: Path) -> None:
    assert any(_directs(APART, tmp_path, KernelOptions(preset=Preset.CLASSIC)).values())


@pytest.mark.parametrize(
    ("machine", "tile", "distribution", "mode", "chosen"),
    [
        *dealt(
            APART | TOGETHER,
            ("sw26010", (4, 3, 5), Distribution.CYCLIC, "late"),
            ("sw26010-pro", (), Distribution.CYCLIC, "checked"),
        ),
        pytest.param(
            "sw26010", (8,), Distribution.BLOCK, "random", [*APART, *TOGETHER], marks=pytest.mark.matrix
        ),
    ],
)
def test_results_are_right(
    machine: str,
    tile: tuple[int, ...],
    distribution: Distribution,
    mode: str,
    chosen: list[str],
    tmp_path: Path,
) -> None:
    bodies = {name: (APART | TOGETHER)[name] for name in chosen}
    names = [f"f_{name}" for name in bodies]
    task = SourceTask(
        _source(bodies, tmp_path),
        default_options=KernelOptions(machine=machine, tile=tile, distribution=distribution),
        checks=dict.fromkeys(names, RegionCheck(SIZES)),
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=(mode,)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
