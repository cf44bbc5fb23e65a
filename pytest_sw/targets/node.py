"""A real node behind the site's launcher: built here, run in jobs, judged here."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_sw.targets.base import Target, build_name
from swbuild.check.evidence import CaseRun
from swbuild.check.staged import GeneratedRegion, build_offloaded
from swbuild.check.store import RegionStore
from swbuild.diagnostics import SwbuildError
from swbuild.options import Machine
from swbuild.toolchain import Role, Toolchain, require_driver, toolchain_for
from swbuild.toolchain import Target as Place
from swbuild.toolchain.launchers import BatchSystem, batch_system_for

if TYPE_CHECKING:
    from pytest_sw.api import TargetHandle
    from pytest_sw.collect import SwKernel
    from pytest_sw.records import Record
    from pytest_sw.workbench import Prepared, Workbench

__all__ = ["NodeTarget"]


class NodeTarget(Target):
    """Builds with the machine's own compilers and runs through the site's launcher."""

    judged_by_jobs = True

    def __init__(self, machine: Machine, bench: Workbench) -> None:
        super().__init__(machine, bench)
        self._toolchain = toolchain_for(Place.NODE, machine, self.overrides())
        self._system: BatchSystem | None = None

    @property
    def toolchain(self) -> Toolchain:
        """The machine's compilers, or what the site calls them."""
        return self._toolchain

    @property
    def system(self) -> BatchSystem:
        """The site's batch system; raises for a launcher that makes no sense."""
        if self._system is None:
            self._system = batch_system_for(self.bench.settings.launcher, self.machine)
        return self._system

    def absent(self) -> str:
        try:
            for role in Role:
                require_driver(self.toolchain, role)
        except SwbuildError as error:
            return str(error)
        program = self.system.submit.program
        if "{" in program or shutil.which(program):
            return ""
        return f"the launcher {program} is not on PATH"

    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        name = build_name("node", self.toolchain)
        return store.built(
            generated.task, name, lambda d, n: build_offloaded(generated, self.toolchain, d, n)
        )

    def run(self, item: SwKernel, prepared: Prepared) -> tuple[CaseRun, ...]:
        """Return the run of the test, out of the job of the whole selection."""
        return (self.bench.broker.result(item, prepared, self),)

    def run_once(self, record: Record, prepared: Prepared, handle: TargetHandle, limit: float) -> CaseRun:
        """Run in a job of its own."""
        return self.bench.broker.single(record, prepared, self, limit)
