"""Generator results kept by content."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SOURCE = """\
#include "shift.h"
void shift(int n, double *x);
void shift(int n, double *x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = x[i] + SHIFT;
#pragma endscop
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shift.c").write_text(_SOURCE)
    (tmp_path / "shift.h").write_text("#define SHIFT 1\n")
    return tmp_path


def _command(out: str, *more: str) -> list[str]:
    options = ["-o", out, "--depfile", f"{out}.d", "--depfile-target", "x", "--timings", *more]
    return [sys.executable, "-m", "swbuild", "generate", "shift.c", *options]


def _environment(project: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "SWBUILD_CACHE_DIR": str(project / "cache"), **more}


def _generate(project: Path, out: str, *options: str, **more: str) -> bool:
    """Generate into ``out`` and return whether the generator itself had to work."""
    done = subprocess.run(
        _command(out, *options), cwd=project, env=_environment(project, **more),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return "front end" in done.stderr


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _entries(project: Path) -> list[Path]:
    return [path for path in (project / "cache").rglob("*") if path.is_file()]


def test_a_second_run_takes_the_result(project: Path) -> None:
    assert _generate(project, "one")
    assert not _generate(project, "two")
    assert _files(project / "one") == _files(project / "two")
    assert (project / "one.d").read_text() == (project / "two.d").read_text()
    assert len(_entries(project)) == 1


def test_what_changes_the_result_is_not_taken(project: Path) -> None:
    assert _generate(project, "one")
    assert _generate(project, "one", "--tile", "32")
    assert _generate(project, "one", "--machine", "sw26010-pro")
    (project / "shift.h").write_text("#define SHIFT 2\n")
    assert _generate(project, "one")
    (project / "shift.c").write_text(_SOURCE.replace("#include", "/* a comment */\n#include"))
    assert _generate(project, "one")
    assert not _generate(project, "one")


def test_a_broken_entry_is_made_again(project: Path) -> None:
    _generate(project, "one")
    (entry,) = _entries(project)
    entry.write_text(entry.read_text()[:100])
    assert _generate(project, "two")
    assert _files(project / "one") == _files(project / "two")
    assert not _generate(project, "three")


def test_many_at_once(project: Path) -> None:
    environment = _environment(project)
    running = [
        subprocess.Popen(_command(f"out{n}"), cwd=project, env=environment, stderr=subprocess.DEVNULL)
        for n in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    assert len({tuple(sorted(_files(project / f"out{n}").items())) for n in range(4)}) == 1
    assert len(_entries(project)) == 1


def test_turned_off_and_unwritable(project: Path) -> None:
    assert _generate(project, "one", SWBUILD_CACHE="off")
    assert _generate(project, "one", SWBUILD_CACHE="off")
    assert not (project / "cache").exists()
    (project / "file").touch()
    assert _generate(project, "one", SWBUILD_CACHE_DIR=str(project / "file" / "cache"))


def test_show_and_clear(project: Path) -> None:
    _generate(project, "one")

    built = project / "xdg/swbuild/emulator/runtime-0/lib"
    built.mkdir(parents=True)
    (built / "libswemu.a").write_bytes(bytes(3 * 1024 * 1024))

    def cache(what: str) -> list[str]:
        command = [sys.executable, "-m", "swbuild", "cache", what]
        environment = {**_environment(project), "XDG_CACHE_HOME": str(project / "xdg")}
        return subprocess.check_output(command, env=environment, text=True).splitlines()

    results, emulator = cache("show")
    assert results.startswith("1 results, ")
    assert emulator == f"1 parts of the emulator, 3.0 MiB, in {project}/xdg/swbuild/emulator"
    assert cache("path") == [str(project / "cache"), str(project / "xdg/swbuild/emulator")]
    results, emulator = cache("clear")
    assert results.startswith("removed 1 results")
    assert emulator.startswith("removed 1 parts of the emulator")
    assert _entries(project) == [] and not built.exists()
    assert _generate(project, "one")
