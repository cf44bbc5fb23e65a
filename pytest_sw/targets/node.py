"""A real node behind the site's launcher: built here, run in jobs, judged here."""

from __future__ import annotations

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
    from pytest_sw.collect import SwKernel
    from pytest_sw.workbench import Prepared, Workbench

__all__ = ["NodeTarget"]


class NodeTarget(Target):
    """Builds with the machine's own compilers and runs through the site's launcher."""

    judged_by_jobs = True

    def __init__(self, machine: Machine, bench: Workbench) -> None:
        super().__init__(machine, bench)
        self.toolchain: Toolchain = toolchain_for(Place.NODE, machine, self.overrides())
        self._system: BatchSystem | None = None

    @property
    def system(self) -> BatchSystem:
        """The site's batch system; raises for a launcher that makes no sense."""
        if self._system is None:
            self._system = batch_system_for(self.bench.settings.launcher, self.machine)
        return self._system

    def absent(self) -> str:
        import shutil

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
        return store.built(generated.task, name, lambda d, n: build_offloaded(generated, self.toolchain, d, n))

    def run(self, item: SwKernel, prepared: Prepared) -> tuple[CaseRun, ...]:
        """Return the run of the test, out of the job of the whole selection."""
        return (self.bench.broker(item.session).result(item, prepared, self),)
