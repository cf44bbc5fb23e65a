"""The command line loads what it needs and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from generation import EXAMPLES

_CODE = """
import sys
from swbuild.cli import main
main(sys.argv[1:])
print("LOADED", *[name for name in ("islpy", "yaml", "pycparser", "numpy", "rich") if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--version"], set()),
        (["--help"], set()),
        (["doctor", "--help"], set()),
        (["explain", "SW101"], {"yaml", "islpy"}),
        (["emulator", "path"], {"yaml"}),  # the machine files, when it has to be built first
        (["generate", str(EXAMPLES / "gemm.c"), "-q"], {"yaml", "islpy", "pycparser"}),
    ],
)
def test_loaded(arguments: list[str], allowed: set[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CODE, *arguments]
    environment = {**os.environ, "SWBUILD_CACHE": "off"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    loaded = next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("LOADED"))
    assert set(loaded) <= allowed
