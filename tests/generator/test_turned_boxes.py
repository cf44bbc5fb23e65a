"""Boxes are copied with another dimension last where vectors would be gathered; results stay the same."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from generation import generated
from objects import shared_objects
from turns import dealt

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.codegen.unit import GeneratedUnit
from swbuild.options import Fusion, KernelOptions, Prefetch, Preset, Resident, Share, Turn, Vectorize, Where

MACHINES = ("sw26010", "sw26010-pro")
OPTIONS = KernelOptions(machine="sw26010-pro", where=Where.CPES, turn=Turn.ALWAYS)
IJK = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
#: arguments after the sizes n, m and p, and the body
KERNELS = {
    "rows": (
        "double A[restrict n][p], double B[restrict m][p], double C[restrict n][m]",
        f"{IJK} C[i][j] += A[i][k] * B[j][k];",
    ),
    "distances": (
        "float A[restrict n][p], float B[restrict m][p], float C[restrict n][m]",
        f"{IJK} C[i][j] += (A[i][k] - B[j][k]) * (A[i][k] - B[j][k]);",
    ),
    "whole": (
        "int A[restrict n][p], int B[restrict m][p], int C[restrict n][m]",
        f"{IJK} C[i][j] += A[i][k] + B[j][k];",
    ),
    "triangle": (
        "double A[restrict n][p], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < p; k++)"
            " C[i][j] += A[i][k] * A[j][k];"
        ),
    ),
    "upper": (
        "double A[restrict n][p], double B[restrict n][p], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) for (int k = 0; k < p; k++)"
            " C[i][j] -= A[i][k] * B[j][k] + B[i][k] * A[j][k];"
        ),
    ),
    "filters": (
        "float A[restrict n][m + 2][5], float B[restrict p][3][5], float C[restrict n][m][p]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int o = 0; o < p; o++)"
            " for (int s = 0; s < 3; s++) for (int k = 0; k < 5; k++)"
            " C[i][j][o] += A[i][j + s][k] * B[o][s][k];"
        ),
    ),
    "deep": (
        "double A[restrict n][p], double B[restrict p][m][3], double C[restrict n][3][m]",
        (
            "for (int i = 0; i < n; i++) for (int q = 0; q < 3; q++) for (int j = 0; j < m; j++)"
            " for (int k = 0; k < p; k++) C[i][q][j] += A[i][k] * B[k][j][q];"
        ),
    ),
}


def function(name: str) -> str:
    arguments, body = KERNELS[name]
    return f"void {name}(int n, int m, int p, {arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def unit_of(directory: Path, name: str, options: KernelOptions = OPTIONS) -> GeneratedUnit:
    return generated(directory, function(name), options)


def slave_of(directory: Path, name: str, options: KernelOptions = OPTIONS) -> str:
    found = unit_of(directory, name, options)
    assert found.slave is not None
    return found.slave.text


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_nests_load_what_they_would_gather_from_turned_boxes(tmp_path: Path, machine: str, name: str) -> None:
    text = slave_of(tmp_path, name, replace(OPTIONS, machine=machine))
    gathers = re.findall(r"(\w+) = simd_set_\w+\(LDM_", text)
    copied = re.findall(r"simd_storeu\((\w+), &LDM_\w+_turned\(", text)
    assert copied and set(gathers) == set(copied)
    assert re.search(r"simd_loadu\(\w+, &LDM_\w+_turned\(", text)


def test_a_box_is_turned_once_behind_its_arrival(tmp_path: Path) -> None:
    text = slave_of(tmp_path, "rows", replace(OPTIONS, tile=(16, 16, 16), share=Share.NEVER))
    body = text[text.index("void rows_k0(") :]
    waits = [m.start() for m in re.finditer(r"athread_dma_wait_value", body)]
    copied, loaded = body.index("&LDM_B_turned("), body.index("simd_loadu(B_turned0")
    assert sum(wait < copied for wait in waits) == 3  # of the arguments, C's and those of A and B
    assert copied < body.index("for (; i + 3") < loaded
    assert body.count("long B_k0 = B_lo0") == 1


def test_rows_of_turned_boxes_begin_where_vectors_may(tmp_path: Path) -> None:
    text = slave_of(tmp_path, "rows", replace(OPTIONS, tile=(8, 21, 5)))
    assert "#define LDM_B_turned(i, j) B_turned[((i) - B_lo1) * 24 + ((j) - B_lo0)]" in text
    assert "double B_turned[120] __attribute__((aligned(64)));" in text


def test_the_report_and_the_comment_say_what_is_turned(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, "rows", replace(OPTIONS, tile=(8, 16, 8)))
    assert unit.slave is not None and "turned with dimension 1 last, 1024 bytes" in unit.slave.text
    (kernel,) = unit.regions[0].report["kernels"]  # type: ignore[misc]
    rows = {row["name"]: row.get("turned") for row in kernel["buffers"]}
    assert rows == {"A": None, "B": {"last": 0, "bytes": 1024}, "C": None}


@pytest.mark.parametrize(
    "changes",
    [
        {"turn": Turn.NEVER},
        {"vectorize": Vectorize.NEVER},
        {"preset": Preset.CLASSIC, "machine": "sw26010"},
    ],
)
def test_nothing_is_turned_where_that_is_not_wanted(tmp_path: Path, changes: dict[str, object]) -> None:
    assert "turned" not in slave_of(tmp_path, "rows", replace(OPTIONS, **changes))  # type: ignore[arg-type]


def test_what_is_read_by_few_iterations_is_turned_only_if_asked_for(tmp_path: Path) -> None:
    narrow = replace(OPTIONS, tile=(4, 32, 16))
    assert "_turned" in slave_of(tmp_path, "rows", narrow)
    assert "_turned" not in slave_of(tmp_path, "rows", replace(narrow, turn=Turn.AUTO))
    assert "_turned" in slave_of(tmp_path, "rows", replace(narrow, tile=(16, 32, 16), turn=Turn.AUTO))


def test_what_a_nest_writes_is_not_turned(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++)"
    text = f"#pragma scop\n{body} A[i][j] -= A[i][k] * A[j][k];\n#pragma endscop\n"
    text = f"void f(int n, double A[n][n]) {{\n{text}}}\n"
    found = generated(tmp_path, text, replace(OPTIONS, share=Share.NEVER, resident=Resident.NEVER))
    assert found.slave is not None
    written = re.findall(r"^ \*   (\w+) .*put.*$", found.slave.text, re.M)
    assert written and not any(f"LDM_{name}_turned" in found.slave.text for name in written)


def test_what_stays_in_the_ldm_is_not_turned(tmp_path: Path) -> None:
    body = """for (int t = 0; t < steps; t++) {
    for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) A[j][k] = A[j][k] * 0.5 + 1.0;
    for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) for (int k = 0; k < n; k++)
      C[i][j] += X[i][k] * A[j][k];
    for (int i = 0; i < m; i++) for (int k = 0; k < n; k++) X[i][k] += C[i][(k + t) % n];
  }"""
    arguments = "int steps, int n, int m, double A[n][n], double C[m][n], double X[m][n]"
    text = f"void f({arguments})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    small = replace(OPTIONS, fusion=Fusion.MIN, typical={"n": 128, "m": 128, "steps": 50})
    for resident in (Resident.ALWAYS, Resident.NEVER):
        unit = generated(tmp_path, text, replace(small, resident=resident))
        assert unit.slave is not None
        stays = "A stays in the LDM" in unit.slave.text
        assert (stays, "A_turned" in unit.slave.text) == (resident is Resident.ALWAYS, not stays)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("turn", "tile", "prefetch", "names"),
    dealt(KERNELS, (Turn.ALWAYS, (5, 9, 7), Prefetch.NEVER), (Turn.AUTO, (), Prefetch.AUTO)),
)
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path, machine: str, turn: Turn, tile: tuple[int, ...], prefetch: Prefetch, names: list[str]
) -> None:
    path = tmp_path / "some.c"
    path.write_text("".join(map(function, names)))
    options = replace(OPTIONS, machine=machine, turn=turn, tile=tile, prefetch=prefetch)
    sizes = ({"n": 1, "m": 1, "p": 1}, {"n": 9, "m": 35, "p": 18}, {"n": 53, "m": 19, "p": 37})
    checks = {name: RegionCheck(sizes=sizes) for name in names}
    task = SourceTask(path, options=dict.fromkeys(names, options), checks=checks)
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(names)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
