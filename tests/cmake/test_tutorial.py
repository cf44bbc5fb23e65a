"""The tutorial's project, adopted again by the commands and the differences that the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call

_SOURCE = os.environ.get("SWBUILD_HEATSOLVER", "")
_COMMIT = "36af4b9d112013c9fef9f1c7cc6cb356275845d4"
_BLOCK = re.compile(
    r"<!-- heatsolver(?P<patch> patch)? -->\n```\w+\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.skipif(not _SOURCE, reason="SWBUILD_HEATSOLVER names no repository of HeatSolver"),
]


def test_the_tutorial(installation: Installation, tmp_path: Path) -> None:
    project = tmp_path / "HeatSolver"
    call(["git", "clone", "-q", _SOURCE, project])
    call(["git", "-C", project, "checkout", "-q", _COMMIT])
    environment = installation.environment()
    environment["PATH"] += os.pathsep + str(Path(sys.executable).parent)
    page = (ROOT / "docs" / "tutorial-cmake.md").read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(page))
    assert len(blocks) == 8
    for block in blocks:
        if block["patch"]:
            command = ["git", "-C", str(project), "apply", "--unidiff-zero", "-"]
            subprocess.run(command, input=block["text"], text=True, check=True)
        else:
            _replay(block["text"], project, environment)


def _replay(text: str, project: Path, environment: dict[str, str]) -> None:
    """Run the commands of a block; each must print what the page shows under it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=project, env=environment, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, command
        assert re.fullmatch(_pattern(shown), done.stdout), f"{command}\n{done.stdout}"


def _pattern(shown: str) -> str:
    """Return a pattern for what is shown: times and peaks differ, an ellipsis stands for any lines."""
    return "".join(map(_line_pattern, shown.splitlines()))


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*?"
    if line.startswith("Kernel time"):
        return r"Kernel time .*\n"
    # The peak of LDM use has the stack in it, which belongs to the compiler.
    loose = re.sub(r"[0-9.]+ KiB +[0-9.]+$|(?<=LDM )[0-9]+", "@", line)
    return re.escape(loose).replace("@", "[0-9.]+(?: KiB +[0-9.]+)?") + r"\n"
