"""The plugin's tests see when what they rest on is broken: the comparison, the nonce, the end record."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kernels import CACHE

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.matrix

#: What is broken: a file, a text in it, what replaces it; and the tests of which at least one must fail.
_MUTATIONS = {
    "the comparison finds nothing": (
        "swbuild/check/compare.py",
        "    count = int(np.count_nonzero(bad))\n",
        "    count = 0\n",
        "test_outcomes.py::test_a_wrong_number_is_a_failure_with_its_place",
    ),
    "written outside is fine": (
        "swbuild/check/results.py",
        "return not self.mismatches and self.red_zone is None",
        "return not self.mismatches",
        "../check/test_kernel_level.py",
    ),
    "any data is this run's": (
        "swbuild/check/exchange.py",
        "data[offset:] == _end(nonce)",
        "len(data[offset:]) == 24",
        "test_evidence.py",
    ),
    "data needs no end": (
        "swbuild/check/exchange.py",
        "data[offset:] == _end(nonce)",
        "True",
        "test_evidence.py test_outcomes.py::test_success_without_an_end_record_is_no_pass",
    ),
    "jobs leave any data": (
        "pytest_sw/jobs.py",
        "ending.timed_out or has_end(output, nonce)",
        "True",
        "test_evidence.py",
    ),
    "records of other jobs count": (
        "swbuild/check/batch.py",
        'isinstance(event, dict) and event.get("run") == nonce',
        "isinstance(event, dict)",
        "test_jobs.py::test_records_of_another_job_and_halves_of_lines_are_not_believed",
    ),
    "a run without an end record ended well": (
        "swbuild/check/batch.py",
        "return (self.ends or {}).get(number)",
        "return (self.ends or {}).get(number, RunEnd(0, False))",
        "test_jobs.py",
    ),
}


@pytest.mark.parametrize("broken", _MUTATIONS)
def test_what_is_broken_is_seen(broken: str, tmp_path: Path) -> None:
    file, old, new, tests = _MUTATIONS[broken]
    for part in ("swbuild", "pytest_sw", "tests/pytest_sw", "tests/check", "tests/helpers"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert _run(tmp_path, tests) == [], "nothing is broken yet"
    path = tmp_path / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    failed = _run(tmp_path, tests)
    assert failed, f"no test sees it: {broken}"
    print(f"{broken}: {', '.join(failed)}")


def _run(copy: Path, tests: str) -> list[str]:
    """Run tests of the copy of the project and return the names of those that fail."""
    names = [str(copy / "tests" / "pytest_sw" / name) for name in tests.split()]
    environment = {**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": CACHE}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", f"--rootdir={copy}", *names]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return re.findall(r"^(?:FAILED|ERROR) \S*?([^/\s]+::\S+)", done.stdout, re.MULTILINE)
