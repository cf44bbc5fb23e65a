"""What stands between the kernels of a loop runs on a single CPE: one spawn, the same results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from generation import generated
from objects import shared_objects
from turns import dealt

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.codegen.unit import GeneratedUnit
from swbuild.options import Distribution, KernelOptions, Preset, Spawn, Where

HEAD = (
    "void {0}(int n, int m, double a[restrict n][n], double *restrict x, double *restrict y, int *restrict c)"
)

#: bodies by name; each has statements beside kernels in a sequential loop
BODIES = {
    "solved": """
  for (int i = 0; i < n; i++) {
    x[i] /= a[i][i] + 3.0;
    for (int j = i + 1; j < n; j++) x[j] -= a[j][i] * x[i];
  }""",
    "factored": """
  for (int i = 0; i < n; i++) {
    a[i][i] = sqrt(a[i][i] + 4.0);
    for (int j = i + 1; j < n; j++) a[j][i] /= a[i][i];
    for (int j = i + 1; j < n; j++)
      for (int k = i + 1; k <= j; k++) a[j][k] -= 0.1 * a[j][i] * a[k][i];
  }""",
    "normed": """
  for (int k = 0; k < n; k++) {
    double norm = 0.0;
    for (int i = 0; i < n; i++) norm += a[i][k] * a[i][k];
    norm = sqrt(norm) + 1.0;
    for (int i = 0; i < n; i++) x[i] = a[i][k] / norm;
    for (int j = k + 1; j < n; j++)
      for (int i = 0; i < n; i++) a[i][j] -= 0.5 * x[i] * x[j];
  }""",
    "recurred": """
  double alpha = x[0], beta = 1.0;
  for (int k = 1; k < n; k++) {
    double sum = 0.0;
    for (int i = 0; i < k; i++) sum += x[k - i - 1] * y[i];
    beta = (1.0 - 0.01 * alpha * alpha) * beta;
    alpha = -(x[k] + sum) / (beta + 2.0);
    for (int i = 0; i < k; i++) a[0][i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++) y[i] = a[0][i] * 0.25;
    y[k] = alpha;
  }""",
    "guarded": """
  for (int t = 0; t < m; t++) {
    for (int i = 0; i < n; i++) y[i] = x[i] * 0.5 + t;
    if (t % 3 == 1) y[0] += x[n - 1];
    if (t + 2 < m) c[t % n] = c[0] + t;
    for (int i = 1; i < n; i++) x[i] = y[i - 1] + y[0] + c[0];
  }""",
    "stepped": """
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n; i++) x[i] = 0.5 * x[i - 1] + y[i];
    for (int i = 0; i < n; i++) y[i] = x[n - 1 - i] * 0.5;
    for (int i = n - 2; i >= 0; i--) y[i] = y[i + 1] * 0.25 + y[i];
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i][j] * 0.5 + y[i] * x[j];
    x[0] = a[n - 1][n - 1];
  }""",
}
SIZES = ({"n": 1, "m": 3}, {"n": 2, "m": 5}, {"n": 7, "m": 0}, {"n": 41, "m": 4}, {"n": 67, "m": 2})


def program(names: Iterable[str]) -> str:
    functions = (
        HEAD.format(name) + "\n{\n#pragma scop" + BODIES[name] + "\n#pragma endscop\n}\n" for name in names
    )
    return "#include <math.h>\n" + "\n".join(functions)


PROGRAM = program(BODIES)
ALWAYS = KernelOptions(where=Where.CPES)


def spawns(found: GeneratedUnit) -> list[str]:
    return re.findall(r"athread_spawn\((\w+),", found.host.text)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> GeneratedUnit:
    directory = tmp_path_factory.mktemp("singles")
    return generated(directory, PROGRAM, ALWAYS)


def test_each_loop_is_one_spawn(found: GeneratedUnit) -> None:
    assert spawns(found) == [f"{name}_s0" for name in BODIES]
    assert all(any(kernel["single"] for kernel in region.report["kernels"]) for region in found.regions)


def test_neighbours_in_a_loop_are_one_kernel(found: GeneratedUnit) -> None:
    """Between them, no CPE has to wait, and scalars are variables."""
    assert found.slave is not None
    names = [
        kernel["name"] for region in found.regions for kernel in region.report["kernels"] if kernel["single"]
    ]
    assert [name for name in names if name.startswith("recurred")] == ["recurred_single0", "recurred_single1"]
    (body,) = re.findall(r"static void recurred_single1\(.*?\n}\n", found.slave.text, re.DOTALL)
    for once in ("sum = 0.0;", "alpha = -(", "*sw_args->sum = sum;", "beta = ("):
        assert body.count(f" {once}") == 1, once


def test_scalars_that_change_are_looked_at_by_each_phase(found: GeneratedUnit) -> None:
    assert found.slave is not None
    text = found.slave.text
    assert "const double norm = *sw_args->norm;" in text  # what a single CPE has stored
    assert "double norm = *sw_args->norm;" in text and "*sw_args->norm = norm;" in text
    assert re.search(r"a single CPE, tile 1\b", text)


def test_without_shared_spawns_there_is_no_use_in_them(tmp_path: Path) -> None:
    for options in (KernelOptions(spawn=Spawn.KERNEL), KernelOptions(preset=Preset.CLASSIC)):
        unit = generated(tmp_path, PROGRAM, options)
        assert not any(kernel["single"] for region in unit.regions for kernel in region.report["kernels"])


def test_long_work_in_order_stays_on_the_host(tmp_path: Path) -> None:
    """A single CPE would fetch these numbers one by one from main memory."""
    body = """for (int i = 1; i < n; i++) {
      for (int j = 1; j < n; j++)
        for (int k = 1; k < n; k++) x[0] = x[0] * 0.5 + a[c[(j * k) % n]][(j + k * k) % n];
      for (int j = 0; j < n; j++) y[j] = y[j] * x[0] + a[i][j];
    }"""
    text = HEAD.format("f") + "\n{\n#pragma scop\n" + body + "\n#pragma endscop\n}\n"
    unit = generated(tmp_path, text, ALWAYS)
    assert spawns(unit) == ["f_k0"]


def test_a_region_whose_shared_kernels_are_all_slower_than_the_host_stays_there(tmp_path: Path) -> None:
    text = """void f(int m, double w[12], double v[12]) {
#pragma scop
  for (int i = 0; i < m; i++) {
    for (int j = 1; j < 12; j++) w[j] = w[j] * 0.5 + v[0];
    v[0] = v[0] - (w[0] + w[1]);
  }
#pragma endscop
}
"""
    assert not spawns(generated(tmp_path, text, KernelOptions(where=Where.AUTO)))


@pytest.mark.parametrize(
    ("machine", "threads", "distribution", "modes", "names"),
    dealt(
        BODIES,
        ("sw26010", (0, 0), Distribution.CYCLIC, ("checked", "eager")),
        ("sw26010", (3, 5), Distribution.BLOCK, ("late", "random:1")),
        ("sw26010-pro", (0, 0), Distribution.CYCLIC, ("checked", "random:3")),
        ("sw26010-pro", (1, 7), Distribution.CYCLIC, ("checked",)),
    ),
)
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path,
    machine: str,
    threads: tuple[int, int],
    distribution: Distribution,
    modes: tuple[str, ...],
    names: list[str],
) -> None:
    path = tmp_path / "singles.c"
    path.write_text(program(names))
    options = KernelOptions(machine=machine, threads=threads, distribution=distribution, where=Where.CPES)
    checks = dict.fromkeys(names, RegionCheck(sizes=SIZES))
    task = SourceTask(path, options=dict.fromkeys(names, options), checks=checks)
    results = check_source(task, CheckSettings(modes=modes), tmp_path, shared_objects())
    assert {result.region for result in results} == set(names)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
