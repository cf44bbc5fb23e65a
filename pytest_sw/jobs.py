"""One job for some tests: submitted, watched, and taken apart into what each test left."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_sw.options import Settings
from pytest_sw.verdicts import Category, tells_of_no_room
from swbuild.check.batch import BatchRecords, BatchRun, read_records, write_script
from swbuild.check.evidence import Ending, case_arguments, new_nonce
from swbuild.check.exchange import has_end
from swbuild.toolchain.launchers import BatchSystem, JobEnd, JobRequest, JobState, run_job

__all__ = ["JobReport", "TestRun", "TestTask", "run_tests"]

#: Seconds that a job may take in addition to its tests' limits.
_MARGIN = 60.0

_LOST = {
    JobState.QUEUE_TIMEOUT: Category.QUEUE_TIMEOUT,
    JobState.REFUSED: Category.LAUNCHER,
    JobState.ENDED: Category.NO_EVIDENCE,
}


@dataclass(frozen=True)
class TestTask:
    """What a job needs to know of a test."""

    __test__ = False

    test: str
    executable: Path
    inputs: Path
    directory: Path
    limit: float


@dataclass(frozen=True)
class TestRun:
    """What became of a test in a job: ``category`` is set when the machinery failed.

    ``begun`` says that the job had started the test when it ended.
    """

    __test__ = False

    test: str
    output: Path
    nonce: str
    ending: Ending
    category: Category | None
    message: str
    begun: bool


@dataclass(frozen=True)
class JobReport:
    """A job with what it is known by and how long it took."""

    job: str
    node: str
    state: JobState
    queue_seconds: float
    run_seconds: float
    runs: tuple[TestRun, ...]
    directory: Path

    @property
    def failed(self) -> bool:
        """Whether the machinery failed, at least for some tests."""
        return any(run.category is not None for run in self.runs)


def run_tests(
    system: BatchSystem,
    machine: str,
    settings: Settings,
    tasks: Sequence[TestTask],
    directory: Path,
    name: str,
) -> JobReport:
    """Run the tests in one job on ``machine`` and return what became of each."""
    directory.mkdir(parents=True, exist_ok=True)
    nonce = new_nonce()
    records = directory / "records.jsonl"
    runs = [_batch_run(task, nonce) for task in tasks]
    script = directory / "batch.sh"
    try:
        write_script(script, records, nonce, runs)
    except OSError as error:
        end = JobEnd(JobState.REFUSED, "", f"cannot write {script}: {error}", "", 0.0, 0.0)
        return _report(end, BatchRecords(), tasks, nonce, directory)
    limit = sum(task.limit for task in tasks) + _MARGIN
    request = JobRequest(
        executable=script,
        directory=directory,
        started=lambda: read_records(records, nonce).started,
        finished=lambda: read_records(records, nonce).done,
        queue_timeout=settings.queue_timeout,
        run_timeout=limit,
        settings=_placeholders(settings, machine, limit, name),
        environment=dict(os.environ),
        poll=1.0,
    )
    return _report(run_job(system, request), read_records(records, nonce), tasks, nonce, directory)


def _placeholders(settings: Settings, machine: str, limit: float, name: str) -> dict[str, str]:
    from swbuild.toolchain.launchers.template import placeholders

    given = {"name": name, "minutes": str(math.ceil(limit / 60)), "options": settings.launcher_options}
    given["queue"] = settings.queue
    return {**placeholders(machine), **given}


def _batch_run(task: TestTask, nonce: str) -> BatchRun:
    output = task.directory / "node.bin"
    output.unlink(missing_ok=True)
    arguments = case_arguments(task.inputs, output, nonce)
    return BatchRun(task.executable, arguments, task.limit, task.directory / "node.log")


def _report(
    end: JobEnd, records: BatchRecords, tasks: Sequence[TestTask], nonce: str, directory: Path
) -> JobReport:
    runs = tuple(_test_run(end, records, number, task, nonce) for number, task in enumerate(tasks))
    return JobReport(
        records.job or end.job, records.node, end.state, end.queue_seconds, end.run_seconds, runs, directory
    )


def _test_run(end: JobEnd, records: BatchRecords, number: int, task: TestTask, nonce: str) -> TestRun:
    """Return what became of one test, from its end record and the end of the job."""
    found = records.end(number)
    begun = number in records.begun
    output = task.directory / "node.bin"
    text = _tail(task.directory / "node.log")
    if found is None:
        lost, message = _lost(end, task, begun)
        return TestRun(task.test, output, nonce, Ending(-1, output=text), lost, message, begun)
    ending = Ending(found.status, task.limit if found.late else 0.0, found.late, text)
    category = _machinery(ending, output, nonce)
    message = "" if category is None else f"the run on the node {ending}\n{text}".rstrip()
    return TestRun(task.test, output, nonce, ending, category, message, begun)


def _lost(end: JobEnd, task: TestTask, begun: bool) -> tuple[Category, str]:
    """Return why a test has no end record."""
    category = _LOST.get(end.state, Category.JOB_LOST)
    if tells_of_no_room(end.output) or _no_room(task.directory):
        category = Category.DISK_FULL
    where = f"job {end.job}" if end.job else "the job"
    when = "while this kernel ran" if begun else "before this kernel's turn"
    what = f"{where} left no end record for this kernel: {end.state.value}"
    if end.state is not JobState.REFUSED and end.state is not JobState.QUEUE_TIMEOUT:
        what += f", {when}"
    lines = [what, *([end.message] if end.message else [])]
    shown = end.output.splitlines()[-20 if begun else -5 :]
    return category, "\n".join([*lines, *(f"  | {line}" for line in shown)])


def _machinery(ending: Ending, output: Path, nonce: str) -> Category | None:
    """Return the category of a run that has an end record but no believable results, else ``None``."""
    if ending.timed_out or has_end(output, nonce):
        return None
    if tells_of_no_room(ending.output) or "cannot write the output" in ending.output:
        return Category.DISK_FULL
    if ending.status == 0:
        return Category.NO_EVIDENCE
    return Category.LAUNCHER if ending.status in (99, 126, 127) else None


def _no_room(directory: Path) -> bool:
    """Return whether nothing can be written any more where the tests leave their data."""
    try:
        return shutil.disk_usage(directory).free < 4096
    except OSError:
        return False


def _tail(path: Path, lines: int = 40) -> str:
    try:
        found = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(found[-lines:])
