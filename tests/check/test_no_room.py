"""Disks that are full and places that cannot be written to: clear words, nothing half written, no verdict."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from swbuild.emulator import toolchain_dir

REGION = """\
void scale(int n, double *restrict x, double *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = 2 * y[i];
#pragma endscop
}
"""


def limited(size: int) -> None:
    """Let no file of this process grow beyond ``size`` bytes, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def swbuild(
    directory: Path, *words: str, size: int = 1 << 30, **environment: str
) -> subprocess.CompletedProcess[str]:
    (directory / "scale.c").write_text(REGION)
    (directory / "file").touch()
    # a compiled module that is cut short would be loaded by the next process
    alone = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "swbuild", *words],
        cwd=directory,
        env={**alone, **environment},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=partial(limited, size),
    )


PLACES = {
    "generate": (("generate", "scale.c", "-o", "file/out"), 2, "file/out: error[SW113]: cannot write"),
    "init": (("init", "scale.c", "-o", "file/m.yaml"), 2, "file/m.yaml: error[SW113]: cannot write"),
    "depfile": (("generate", "scale.c", "-o", "o", "--depfile", "file/d"), 2, "file/d: error[SW113]"),
    "keep": (("check", "scale.c", "--keep", "file/kept"), 2, "file/kept: error[SW113]: cannot write"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_file_in_the_place_of_a_directory(name: str, tmp_path: Path) -> None:
    words, status, says = PLACES[name]
    done = swbuild(tmp_path, *words)
    assert (done.returncode, says in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr and "hint:" in done.stderr


def test_generated_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    done = swbuild(tmp_path, "generate", "scale.c", "-o", "out", size=2000, SWBUILD_CACHE="off")
    assert (done.returncode, "error[SW113]: cannot write: File too large" in done.stderr) == (2, True)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("size", [1000, 20_000, 90_000])
def test_a_check_without_room_is_no_verdict(size: int, tmp_path: Path) -> None:
    toolchain_dir("sw26010")
    done = swbuild(tmp_path, "check", "scale.c", "-q", "-p", "n=5000", "--keep", "kept", size=size)
    assert done.returncode == 99, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr
    assert "cannot write" in done.stderr or "File too large" in done.stderr or "SW402" in done.stderr


def test_an_emulator_that_cannot_be_installed(tmp_path: Path) -> None:
    done = swbuild(tmp_path, "check", "scale.c", "-q", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.returncode == 99 and "error[SW404]: the emulator cannot be built" in done.stderr
    assert str(tmp_path / "file") in done.stderr and "Traceback" not in done.stderr


def test_standard_output_that_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "scale.c").write_text(REGION)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "swbuild", "explain", "scale.c"]
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 99
    assert done.stderr.startswith("standard output: error[SW113]: cannot read or write: No space left")


@pytest.mark.parametrize("role", ["-host", "-slave"])
def test_the_machines_compilers(role: str, tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text("int one(void) { return 1; }\n")
    command = [str(toolchain_dir("sw26010") / "sw5cc"), role, "-c", "m.c", "-o", "none/m.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "sw5cc: error[SW601]: cannot write none/m.o: No such file or directory\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["m.c"]
