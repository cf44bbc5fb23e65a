"""Scalars that are computed for one element of an array work in it, where nobody else looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import EXAMPLES, model_of, unit_of

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.options import KernelOptions, Where
from swbuild.polyhedral.accumulators import in_elements

HEAD = "void f(int n, double a[restrict n][n], double b[restrict n], int p[restrict n])\n{\n#pragma scop\n"


def _loops(directory: Path, body: str) -> object:
    text = f"{HEAD}for (int i = 0; i < n; i++) {{\n{body}\n}}\n#pragma endscop\n}}\n"
    (scop,) = model_of(directory, text).scops
    return in_elements(scop)


@pytest.mark.parametrize(
    "body",
    [
        "double w = b[i]; for (int j = 0; j < i; j++) w -= a[i][j] * b[j]; b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[i] = w / n;",
        "double w = b[i]; for (int j = i + 1; j < n; j++) w -= a[i][j] * b[j]; b[i] = w / a[i][i];",
        """for (int j = 0; j < i; j++) {
             double w = a[i][j]; for (int k = 0; k < j; k++) w -= a[i][k] * a[k][j];
             a[i][j] = w / a[j][j]; }""",
    ],
)
def test_a_scalar_works_in_the_element_that_it_goes_into(body: str, tmp_path: Path) -> None:
    found = _loops(tmp_path, body)
    assert found is not None
    assert "w" not in {array.name for array in found.arrays}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j] * b[j]; b[i] = w;",
        "double w = b[i]; for (int j = 0; j <= i; j++) w -= a[i][j] * b[j]; b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[i] = b[i] + w;",
        "double w = 0; for (int j = 0; j < n; j++) { w += a[i][j]; b[j] = j; } b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += b[p[j]]; b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; if (i > 2) b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; if (a[i][i] > 2) b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[i] = w; a[i][i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) { w += a[i][j]; a[j][i] = w; }",
        "float w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[i] = w;",
        "double w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[p[i]] = w;",
        "double w = 0; b[i] = w; for (int j = 0; j < n; j++) w += a[i][j];",
    ],
)
def test_an_element_that_others_look_at_or_of_another_type_is_left_alone(body: str, tmp_path: Path) -> None:
    assert _loops(tmp_path, body) is None


def test_a_factorisation_with_scalars_runs_in_blocks_and_gives_the_serial_results() -> None:
    options = KernelOptions(where=Where.CPES)
    (region,) = unit_of("ludcmp", options).regions
    assert region.report["block"] == 32
    task = SourceTask(
        EXAMPLES / "ludcmp.c",
        options={"ludcmp": options},
        default_check=RegionCheck(tuple({"n": n} for n in (1, 35, 66))),
    )
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message
