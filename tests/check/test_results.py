"""Verdicts, exit statuses, reports and the table."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from swbuild.check import (
    ArrayReport,
    CaseResult,
    Counts,
    Outcome,
    RegionResult,
    exit_status,
    explain,
    print_table,
)
from swbuild.check.emulation import read_counts
from swbuild.check.results import BadElement


def region(outcome: Outcome, *cases: CaseResult, **more: object) -> RegionResult:
    return RegionResult("gemm", "gemm.c", "sw26010", (8, 8), outcome, cases=cases, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([Outcome.PASS, Outcome.PASS], 0),
        ([Outcome.PASS, Outcome.SKIP], 0),
        ([Outcome.SKIP, Outcome.SKIP], 77),
        ([], 77),
        ([Outcome.PASS, Outcome.INFRA], 99),
        ([Outcome.INFRA, Outcome.USER_ERROR], 2),
        ([Outcome.INFRA, Outcome.USER_ERROR, Outcome.MISMATCH], 1),
        ([Outcome.CRASH], 1),
        ([Outcome.TIMEOUT], 1),
        ([Outcome.NOT_OFFLOADED, Outcome.PASS], 1),
        ([Outcome.EXPECTED], 0),
        ([Outcome.EXPECTED, Outcome.SKIP], 0),
        ([Outcome.EXPECTED, Outcome.PASS, Outcome.UNEXPECTED], 1),
        ([Outcome.EXPECTED, Outcome.INFRA], 99),
    ],
)
def test_exit_status(outcomes: list[Outcome], status: int) -> None:
    assert exit_status(region(outcome) for outcome in outcomes) == status


def test_explanation_of_a_mismatch_names_everything() -> None:
    report = ArrayReport(
        "C",
        200,
        2,
        (BadElement((1, 2), "1.0", "2.0"),),
        ((1, 1), (2, 9)),
        1.0,
        1.0,
        7,
        red_zone=None,
        owner="CPE 9 (row 1, column 1)",
    )
    case = CaseResult((("ni", 7), ("nj", 11)), "late", Outcome.MISMATCH, "C differs", (report,))
    text = explain(region(Outcome.MISMATCH, case))
    for expected in (
        "ni=7 nj=11 (late)",
        "2 of 200",
        "(1 %)",
        "C[1][2]: expected 1.0, got 2.0",
        "and 1 more",
        "lie in C[1][2..9]",
        "7 ULP",
        "CPE 9",
    ):
        assert expected in text


def test_nothing_is_explained_that_passed() -> None:
    assert explain(region(Outcome.PASS)) == ""


def test_plain_table_lines_up() -> None:
    case = CaseResult((("n", 64),), "late", Outcome.PASS)
    stream = io.StringIO()
    counts = Counts(3, 12, 3 * 2**20, 900, 5)
    print_table([region(Outcome.PASS, case, kernels=("k0", "k1"), counts=counts, seconds=1.25)], stream)
    heads, cells = stream.getvalue().splitlines()
    assert heads.split("  ")[0] == "region"
    assert " ".join(cells.split()) == "gemm 2 8x8 n=64 pass - - 12 3.0 MiB 5 900 B 1.2"
    assert heads.index("verdict") == cells.index("pass")


def test_counts_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "counters.json"
    assert read_counts(path) == Counts()
    kernel = {"get": {"calls": 3, "bytes": 10}, "put": {"calls": 1, "bytes": 5}}
    path.write_text(json.dumps({"spawns": 2, "ldm": {"peak": 70}, "kernels": [kernel]}))
    assert read_counts(path) == Counts(2, 4, 15, 70)
    kernel |= {"load": {"calls": 7, "bytes": 28}, "store": {"calls": 1, "bytes": 8}}
    told = {"spawns": 2, "ldm": {"peak": 70}, "kernels": [kernel], "direct_counted": True}
    path.write_text(json.dumps(told))
    assert read_counts(path) == Counts(2, 4, 15, 70, 8, 36)
    path.write_text('{"spawns": 2')
    assert read_counts(path) == Counts()
