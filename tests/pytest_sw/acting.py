"""Kernels that misbehave on demand: environment variables tell each what to do when it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels import CACHE, SCALE, manifest, properties
from plugin_flag import PLUGIN_FLAG

__all__ = ["ROOT", "Result", "interruptible", "make_project", "run_pytest"]

ROOT = Path(__file__).resolve().parents[2]


def interruptible() -> None:
    """Let the process that is about to start take interrupts, also where all this runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


#: Put in front of every host file: ``ACT_name=what`` or ``ACT_name=once:FILE:what``.
_ACT = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void act(const char *name, double *first)
{
    char variable[80], file[1000];
    const char *what;
    snprintf(variable, sizeof variable, "ACT_%s", name);
    what = getenv(variable);
    if (!what)
        return;
    if (sscanf(what, "once:%999[^:]:", file) == 1) {
        if (access(file, F_OK) == 0)
            return;
        fclose(fopen(file, "w"));
        what += strlen("once:") + strlen(file) + 1;
    }
    if (!strcmp(what, "wrong"))
        *first += 1.0;
    if (!strcmp(what, "crash"))
        *(volatile int *)8 = 1;
    if (!strcmp(what, "hang"))
        sleep(1000);
    if (!strcmp(what, "vanish"))
        _exit(0);
    if (!strcmp(what, "cancel")) {
        if (system("scancel $SLURM_JOB_ID")) {}
        sleep(1000);
    }
    if (!strcmp(what, "kill-job")) {
        kill(getppid(), SIGKILL);
        sleep(2);
        _exit(1);
    }
}
"""

_CONFTEST = f"""\
import dataclasses
import swbuild.generate as generate

ACT = {_ACT!r}
original = generate.generate_unit

def generate_unit(model, options):
    unit = original(model, options)
    name = unit.regions[0].scop.name
    text = ACT + unit.host.text.replace("athread_spawn(", f'act("{{name}}", y); athread_spawn(')
    return dataclasses.replace(unit, host=dataclasses.replace(unit.host, text=text))

generate.generate_unit = generate_unit
"""


@dataclass(frozen=True)
class Result:
    """A finished pytest run: properties and result (``failure``, ``error``, ``skipped`` or empty) by test."""

    status: int
    output: str
    properties: Mapping[str, Mapping[str, str]]
    results: Mapping[str, str]

    def category(self, test: str) -> str:
        """Return the category of a test."""
        return self.properties[test]["sw.category"]

    @property
    def categories(self) -> list[str]:
        """The categories of all tests, in their order."""
        return [found["sw.category"] for found in self.properties.values()]

    @property
    def jobs(self) -> list[str]:
        """The jobs that the tests' results come from."""
        return list(dict.fromkeys(found.get("sw.jobid", "") for found in self.properties.values()))


def make_project(directory: Path, count: int) -> Path:
    """Make a project of ``count`` kernels ``k0``, ``k1``… of one size each."""
    directory.mkdir(parents=True, exist_ok=True)
    names = [f"k{number}" for number in range(count)]
    _write(directory / "sunway.yaml", manifest(**dict.fromkeys(names, "{sizes: {n: [100]}}")))
    _write(directory / "pytest.ini", f"[pytest]\nsw_kernels = sunway.yaml\naddopts = {PLUGIN_FLAG}\n")
    _write(directory / "conftest.py", _CONFTEST)
    for name in names:
        _write(directory / f"{name}.c", SCALE.replace("scale", name))
    return directory


def run_pytest(directory: Path, *arguments: str, path: str = "", **environment: str) -> Result:
    """Run pytest on the project in a process of its own; ``path`` comes first on ``PATH``."""
    report = directory / f"junit-{os.getpid()}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        f"--junitxml={report}",
        "-o",
        "junit_family=xunit1",
        *arguments,
    ]
    done = subprocess.run(
        command,
        cwd=directory,
        env=_environment(path, environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    cases = list(ET.parse(report).iter("testcase")) if report.exists() else []
    names = {str(case.get("name")).partition("[")[0]: case for case in cases}
    return Result(
        done.returncode,
        done.stdout + done.stderr,
        {name: properties(case) for name, case in names.items()},
        {name: _result(case) for name, case in names.items()},
    )


def _environment(path: str, extra: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "ACT_"))}
    first = f"{path}:{kept['PATH']}" if path else kept["PATH"]
    return {**kept, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": CACHE, "PATH": first, **extra}


def _result(case: ET.Element) -> str:
    return next((kind for kind in ("error", "failure", "skipped") if case.find(kind) is not None), "")


def _write(path: Path, text: str) -> None:
    """Write a file that another worker may read at the same time."""
    if path.exists() and path.read_text() == text:
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)
