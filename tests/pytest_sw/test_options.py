"""Options, discovery and cost: both spellings, mistakes, and that nothing heavy is loaded without need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acting import ROOT
from kernels import prepare
from plugin_flag import PLUGIN_FLAG

from pytest_sw.options import OPTIONS, Settings

pytest_plugins = ("pytester",)


def test_every_option_has_its_prefix_its_twin_and_its_line_in_the_manual() -> None:
    page = (ROOT / "docs/pytest.md").read_text()
    assert {option.key.removeprefix("sw_") for option in OPTIONS} == set(Settings._fields)
    for option in OPTIONS:
        assert option.flag.startswith("--sw-")
        assert f"`{option.flag}" in page and f"`{option.key}`" in page


def test_nothing_heavy_is_imported_with_the_plugin() -> None:
    heavy = ("islpy", "yaml", "numpy", "swbuild", "dataclasses_json", "pycparser")
    program = f"import sys, pytest_sw.plugin; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_project_without_kernels_does_not_notice(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch)
    pytester.makeini(f"[pytest]\naddopts = {PLUGIN_FLAG}\n")
    pytester.makepyfile(
        test_it="""
        import sys

        def test_it():
            assert not {"islpy", "swbuild", "numpy", "yaml"} & set(sys.modules)
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert "sunway" not in result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--sw-target=emulator,moon"], "--sw-target: 'moon' is none of emulator, node, host"),
        (["--sw-dma=random"], "--sw-dma: 'random' is none of"),
        (["--sw-batch=0"], "--sw-batch: '0' is none of"),
        (["--sw-timeout=soon"], "--sw-timeout: 'soon' is not a number"),
        (["-o", "sw_timeout=soon"], "sw_timeout: 'soon' is not a number"),
        (["-o", "sw_require=maybe"], "sw_require: write true or false"),
        (["--sw-annotations=gitlab"], "gitlab needs a file"),
        (["--sw-update-baseline"], "--sw-update-baseline needs --sw-baseline"),
        (["-o", "sw_kernels=nowhere.yaml"], "there is no file nowhere.yaml"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    pytester: Any, monkeypatch: Any, arguments: list[str], complaint: str
) -> None:
    prepare(pytester, monkeypatch)
    (pytester.path / "sunway.yaml").unlink()
    pytester.makeini(f"[pytest]\naddopts = {PLUGIN_FLAG}\n")
    result = pytester.runpytest_subprocess(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert complaint in result.stderr.str() and "Traceback" not in result.stderr.str()


def test_manifests_outside_the_test_directories_are_found(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale="{sizes: {n: [3, 4]}}")
    pytester.makeini(f"[pytest]\nsw_kernels = sunway.yaml\ntestpaths = tests\naddopts = {PLUGIN_FLAG}\n")
    (pytester.path / "tests").mkdir()
    result = pytester.runpytest_subprocess("--collect-only", "-q", "--sw-target=emulator,node")
    lines = [line for line in result.outlines if "::" in line]
    assert lines == [f"sunway.yaml::scale[n={n}-{target}]" for n in (3, 4) for target in ("emulator", "node")]
    only = pytester.runpytest_subprocess("--collect-only", "-q", "sunway.yaml::scale[n=4-emulator]")
    assert [line for line in only.outlines if "::" in line] == ["sunway.yaml::scale[n=4-emulator]"]


@pytest.mark.matrix
def test_two_hundred_kernels_on_two_workers(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, **{f"k{number}": "{sizes: {n: [100]}}" for number in range(200)})
    result = pytester.runpytest_subprocess("-n", "2", "--sw-dma=eager", "-q")
    result.assert_outcomes(passed=200)
    result.stdout.fnmatch_lines(["200 kernel tests: 200 pass"])


def test_workers_share_one_job(acting: Path, stand_ins: str) -> None:
    from acting import run_pytest

    found = run_pytest(
        acting, "--sw-target=node", "-n", "2", "-k", "k0 or k1 or k2", path=stand_ins, ACT_k1="wrong"
    )
    assert [found.category(name) for name in ("k0", "k1", "k2")] == ["pass", "mismatch", "pass"], found.output
    assert "1 jobs" in found.output


def test_data_of_old_sessions_goes(tmp_path: Path) -> None:
    from pytest_sw.workbench import prune

    for number in range(5):
        path = tmp_path / "runs" / f"s{number}"
        path.mkdir(parents=True)
        os.utime(path, (number, number))
    (tmp_path / "builds" / "gemm").mkdir(parents=True)
    prune(tmp_path, sessions=2)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["s3", "s4"]
    assert (tmp_path / "builds" / "gemm").is_dir()
