"""One job from its submission to its end, watched from the login side.

Waiting in the queue and running are two clocks.  What the job itself writes is the best witness: a
batch system that does not answer, or answers nonsense, changes nothing as long as the job reports.
Whatever happens, interrupts included, the job is cancelled before this module lets go of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path

from swbuild.classes import dataclass
from swbuild.endings import dying_with
from swbuild.toolchain.launchers.states import JobState, state_in
from swbuild.toolchain.launchers.system import BatchSystem
from swbuild.toolchain.launchers.template import Template
from swbuild.toolchain.process import run

__all__ = ["JobEnd", "JobRequest", "run_job"]

#: How long a command of the batch system may take to answer, in seconds.
_ANSWER = 60.0
#: After so many answers in a row that say nothing of the job, it counts as lost.
_PATIENCE = 5


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What to run and how long to wait.

    ``started`` and ``finished`` say what the job itself has reported.  ``grace`` is how long its
    last words may take through the file system once the batch system says that it has ended.
    """

    executable: Path
    directory: Path
    started: Callable[[], bool]
    finished: Callable[[], bool]
    queue_timeout: float
    run_timeout: float
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    poll: float = 5.0
    grace: float = 5.0


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended; ``output`` is what launcher and job printed."""

    state: JobState
    job: str
    message: str
    output: str
    queue_seconds: float
    run_seconds: float


def run_job(system: BatchSystem, request: JobRequest) -> JobEnd:
    """Submit the job and wait for its end; never raises for what the batch system does."""
    return _Watch(system, request).watch()


class _Watch:
    """The state of one job's watch."""

    def __init__(self, system: BatchSystem, request: JobRequest) -> None:
        self.system = system
        self.request = request
        self.printed = request.directory / "launcher.txt"
        self.log = request.directory / "job.log"
        self.job = ""
        self.submitted = time.monotonic()
        self.began: float | None = None
        self.silent = 0
        #: Whether the launcher of an attached job has gone before the job's own last words.
        self.alone = False
        self.asked = 0.0

    def watch(self) -> JobEnd:
        settings = {**self.request.settings, "log": str(self.log)}
        command = self.system.submit.fill(
            {**settings, "exe": str(self.request.executable)}, self.request.arguments
        )
        try:
            submitter = self._start(command)
        except OSError as error:
            return self._end(JobState.REFUSED, f"cannot start {command[0]}: {error.strerror}")
        over = False
        try:
            state, message = self._wait(submitter)
            over = state in (JobState.ENDED, JobState.REFUSED, JobState.CANCELLED)
        finally:
            if not over:
                self._cancel()
            _kill(submitter)
        return self._end(state, message)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.printed.open("wb") as out:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=dict(self.request.environment) or None,
                cwd=self.request.directory,
                start_new_session=True,
                preexec_fn=partial(dying_with, os.getpid(), signal.SIGTERM),
            )

    def _wait(self, submitter: subprocess.Popen[bytes]) -> tuple[JobState, str]:
        pause = 0.01
        while True:
            found = self._look(submitter)
            if found is not None:
                return found
            time.sleep(pause)
            pause = min(pause * 1.3, 0.5)

    def _look(self, submitter: subprocess.Popen[bytes]) -> tuple[JobState, str] | None:
        """Return the job's end, if it has come to one."""
        status = submitter.poll()
        self._identify()
        if self.began is None and self.request.started():
            self.began = time.monotonic()
        found = self._attached(status) if self.system.attached else self._detached(status)
        return found or self._late()

    def _late(self) -> tuple[JobState, str] | None:
        now = time.monotonic()
        if self.began is None and now - self.submitted > self.request.queue_timeout:
            return JobState.QUEUE_TIMEOUT, f"not started within {self.request.queue_timeout:g} s"
        if self.began is not None and now - self.began > self.request.run_timeout:
            return JobState.RUN_TIMEOUT, f"not ended {self.request.run_timeout:g} s after its start"
        return None

    def _attached(self, status: int | None) -> tuple[JobState, str] | None:
        if status is None:
            return None
        if self.request.finished() or (not self.alone and self._reported(status)):
            return JobState.ENDED, ""
        self.alone = True
        return self._left_behind(status)

    def _left_behind(self, status: int) -> tuple[JobState, str] | None:
        """Return what became of a job whose launcher ended first: the batch system may still have it."""
        if self.job and self.system.status is not None:
            found = self._ask()
            if found is None or found[0] not in (JobState.ENDED, JobState.LOST):
                return found
        if self.began is None and not self.request.started():
            return JobState.REFUSED, f"the launcher ended with status {status}, and no job had started"
        told = state_in(self._text(self.printed)) if status else None
        state = told if told in (JobState.CANCELLED, JobState.NODE_LOST) else JobState.LOST
        return state, f"the launcher ended with status {status} before the job had"

    def _detached(self, status: int | None) -> tuple[JobState, str] | None:
        if self.request.finished():
            return JobState.ENDED, ""
        if status is None:
            return None
        if status:
            return JobState.REFUSED, f"the submission ended with status {status}"
        if not self.job:
            return JobState.REFUSED, "the submission's answer names no job"
        return self._ask()

    def _ask(self) -> tuple[JobState, str] | None:
        """Ask the batch system, not too often, and do not believe silence too soon."""
        if self.system.status is None or time.monotonic() - self.asked < self.request.poll:
            return None
        state = state_in(self._command(self.system.status))
        self.asked = time.monotonic()
        self.silent = 0 if state else self.silent + 1
        if self.silent >= _PATIENCE:
            return JobState.LOST, f"{self.silent} answers in a row said nothing of job {self.job}"
        if state is None or not state.over:
            return None
        if self._last_words():
            return JobState.ENDED, ""
        return state, f"the batch system says: {state.value}"

    def _reported(self, status: int) -> bool:
        """Return whether the job has reported its end; one that was refused will not."""
        if status and not self.request.started():
            return self.request.finished()
        return self._last_words()

    def _last_words(self) -> bool:
        """Return whether the job has reported its end, with some patience for slow file systems."""
        deadline = time.monotonic() + self.request.grace
        while not self.request.finished():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _identify(self) -> None:
        if self.job or self.system.job is None:
            return
        match = self.system.job.search(self._text(self.printed))
        if match:
            self.job = next(group for group in match.groups() if group)

    def _cancel(self) -> None:
        self._identify()
        if self.system.cancel is not None and self.job:
            self._command(self.system.cancel)

    def _command(self, template: Template) -> str:
        """Return what a command about the job prints; nothing if it fails."""
        command = template.fill({"job": self.job})
        try:
            return run(command, environment=self.request.environment or None, timeout=_ANSWER).output
        except OSError:
            return ""

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _end(self, state: JobState, message: str) -> JobEnd:
        now = time.monotonic()
        began = self.began if self.began is not None else now
        output = "\n".join(text for path in (self.printed, self.log) if (text := self._text(path).strip()))
        return JobEnd(state, self.job, message, output, began - self.submitted, now - began)


def _kill(submitter: subprocess.Popen[bytes]) -> None:
    """End the submitter's whole family and wait for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(submitter.pid, signal.SIGTERM)
    try:
        submitter.wait(2.0)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(submitter.pid, signal.SIGKILL)
        submitter.wait()
