"""The broker: gathers the selection's tests for the node into as few jobs as the user wants.

With xdist every worker has a broker; a lock in the shared directory lets one of them run the jobs,
and the others read what it wrote.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_sw.context import Context
from pytest_sw.items import KernelItem, Prepared
from pytest_sw.jobs import JobReport, TestRun, TestTask, run_tests
from pytest_sw.preparing import prepare
from pytest_sw.records import Record
from pytest_sw.targets.base import Target
from pytest_sw.verdicts import Category, SwError, SwInfraError, tells_of_no_room
from swbuild.check.evidence import CaseRun, Ending, read_run
from swbuild.check.results import Counts
from swbuild.toolchain.launchers import BatchSystem

__all__ = ["Broker", "Site"]


class Site(Target):
    """A target whose runs are jobs of a batch system."""

    judged_by_jobs = True

    @property
    @abstractmethod
    def system(self) -> BatchSystem:
        """The site's batch system; raises for a launcher that makes no sense."""


class Broker:
    """Runs the jobs of a session for tests on the node."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.directory = context.root / "jobs" / context.session
        self.results: dict[str, dict[str, Any]] = {}

    def result(self, item: KernelItem, prepared: Prepared, site: Site) -> CaseRun:
        """Return the run of a test; raise :class:`SwInfraError` when the machinery failed for it."""
        __tracebackhide__ = True
        found = self._find(item)
        if found is None:
            with self._locked():
                found = self._find(item)
                if found is None:
                    self._run(self._tasks(self._selection(item, site), site), site)
                    found = self.results[item.nodeid]
        return self._case_run(found, item.record, prepared)

    def single(self, record: Record, prepared: Prepared, site: Site, limit: float) -> CaseRun:
        """Return the run of a Python test in jobs of its own."""
        __tracebackhide__ = True
        name = str(prepared.directory)
        task = TestTask(name, prepared.executable, prepared.inputs, prepared.directory, limit)
        with self._locked():
            self._run({name: task}, site)
        return self._case_run(self.results[name], record, prepared)

    def _case_run(self, found: dict[str, Any], record: Record, prepared: Prepared) -> CaseRun:
        __tracebackhide__ = True
        record.set(**found["facts"])
        if found["category"]:
            raise SwInfraError(Category(found["category"]), self.context.shorten(found["message"]))
        ending = Ending(found["status"], found["seconds"], found["late"], found["text"])
        run = read_run(prepared.plan, "node", Path(found["output"]), found["nonce"], ending, Counts())
        if not run.found.complete and ending.status == 0 and not ending.timed_out:
            text = f"the data of the run is not all there: {found['output']}"
            raise SwInfraError(Category.NO_EVIDENCE, self.context.shorten(text))
        return run

    def _find(self, item: KernelItem) -> dict[str, Any] | None:
        """Return what is known of the test, from this process or another one."""
        if item.nodeid not in self.results:
            for path in sorted(self.directory.glob("*/results.json")):
                with contextlib.suppress(OSError, ValueError):
                    self.results.update(json.loads(path.read_text(encoding="utf-8")))
        return self.results.get(item.nodeid)

    def _selection(self, item: KernelItem, site: Site) -> list[KernelItem]:
        """Return the tests that go with this one into a job, itself first."""
        batch = self.context.settings.batch
        if batch == "off":
            return [item]
        others = [
            other
            for other in item.session.items
            if isinstance(other, KernelItem)
            and other is not item
            and other.target == item.target
            and other.task.options.machine is site.machine
            and other.nodeid not in self.results
        ]
        limit = len(others) + 1 if batch == "auto" else int(batch)
        return [item, *others][:limit]

    def _tasks(self, items: Sequence[KernelItem], site: Site) -> dict[str, TestTask]:
        return {item.nodeid: task for item in items if (task := self._task(item, site)) is not None}

    def _run(self, tasks: Mapping[str, TestTask], site: Site) -> None:
        """Run the tests in jobs until each has a result or no attempt is left."""
        open_tests, suspects = list(tasks), set[str]()
        attempts = dict.fromkeys(tasks, 0)
        jobs: list[JobReport] = []
        while open_tests:
            order = sorted(open_tests, key=lambda test: test in suspects)
            report = self._job([tasks[test] for test in order], site)
            jobs.append(report)
            self._count(report)
            again: list[str] = []
            for run in report.runs:
                attempts[run.test] += 1
                self.results[run.test] = _result(run, report, attempts[run.test])
                if run.category is None or not run.category.retried:
                    continue
                if run.begun:
                    suspects.add(run.test)
                if attempts[run.test] <= self.context.settings.infra_retries:
                    again.append(run.test)
            open_tests = again
        self._publish(jobs)

    def _task(self, item: KernelItem, site: Site) -> TestTask | None:
        """Return the test's task, ``None`` when it cannot be prepared (its own set-up will say why)."""
        try:
            prepared = prepare(self.context, item, site, to_send=True)
        except (SwError, pytest.skip.Exception):
            return None
        limit = self.context.limit(item)
        return TestTask(item.nodeid, prepared.executable, prepared.inputs, prepared.directory, limit)

    def _job(self, tasks: Sequence[TestTask], site: Site) -> JobReport:
        number = len(list(self.directory.glob("*"))) if self.directory.exists() else 0
        directory = self.directory / f"{number:03}"
        return run_tests(site.system, site.machine, self.context.settings, tasks, directory, f"sw{number}")

    def _count(self, report: JobReport) -> None:
        if report.failed:
            self.context.breaker.failed("node")
        else:
            self.context.breaker.worked("node")

    def _publish(self, jobs: Sequence[JobReport]) -> None:
        """Write the results where other workers find them."""
        if not jobs:
            return
        path = jobs[-1].directory / "results.json"
        partial = path.with_suffix(".part")
        try:
            partial.write_text(json.dumps(self.results), encoding="utf-8")
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            file = (self.directory.parent / f".{self.directory.name}.lock").open("w")
        except OSError as error:
            category = Category.DISK_FULL if tells_of_no_room(str(error)) else Category.LAUNCHER
            raise SwInfraError(category, str(error)) from None
        with file:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _result(run: TestRun, report: JobReport, attempts: int) -> dict[str, Any]:
    """Return what other processes need to know of a test's run."""
    message = run.message
    if run.category is not None and run.begun and attempts > 1:
        message += f"\nthis happened in {attempts} jobs, so the kernel itself may end them"
    return {
        "output": str(run.output),
        "nonce": run.nonce,
        "status": run.ending.status,
        "seconds": run.ending.seconds,
        "late": run.ending.timed_out,
        "text": run.ending.output,
        "category": run.category.value if run.category else "",
        "message": message,
        "facts": {
            "jobid": report.job or None,
            "node": report.node or None,
            "queue_seconds": round(report.queue_seconds, 3),
            "attempts": attempts,
            "log": str(report.directory),
        },
    }
