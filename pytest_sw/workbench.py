"""The way of a test through build, run and verdict, and where it is told apart whose fault a failure is."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from pytest_sw.baselines import Baselines, compare_figures, compiler_name, figures_of
from pytest_sw.broker import Broker
from pytest_sw.context import Context
from pytest_sw.items import Evidence, KernelItem
from pytest_sw.judgement import describe, locate, summarise
from pytest_sw.options import Settings, read_settings
from pytest_sw.preparing import prepare
from pytest_sw.records import Record
from pytest_sw.targets.base import Target
from pytest_sw.targets.choice import make_target
from pytest_sw.verdicts import Category, SwBuildError, SwFailure, SwInfraError
from swbuild.check.evidence import verdicts
from swbuild.check.results import CaseResult, Outcome, worst
from swbuild.diagnostics import SwbuildError
from swbuild.signals import unwound_by_signals

__all__ = ["Workbench", "prune", "workbench"]

_FAILURES = {
    Outcome.MISMATCH: Category.MISMATCH,
    Outcome.CRASH: Category.CRASH,
    Outcome.TIMEOUT: Category.TIMEOUT,
    Outcome.NOT_OFFLOADED: Category.NOT_OFFLOADED,
}


_EVIDENCE: pytest.StashKey[Evidence] = pytest.StashKey()
_WORKBENCH: pytest.StashKey[Workbench] = pytest.StashKey()


class Workbench:
    """Runs and judges tests; one per process."""

    def __init__(self, context: Context, rootpath: Path) -> None:
        self.context = context
        self.settings = context.settings
        self._rootpath = rootpath
        self._targets: dict[tuple[str, str], Target] = {}
        self._broker = Broker(context)
        self._baselines: Baselines | None = None

    def target(self, name: str, machine: str) -> Target:
        """Return the target for a machine, made on first use."""
        key = (name, machine)
        if key not in self._targets:
            self._targets[key] = make_target(name, machine, self.context, self._broker)
        return self._targets[key]

    def gather(self, item: KernelItem) -> None:
        """Build and run the test; raise for everything that is not the kernel's fault."""
        __tracebackhide__ = True
        target = self.require(item.target, item.task.options.machine, item.record)
        prepared = prepare(self.context, item, target)
        if self.settings.build_only:
            item.record.set(category=Category.NOT_APPLICABLE.value)
            pytest.skip("built, not run (--sw-build-only)")
        try:
            runs = target.run(item, prepared)
        except SwInfraError:
            if not target.judged_by_jobs:
                self.context.breaker.failed(item.target)
            raise
        if not target.judged_by_jobs:
            self.context.breaker.worked(item.target)
        item.stash[_EVIDENCE] = Evidence(prepared, runs)

    def require(self, name: str, machine: str, record: Record) -> Target:
        """Return a target, or skip the test when there is none that works."""
        __tracebackhide__ = True
        if self.context.breaker.open(name):
            record.set(category=Category.TARGET_BROKEN.value)
            pytest.skip(f"target {name} broken: {self.context.breaker.why(name)}")
        try:
            target = self.target(name, machine)
            absent = target.absent()
        except SwbuildError as error:
            raise SwBuildError(Category.CONFIG, self.context.shorten(str(error))) from None
        if absent:
            message = self.context.shorten(f"target {name} is not there: {absent}")
            if self.settings.require:
                raise SwBuildError(Category.TARGET_ABSENT, message)
            record.set(category=Category.TARGET_ABSENT.value)
            pytest.skip(message)
        return target

    def judge(self, item: KernelItem) -> None:
        """Compare what the runs left with the reference; raise for a kernel that is wrong."""
        __tracebackhide__ = True
        evidence = item.stash[_EVIDENCE]
        start = time.monotonic()
        prepared = evidence.prepared
        results: list[CaseResult] = []
        maps: list[dict[str, object]] = []
        for run in evidence.runs:
            found = verdicts(prepared.generated, prepared.plan, prepared.reference, run)
            if any(report.mismatches for result in found for report in result.arrays):
                target = self.target(item.target, item.task.options.machine)
                owned, drawn = locate(prepared, run, found, target.owners(item, prepared, run, found))
                found, maps = tuple(owned), [*maps, *drawn]
            results += found
        summarise(item.record, prepared, evidence.runs, results, maps)
        item.record.stage("judge", time.monotonic() - start)
        outcome = worst(result.outcome for result in results)
        if outcome is Outcome.PASS:
            self._weigh(item, evidence)
            self.context.dispose(prepared, failed=False)
            item.record.set(category=Category.PASS.value)
            return
        text = self.context.shorten(describe(item, prepared, results, kept=self.settings.keep != "none"))
        self.context.dispose(prepared, failed=True)
        if outcome in _FAILURES:
            raise SwFailure(_FAILURES[outcome], text)
        raise SwInfraError(Category.NO_EVIDENCE, text)

    def _weigh(self, item: KernelItem, evidence: Evidence) -> None:
        """Compare what the emulator counted with the baseline, if there is one."""
        __tracebackhide__ = True
        if not self.settings.baseline or item.target != "emulator":
            return
        target = self.target(item.target, item.task.options.machine)
        figures = figures_of(evidence.runs, target.cycles(item, evidence.prepared))
        item.record.set(figures=figures, baseline=item.baseline_name)
        stored = self.baselines.tests.get(item.baseline_name)
        if stored is None or self.settings.update_baseline:
            return
        worse = compare_figures(stored, figures)
        if worse:
            lines = [f"{item.task.name} costs more than its baseline in {self.settings.baseline}:", *worse]
            lines.append("if that is meant to be, store the new figures with --sw-update-baseline")
            self.context.dispose(evidence.prepared, failed=True)
            raise SwFailure(Category.PERFORMANCE, "\n  ".join(lines))

    @property
    def baselines(self) -> Baselines:
        """The stored figures."""
        if self._baselines is None:
            path = Path(self._rootpath, self.settings.baseline)
            try:
                self._baselines = Baselines(path, compiler_name())
            except (OSError, ValueError) as error:
                raise SwBuildError(Category.CONFIG, f"--sw-baseline: {error}") from None
        return self._baselines

    def close(self) -> None:
        """Leave nothing behind: no job, no empty directory."""
        for target in self._targets.values():
            target.close()
        with contextlib.suppress(OSError):
            self.context.runs.rmdir()


def workbench(config: pytest.Config) -> Workbench:
    """Return the session's workbench, made when the first kernel is met."""
    if _WORKBENCH not in config.stash:
        config.stash[_WORKBENCH] = _made(config)
    return config.stash[_WORKBENCH]


def _made(config: pytest.Config) -> Workbench:
    """Return a workbench for this process; workers of one xdist session share its directories."""
    settings = read_settings(config)
    root = _artifacts(config, settings)
    worker = getattr(config, "workerinput", None)
    session = worker["testrunuid"][:12] if worker else secrets.token_hex(6)
    if not worker:
        prune(root)
    context = Context(settings, config.invocation_params.dir, root, session)
    bench = Workbench(context, config.rootpath)
    config.add_cleanup(bench.close)
    endings = contextlib.ExitStack()
    endings.enter_context(unwound_by_signals(lambda number: KeyboardInterrupt()))
    config.add_cleanup(endings.close)
    return bench


def prune(root: Path, sessions: int = 20) -> None:
    """Remove the data and the jobs of all but the latest sessions."""
    for folder in (root / "runs", root / "jobs"):
        if folder.is_dir():
            found = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
            for path in found[2 * sessions :] if folder.name == "jobs" else found[sessions:]:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def _artifacts(config: pytest.Config, settings: Settings) -> Path:
    """Return the directory that all is made in; nodes must see it, so it is not ``/tmp`` if possible."""
    if settings.artifacts:
        path = Path(config.rootpath, settings.artifacts)
    elif getattr(config, "cache", None) is not None:
        path = Path(config.cache.mkdir("sunway"))
    else:
        path = Path(tempfile.gettempdir()) / f"swbuild-pytest-{os.getuid()}"
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()
