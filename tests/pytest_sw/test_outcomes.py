"""Every way in which a test can end, each with its phase in pytest's words and its stable category."""

from __future__ import annotations

from typing import Any

import pytest
from kernels import broken_generator, junit, prepare, properties

pytest_plugins = ("pytester",)

_SIZES = "{sizes: {n: [100]}}"
_NAME = "scale[n=100-emulator]"


def category(case: Any) -> str:
    return properties(case)["sw.category"]


def test_a_right_kernel_passes_with_its_figures(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale="{sizes: {n: [1, 100]}}")
    cases = junit(pytester, "-v")
    cases[""].assert_outcomes(passed=2)
    cases[""].stdout.fnmatch_lines(["sunway.yaml::scale?n=1-emulator? PASSED*", "sunway.yaml::scale?n=100*"])
    found = properties(cases[_NAME])
    assert found["sw.category"] == "pass"
    assert found["sw.target"] == "emulator" and found["sw.machine"] == "sw26010"
    assert len(found["sw.digest"]) == 16 and float(found["sw.seconds"]) > 0


def test_a_wrong_number_is_a_failure_with_its_place(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("slave", "sw_args->a;", "sw_args->a * 1.5;")))
    cases = junit(pytester)
    cases[""].assert_outcomes(failed=1)
    cases[""].stdout.fnmatch_lines(
        ["*scale.c:3: scale on emulator: mismatch", "*y: 100 of 100 elements differ*"]
    )
    assert cases[_NAME].find("failure") is not None
    assert category(cases[_NAME]) == "mismatch"
    assert float(properties(cases[_NAME])["sw.max_rel"]) > 0.1
    assert "Traceback" not in cases[""].stdout.str()


def test_a_crash_on_a_compute_core_is_a_failure(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("slave", "sw_args->a;", "*(volatile double *)8;")))
    cases = junit(pytester)
    cases[""].assert_outcomes(failed=1)
    assert category(cases[_NAME]) == "crash"
    cases[""].stdout.fnmatch_lines(["*scale on emulator: crash", "*SW641*"])


def test_a_kernel_that_never_ends_is_a_failure(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("host", "athread_spawn(", "for (;;); athread_spawn(")))
    cases = junit(pytester, "--sw-timeout=1", "--sw-dma=eager")
    cases[""].assert_outcomes(failed=1)
    assert category(cases[_NAME]) == "run-timeout"


def test_an_entry_that_refuses_is_a_failure(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("host", "athread_spawn(", "return 1; athread_spawn(")))
    cases = junit(pytester, "--sw-dma=eager")
    cases[""].assert_outcomes(failed=1)
    assert category(cases[_NAME]) == "not-offloaded"


def test_code_that_does_not_compile_is_an_error(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("slave", "sw_args->a;", "nonsense;")))
    cases = junit(pytester)
    cases[""].assert_outcomes(errors=1)
    assert cases[_NAME].find("error") is not None
    assert category(cases[_NAME]) == "compile-error"
    cases[""].stdout.fnmatch_lines(["*error?SW402?*nonsense*"])


def test_a_region_without_a_model_is_an_error_with_its_line(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    source = pytester.path / "scale.c"
    source.write_text(source.read_text().replace("y[i] = ", "if (x[i] > 0) break;\n        y[i] = "))
    cases = junit(pytester)
    cases[""].assert_outcomes(errors=1)
    assert category(cases[_NAME]) == "generate-error"
    cases[""].stdout.fnmatch_lines(["scale.c:*error?SW2*"])


def test_a_manifest_with_mistakes_is_a_collection_error(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    path = pytester.path / "sunway.yaml"
    path.write_text(path.read_text().replace("sizes", "sises").replace("scale.c", "skale.c"))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["sunway.yaml:6:17: error?SW1*sises*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_sizes_that_the_region_excludes_are_a_skip(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale="{sizes: {n: [2000000000]}}")
    cases = junit(pytester)
    cases[""].assert_outcomes(skipped=1)
    assert category(cases["scale[n=2000000000-emulator]"]) == "not-applicable"


def test_an_expected_failure_is_one_and_must_stay_one(pytester: Any, monkeypatch: Any) -> None:
    check = "{sizes: {n: [100]}, expected-failure: the factor is wrong}"
    prepare(pytester, monkeypatch, scale=check, other=check)
    pytester.makeconftest(broken_generator(scale=("slave", "sw_args->a;", "sw_args->a * 1.5;")))
    cases = junit(pytester, "-rx", "--sw-dma=eager")
    cases[""].assert_outcomes(xfailed=1, failed=1)
    cases[""].stdout.fnmatch_lines(["XFAIL sunway.yaml::scale*the factor is wrong*"])
    assert category(cases[_NAME]) == "mismatch"


def test_an_error_is_not_an_expected_failure(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale="{sizes: {n: [100]}, expected-failure: the factor is wrong}")
    pytester.makeconftest(broken_generator(scale=("slave", "sw_args->a;", "nonsense;")))
    junit(pytester)[""].assert_outcomes(errors=1)


def test_an_absent_target_is_a_skip_or_an_error(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    name = "scale[n=100-node]"
    cases = junit(pytester, "--sw-target=node")
    cases[""].assert_outcomes(skipped=1)
    assert category(cases[name]) == "target-absent"
    cases = junit(pytester, "--sw-target=node", "--sw-require")
    cases[""].assert_outcomes(errors=1)
    assert category(cases[name]) == "target-absent"
    cases[""].stdout.fnmatch_lines(["*sw5cc is not on PATH*"])


def test_the_serial_text_is_tried_against_itself(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES, unset=_SIZES)
    source = pytester.path / "unset.c"
    # Not defined in C, so what it is depends on whether the compiler or the processor converts.
    far = "static inline double far(double v) { double big = v * 0 + 1e300; return (int)big; }\n"
    source.write_text(far + source.read_text().replace("a * ", "far(1) * a * "))
    cases = junit(pytester, "--sw-target=host")
    cases[""].assert_outcomes(passed=1, failed=1)
    assert category(cases["unset[n=100-host]"]) == "mismatch"


def test_machinery_that_fails_is_tried_again_and_then_an_error(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(
        broken_generator(scale=("host", "athread_spawn(", "extern void exit(int); exit(99); athread_spawn("))
    )
    cases = junit(pytester, "--sw-infra-retries=2", "--sw-dma=eager")
    cases[""].assert_outcomes(errors=1)
    found = properties(cases[_NAME])
    assert found["sw.category"] == "launcher-error" and found["sw.attempts"] == "3"


def test_success_without_an_end_record_is_no_pass(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(
        broken_generator(scale=("host", "athread_spawn(", "extern void exit(int); exit(0); athread_spawn("))
    )
    cases = junit(pytester, "--sw-infra-retries=0", "--sw-dma=eager")
    cases[""].assert_outcomes(errors=1)
    assert category(cases[_NAME]) == "no-evidence"


def test_a_target_that_fails_again_and_again_is_left_alone(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale="{sizes: {n: [10, 20, 30, 40]}}")
    pytester.makeconftest(
        broken_generator(scale=("host", "athread_spawn(", "extern void exit(int); exit(99); athread_spawn("))
    )
    cases = junit(pytester, "--sw-infra-retries=0", "--sw-breaker=2", "--sw-dma=eager")
    cases[""].assert_outcomes(errors=2, skipped=2)
    assert category(cases["scale[n=40-emulator]"]) == "target-broken"
