"""What is stated of sizes and arrays holds for files whose regions no manifest names, too."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest

from swbuild.check.program import ProgramTask, generate_program
from swbuild.frontend.request import RegionRequest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SOURCE = """\
void scale(int n, double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[i];
#pragma endscop
}
"""

MISTAKES = [
    ("assume: 'n ^' is no C expression", "--assume", "n ^"),
    ("assume: 'm' is not declared", "--assume", "m > 3"),
    ("arrays: 'y' is not declared", "--array", "y=n"),
    ("typical: 'm' is not declared", "--typical", "m=3"),
]


@pytest.mark.parametrize(("words", "option", "value"), MISTAKES)
def test_mistakes_in_what_is_stated_are_told(
    words: str, option: str, value: str, swbuild: Run, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    done = swbuild("generate", "f.c", option, value, "-o", "out")
    assert done.returncode == 2
    assert f"f.c:3:9: error[SW225]: {words}" in done.stderr


@pytest.mark.parametrize("by_manifest", [False, True])
def test_a_check_keeps_to_what_is_assumed_of_sizes(by_manifest: bool, swbuild: Run, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    (tmp_path / "sunway.yaml").write_text("version: 1\nsources: [f.c]\ndefaults: {assume: [n > 5]}\n")
    words = ["sunway.yaml"] if by_manifest else ["f.c", "--assume", "n > 5"]
    done = swbuild("check", *words, "-q")
    assert done.returncode == 0, done.stdout


def test_a_check_runs_no_longer_than_the_command_line_says(swbuild: Run, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    done = swbuild("check", "f.c", "-p", "n=9", "--timeout", "0.001", "-q")
    # Whichever is the first to be late: the serial run (2), or that of the offloaded code (1).
    assert done.returncode in (1, 2)
    assert "did not end within 0.0" in done.stderr


def test_a_program_is_generated_under_what_is_stated(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(SOURCE)
    (found,) = generate_program(ProgramTask((source,), every=RegionRequest(assume=("n > 5",))))
    assert found.unit.regions[0].scop.context.is_subset(isl.Set("[n] -> { : n > 5 }"))
