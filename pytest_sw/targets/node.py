"""A real node behind the site's launcher: built here, run in jobs, judged here."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytest_sw.broker import Broker, Site
from pytest_sw.context import Context
from pytest_sw.items import KernelItem, Prepared, TargetHandle
from pytest_sw.records import Record
from pytest_sw.targets.base import build_name
from swbuild.check.evidence import CaseRun
from swbuild.check.staged import GeneratedRegion, build_offloaded
from swbuild.check.store import RegionStore
from swbuild.diagnostics import SwbuildError
from swbuild.toolchain import Role, Toolchain, require_driver, toolchain_for
from swbuild.toolchain import Target as Place
from swbuild.toolchain.launchers import BatchSystem, batch_system_for

__all__ = ["NodeTarget"]


class NodeTarget(Site):
    """Builds with the machine's own compilers and runs through the site's launcher."""

    def __init__(self, machine: str, context: Context, broker: Broker) -> None:
        super().__init__(machine, context)
        self._toolchain = toolchain_for(Place.NODE, machine, self.overrides())
        self._broker = broker
        self._system: BatchSystem | None = None

    @property
    def toolchain(self) -> Toolchain:
        """The machine's compilers, or what the site calls them."""
        return self._toolchain

    @property
    def system(self) -> BatchSystem:
        """The site's batch system; raises for a launcher that makes no sense."""
        if self._system is None:
            self._system = batch_system_for(self.context.settings.launcher, self.machine)
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

    def run(self, item: KernelItem, prepared: Prepared) -> tuple[CaseRun, ...]:
        """Return the run of the test, out of the job of the whole selection."""
        return (self._broker.result(item, prepared, self),)

    def run_once(self, record: Record, prepared: Prepared, handle: TargetHandle, limit: float) -> CaseRun:
        """Run in a job of its own."""
        return self._broker.single(record, prepared, self, limit)
