"""Loops that pass over an element which all their iterations read are split at it, results stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.options import KernelOptions, Where

HEAD = "int n, int c, double d[restrict n][n], double *restrict a, unsigned *restrict way"
LEAST = "d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];"
SPLIT = {
    "ways": (
        "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) " + LEAST,
        9,
    ),
    "rows": (
        """for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
             if (way[i * n + k] + way[k * n + j] < way[i * n + j])
               way[i * n + j] = way[i * n + k] + way[k * n + j];""",
        9,
    ),
    "down": (
        "for (int k = 0; k < n; k++) for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j >= 0; j--) "
        + LEAST,
        9,
    ),
    "pivot": ("for (int i = 0; i < n; i++) a[i] = a[i] / 2 - a[n / 2];", 3),
    "last": ("for (int i = 0; i < n; i++) a[i] = a[i] / 2 - a[n - 1];", 2),
    "jordan": (
        """for (int k = 0; k < n; k++) for (int i = 0; i < n; i++)
             if (i != k) for (int j = k + 1; j < n; j++) d[i][j] -= d[i][k] * d[k][j] / 1024;""",
        2,
    ),
}
WHOLE = {
    "lu": """for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++)
               d[i][j] -= d[i][k] * d[k][j] / 1024;""",
    "stencil": "for (int i = 1; i < n - 1; i++) a[i] = (a[i - 1] + a[i + 1]) / 2;",
    "twofold": "for (int i = 0; 2 * i < n; i++) a[i] += a[2 * i];",
    "inner": "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) a[i] += a[k] / 64;",
    "turned": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i][j] += d[j][i];",
}
BODIES = {**{name: body for name, (body, _) in SPLIT.items()}, **WHOLE}


def source(directory: Path) -> Path:
    path = directory / "crossings.c"
    text = "\n".join(
        f"void {name}({HEAD})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}" for name, body in BODIES.items()
    )
    path.write_text(text)
    return path


def test_only_statements_that_pass_over_what_they_read_are_split(tmp_path: Path) -> None:
    scops = read_source(source(tmp_path), CppOptions(), None).scops
    found = {scop.name: len(scop.statements) for scop in scops}
    assert found == {**{name: parts for name, (_, parts) in SPLIT.items()}, **dict.fromkeys(WHOLE, 1)}


@pytest.mark.parametrize(
    ("machine", "split"),
    [("sw26010", {"ways", "rows", "pivot", "last"}), ("sw26010-pro", {"down", "pivot", "jordan"})],
)
def test_results_are_those_of_the_serial_loops(tmp_path: Path, machine: str, split: set[str]) -> None:
    sizes = tuple({"n": n, "c": 1} for n in (1, 2, 3, 13, 30))
    bodies = {*split, *list(WHOLE)[machine == "sw26010" :: 2]}
    task = SourceTask(
        source(tmp_path),
        requests=tuple(RegionRequest(name, function=name) for name in bodies),
        options=dict.fromkeys(bodies, KernelOptions(machine=machine, where=Where.CPES)),
        checks={name: RegionCheck(sizes=sizes) for name in bodies},
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == bodies
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
    assert {r.region for r in results if r.kernels} >= split
