"""What counts as a reduction, what only looks like one, and what becomes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import generated, model_of

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.codegen.unit import GeneratedUnit
from swbuild.options import KernelOptions, Preset, Where
from swbuild.polyhedral.reductions import find_reductions

SIGNATURE = (
    "int n, double s[restrict 1], double a[restrict n], float f[restrict 1], "
    "int k[restrict 1], int b[restrict n], long w[restrict 1], double h[restrict 32]"
)


def text_of(body: str, loop: str = "for (int i = 0; i < n; i++)") -> str:
    return (
        f"#include <math.h>\nvoid f0({SIGNATURE})\n{{\n#pragma scop\n{loop} {{\n{body}\n}}\n"
        "#pragma endscop\n}\n"
    )


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        ("s[0] += a[i];", "+"),
        ("s[0] -= a[i] * a[i];", "+"),
        ("s[0] = s[0] + a[i] - 1;", "+"),
        ("s[0] = a[i] + s[0];", "+"),
        ("s[0] *= a[i];", "*"),
        ("s[0] = 2 * s[0] * a[i];", "*"),
        ("if (a[i] > s[0]) s[0] = a[i];", "max"),
        ("if (s[0] > a[i]) s[0] = a[i];", "min"),
        ("s[0] = a[i] < s[0] ? a[i] : s[0];", "min"),
        ("s[0] = s[0] < a[i] ? a[i] : s[0];", "max"),
        ("s[0] = s[0] >= a[i] ? s[0] : a[i];", "max"),
        ("s[0] = fmin(a[i], s[0]);", "fmin"),
        ("f[0] = fmaxf(f[0], (float)a[i]);", "fmax"),
        ("k[0] += b[i];", "+"),
        ("w[0] += b[i] * 3;", "+"),
        ("h[b[i]] += a[i];", "+"),
        ("k[0]++;", "+"),
        ("--k[0];", "+"),
        ("if (a[i] > 0) k[0]++;", "+"),
        ("if (a[i] > 0) s[0] += a[i]; else { s[0] -= 1; }", "+"),
        ("if (b[i] == 3) k[0] *= b[i];", "*"),
    ],
)
def test_reductions_are_found(body: str, operator: str, tmp_path: Path) -> None:
    (scop,) = model_of(tmp_path, text_of(body)).scops
    (found,) = find_reductions(scop)
    assert found.operator.value == operator


@pytest.mark.parametrize(
    "body",
    [
        "s[0] = a[i] - s[0];",  # alternates
        "s[0] = s[0] / a[i];",
        "s[0] = s[0] * 2 + a[i];",
        "s[0] += s[0] * a[i];",
        "s[0] = a[i];",
        "if (a[i] > s[0]) s[0] = a[i] + 1;",
        "if (a[i] > 0) s[0] = a[i];",
        "s[0] = a[i] < s[0] ? s[0] : 1.0;",
        "s[0] = fmax(s[0], s[0] + a[i]);",
        "s[0] = fmaxf(s[0], (float)a[i]);",  # rounds what was there as well
        "k[0] += a[i];",  # the fraction is cut off at every step
        "k[0] = k[0] + 1.5;",
        "if (w[0] > b[i]) w[0] = b[i];",  # compares wider numbers than it keeps, in other programs
        "h[b[i]] = h[i] + a[i];",  # another element
        "if (k[0] < 9) k[0]++;",  # stops on the way
        "if (a[i] > 0) s[0] += a[i]; else s[0] *= 2;",
        "if (a[i] > 0) k[0] += a[i];",
    ],
)
def test_what_only_looks_like_a_reduction_is_none(body: str, tmp_path: Path) -> None:
    (scop,) = model_of(tmp_path, text_of(body)).scops
    assert find_reductions(scop) == ()


def unit_of(tmp_path: Path, body: str, loop: str = "for (int i = 0; i < n; i++)") -> GeneratedUnit:
    return generated(tmp_path, text_of(body, loop), KernelOptions(reassociate=True))


def reductions(unit: GeneratedUnit) -> list[tuple[str, str]]:
    return [
        (found["array"], found["operator"])
        for kernel in unit.regions[0].report["kernels"]
        for found in kernel["reductions"]
    ]


def test_a_reduction_gets_a_part_per_thread_and_is_combined_in_their_order(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, "s[0] += a[i];")
    assert reductions(unit) == [("s", "+")]
    assert not unit.regions[0].exact_order
    assert re.search(r"for \(long sw_t = 0; sw_t < 64; sw_t\+\+\)", unit.host.text)


def test_without_reassociate_everything_is_exact(tmp_path: Path) -> None:
    unit = generated(tmp_path, text_of("s[0] += a[i];"))
    assert unit.regions[0].kernels == ()
    assert unit.regions[0].exact_order


def test_loops_that_are_parallel_anyway_keep_their_order(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, "for (int j = 0; j < n; j++) a[i] += b[j];")
    assert reductions(unit) == []
    assert unit.regions[0].exact_order
    assert unit.regions[0].kernels


@pytest.mark.parametrize(
    "body",
    [
        "s[0] += a[i]; a[i] = s[0];",  # every sum on the way is used: a scan
        "s[0] += a[i]; s[0] *= 0.5;",
        "s[0] += a[i]; if (a[i] > s[0]) s[0] = a[i];",
    ],
)
def test_sums_that_are_looked_at_on_the_way_are_not_split(body: str, tmp_path: Path) -> None:
    unit = unit_of(tmp_path, body)
    assert reductions(unit) == []


def test_parts_that_do_not_fit_leave_the_loop_alone(tmp_path: Path) -> None:
    text = text_of("g[b[i]] += a[i];").replace("double h[restrict 32]", "double g[restrict 100000]")
    unit = generated(tmp_path, text, KernelOptions(reassociate=True))
    assert unit.regions[0].kernels == ()


def test_a_sequential_loop_around_a_reduction_starts_it_every_time(tmp_path: Path) -> None:
    body = "for (int j = 0; j < n; j++) s[0] += a[j]; h[0] = h[0] * 0.5 + s[0]; s[0] = h[0];"
    unit = unit_of(tmp_path, body)
    assert reductions(unit) == [("s", "+")]
    assert [kernel["host_loops"] for kernel in unit.regions[0].report["kernels"]] == [1]


COUNTING = """int f(int n, int m, double t, double a[restrict n][m], int b[restrict n][m], long *restrict sum)
{
  int above = 0, most = -5;
  long all = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (a[i][j] > t)
        above++;
      all += b[i][j];
      if (b[i][j] > most)
        most = b[i][j];
    }
#pragma endscop
  *sum = all - most;
  return above;
}
"""


def test_integers_are_added_up_in_parts_unasked(tmp_path: Path) -> None:
    unit = generated(tmp_path, COUNTING, KernelOptions())
    (region,) = unit.regions
    assert region.report["host_statements"] == []
    assert region.exact_order
    assert {array for array, _ in reductions(unit)} == {"above", "all", "most"}
    for options in (KernelOptions(preset=Preset.CLASSIC), KernelOptions(where=Where.HOST)):
        assert generated(tmp_path, COUNTING, options).slave is None
    (floats,) = generated(tmp_path, COUNTING.replace("int b", "float b").replace("long", "float")).regions
    assert floats.report["host_statements"] != []


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_integers_come_to_the_same(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "counting.c"
    path.write_text(COUNTING)
    options = KernelOptions(machine=machine, where=Where.CPES)
    sizes = RegionCheck(({"n": 1, "m": 1}, {"n": 7, "m": 300}, {"n": 131, "m": 67}))
    task = SourceTask(path, options={"f": options}, default_check=sizes)
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message


NORMS = """#include <math.h>
double f(int n, int m, float *most, double a[restrict n][m], double b[restrict n][m], double *nothing)
{
  double least = 1.5, none;
#pragma scop
  none = NAN;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      b[i][j] = a[i][j] * 0.5;
      double d = fabs(b[i][j] - a[i][j]), r = fabs(sqrt(a[i][j] - 0.3)) * d + a[i][j] * a[i][j];
      most[0] = fmaxf(most[0], d);
      if (least > r)
        least = r;
      none = fmax(none, fabs(sqrt(-1.0 - d)));
    }
#pragma endscop
  *nothing = none;
  return least;
}
"""


def exact_parts(tmp_path: Path, body: str, declared: str = "") -> list[tuple[str, str]]:
    text = text_of(body).replace("#pragma scop", f"{declared}\n#pragma scop")
    unit = generated(tmp_path, text, KernelOptions())
    assert unit.regions[0].exact_order
    return reductions(unit)


@pytest.mark.parametrize(
    "body",
    [
        "if (fabs(a[i]) > s[0]) s[0] = fabs(a[i]);",
        "if (s[0] > a[i] * a[i]) s[0] = (a[i] * a[i]);",
        "s[0] = s[0] < exp(a[i]) + 2 ? exp(a[i]) + 2 : s[0];",
        "s[0] = fmin(s[0], sqrt(fabs(a[i]) / 3.0));",
        "double d = fabs(a[i]); d += a[i] * a[i]; if (d >= s[0]) s[0] = d;",
        "f[0] = fmaxf(f[0], a[i] > 0 ? 1.0f : 2.5f);",
    ],
)
def test_extremes_without_signs_are_computed_in_parts_unasked(body: str, tmp_path: Path) -> None:
    ((_, operator),) = exact_parts(tmp_path, f"b[i] = i; {body}")
    assert operator.removeprefix("f") in ("min", "max")


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > s[0]) s[0] = a[i];",  # of two zeros, the first one stays
        "s[0] = s[0] > fabs(a[i]) ? s[0] : fabs(a[i]);",  # a NaN is taken
        "s[0] = fmax(s[0], a[i] * i);",
        "double d = fabs(a[i]); d -= 1; if (d > s[0]) s[0] = d;",
        "double d = fabs(a[i]); if (i % 3 == 0) d = a[i]; if (d > s[0]) s[0] = d;",
        "if (i > n / 2) q = fabs(a[i]); if (q > s[0]) s[0] = q;",  # q may come from outside
        "s[0] += fabs(a[i]);",
        "if (fabs(a[i]) > h[b[i] & 31]) h[b[i] & 31] = fabs(a[i]);",  # exact, but in 32 parts
    ],
)
def test_what_an_order_would_be_seen_in_is_not_split_unasked(body: str, tmp_path: Path) -> None:
    assert exact_parts(tmp_path, f"w[0] = i; {body}", "double q = a[0];") == []


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_extremes_pass_over_what_is_no_number(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "norms.c"
    path.write_text(NORMS)
    options = KernelOptions(machine=machine, where=Where.CPES)
    found = generated(tmp_path, NORMS, options).regions[0]
    assert {each["array"] for each in found.report["kernels"][0]["reductions"]} == {"most", "least", "none"}
    sizes = RegionCheck(({"n": 1, "m": 1}, {"n": 7, "m": 300}, {"n": 131, "m": 67}))
    task = SourceTask(path, options={"f": options}, default_check=sizes)
    (result,) = check_sources([task], CheckSettings(modes=("checked",), jobs=1))
    assert result.outcome is Outcome.PASS, result.message
