"""The emulated core group on this computer: every test in each completion mode of transfers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_sw.targets.base import Target, build_name, run_here
from pytest_sw.verdicts import Category, SwInfraError
from swbuild.check.emulation import run_environment
from swbuild.check.evidence import CaseRun
from swbuild.check.staged import GeneratedRegion, build_offloaded
from swbuild.check.store import RegionStore
from swbuild.diagnostics import SwbuildError
from swbuild.toolchain import Role, Toolchain, require_driver, toolchain_for
from swbuild.toolchain import Target as Place

if TYPE_CHECKING:
    from pytest_sw.collect import SwKernel
    from pytest_sw.workbench import Prepared

__all__ = ["EmulatorTarget"]


class EmulatorTarget(Target):
    """Runs kernels with the stand-in tools."""

    _toolchain: Toolchain | None = None

    @property
    def toolchain(self) -> Toolchain:
        """The stand-ins, built on first use."""
        if self._toolchain is None:
            self._toolchain = toolchain_for(Place.EMULATOR, self.machine)
        return self._toolchain

    def absent(self) -> str:
        try:
            for role in Role:
                require_driver(self.toolchain, role)
        except SwbuildError as error:
            return str(error)
        return ""

    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        name = build_name("emulator", self.toolchain)
        return store.built(generated.task, name, lambda d, n: build_offloaded(generated, self.toolchain, d, n))

    def run(self, item: SwKernel, prepared: Prepared) -> tuple[CaseRun, ...]:
        return tuple(self._run(item, prepared, mode) for mode in self.modes(item))

    def modes(self, item: SwKernel) -> tuple[str, ...]:
        """Return the completion modes to run the test in."""
        return self.bench.settings.dma

    def _run(self, item: SwKernel, prepared: Prepared, mode: str) -> CaseRun:
        """Run once; try again when the machinery failed, never when the kernel did."""
        stem = prepared.directory / mode.replace(":", "-")
        counters = stem.with_suffix(".counters.json")
        environment = run_environment(mode, counters)
        environment["SWBUILD_EMU_CHECKED"] = "1" if self.bench.settings.checked else "0"
        limit = self.bench.limit(item)
        attempt = 0
        while True:
            attempt += 1
            run = run_here(
                self.toolchain, prepared.executable, prepared.plan, mode, prepared.inputs,
                stem.with_suffix(".bin"), limit, environment, counters,
            )  # fmt: skip
            category = machinery(run)
            item.record.set(attempts=attempt)
            if category is None:
                return run
            if not category.retried or attempt > self.bench.settings.infra_retries:
                text = f"the run in mode {mode} {run.ending}\n{run.ending.output}".rstrip()
                raise SwInfraError(category, self.bench.shorten(text))


def machinery(run: CaseRun) -> Category | None:
    """Return the category of a failure of the machinery, ``None`` if the run can be judged."""
    if run.found.complete or run.ending.timed_out:
        return None
    if "No space left" in run.ending.output or "cannot write the output" in run.ending.output:
        return Category.DISK_FULL
    if run.ending.status == 0:
        return Category.NO_EVIDENCE
    return Category.LAUNCHER if run.ending.status in (99, 126, 127) else None
