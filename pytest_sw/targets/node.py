"""A real node behind the site's launcher."""

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

if TYPE_CHECKING:
    import pytest

    from pytest_sw.collect import SwKernel
    from pytest_sw.workbench import Prepared, Workbench

__all__ = ["NodeTarget"]


class NodeTarget(Target):
    """Builds with the machine's own compilers and runs through the site's launcher."""

    def __init__(self, machine: Machine, bench: Workbench, session: pytest.Session) -> None:
        super().__init__(machine, bench)
        self.session = session

    @property
    def toolchain(self) -> Toolchain:
        """The machine's compilers, or what the site calls them."""
        return toolchain_for(Place.NODE, self.machine, self.overrides())

    def absent(self) -> str:
        try:
            for role in Role:
                require_driver(self.toolchain, role)
        except SwbuildError as error:
            return str(error)
        return ""

    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        toolchain = self.toolchain
        name = build_name("node", toolchain)
        return store.built(generated.task, name, lambda d, n: build_offloaded(generated, toolchain, d, n))

    def run(self, item: SwKernel, prepared: Prepared) -> tuple[CaseRun, ...]:
        raise NotImplementedError
