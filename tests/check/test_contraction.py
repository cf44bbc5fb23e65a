"""Kernels with multiply-adds against references with the same ones, bit for bit, and what is caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from turns import MACHINES, in_turn

from swbuild.check import CheckSettings, Outcome, RegionResult, SourceTask, check_sources, explain
from swbuild.options import KernelOptions, Vectorize

SETTINGS = CheckSettings(modes=("eager", "checked"), jobs=1)
POLYBENCH = Path(__file__).parents[2] / "examples" / "polybench"

KERNELS = """\
static double pure(double x, double y) { return x * y + 1; }
void products(int n, int m, double c, double A[restrict n][m], double B[restrict n][m],
              double D[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i][j] = B[i][j] * c - A[i][j] * D[i][j];
      D[i][j] -= B[i][j] * A[i][j];
      B[i][j] = D[i][j] + c * 0.1;
    }
#pragma endscop
}
void floats(int n, int m, float c, float A[restrict n][m], float B[restrict n][m],
            double D[restrict n][m])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      B[i][j] = c * (A[i][j] + A[i - 1][j]) + 0.3f * A[i][j - 1] - A[i + 1][j] * c;
      D[i][j] = D[i][j] - A[i][j] * c;
      D[i][j] -= c * D[i][j];
    }
#pragma endscop
}
void others(int n, double c, unsigned u, double A[restrict n], double B[restrict n], int k[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = A[i] * c - B[i] * c;
    if (t * c + A[i] > 0.5)
      A[i] = pure(t, c) + t * c;
    else
      A[i] += A[i] > c ? B[i] * c + t : t;
    B[i] -= u * t;
    k[i] += k[i] * 3 + (B[i] * c - u > 1);
  }
#pragma endscop
}
"""


def checked(path: Path, options: KernelOptions) -> list[RegionResult]:
    return check_sources([SourceTask(path, default_options=options)], SETTINGS)


def passed(results: list[RegionResult]) -> None:
    wrong = [explain(result) for result in results if result.outcome is not Outcome.PASS]
    assert not wrong, "\n".join(wrong)
    assert all(result.kernels for result in results)


@pytest.mark.parametrize(("vectorize", "machine"), in_turn(list(Vectorize), MACHINES))
def test_results_are_the_same_to_the_bit(machine: str, vectorize: Vectorize, tmp_path: Path) -> None:
    source = tmp_path / "kernels.c"
    source.write_text(KERNELS)
    passed(checked(source, KernelOptions(machine=machine, contract=True, vectorize=vectorize)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "vectorize"),
    [("gemm", Vectorize.AUTO), ("syrk", Vectorize.NEVER), ("jacobi-2d", Vectorize.AUTO)],
)
@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_examples_are_the_same_to_the_bit(
    example: str, machine: str, vectorize: Vectorize, tmp_path: Path
) -> None:
    options = KernelOptions(machine=machine, contract=True, vectorize=vectorize)
    passed(checked(POLYBENCH / f"{example}.c", options))


@pytest.mark.parametrize("contracted", ["kernel", "reference"])
@pytest.mark.parametrize("vectorize", list(Vectorize))
def test_multiply_adds_on_one_side_alone_are_seen(
    contracted: str, vectorize: Vectorize, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if contracted == "kernel":
        import swbuild.check.staged as staged

        plain = staged.reference_source
        monkeypatch.setattr(staged, "reference_source", lambda *a, **_: plain(*a))
    else:
        import swbuild.region as region

        monkeypatch.setattr(region, "_in_multiply_adds", lambda scop: scop)
    source = tmp_path / "kernels.c"
    source.write_text(KERNELS)
    results = checked(source, replace(KernelOptions(contract=True), vectorize=vectorize))
    assert {result.outcome for result in results} == {Outcome.MISMATCH}
