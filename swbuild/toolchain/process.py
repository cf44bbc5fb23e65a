"""Run one program with a time limit and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from swbuild.classes import dataclass
from swbuild.endings import dying_with, tied
from swbuild.scratch import kill_marked

__all__ = ["Completed", "end_all", "run"]

#: What is in the environment of every program that this process runs, and of all that those start.
_MARK = f"SWBUILD_RUN={os.getpid()}-{secrets.token_hex(8)}."
_NUMBERS = itertools.count()


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

    Nothing keeps running after this function when the time is up or when the caller is interrupted:
    neither the program nor what it has started.  Nor does the program outlive this process.
    """
    start = time.monotonic()
    mark = f"{_MARK}{next(_NUMBERS)};"
    name, _, value = mark.partition("=")
    timed_out = False
    process: subprocess.Popen[bytes] | None = None
    variables = {**(os.environ if environment is None else environment), name: value}
    guarded = tied(command, variables.get("PATH"), directory)
    try:
        process = subprocess.Popen(
            guarded or command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd=directory,
            start_new_session=True,
            preexec_fn=None if guarded else partial(dying_with, os.getpid()),
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            _end(process, mark)
            out, err = process.communicate()
    except BaseException:
        kill_marked(mark)
        if process is not None:
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


def end_all() -> None:
    """End every program that :func:`run` has started in this process."""
    kill_marked(_MARK)


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    kill_marked(mark)
