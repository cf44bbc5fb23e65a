"""Children that do not outlive who started them, and directories that do not outlive their run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from swbuild.files import made, named_failures
from swbuild.scratch import sweep, take

__all__ = ["dying_with", "run_directory", "tied", "workplace"]

_PR_SET_PDEATHSIG = 1

#: What has util-linux's ``setpriv`` run a program that is killed when its parent has ended.
_KILLED = ("--pdeathsig", "KILL", "--")


@contextlib.contextmanager
def workplace(purpose: str) -> Iterator[Path]:
    """Yield a directory that vanishes; those of runs that were killed vanish, too.

    Raise SW113 where there is none to be had.
    """
    with named_failures(Path(os.environ.get("TMPDIR", "/tmp"))):
        base = tempfile.gettempdir()
        sweep(base)
        path, lock = take(base, purpose)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


@contextlib.contextmanager
def _temporary_files_in(directory: Path) -> Iterator[None]:
    """Have this process and all that it starts make their temporary files in ``directory``."""
    before, cached = os.environ.get("TMPDIR"), tempfile.tempdir
    directory.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = f"{directory}/"
    tempfile.tempdir = str(directory)
    try:
        yield
    finally:
        tempfile.tempdir = cached
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


@contextlib.contextmanager
def run_directory(keep: Path | None, purpose: str) -> Iterator[Path]:
    """Yield the directory of a run, ``keep`` or one that vanishes; temporary files vanish in any case."""
    with workplace(purpose) as scratch, _temporary_files_in(scratch / "tmp"):
        yield scratch if keep is None else made(keep).resolve()


def dying_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process the signal when ``parent``, which started it, has ended."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended before that
            os.kill(os.getpid(), number)


def tied(command: Sequence[str], path: str | None, directory: Path | None) -> list[str] | None:
    """Return a command that runs ``command`` and has it killed when this process has ended.

    None where that takes :func:`dying_with` in the child, before ``command`` is run: it is not to be found
    by ``path`` from ``directory``, or there is no ``setpriv`` here.  A child without Python code of its own
    is started in a millisecond; any other takes a copy of this process's page tables, some 10 ms for 100 MB.
    """
    setpriv = _setpriv()
    name = command[0]
    if os.sep in name:
        name = os.path.join(directory or "", name)
    return [setpriv, *_KILLED, *command] if setpriv and shutil.which(name, path=path) else None


@cache
def _setpriv() -> str | None:
    """Return the path of a ``setpriv`` that can do that: older ones cannot."""
    found = shutil.which("setpriv")
    if found is None:
        return None
    tried = subprocess.run([found, *_KILLED, "true"], capture_output=True, check=False)
    return found if tried.returncode == 0 else None


_prctl = getattr(ctypes.CDLL(None), "prctl", None)
