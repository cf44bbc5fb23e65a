"""The lines about each region that ``swbuild explain`` begins with."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from swbuild.cli import summary

Run = Callable[..., "subprocess.CompletedProcess[str]"]

BODIES = {
    "gemm-like": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
            " a[i][j] += b[i][k] * c[k][j];"
        ),
        "on the core group, 1 kernel on 64 CPEs (8x8); limit: transfers of b and c, once per i",
    ),
    "sum": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) *s += a[i][j];",
        (
            "stays on the host; limit: the reduction on s keeps the order of the source"
            " (`reassociate: true` allows parts)"
        ),
    ),
    "largest beside an update": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
            " a[i][j] = b[i][j]; if (a[i][j] > *s) *s = a[i][j]; }"
        ),
        "on the core group in part, 1 kernel on 64 CPEs (8x8); limit: the reduction on s keeps",
    ),
    "a counter beside the loop": (
        "int k = 0; for (int i = 0; i < n; i++) { a[0][k] = 3 * a[0][k]; k += i; }",
        "stays on the host; limit: k counts beside the loop: write what it is as a formula of the loop's",
    ),
    "a sum of which each part is used": (
        "for (int i = 0; i < n; i++) { *s += a[0][i]; b[0][i] = *s; }",
        "stays on the host; limit: i in line 4 is sequential: line 4 writes",
    ),
    "recurrence": (
        "for (int i = 1; i < n; i++) *s = *s * a[i][0] + b[i][0];",
        "stays on the host; limit: i in line 4 is sequential: line 4 writes s, which line 4 reads",
    ),
    "small elements": (
        "for (int i = 1; i < n; i++) q[i] = 2 * q[i];",
        "stays on the host; limit: the host alone writes q: elements of less than 4 bytes share words",
    ),
    "small elements in whole words": (
        "for (int i = 0; i < n; i++) q[i] = 2 * q[i];",
        "on the core group, 1 kernel on 64 CPEs (8x8); limit: the host does the work unless n % 2 == 0: only",
    ),
    "wavefronts": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] += a[i - 1][j] + a[i][j - 1];",
        "on the core group, 1 kernel on 64 CPEs (8x8); limit: transfers of a, once per i0",
    ),
}


def _source(body: str) -> str:
    arrays = ", ".join(["short *restrict q", *(f"double {name}[restrict n][n]" for name in "abc")])
    return f"void f(int n, double *restrict s, {arrays})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize(("body", "line"), BODIES.values(), ids=BODIES.keys())
def test_summary(swbuild: Run, tmp_path: Path, body: str, line: str) -> None:
    (tmp_path / "f.c").write_text(_source(body))
    done = swbuild("explain", "f.c", "--where", "cpes")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) in (3, 4, 5)
    assert lines[2].startswith(f"f: {line}")


def test_the_choices_are_told(swbuild: Run, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(_source(BODIES["gemm-like"][0]))
    *_, first, sides, choice, shared = swbuild("explain", "f.c").stdout.splitlines()
    assert re.match(r"f: on the core group from about \d+ iterations on, 1 kernel", first)
    both = re.fullmatch(r"  at n=\d+: about ([\d,]+) cycles on the core group, ([\d,]+) on the host", sides)
    assert both and _number(both[1]) < _number(both[2])
    how = r"  f_k0: tiles [\dx ]+(, those of i, j dealt together to 64| on \d+ x \d+) threads"
    assert re.fullmatch(how + r", of \d+ candidates the .*; runner-up tiles .* cycles", choice)
    assert shared.startswith(
        "  f_k0: tiles of b are got once for each row, of c are got once for each column;"
    )


def _number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("options", [("--tile", "8,8,8"), ("--preset", "classic")])
def test_what_is_not_chosen_has_no_runner_up(swbuild: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "f.c").write_text(_source(BODIES["gemm-like"][0]))
    assert "candidates" not in swbuild("explain", "f.c", *options).stdout


def test_sums_in_parts_are_no_limit(swbuild: Run, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(_source(BODIES["sum"][0]))
    assert "reduction" not in swbuild("explain", "f.c", "--reassociate").stdout


def test_doctor_names_every_tool(swbuild: Run) -> None:
    names = {line.split()[0] for line in swbuild("doctor").stdout.splitlines() if line}
    assert {"gcc", "as", "ld", "ar", "nm", "objcopy", "g++", "cmake", "ninja", "meson"} <= names


def test_parallel_loops_of_large_elements_are_no_small_ones() -> None:
    array = SimpleNamespace(name="a", element=SimpleNamespace(size=8))
    scop = SimpleNamespace(written_by=lambda names: frozenset({"a"}), array=lambda name: array)
    loop, statement = {"parallel": True, "because": []}, {"statement": "S0"}
    report = {"kernels": [], "threads": [8, 8], "host_statements": [statement], "loops": [loop], "notes": []}
    assert summary._small_elements(SimpleNamespace(report=report, scop=scop)) == ""
