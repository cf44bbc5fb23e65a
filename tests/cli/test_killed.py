"""Runs that are ended from outside leave nothing behind: no process, no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from swbuild.files import write_text
from swbuild.toolchain.process import run

SWBUILD = [sys.executable, "-m", "swbuild"]

#: Before it computes, the reference starts a process that hides in a session of its own; neither ends.
NEVER_ENDS = """\
#include <signal.h>
#include <unistd.h>
void %(name)s(int n, double x[restrict n]);
__attribute__((constructor)) static void hang(void)
{
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0)
        setsid();
    for (;;)
        pause();
}
void %(name)s(int n, double x[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] *= 2.0;
#pragma endscop
}
"""
GOOD = """\
void good(int n, double x[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] *= 2.0;
#pragma endscop
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yield a directory with sources, whose ``tmp`` takes temporary files; end what a failed test leaves."""
    (tmp_path / "tmp").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text(NEVER_ENDS % {"name": name})
    (tmp_path / "good.c").write_text(GOOD)
    yield tmp_path
    for pid in _processes(tmp_path):
        os.kill(pid, signal.SIGKILL)


def _processes(place: Path) -> list[int]:
    """Return the processes that were given ``place`` for their temporary files."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"TMPDIR={place}/".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _names(place: Path) -> list[str]:
    found = []
    for pid in _processes(place):
        with suppress(OSError):  # it may have ended
            found.append(Path(f"/proc/{pid}/exe").readlink().name)
    return found


def _wait(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _started(place: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command and return when its references, each with its hidden child, run."""
    environment = {**os.environ, "TMPDIR": f"{place}/tmp"}
    with (place / "log").open("wb") as log:
        process = subprocess.Popen([*SWBUILD, *words], cwd=place, env=environment, stdout=log, stderr=log)
    sources = sum(word.endswith(".c") for word in words)

    def running() -> bool:
        try:
            return sum("reference" in name or "serial" in name for name in _names(place)) >= 2 * sources
        except OSError:
            return False

    assert _wait(running), (place / "log").read_text()
    return process


COMMANDS = {
    "one": ("check", "a.c"),
    "parallel": ("check", "-j2", "a.c", "b.c"),
    "kept": ("check", "a.c", "--keep", "kept"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_nothing(place: Path, command: tuple[str, ...], number: signal.Signals) -> None:
    process = _started(place, *command)
    process.send_signal(number)
    assert process.wait(20) == 128 + number
    assert _wait(lambda: not _processes(place), 5), _names(place)
    assert list((place / "tmp").iterdir()) == []
    assert "Traceback" not in (place / "log").read_text()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_the_next_run_removes_what_kill_leaves(place: Path, command: tuple[str, ...]) -> None:
    process = _started(place, *command)
    process.kill()
    process.wait(20)
    assert _wait(lambda: len(_processes(place)) <= len(command), 10), "only those who hid may be left"
    assert list((place / "tmp").iterdir()) != []
    environment = {**os.environ, "TMPDIR": f"{place}/tmp"}
    done = subprocess.run(
        [*SWBUILD, "check", "good.c", "-q", "-p", "n=3"],
        cwd=place,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert _processes(place) == []
    assert list((place / "tmp").iterdir()) == []


def test_a_time_limit_ends_those_who_hide(place: Path) -> None:
    script = "setsid sh -c 'sleep 600 & sleep 600' & (setsid sleep 600 &); sleep 600"
    done = run(["sh", "-c", script], environment={**os.environ, "TMPDIR": f"{place}/"}, timeout=0.5)
    assert done.timed_out
    assert _wait(lambda: not _processes(place), 5)


def test_two_runs_leave_each_other_alone(place: Path) -> None:
    process = _started(place, "check", "a.c")
    environment = {**os.environ, "TMPDIR": f"{place}/tmp"}
    subprocess.run(
        [*SWBUILD, "check", "good.c", "-q", "-p", "n=3"],
        cwd=place,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert process.poll() is None
    assert len([name for name in _names(place) if "reference" in name]) == 2
    process.terminate()
    process.wait(20)


def test_ignored_signals_stay_ignored(place: Path) -> None:
    """As under ``nohup``."""
    words = [
        "sh",
        "-c",
        'trap "" HUP; exec "$@"',
        "sh",
        *SWBUILD,
        "check",
        "a.c",
        "-p",
        "n=3",
        "--timeout",
        "3",
    ]
    environment = {**os.environ, "TMPDIR": f"{place}/tmp"}
    process = subprocess.Popen(
        words, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert _wait(lambda: any("reference" in name for name in _names(place)))
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    assert process.wait(20) == 128 + signal.SIGTERM


def test_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    old, young, foreign = (tmp_path / name for name in (".a.c.swbuild-1", ".a.c.swbuild-2", ".a.c.bak"))
    for path in (old, young, foreign):
        path.write_text("half")
    for path in (old, foreign):
        os.utime(path, (1, 1))
    write_text(tmp_path / "a.c", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.c.bak", ".a.c.swbuild-2", "a.c"]
