"""Generated code in which CPEs hand tiles on: it says so, reports what is not, and computes the same."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from generation import generated
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.kernelir.nodes import Share
from swbuild.kernelir.passes import walk
from swbuild.options import Distribution, KernelOptions, Prefetch, Preset, Resident, Where
from swbuild.options import Share as Sharing

HEAD = """void f(int n, int m, int l, double c[restrict n][m], double a[restrict n][l],
       double b[restrict l][m], double *restrict x, float s[restrict l], short *restrict h,
       double p[restrict 12][9], double q[restrict 9][20], double r[restrict 12][20],
       int u[restrict n][m], int v[restrict n][l], int w[restrict l][m]) {
#pragma scop
"""
GEMM = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)
  c[i][j] += a[i][k] * b[k][j];"""
VECTOR = "for (int i = 0; i < n; i++) for (int k = 0; k < l; k++) x[i] += a[i][k] * s[k];"
SHORTS = "for (int i = 0; i < n; i++) for (int k = 0; k < l; k++) x[i] += a[i][k] * h[k];"
TRIANGLE = """for (int i = 0; i < n; i++) for (int j = 0; j <= i && j < m; j++) for (int k = 0; k < l; k++)
  c[i][j] += a[i][k] * b[k][j];"""
TWO = f"for (int t = 0; t < 2; t++) {{ {GEMM} for (int i = 0; i < n; i++) x[i] += t; }}"
STORED = "for (int i = 0; i < n; i++) for (int j = 0; j < m && j < l; j++) c[i][j] = a[i][j] * s[j] + x[i];"
#: of one round at most, so that conditions take the place of loops over rounds
SMALL = """for (int i = 0; i < n && i < 12; i++) for (int j = 0; j < m && j < 20; j++)
  for (int k = 0; k < l && k < 9; k++) r[i][j] += p[i][k] * q[k][j];"""
INTEGERS = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)
  u[i][j] += v[i][k] - w[k][j];"""
BODIES = {
    "small": SMALL,
    "integers": INTEGERS,
    "stored": STORED,
    "gemm": GEMM,
    "vector": VECTOR,
    "shorts": SHORTS,
    "triangle": TRIANGLE,
    "two": TWO,
}

OPTIONS = KernelOptions(
    machine="sw26010-pro",
    threads=(8, 8),
    tile=(2, 3, 4),
    distribution=Distribution.CYCLIC,
    share=Sharing.AUTO,
)


def slave(directory: Path, body: str, options: KernelOptions) -> str:
    found = generated(directory, f"{HEAD}{body}\n#pragma endscop\n}}\n", options)
    assert found.slave is not None
    return found.slave.text


def test_tiles_are_handed_on_by_rma(tmp_path: Path) -> None:
    text = slave(tmp_path, GEMM, OPTIONS)
    assert "if (sw_cid == sw_rid && i0 < n)\n" in text and "athread_rma_row_ibcast(a_spare, a_next, " in text
    assert "athread_rma_col_ibcast(b_spare, b_next, " in text
    text = slave(tmp_path, GEMM, replace(OPTIONS, prefetch=Prefetch.NEVER))
    assert "athread_rma_row_bcast(a_ldm, a_next, " in text and "athread_rma_col_bcast(b_ldm, b_next, " in text
    assert "once for each row" in text and "once for each column" in text
    text = slave(tmp_path, VECTOR, replace(OPTIONS, threads=(64, 1)))
    assert "athread_rma_bcast(s_ldm, s_next, " in text and "once for all CPEs" in text


def test_tiles_are_handed_on_in_messages(tmp_path: Path) -> None:
    options = replace(OPTIONS, machine="sw26010")
    text = slave(tmp_path, GEMM, options)
    assert "if (sw_cid == sw_rid && i0 < n) {\n" in text and "simd_putr(message, 8);" in text
    assert re.search(r"sw_hand_row_double_\w+\(a_ldm, a_next, .*, sw_cid == sw_rid\);", text)
    assert re.search(r"sw_hand_column_double_\w+\(b_ldm, b_next, .*, sw_rid == 0\);", text)
    assert "once for each row" in text and "once for each column" in text and "athread_syn" not in text
    text = slave(tmp_path, VECTOR, replace(options, threads=(64, 1)))
    assert re.search(r"sw_hand_all_float_\w+\(s_ldm, .*, sw_rid == 0, sw_rid < 8\);", text)
    assert "once for all CPEs" in text and "simd_putr(message, 8);\n      simd_putc(message, 8);" in text
    text = slave(tmp_path, INTEGERS, options)
    assert re.search(r"sw_hand_row_int_\w+\(v_ldm, v_next, .*\);", text) and "  intv8 message;" in text


NAMED = """#include "own.h"
void f(int n, int m, int count, double c[restrict n][m], double a[restrict n][count],
       double b[restrict count][m]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < count; k++)
    c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


def test_messages_stand_beside_the_names_of_the_source(tmp_path: Path) -> None:
    """Macros and types of the source's headers are in the slave file as well."""
    (tmp_path / "own.h").write_text(
        "#define to 3\n#define sends +\n#define at (\ntypedef int from, message;\n"
    )
    path = tmp_path / "named.c"
    path.write_text(NAMED)
    options = replace(OPTIONS, machine="sw26010")
    task = SourceTask(path, options={"f": options}, checks={"f": RegionCheck()})
    (result,) = check_source(task, CheckSettings(modes=("late",)), tmp_path, shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)


def test_integers_without_vectors_are_not_passed_on_in_messages(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int k = 0; k < l; k++) x[i] += a[i][k] * g[k];"
    head = HEAD.replace("short *restrict h", "short *restrict h, long g[restrict l]")
    for machine, handed in (("sw26010", False), ("sw26010-pro", True)):
        options = replace(OPTIONS, machine=machine, threads=(64, 1))
        found = generated(tmp_path, f"{head}{body}\n#pragma endscop\n}}\n", options)
        assert found.slave is not None
        assert ("got once" in found.slave.text or "once for all" in found.slave.text) == handed


@pytest.mark.parametrize("prefetch", list(Prefetch))
def test_tiles_are_shared_where_others_are_stored_late(tmp_path: Path, prefetch: Prefetch) -> None:
    text = slave(tmp_path, STORED, replace(OPTIONS, prefetch=prefetch))
    assert "athread_rma_col_bcast(s_ldm, s_next, " in text
    assert ("waited for one iteration later" in text) == (prefetch is Prefetch.AUTO)


@pytest.mark.parametrize(
    "options",
    [
        replace(OPTIONS, share=Sharing.NEVER),
        replace(OPTIONS, preset=Preset.CLASSIC),
        replace(OPTIONS, threads=(4, 8)),
        replace(OPTIONS, threads=(4, 16)),
        replace(OPTIONS, distribution=Distribution.BLOCK),
        replace(OPTIONS, distribution=Distribution.JOINT),
        replace(OPTIONS, ldm_budget=8 * (2 * 3 + 2 * 4 + 4 * 3) + 8),
    ],
)
def test_plain_gets_are_for_all_else(tmp_path: Path, options: KernelOptions) -> None:
    assert "ssync" not in slave(tmp_path, GEMM, options)
    assert "sw_hand" not in slave(tmp_path, GEMM, replace(options, machine="sw26010"))


def test_elements_that_rma_cannot_move_are_not_shared(tmp_path: Path) -> None:
    text = slave(tmp_path, SHORTS, replace(OPTIONS, threads=(64, 1)))
    assert "athread_rma" not in text


#: in steps over tiles: a CPE may have no iteration in its tile where a later one has
STEPS = """for (int i = 1; i < 64; i += 2) for (int j = 1; j < n; j++) for (int k = 0; k < l; k++)
  x[i] += s[k] * a[j][k];"""


@pytest.mark.parametrize("share", [Sharing.AUTO, Sharing.ALWAYS])
def test_what_cannot_be_shared_after_all_is_got_by_each_and_the_report_says_why(
    tmp_path: Path, share: Sharing
) -> None:
    source, options = (
        f"{HEAD}{STEPS}\n#pragma endscop\n}}\n",
        replace(OPTIONS, threads=(64, 1), tile=(1, 64, 64)),
    )
    unit = generated(tmp_path, source, replace(options, share=share))
    (kernel,) = unit.regions[0].report["kernels"]
    assert {row["buffer"] for row in kernel["not_handed_on"]} == {"a", "s"}
    assert {row["because"] for row in kernel["not_handed_on"]} == {
        "no CPE has a tile whenever another has that needs the same"
    }
    never = generated(tmp_path, source, replace(options, share=Sharing.NEVER))
    assert unit.slave is not None and never.slave is not None
    if share is Sharing.AUTO:
        assert unit.slave.text == never.slave.text


SIZES = (
    {"n": 1, "m": 1, "l": 1},
    {"n": 7, "m": 5, "l": 3},
    {"n": 37, "m": 59, "l": 13},
    {"n": 16, "m": 24, "l": 8},
    {"n": 3, "m": 50, "l": 9},
    {"n": 40, "m": 2, "l": 0},
)
PROGRAM = "\n".join(
    HEAD.replace("void f", f"void {name}") + body + "\n#pragma endscop\n}" for name, body in BODIES.items()
)


def _in_turn() -> list[object]:
    """Return all shapes with and without prefetching on both machines, of which a third is in every run."""
    shapes = ((8, 8), (4, 16), (64, 1), (1, 1))
    every = product(enumerate(("sw26010", "sw26010-pro")), enumerate(shapes), enumerate(Prefetch))
    found: list[object] = []
    for (m, machine), (t, threads), (p, prefetch) in every:
        often = (m + t + p) % 4 == 0 or (threads, prefetch) == ((8, 8), Prefetch.AUTO)
        marks = () if often else pytest.mark.matrix
        name = f"{machine}-{threads[0]}x{threads[1]}-{prefetch.value}"
        found.append(pytest.param(machine, threads, prefetch, marks=marks, id=name))
    return found


@pytest.mark.parametrize(("machine", "threads", "prefetch"), _in_turn())
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path, machine: str, threads: tuple[int, int], prefetch: Prefetch
) -> None:
    """In messages in checked mode, in which a CPE may send no more than the machine has room for."""
    path = tmp_path / "shared.c"
    path.write_text(PROGRAM)
    options = replace(OPTIONS, machine=machine, threads=threads, prefetch=prefetch)
    task = SourceTask(
        path,
        options=dict.fromkeys(BODIES, options),
        checks={name: RegionCheck(sizes=SIZES) for name in BODIES},
    )
    settings = CheckSettings(modes=("checked",)) if machine == "sw26010" else CheckSettings()
    results = check_source(task, settings, tmp_path, shared_objects())
    assert {result.region for result in results} == set(BODIES)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize(("machine", "threads"), in_turn(MACHINES, [(8, 8), (64, 1)]))
def test_boxes_are_handed_on(tmp_path: Path, machine: str, threads: tuple[int, int]) -> None:
    path = tmp_path / "shared.c"
    path.write_text(PROGRAM)
    options = dict.fromkeys(BODIES, replace(OPTIONS, machine=machine, threads=threads))
    found = [item.result for item in compile_regions(read_source(path, CppOptions(), None), options)]
    results = [result for result in found if isinstance(result, RegionResult)]
    assert len(results) == len(BODIES)
    kernels = [kernel.result for result in results for kernel in result.assembled.kernels]
    assert any(isinstance(node, Share) for kernel in kernels for node in walk(kernel))


PROJECTIONS = """
void f(int m, int n, double q[restrict m][n], double r[restrict n][n], double a[restrict m][n])
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < m; i++)
      q[i][k] = a[i][k] * 0.5;
    for (int j = k + 1; j < n; j++) {
      for (int i = 0; i < m; i++)
        r[k][j] += q[i][k] * a[i][j];
      for (int i = 0; i < m; i++)
        a[i][j] -= q[i][k] * r[k][j];
    }
  }
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_what_all_need_is_got_once_beside_tiles_that_stay(machine: str, tmp_path: Path) -> None:
    """Fewer columns, from one to the next, are left to fewer and fewer CPEs, who all come to every round."""
    path = tmp_path / "projections.c"
    path.write_text(PROJECTIONS, encoding="utf-8")
    options = KernelOptions(machine=machine, where=Where.CPES, share=Sharing.ALWAYS, resident=Resident.ALWAYS)
    region = generated(tmp_path, PROJECTIONS, options).regions[0]
    handed = {h["buffer"] for k in region.report["kernels"] for h in k.get("handed_on", ())}
    assert "q" in handed
    counts = ({"m": 1, "n": 1}, {"m": 3, "n": 70}, {"m": 65, "n": 40}, {"m": 20, "n": 521})
    task = SourceTask(path, options={"f": options}, default_check=RegionCheck(counts))
    settings = CheckSettings(modes=("checked", "late"), jobs=1)
    for result in check_source(task, settings, tmp_path, shared_objects()):
        assert result.outcome is Outcome.PASS, explain(result)


#: rows and columns of tiles up to a diagonal
TRIANGLES = """void f(int n, int m, double a[restrict n][m], double c[restrict n][n], double d[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < m; k++)
        c[i][j] += a[i][k] * a[j][k];
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      for (int k = 0; k < m; k++)
        d[i][j] -= a[i][k] * a[j][k];
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
@pytest.mark.parametrize("tile", [(4, 4, 8), (8, 8, 16)])
def test_triangles_give_the_serial_results(tmp_path: Path, machine: str, tile: tuple[int, ...]) -> None:
    path = tmp_path / "triangles.c"
    path.write_text(TRIANGLES)
    options = replace(OPTIONS, machine=machine, threads=(8, 8), tile=tile, share=Sharing.ALWAYS)
    kernels = generated(tmp_path, TRIANGLES, options).regions[0].report["kernels"]
    assert len(kernels) == 2
    assert {row["along"] for row in kernels[0]["handed_on"]} == {"row", "column"}
    sizes = tuple({"n": n, "m": m} for n, m in ((1, 1), (7, 20), (33, 8), (64, 3), (70, 17), (130, 9)))
    task = SourceTask(path, options={"f": options}, default_check=RegionCheck(sizes))
    settings = CheckSettings(modes=("checked", "late"), jobs=1)
    for result in check_source(task, settings, tmp_path, shared_objects()):
        assert result.outcome is Outcome.PASS, explain(result)
