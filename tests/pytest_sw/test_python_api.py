"""Kernels in Python tests: numpy in, numpy out, and messages that help."""

from __future__ import annotations

from typing import Any

from kernels import broken_generator, junit, prepare, properties

pytest_plugins = ("pytester",)

_SIZES = "{sizes: {n: [100]}}"

_TESTS = """\
import numpy as np
import pytest

N = 50
X = np.linspace(0.0, 1.0, N)
Y = np.ones(N)


def test_right(sw_kernel):
    out = sw_kernel("sunway.yaml", "scale").run(n=N, a=2.0, x=X, y=Y)
    assert np.array_equal(out.y, 2.0 * X + Y)
    assert list(out) == ["y"] and out["y"] is out.y
    assert out.counts.spawns == 1


def test_same_as_the_original(sw_kernel, sw_compare):
    kernel = sw_kernel("sunway.yaml", "scale")
    values = dict(n=N, a=3.0, x=X, y=Y)
    sw_compare(kernel.run(**values).y, kernel.reference(**values).y)


def test_compare_says_where(sw_compare):
    wrong = Y.copy()
    wrong[7] += 0.5
    sw_compare(wrong, Y, name="y")


def test_missing(sw_kernel):
    with pytest.raises(TypeError, match="no value for the parameters n"):
        sw_kernel("sunway.yaml", "scale").run(x=X)
    with pytest.raises(TypeError, match="there is no z .*; no value for a, which it reads"):
        sw_kernel("sunway.yaml", "scale").run(n=N, x=X, y=Y, z=1)
    with pytest.raises(TypeError, match=r"x must be float64\\[50\\], not float64\\[49\\]"):
        sw_kernel("sunway.yaml", "scale").run(n=N, a=1.0, x=X[1:], y=Y)


def test_unknown_kernel(sw_kernel):
    sw_kernel("sunway.yaml", "scal")


@pytest.mark.sunway(target="node")
def test_only_on_the_node(sw_kernel):
    raise AssertionError


@pytest.mark.sw_feature("rma")
def test_needs_rma(sw_kernel):
    sw_kernel("sunway.yaml", "scale")


def test_plain(sw_kernel):
    assert 1 + 1 == 3
"""


def test_kernels_are_called_with_arrays(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makepyfile(test_it=_TESTS)
    cases = junit(pytester, "test_it.py", "-rs")
    results = {name: case for name, case in cases.items() if name}
    ends = {
        name: "".join(child.tag for child in case if child.tag != "properties")
        for name, case in results.items()
    }
    assert ends == {
        "test_right[emulator]": "",
        "test_same_as_the_original[emulator]": "",
        "test_compare_says_where": "failure",
        "test_missing[emulator]": "",
        "test_unknown_kernel[emulator]": "failure",
        "test_only_on_the_node[emulator]": "skipped",
        "test_needs_rma[emulator]": "skipped",
        "test_plain[emulator]": "failure",
    }
    assert properties(results["test_right[emulator]"])["sw.category"] == "pass"
    assert properties(results["test_plain[emulator]"])["sw.category"] == "assertion"
    assert properties(results["test_unknown_kernel[emulator]"])["sw.category"] == "config-error"
    assert properties(results["test_needs_rma[emulator]"])["sw.category"] == "not-applicable"
    cases[""].stdout.fnmatch_lines(["*y?7?: expected 1.0, got 1.5*", "*there is no kernel `scal`*"])


def test_results_that_depend_on_timing_are_a_mismatch(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makeconftest(broken_generator(scale=("slave", "while (", "while (0 && ")))
    pytester.makepyfile(
        test_it="""
        import numpy as np

        def test_it(sw_kernel):
            sw_kernel("sunway.yaml", "scale").run(n=50, a=2.0, x=np.ones(50), y=np.ones(50))
        """
    )
    cases = junit(pytester, "test_it.py")
    cases[""].assert_outcomes(failed=1)
    assert properties(cases["test_it[emulator]"])["sw.category"] in ("mismatch", "crash")


def test_marks_are_checked(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.sunway(tarjet="node")
        def test_it(sw_kernel):
            pass
        """
    )
    result = pytester.runpytest_subprocess("test_it.py")
    result.stdout.fnmatch_lines(["*sunway has no argument 'tarjet'*"])
    assert result.ret != 0


def test_programs_start_on_the_target(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    pytester.makepyfile(
        test_it="""
        def test_it(sw_run):
            done = sw_run("/bin/sh", "-c", "command -v sw5cc; exit 3")
            assert done.status == 3
            assert "sw5cc" in done.stdout
        """
    )
    pytester.runpytest_subprocess("test_it.py").assert_outcomes(passed=1)
