"""Who runs a region: the host, the core group, or whoever is estimated to be faster."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated

from swbuild.cli.summary import summary
from swbuild.codegen.unit import GeneratedUnit
from swbuild.options import Fusion, KernelOptions, Preset, Spawn, Where
from swbuild.planning import where as planning

AUTO = KernelOptions(where=Where.AUTO)


def _sweep(size: str, parameters: str = "int n") -> str:
    return f"""\
double a[{size}][{size}], b[{size}][{size}];
void sweep({parameters}) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2.0 * b[i][j] + 1.0;
#pragma endscop
}}
"""


def _where(unit: GeneratedUnit) -> dict[str, object]:
    (region,) = unit.regions
    found: dict[str, object] = region.report["where"]
    return found


def test_sizes_known_at_run_time_are_tested(tmp_path: Path) -> None:
    unit = generated(tmp_path, _sweep("2000"), AUTO)
    found = _where(unit)
    assert found["chosen"] == "at run time"
    assert f"if (1.0 * n * n < {found['least_iterations']} /* the loops are estimated" in unit.host.text
    assert unit.regions[0].refusals[-1] == "the loops are estimated to take less time on the host"
    assert "on the core group from about" in summary(unit.regions[0])
    assert 2_000 < int(str(found["least_iterations"])) < 200_000


def test_loops_that_are_always_small_stay_on_the_host(tmp_path: Path) -> None:
    unit = generated(tmp_path, _sweep("40"), AUTO)
    assert _where(unit)["chosen"] == "host"
    assert unit.slave is None and "(entries)" in unit.host.text
    assert "stays on the host; limit: it is estimated to take" in summary(unit.regions[0])


def test_known_sizes_are_decided_at_once(tmp_path: Path) -> None:
    small = generated(tmp_path, _sweep("2000"), replace(AUTO, params={"n": 20}))
    large = generated(tmp_path, _sweep("2000"), replace(AUTO, params={"n": 2000}))
    constant = generated(tmp_path, _sweep("2000", "void").replace("< n", "< 2000"), AUTO)
    assert [_where(unit)["chosen"] for unit in (small, large, constant)] == ["host", "cpes", "cpes"]
    assert "1.0 *" not in large.host.text + constant.host.text


def test_both_sides_of_each_kernel_are_reported(tmp_path: Path) -> None:
    text = """\
void two(int n, double a[restrict n][n], double b[restrict n][n], double x[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 2.0 * x[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2.0 * b[i][j] + x[j];
#pragma endscop
}
"""
    found = _where(generated(tmp_path, text, replace(AUTO, fusion=Fusion.MIN)))
    short, long = found["kernels"]  # type: ignore[misc]
    assert short["host_cycles"] < short["cpes_cycles"] < long["cpes_cycles"] < long["host_cycles"]
    assert found["cpes_cycles"] == pytest.approx(short["cpes_cycles"] + long["cpes_cycles"], abs=2)
    assert found["host_cycles"] == pytest.approx(short["host_cycles"] + long["host_cycles"], abs=2)


def test_the_runner_up_is_reported(tmp_path: Path) -> None:
    (region,) = generated(tmp_path, _sweep("2000"), AUTO).regions
    (kernel,) = region.report["kernels"]
    choice = kernel["choice"]
    assert choice["considered"] > 10 and choice["because"]
    other = choice["runner_up"]
    assert (other["threads"], other["tile"]) != (kernel["threads"], kernel["tile"])
    assert choice["quick_cycles"] <= other["quick_cycles"]


def test_a_spawn_in_every_step_counts_with_each(tmp_path: Path) -> None:
    text = """\
double a[2000], b[2000];
void steps(int t, int n) {
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.3 * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.3 * (b[i - 1] + b[i] + b[i + 1]);
  }
#pragma endscop
}
"""
    each = _where(generated(tmp_path, text, replace(AUTO, spawn=Spawn.KERNEL)))
    once = _where(generated(tmp_path, text, AUTO))
    assert each["chosen"] == "host" and once["chosen"] == "at run time"


@pytest.mark.parametrize("where", list(Where))
def test_the_user_has_the_last_word(tmp_path: Path, where: Where) -> None:
    unit = generated(tmp_path, _sweep("40"), KernelOptions(where=where))
    assert bool(unit.regions[0].kernels) == (where is Where.CPES)


def test_the_published_algorithm_knows_no_estimates(tmp_path: Path) -> None:
    classic = KernelOptions(preset=Preset.CLASSIC)
    unit, other = (
        generated(tmp_path, _sweep("40"), replace(classic, where=w)) for w in (Where.AUTO, Where.CPES)
    )
    assert unit.host == other.host and unit.slave == other.slave


def test_who_looks_at_kernels_gets_them(tmp_path: Path) -> None:
    for size in ("40", "2000"):
        unit = generated(tmp_path, _sweep(size), AUTO.for_kernels())
        assert unit.regions[0].kernels and "1.0 *" not in unit.host.text
    for where in (Where.HOST, Where.CPES):
        assert KernelOptions(where=where).for_kernels() == KernelOptions(where=where)


EDGES = """\
double a[900][900], b[900][900];
void step(int t, int n) {
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 0; i < n; i++)
      b[i][0] = b[i][1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
"""


def test_a_kernel_that_never_pays_stays_on_the_host_beside_others(tmp_path: Path) -> None:
    auto = replace(AUTO, fusion=Fusion.MIN, spawn=Spawn.KERNEL)
    known = replace(auto, params={"n": 900})
    (forced,) = generated(tmp_path, EDGES, replace(known, where=Where.CPES)).regions
    for options in (auto, known, known.for_kernels()):
        (region,) = generated(tmp_path, EDGES, options).regions
        assert len(region.kernels) == len(forced.kernels) - 1
        (left,) = region.report["where"]["left_to_the_host"]
        assert left["host_cycles"] < left["cpes_cycles"]
        assert [s["statement"] for s in region.report["host_statements"]] == left["statements"]
    (together,) = generated(tmp_path, EDGES, replace(auto, spawn=Spawn.REGION)).regions
    assert len(together.kernels) == len(forced.kernels)  # a barrier is cheaper than another spawn


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_kernels_and_loops_of_the_host_compute_the_same_together(tmp_path: Path) -> None:
    main = """\
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 900; i++)
    for (int j = 0; j < 900; j++)
      a[i][j] = i * j % 13;
  step(3, 150), step(1, 2);
  double total = 0;
  for (int i = 0; i < 150; i++)
    total = 0.9 * total + a[i][i % 7] - b[i][0];
  printf("%a\\n", total);
  return 0;
}
"""
    folder = tmp_path / "mixed"
    folder.mkdir()
    unit = generated(tmp_path, EDGES + main, replace(AUTO, fusion=Fusion.MIN, spawn=Spawn.KERNEL))
    assert unit.regions[0].report["where"]["left_to_the_host"]
    build_generated("sw26010", unit, folder)
    counters = tmp_path / "counters.json"
    done = launch("sw26010", folder, "late", SWBUILD_EMU_COUNTERS=str(counters))
    assert (done.status, done.out) == (0, run_serially(tmp_path / "region.c")), done.err
    assert json.loads(counters.read_text())["spawns"] == 3 * len(unit.regions[0].kernels)


#: The host combines the parts of a sum before the two other kernels, which share a spawn.
SUMS = """void f(int n, int m, double *restrict a, double *restrict b, double *restrict s) {
#pragma scop
for (int t = 0; t < m; t++) {
  for (int i = 0; i < n; i++) *s = *s + a[i];
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + *s;
  for (int i = 1; i < n - 1; i++) a[i] = b[i] * 0.5 + b[i - 1];
}
#pragma endscop
}
"""


def test_a_shared_spawn_in_a_loop_of_the_host_counts_in_each_turn(tmp_path: Path) -> None:
    found = _where(generated(tmp_path, SUMS, replace(AUTO, reassociate=True, params={"n": 500, "m": 2000})))
    assert found["chosen"] == "host"
    kernels: list[dict[str, int]] = found["kernels"]  # type: ignore[assignment]
    assert [kernel["launches"] for kernel in kernels] == [2000, 2000, 2000]
    assert all(kernel["spawn_and_join"] > 10_000 * kernel["launches"] for kernel in kernels)


def test_sizes_without_a_limit_keep_a_kernel(tmp_path: Path) -> None:
    text = EDGES.replace("double a[900][900], b[900][900];\n", "").replace(
        "int n)", "int n, double a[restrict n][n], double b[restrict n][n])"
    )
    (forced,) = generated(tmp_path, text, KernelOptions(fusion=Fusion.MIN)).regions
    (region,) = generated(tmp_path, text, replace(AUTO, fusion=Fusion.MIN)).regions
    assert region.kernels == forced.kernels and not region.report["where"]["left_to_the_host"]


PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
double a[300][300], b[300][300], s[300];
void sweep(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] + 2.0 * b[j][i];
#pragma endscop
}
void sums(int n) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int j = 0; j < n; j++)
      sum += a[i][j];
    s[i] = sum;
  }
#pragma endscop
}
void triangle(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      b[i][j] = a[j][i] - s[j];
#pragma endscop
}
int main(void) {
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < 300; j++)
      a[i][j] = i - 3 * j, b[i][j] = i * j % 17;
  for (int n = 0; n < 300; n = 2 * n + 5)
    sweep(n), sums(n), triangle(n);
  sweep(300), sums(300), triangle(300);
  double total = 0;
  for (int i = 0; i < 300; i++) {
    total = 0.5 * total + s[i];
    for (int j = 0; j < 300; j++)
      total = 0.999 * total + a[i][j] - b[i][j];
  }
  printf("%a\\n", total);
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_both_ways_compute_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "auto"
    folder.mkdir()
    unit = generated(tmp_path, PROGRAM, AUTO)
    assert {region.report["where"]["chosen"] for region in unit.regions} == {"at run time"}
    build_generated("sw26010", unit, folder)
    counters = tmp_path / "counters.json"
    done = launch("sw26010", folder, "late", SWBUILD_EMU_COUNTERS=str(counters))
    assert (done.status, done.out) == (0, run_serially(tmp_path / "region.c")), done.err
    spawns = json.loads(counters.read_text())["spawns"]
    assert 3 <= spawns < 3 * 7


def test_lengths_that_isl_fails_to_simplify_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> isl.PwAff:
        raise isl.Error("call to isl_pw_aff_gist failed: an assertion")

    domain = isl.Set("[n] -> { S[i, j] : 0 <= i < n and i <= j < n }")
    monkeypatch.setattr(isl.PwAff, "gist", failing)
    assert planning._value(planning._length(domain, 0), {"n": 7}) == 7
