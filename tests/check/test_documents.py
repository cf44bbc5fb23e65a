"""What a check writes for people and for programs: mistakes told once, JSON, and JUnit's XML."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from swbuild.check import (
    ArrayReport,
    CaseResult,
    Outcome,
    RegionResult,
    coverage_line,
    explain,
    print_table,
    remarks,
)
from swbuild.check.document import document
from swbuild.check.junit import junit_text
from swbuild.check.results import BadElement, Coverage, Load, Missed

BAD = ArrayReport("C", 9, 2, (BadElement((1, 2), "1.0", "nan"),), ((1, 1), (2, 9)), float("inf"), 1.0, 7)
COVERAGE = Coverage(
    2,
    1,
    {"statements": (1, 2), "tiles": (0, 6)},
    (*(Missed("tiles", f"tile {n}", 7) for n in range(6)), Missed("statements", "the statement", 9)),
    (12,),
    1234,
    (Load("k0", (("n", 5),), 64.0, (), 1), Load("k1", (("n", 5),), 2.5, (("n", 2),), 3)),
)


def case(n: int, mode: str, outcome: Outcome = Outcome.MISMATCH, message: str = "C differs") -> CaseResult:
    arrays = (BAD,) if outcome is Outcome.MISMATCH else ()
    return CaseResult((("n", n),), mode, outcome, message, arrays)


def region(outcome: Outcome, *cases: CaseResult, **more: object) -> RegionResult:
    return RegionResult("gemm", "gemm.c", "sw26010", (8, 8), outcome, cases=cases, **more)  # type: ignore[arg-type]


def test_a_mistake_is_told_once_with_its_places() -> None:
    cases = [case(n, mode) for mode in ("late", "random:3") for n in range(1, 11)]
    cases += [case(n, "eager", Outcome.PASS) for n in range(1, 11)]
    lines = explain(region(Outcome.MISMATCH, *cases)).splitlines()
    assert len(lines) < 12
    assert sum("elements differ" in line for line in lines) == 1
    (same,) = [line for line in lines if "the same in 20 runs" in line]
    assert "n=1 (late, random:3); n=2 (late, random:3)" in same and "and 4 more" in same
    assert any("right at these sizes: eager" in line for line in lines)


def test_a_mode_that_is_wrong_somewhere_is_not_called_right() -> None:
    cases = [case(1, "late"), case(2, "late", Outcome.PASS), case(2, "eager"), case(1, "eager", Outcome.PASS)]
    assert "right at these sizes" not in explain(region(Outcome.MISMATCH, *cases))


def test_different_mistakes_stay_apart() -> None:
    text = explain(region(Outcome.MISMATCH, case(1, "late"), case(2, "late", Outcome.CRASH, "died\nof this")))
    assert "C differs" in text and "died" in text and "of this" in text


def test_what_was_not_reached_is_told_with_its_place_the_worst_first() -> None:
    passed = region(Outcome.PASS, case(1, "late", Outcome.PASS), coverage=COVERAGE)
    notes = list(map(str, remarks(passed)))
    assert notes[0] == "gemm.c:9: note[SW505]: gemm: not reached: the statement"
    assert "2 more things" in notes[5] and "gemm.c:12" in notes[6]
    assert len(notes) == 7


def test_a_line_tells_what_was_covered() -> None:
    line = coverage_line(region(Outcome.PASS, case(1, "late", Outcome.PASS), coverage=COVERAGE))
    assert line == (
        "gemm: 2 sets of sizes (1 on the core group), 1,234 iterations; reached: statements 1/2, tiles 0/6; "
        "CPEs with work: k0 64, k1 2.5"
    )
    assert coverage_line(region(Outcome.SKIP)) == ""


def test_the_table_counts_goals_and_cpes(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    print_table([region(Outcome.PASS, case(1, "late", Outcome.PASS), coverage=COVERAGE)], sys.stdout)
    head, row = capsys.readouterr().out.splitlines()
    assert row[head.index("reached") :].split()[:2] == ["1/8", "2.5"]


def test_the_json_document_is_valid_and_complete() -> None:
    wrong = region(Outcome.MISMATCH, case(1, "late"), coverage=COVERAGE)
    results = [wrong, region(Outcome.SKIP, message="none")]
    found = json.loads(json.dumps(document(results)), parse_constant=pytest.fail)
    assert (found["version"], found["verdict"], found["exit_status"]) == (1, "mismatch", 1)
    first, second = found["regions"]
    assert first["coverage"]["goals"]["tiles"] == {"reached": 0, "of": 6}
    busy = {"kernel": "k1", "cpes": 2.5, "sizes": {"n": 5}, "launches": 3, "launch_sizes": {"n": 2}}
    assert first["coverage"]["kernels"][1] == busy
    assert first["cases"][0]["arrays"][0]["first"] == [{"index": [1, 2], "expected": "1.0", "actual": "nan"}]
    assert first["cases"][0]["arrays"][0]["max_absolute"] is None
    assert second["coverage"] is None and second["outcome"] == "skipped"


def test_junit_counts_what_went_wrong() -> None:
    odd = "signal\x00 \x1b[31m \ud800 & <b>"
    results = [
        region(Outcome.MISMATCH, case(1, "late"), case(2, "late", Outcome.PASS), case(3, "", Outcome.SKIP)),
        region(Outcome.USER_ERROR, message=odd),
        region(Outcome.INFRA, case(1, "late", Outcome.INFRA, odd)),
        region(Outcome.EXPECTED, case(1, "late"), expected_failure="known"),
        region(Outcome.UNEXPECTED, case(1, "late", Outcome.PASS), expected_failure="known"),
        region(Outcome.NOT_OFFLOADED, case(1, "late", Outcome.NOT_OFFLOADED, "refused")),
    ]
    root = ElementTree.fromstring(junit_text(results).encode())
    totals = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert totals == {"tests": "9", "failures": "3", "errors": "2", "skipped": "2"}
    for suite in root:
        assert suite.tag == "testsuite"
        tests = suite.findall("testcase")
        assert suite.get("tests") == str(len(tests))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
        assert suite.get("errors") == str(len(suite.findall("testcase/error")))
        assert all(test.get("name") and test.get("classname") == "gemm.c.gemm" for test in tests)
        assert all(float(test.get("time", "-1")) >= 0 for test in tests)
    failure = root[0][0][0]
    assert (failure.get("type"), failure.get("message")) == ("mismatch", "C differs")
    assert "C[1][2]: expected 1.0, got nan" in (failure.text or "")
