"""Run one program with a time limit and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Completed", "run"]


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended; ``status`` is its exit status, or minus the number of the signal that ended it."""

    command: tuple[str, ...]
    status: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    @property
    def output(self) -> str:
        """Both streams, the error stream last."""
        return "\n".join(text for text in (self.stdout.rstrip(), self.stderr.rstrip()) if text)


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timeout: float | None = None,
) -> Completed:
    """Run ``command`` and return how it ended; raise ``FileNotFoundError`` when there is no such program.

    The program gets a process group of its own, and the whole group is killed when the time is
    up or when the caller is interrupted: nothing keeps running after this function.
    """
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environment is None else dict(environment),
        cwd=directory,
        start_new_session=True,
    )
    timed_out = False
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        _kill_group(process)
        out, err = process.communicate()
    except BaseException:
        _kill_group(process)
        process.wait()
        raise
    return Completed(
        tuple(command),
        process.returncode,
        out.decode(errors="replace"),
        err.decode(errors="replace"),
        time.monotonic() - start,
        timed_out,
    )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
