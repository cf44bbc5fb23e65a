"""What all targets have in common: the serial reference, and runs on this computer."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_sw.context import Context
from pytest_sw.items import KernelItem, Prepared, TargetHandle
from pytest_sw.records import Record
from pytest_sw.verdicts import Category, SwInfraError
from swbuild.check.emulation import read_counts
from swbuild.check.evidence import CaseRun, Ending, case_arguments, new_nonce, read_run, reference_failure
from swbuild.check.exchange import RunOutput
from swbuild.check.ownership import Owners
from swbuild.check.plan import Plan
from swbuild.check.results import CaseResult, Counts
from swbuild.check.staged import GeneratedRegion, build_reference, seen_by
from swbuild.check.store import RegionStore
from swbuild.diagnostics import SwbuildError
from swbuild.files import encoded
from swbuild.toolchain import Job, Toolchain, host_toolchain, launcher_for, overrides_from_environment
from swbuild.toolchain.model import Overrides

__all__ = ["Target", "build_name", "reference_built", "run_here"]


class Target(ABC):
    """One place to run kernels of one machine.

    The circuit breaker counts tests, or jobs where ``judged_by_jobs`` is set.
    """

    judged_by_jobs = False

    def __init__(self, machine: str, context: Context) -> None:
        self.machine = machine
        self.context = context

    @abstractmethod
    def absent(self) -> str:
        """Return why the target cannot be used, empty if it can."""

    @abstractmethod
    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        """Return the executable to run on the target."""

    @abstractmethod
    def run(self, item: KernelItem, prepared: Prepared) -> tuple[CaseRun, ...]:
        """Return the runs of the test; raise :class:`SwInfraError` when the machinery fails."""

    @abstractmethod
    def run_once(self, record: Record, prepared: Prepared, handle: TargetHandle, limit: float) -> CaseRun:
        """Return one run for a Python test; raise :class:`SwInfraError` when the machinery fails."""

    @property
    @abstractmethod
    def toolchain(self) -> Toolchain:
        """What builds for the target."""

    def owners(
        self, item: KernelItem, prepared: Prepared, run: CaseRun, results: Sequence[CaseResult]
    ) -> Mapping[tuple[int, str], Owners]:
        """Return who put the elements of bad arrays, by case and array; empty where nobody can tell."""
        return {}

    def cycles(self, item: KernelItem, prepared: Prepared) -> int | None:
        """Return the model time that the test's kernels take, in cycles; ``None`` where there is no model."""
        return None

    def close(self) -> None:  # noqa: B027 - most targets have nothing to end
        """End what is still running for this target."""

    def reference(
        self, store: RegionStore, generated: GeneratedRegion, plan: Plan, inputs: Path, limit: float
    ) -> RunOutput:
        """Build and run the serial reference; raise SwbuildError when it does not get to its end."""
        toolchain = host_toolchain(self.machine)
        executable = reference_built(store, generated, toolchain, "reference")
        output = inputs.with_name("reference.bin")
        run = run_here(toolchain, executable, plan, "reference", inputs, output, limit)
        if not run.found.complete:
            raise SwbuildError(reference_failure(generated.region.scop, run.ending))
        return run.found

    def overrides(self) -> Overrides:
        """Return the site's own drivers and flags."""
        return overrides_from_environment(os.environ)


def build_name(kind: str, toolchain: Toolchain) -> str:
    """Return a file name for what ``toolchain`` builds: other drivers or flags make another one."""
    commands = [" ".join(tool.command()) for tool in toolchain.tools.values()]
    text = "\n".join([*commands, *toolchain.libraries, *toolchain.path])
    return f"{kind}-{hashlib.sha256(encoded(text)).hexdigest()[:8]}"


def reference_built(store: RegionStore, generated: GeneratedRegion, toolchain: Toolchain, kind: str) -> Path:
    """Return the serial text as ``toolchain`` preprocesses and compiles it, from the store if it is there."""

    def build(directory: Path, name: str) -> Path:
        return build_reference(seen_by(generated, toolchain), toolchain, directory, name)

    return store.built(generated.task, build_name(kind, toolchain), build)


def run_here(
    toolchain: Toolchain,
    executable: Path,
    plan: Plan,
    mode: str,
    inputs: Path,
    output: Path,
    limit: float,
    environment: Mapping[str, str] | None = None,
    counters: Path | None = None,
) -> CaseRun:
    """Run an executable of the harness on this computer."""
    nonce = new_nonce()
    output.unlink(missing_ok=True)
    arguments = case_arguments(inputs, output, nonce)
    job = Job(executable, arguments, {}, environment or {}, inputs.parent, limit)
    try:
        done = launcher_for("local", toolchain.machine).start(toolchain, job)
    except OSError as error:
        raise SwInfraError(Category.LAUNCHER, f"cannot start {executable}: {error}") from None
    counts = read_counts(counters) if counters is not None else Counts()
    return read_run(plan, mode, output, nonce, Ending.of(done), counts)
