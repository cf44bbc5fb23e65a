"""The session that the manual shows, played again: every line of it but times and places must come."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from acting import ROOT
from kernels import CACHE
from plugin_flag import PLUGIN_FLAG

_PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")

#: Lines that differ from computer to computer, or from run to run.
_LOOSE = re.compile(
    r"platform|rootdir|plugins|cachedir|sw_(kernel|compare) = |  .*(build|generate) |=+ .* in |slowest|$"
)

#: Variables by which pytest and rich choose how they print.
_CHANGES_THE_LAYOUT = {"CI", "BUILD_NUMBER", "COLUMNS", "FORCE_COLOR", "PY_COLORS", "NO_COLOR"}


def _block(language: str, holding: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)
    return str(next(block for block in blocks if holding in block))


@pytest.mark.slow
def test_the_session_in_the_manual(tmp_path: Path) -> None:
    (tmp_path / "heat.c").write_text(_block("c", "void relax"))
    (tmp_path / "test_heat.py").write_text(_block("python", "test_a_constant_field"))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, module in (("swbuild", "swbuild"), ("pytest", "pytest")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (tools / name).chmod(0o755)
    # Where CI is set, pytest does not shorten its lines.
    kept = {
        name: value for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name not in _CHANGES_THE_LAYOUT
    }  # fmt: skip
    environment = {
        **kept,
        "COLUMNS": "80",
        "PATH": f"{tools}:{kept['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": PLUGIN_FLAG,
        "XDG_CACHE_HOME": CACHE,
    }
    commands = re.split(r"^\$ ", _block("console", "swbuild init heat.c"), flags=re.MULTILINE)[1:]
    assert len(commands) == 5
    for part in commands:
        command, _, shown = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if "FAILURES" in shown else 0), done.stdout + done.stderr
        printed = iter(done.stdout.splitlines())
        for line in shown.splitlines():
            assert _LOOSE.match(line) or line in printed, f"{command}: {line}\n{done.stdout}"
    assert "<svg" not in (tmp_path / "report.html").read_text()
