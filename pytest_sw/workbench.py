"""The session's workplace: settings, directories, and the way of a test through build, run and verdict."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_sw.breaker import Breaker
from pytest_sw.options import Settings, read_settings
from pytest_sw.records import Record
from pytest_sw.targets import Target, make_target
from pytest_sw.verdicts import Category, SwBuildError, SwFailure, SwInfraError, tells_of_no_room
from swbuild.check.evidence import CaseRun, plan_case, prepare_case, verdicts
from swbuild.check.exchange import RunOutput
from swbuild.check.plan import Plan, as_given
from swbuild.check.results import CaseResult, Outcome, worst
from swbuild.check.staged import GeneratedRegion
from swbuild.check.store import RegionStore
from swbuild.diagnostics import Diagnostic, SwbuildError, render
from swbuild.endings import unwound_by_signals
from swbuild.files import encoded
from swbuild.options import Machine

if TYPE_CHECKING:
    from pytest_sw.baselines import Baselines
    from pytest_sw.broker import Broker
    from pytest_sw.collect import SwKernel

__all__ = ["Evidence", "Prepared", "Workbench", "make_workbench", "prune"]

_FAILURES = {
    Outcome.MISMATCH: Category.MISMATCH,
    Outcome.CRASH: Category.CRASH,
    Outcome.TIMEOUT: Category.TIMEOUT,
    Outcome.NOT_OFFLOADED: Category.NOT_OFFLOADED,
}


@dataclass(frozen=True)
class Prepared:
    """A test that is built and whose reference has run: all that is missing is the run to judge."""

    generated: GeneratedRegion
    plan: Plan
    inputs: Path
    reference: RunOutput
    executable: Path
    directory: Path


@dataclass(frozen=True)
class Evidence:
    """What there is to judge a test by."""

    prepared: Prepared
    runs: tuple[CaseRun, ...]


_EVIDENCE: pytest.StashKey[Evidence] = pytest.StashKey()


class Workbench:
    """Holds what tests share; one per process."""

    def __init__(self, config: pytest.Config, settings: Settings, root: Path, session: str) -> None:
        self.config = config
        self.settings = settings
        self.root = root
        self.session = session
        self.store = RegionStore(root / "builds")
        self.runs = root / "runs" / session
        self.breaker = Breaker(settings.breaker)
        self._targets: dict[tuple[str, str], Target] = {}
        self._broker: Broker | None = None
        self._baselines: Baselines | None = None

    def target(self, name: str, machine: Machine) -> Target:
        """Return the target for a machine, made on first use."""
        key = (name, machine.value)
        if key not in self._targets:
            self._targets[key] = make_target(name, machine, self)
        return self._targets[key]

    @property
    def broker(self) -> Broker:
        """Return the broker of jobs."""
        if self._broker is None:
            from pytest_sw.broker import Broker

            self._broker = Broker(self)
        return self._broker

    def shorten(self, text: str) -> str:
        """Return ``text`` with file names as seen from where pytest was started."""
        here = str(self.config.invocation_params.dir).rstrip("/") + "/"
        return text.replace(here, "") if len(here) > 1 else text

    def gather(self, item: SwKernel) -> None:
        """Build and run the test; raise for everything that is not the kernel's fault."""
        __tracebackhide__ = True
        target = self.require(item.target, item.task.options.machine, item.record)
        prepared = self.prepare(item, target)
        if self.settings.build_only:
            item.record.set(category=Category.NOT_APPLICABLE.value)
            pytest.skip("built, not run (--sw-build-only)")
        try:
            runs = target.run(item, prepared)
        except SwInfraError:
            if not target.judged_by_jobs:
                self.breaker.failed(item.target)
            raise
        if not target.judged_by_jobs:
            self.breaker.worked(item.target)
        item.stash[_EVIDENCE] = Evidence(prepared, runs)

    def require(self, name: str, machine: Machine, record: Record) -> Target:
        """Return a target, or skip the test when there is none that works."""
        __tracebackhide__ = True
        if self.breaker.open(name):
            record.set(category=Category.TARGET_BROKEN.value)
            pytest.skip(f"target {name} broken: {self.breaker.why(name)}")
        try:
            target = self.target(name, machine)
            absent = target.absent()
        except SwbuildError as error:
            raise SwBuildError(Category.CONFIG, self.shorten(str(error))) from None
        if absent:
            message = self.shorten(f"target {name} is not there: {absent}")
            if self.settings.require:
                raise SwBuildError(Category.TARGET_ABSENT, message)
            record.set(category=Category.TARGET_ABSENT.value)
            pytest.skip(message)
        return target

    def prepare(self, item: SwKernel, target: Target, *, to_send: bool = False) -> Prepared:
        """Generate and build the test's region, and run its reference.

        With ``to_send`` the reference waits: others are to see first what becomes of the job.
        """
        __tracebackhide__ = True
        with self.stage(item.record, "generate", Category.GENERATE):
            generated = self.store.generated(item.task)
            plan = plan_case(generated, item.sizes)
        item.record.set(digest=digest_of(generated), kernels=list(generated.region.kernels))
        if not plan.cases:
            item.record.set(category=Category.NOT_APPLICABLE.value)
            pytest.skip(plan.skipped[0].message)
        with self.stage(item.record, "build", Category.COMPILE):
            executable = target.build(self.store, generated)
        directory = self.runs / item.target / self.file_name(item.nodeid)
        if self.settings.build_only:
            return Prepared(generated, plan, directory, RunOutput((), False), executable, directory)
        with self.stage(item.record, "reference", Category.REFERENCE):
            inputs = prepare_case(plan, directory)
            if to_send:
                return Prepared(generated, plan, inputs, RunOutput((), False), executable, directory)
            found = target.reference(self.store, generated, plan, inputs, self.limit(item))
            plan, reference = as_given(plan, found)
            inputs = prepare_case(plan, directory)
        if not plan.cases:
            item.record.set(category=Category.NOT_APPLICABLE.value)
            pytest.skip(plan.skipped[0].message)
        return Prepared(generated, plan, inputs, reference, executable, directory)

    def file_name(self, nodeid: str) -> str:
        """Return a file name for a test."""
        return "".join(letter if letter.isalnum() or letter in "._=-" else "_" for letter in nodeid)[-150:]

    def limit(self, item: SwKernel) -> float:
        """Return the time that one run of the test may take, in seconds."""
        stated = self.settings.timeout or item.task.check.timeout or 60.0
        return stated * self.settings.timeout_scale

    @contextlib.contextmanager
    def stage(self, record: Record, name: str, category: Category) -> Iterator[None]:
        """Time a stage; what goes wrong in it is an error of that category."""
        __tracebackhide__ = True
        start = time.monotonic()
        try:
            yield
        except SwbuildError as error:
            text = self.shorten(render(error.diagnostics))
            if tells_of_no_room(text):
                raise SwInfraError(Category.DISK_FULL, text) from None
            raise SwBuildError(_narrow(error.diagnostics, category), text) from None
        except OSError as error:
            kind = Category.DISK_FULL if tells_of_no_room(str(error)) else category
            raise SwInfraError(kind, self.shorten(f"{name}: {error}")) from None
        finally:
            record.stage(name, time.monotonic() - start)

    def judge(self, item: SwKernel) -> None:
        """Compare what the runs left with the reference; raise for a kernel that is wrong."""
        __tracebackhide__ = True
        from pytest_sw.judgement import describe, locate, summarise

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
            self.dispose(prepared, failed=False)
            item.record.set(category=Category.PASS.value)
            return
        text = self.shorten(describe(item, prepared, results))
        self.dispose(prepared, failed=True)
        if outcome in _FAILURES:
            raise SwFailure(_FAILURES[outcome], text)
        raise SwInfraError(Category.NO_EVIDENCE, text)

    def _weigh(self, item: SwKernel, evidence: Evidence) -> None:
        """Compare what the emulator counted with the baseline, if there is one."""
        __tracebackhide__ = True
        if not self.settings.baseline or item.target != "emulator":
            return
        from pytest_sw.baselines import compare_figures, figures_of

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
            self.dispose(evidence.prepared, failed=True)
            raise SwFailure(Category.PERFORMANCE, "\n  ".join(lines))

    @property
    def baselines(self) -> Baselines:
        """The stored figures."""
        if self._baselines is None:
            from pytest_sw.baselines import Baselines, compiler_name

            path = Path(self.config.rootpath, self.settings.baseline)
            try:
                self._baselines = Baselines(path, compiler_name())
            except (OSError, ValueError) as error:
                raise SwBuildError(Category.CONFIG, f"--sw-baseline: {error}") from None
        return self._baselines

    def dispose(self, prepared: Prepared, failed: bool) -> None:
        """Remove a test's data unless the user wants to keep it."""
        keep = self.settings.keep
        if keep == "none" or (keep == "failed" and not failed):
            shutil.rmtree(prepared.directory, ignore_errors=True)

    def close(self) -> None:
        """Leave nothing behind: no job, no empty directory."""
        for target in self._targets.values():
            target.close()
        with contextlib.suppress(OSError):
            self.runs.rmdir()


def make_workbench(config: pytest.Config) -> Workbench:
    """Return the workbench of this process; workers of one xdist session share its directories."""
    settings = read_settings(config)
    root = _artifacts(config, settings)
    worker = getattr(config, "workerinput", None)
    session = worker["testrunuid"][:12] if worker else secrets.token_hex(6)
    if not worker:
        prune(root)
    bench = Workbench(config, settings, root, session)
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


def digest_of(generated: GeneratedRegion) -> str:
    """Return a digest of the generated files."""
    import hashlib

    unit = generated.unit
    texts = [file.text for file in (unit.host, unit.slave, unit.header) if file is not None]
    return hashlib.sha256(encoded("\0".join(texts))).hexdigest()[:16]


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


def _narrow(diagnostics: Sequence[Diagnostic], category: Category) -> Category:
    """Return the category of a failed stage: manifests and sources that are wrong say so themselves."""
    if all(diagnostic.code.startswith("SW1") for diagnostic in diagnostics):
        return Category.CONFIG
    return category
