"""The harness end to end: right code passes, and every way of being wrong is seen and named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from handmade import RIGHT, SETTINGS, SOURCE, make_model, make_unit

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, Tolerance, explain
from swbuild.check.kernel import UnitCheck, check_region
from swbuild.check.project import tasks_of
from swbuild.check.report import coverage_line
from swbuild.check.session import check_source
from swbuild.frontend import CppOptions, read_source
from swbuild.generate import generate_unit
from swbuild.manifest import load_text, resolve
from swbuild.options import KernelOptions, Where

LOOP = "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = b[i] + 1;\n#pragma endscop\n"
SIZES = RegionCheck(({"n": 3, "m": 5}, {"n": 1, "m": 1}, {"n": 33, "m": 65}))


def check(
    directory: Path,
    host: str = RIGHT,
    settings: CheckSettings = SETTINGS,
    check: RegionCheck = SIZES,
    exact: bool = True,
    source: str = SOURCE,
) -> RegionResult:
    model = make_model(directory, source)
    unit = make_unit(model, host, exact)
    cache = directory / "objects"
    cache.mkdir(exist_ok=True)
    context = UnitCheck(model, unit, CppOptions(), settings, directory / "work", cache)
    (directory / "work").mkdir(exist_ok=True)
    return check_region(context, unit.regions[0], KernelOptions(), check)


def broken(old: str, new: str) -> str:
    assert old in RIGHT
    return RIGHT.replace(old, new) if old else RIGHT


def test_right_code_passes_at_every_size(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert result.outcome is Outcome.PASS, explain(result)
    assert [case.label for case in result.cases] == ["n=3 m=5", "n=1 m=1", "n=33 m=65"]


def test_sizes_are_chosen_when_none_are_given(tmp_path: Path) -> None:
    result = check(tmp_path, check=RegionCheck())
    assert result.outcome is Outcome.PASS, explain(result)
    assert len(result.cases) >= 3
    assert any(dict(case.sizes)["n"] != dict(case.sizes)["m"] for case in result.cases)


def test_one_wrong_element_is_found_and_located(tmp_path: Path) -> None:
    host = broken("return 0;", "if (n > 20) B[17 * m + 4] += 1e-15; return 0;")
    result = check(tmp_path, host)
    assert result.outcome is Outcome.MISMATCH
    (case,) = result.bad_cases
    (report,) = case.arrays
    assert (case.label, report.array, report.mismatches) == ("n=33 m=65", "B", 1)
    assert report.first[0].index == (17, 4)
    assert 0 < report.max_ulp < 100
    assert "B[17][4]: expected" in explain(result)


def test_wrong_scalar_is_found(tmp_path: Path) -> None:
    result = check(tmp_path, broken("*sum += B[i * m + j];", "if (i < 20) *sum += B[i * m + j];"))
    assert [report.array for case in result.bad_cases for report in case.arrays] == ["total"]


def test_result_never_written_is_found(tmp_path: Path) -> None:
    result = check(tmp_path, broken("B[i * m + j] = FACTOR", "double t = FACTOR"))
    assert result.outcome is Outcome.MISMATCH


def test_change_of_an_input_is_found(tmp_path: Path) -> None:
    result = check(tmp_path, broken("return 0;", "((double *)A)[n * m - 1] = 0; return 0;"))
    assert {report.array for case in result.bad_cases for report in case.arrays} == {"A"}
    assert "only reads it" in explain(result)


@pytest.mark.parametrize(("place", "bytes_away"), [("-1", "8 bytes before"), ("n * m", "120 bytes from")])
def test_write_outside_an_array_is_found(tmp_path: Path, place: str, bytes_away: str) -> None:
    result = check(tmp_path, broken("return 0;", f"if (m == 5) B[{place}] = 0; return 0;"))
    assert result.outcome is Outcome.MISMATCH
    assert bytes_away in explain(result)


def test_read_outside_an_array_shows(tmp_path: Path) -> None:
    result = check(tmp_path, broken("A[i * m + j - 1]", "A[i * m + j - 1 + (m == 5 ? 1 : 0)]"))
    assert result.outcome is Outcome.MISMATCH


def test_refusal_does_not_pass(tmp_path: Path) -> None:
    result = check(tmp_path, broken("return 0;", "return 1;"))
    assert result.outcome is Outcome.NOT_OFFLOADED
    assert result.message.endswith("it refused these arguments: 'A' and 'B' overlap")


def test_refusal_names_the_test_that_said_so(tmp_path: Path) -> None:
    text = f"void f(int n, double *a, double *b) {{\n{LOOP}}}\n"
    (tmp_path / "f.c").write_text(text)
    model = read_source(tmp_path / "f.c", CppOptions(), None)
    unit = generate_unit(model, {})
    host = dataclasses.replace(unit.host, text=unit.host.text.replace("  return 0;\n}", "  return 1;\n}"))
    unit = dataclasses.replace(unit, host=host)
    context = UnitCheck(model, unit, CppOptions(), CheckSettings(modes=("eager",)), tmp_path, tmp_path)
    result = check_region(context, unit.regions[0], KernelOptions(), RegionCheck(({"n": 9},)))
    assert result.outcome is Outcome.NOT_OFFLOADED
    assert result.message.endswith("'b' and 'a' overlap")


def test_crash_is_reported_with_the_cases_before_it(tmp_path: Path) -> None:
    host = broken("return 0;", "if (n == 1) __builtin_trap(); return 0;")
    result = check(tmp_path, host)
    assert [case.outcome for case in result.cases] == [Outcome.PASS, Outcome.CRASH, Outcome.SKIP]
    assert result.outcome is Outcome.CRASH
    assert "killed by signal" in explain(result)


def test_early_exit_with_success_does_not_pass(tmp_path: Path) -> None:
    host = broken("return 0;", "if (n == 33) exit(0); return 0;").replace(
        "int sw_", "void exit(int);\nint sw_", 1
    )
    result = check(tmp_path, host)
    assert result.outcome is Outcome.CRASH


def test_endless_run_is_ended(tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, timeout=0.5)
    result = check(tmp_path, broken("return 0;", "for (volatile int x = 1; x;) ; return 0;"), settings)
    assert result.outcome is Outcome.TIMEOUT
    assert result.seconds < 10


def test_compile_error_is_infrastructure_with_the_compilers_words(tmp_path: Path) -> None:
    result = check(tmp_path, broken("return 0;", "return 0"))
    assert result.outcome is Outcome.INFRA
    (diagnostic,) = result.diagnostics
    assert diagnostic.code == "SW402"
    assert diagnostic.span.line == 10
    assert "command: gcc" in diagnostic.message


@pytest.mark.parametrize(
    ("old", "new", "outcome", "words"),
    [
        ("B[i * m + j] = FACTOR", "double t = FACTOR", Outcome.EXPECTED, "fails as expected (why)"),
        ("", "", Outcome.UNEXPECTED, "remove `expected-failure`"),
        ("return 0;", "return 0", Outcome.INFRA, "SW402"),
    ],
    ids=["wrong", "right", "broken"],
)
def test_a_failure_that_is_expected_is_one_and_must_stay_one(
    tmp_path: Path, old: str, new: str, outcome: Outcome, words: str
) -> None:
    result = check(tmp_path, broken(old, new), check=dataclasses.replace(SIZES, expected_failure="why"))
    assert result.outcome is outcome
    assert words in explain(result)


def test_the_manifest_says_what_fails(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    check = "check: {expected-failure: it overflows}"
    text = f"version: 1\nsources:\n  - {{file: a.c, regions: {{r: {{{check}}}, s: {{}}}}}}\n"
    (task,) = tasks_of(resolve(load_text(text, "sunway.yaml"), tmp_path / "sunway.yaml"))
    assert {name: found.expected_failure for name, found in task.checks.items()} == {
        "r": "it overflows",
        "s": "",
    }


def test_small_sizes_are_checked_on_the_core_group(tmp_path: Path) -> None:
    text = "void f(int n, double a[restrict n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] *= 2;\n"
    (tmp_path / "a.c").write_text(f"{text}#pragma endscop\n}}\n")
    manifest = load_text("version: 1\nsources: [a.c]\n", "sunway.yaml")
    project = resolve(manifest, tmp_path / "sunway.yaml")
    assert project.sources[0].every.options.where is Where.AUTO
    (task,) = tasks_of(project)
    task = dataclasses.replace(task, default_check=RegionCheck(({"n": 0}, {"n": 1}, {"n": 7})))
    (result,) = check_source(task, CheckSettings(modes=("late",)), tmp_path / "work", tmp_path / "objects")
    assert result.outcome is Outcome.PASS and result.coverage is not None
    assert (result.coverage.sizes, result.coverage.launched) == (3, 2)
    assert "3 sets of sizes (2 on the core group)" in coverage_line(result)


@pytest.mark.parametrize("value", ["s -> w[1 << 28]", "s -> w[-(1 << 28)]", "1 / (n - n)", "n % (m - m)"])
def test_failing_reference_is_not_blamed_on_the_offloaded_code(tmp_path: Path, value: str) -> None:
    source = SOURCE.replace("last = B[i][j];", f"last = B[i][j] + {value};")
    result = check(tmp_path, source=source)
    assert result.outcome is Outcome.USER_ERROR
    assert result.diagnostics[0].code == "SW506"
    assert result.diagnostics[0].span.line == 9


def test_tolerance_counts_only_where_the_order_changes(tmp_path: Path) -> None:
    host = broken("return 0;", "if (n > 20) *sum *= 1 + 1e-14; return 0;")
    loose = dataclasses.replace(SIZES, tolerance=Tolerance(relative=1e-12))
    assert check(tmp_path, host, check=loose, exact=False).outcome is Outcome.PASS
    assert check(tmp_path, host, check=loose, exact=True).outcome is Outcome.MISMATCH
    tight = dataclasses.replace(SIZES, tolerance=Tolerance(relative=1e-15))
    assert check(tmp_path, host, check=tight, exact=False).outcome is Outcome.MISMATCH


def test_sizes_outside_the_model_are_skipped_with_a_reason(tmp_path: Path) -> None:
    sizes = RegionCheck(({"n": 1, "m": 2000}, {"n": 0, "m": 4}))
    result = check(tmp_path, check=sizes)
    assert result.outcome is Outcome.SKIP
    assert "the model does not cover" in result.cases[0].message
    assert "contradict" in result.cases[1].message
