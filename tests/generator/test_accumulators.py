"""Scalars that are computed for one element of an array work in it, where nobody else looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import EXAMPLES, model_of, unit_of

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.options import KernelOptions, Where
from swbuild.polyhedral.accumulators import in_elements

HEAD = "void f(int n, double a[restrict n][n], double b[restrict n], int p[restrict n])\n{\n#pragma scop\n"


def _loops(directory: Path, body: str, local: str = "") -> object:
    head = HEAD.replace("{", f"{{\n{local}", 1)
    text = f"{head}for (int i = 0; i < n; i++) {{\n{body}\n}}\n#pragma endscop\n}}\n"
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


def test_a_variable_of_the_function_works_in_several_elements_by_turns(tmp_path: Path) -> None:
    body = """w = b[i]; for (int j = 0; j < i; j++) w -= a[i][j] * b[j]; b[i] = w / 2;
        w = 0; for (int j = 0; j < n; j++) w += b[j]; a[i][i] = w;"""
    found = _loops(tmp_path, body, "double w;")
    assert found is not None
    assert "w" not in {array.name for array in found.arrays}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        "b[i] = w; w = 0; for (int j = 0; j < n; j++) w += a[i][j]; a[i][i] = w;",
        "w = 1; b[i] = w; for (int j = 0; j < n; j++) w += a[i][j]; a[i][i] = w;",
        "for (int j = 0; j < n; j++) { w = j; a[i][j] = w; w = a[j][i]; } b[i] = w;",
        "if (i > 2) w = 0; for (int j = 0; j < n; j++) w += a[i][j]; b[i] = w;",
    ],
)
def test_values_that_go_from_one_use_to_the_next_stay_in_the_variable(body: str, tmp_path: Path) -> None:
    assert _loops(tmp_path, body, "double w = 0;") is None


@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_a_factorisation_with_one_scalar_for_all_gives_the_serial_results(
    machine: str, tmp_path: Path
) -> None:
    text = (EXAMPLES / "ludcmp.c").read_text().replace("double w =", "w =")
    path = tmp_path / "ludcmp.c"
    path.write_text(text.replace("#pragma scop", "double w;\n#pragma scop"))
    options = KernelOptions(machine=machine, where=Where.CPES)
    checks = RegionCheck(tuple({"n": n} for n in (1, 35, 66)))
    task = SourceTask(path, options={"ludcmp": options}, default_check=checks)
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message
    assert len(result.kernels) > 4


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
