"""Run the command line in a process of its own, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def swbuild(tmp_path: Path) -> Run:
    """Return a function that runs ``swbuild`` in ``tmp_path``; it must not print a traceback."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "swbuild", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr or environment.get("SWBUILD_DEBUG")
        return done

    return run
