"""This computer, no core group: the serial text against itself, built without optimisation.

A region that differs from itself under another compiler reads what was never written, overflows or
relies on the order of evaluation; no offloading can be right then.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from pytest_sw.items import KernelItem, Prepared, TargetHandle
from pytest_sw.records import Record
from pytest_sw.targets.base import Target, reference_built, run_here
from swbuild.check.evidence import CaseRun
from swbuild.check.staged import GeneratedRegion
from swbuild.check.store import RegionStore
from swbuild.diagnostics import SwbuildError
from swbuild.toolchain import Role, Toolchain, host_toolchain, require_driver
from swbuild.toolchain.model import Overrides

__all__ = ["HostTarget"]

#: ``SWBUILD_OTHER_CC`` names another compiler with its flags, such as ``clang -O1 -std=gnu99``.
_OTHER = "gcc -std=gnu99 -O0 -ffp-contract=off -ftrapv"


class HostTarget(Target):
    """Runs the serial text, built another way."""

    @property
    def toolchain(self) -> Toolchain:
        """The other compiler."""
        driver, *flags = shlex.split(os.environ.get("SWBUILD_OTHER_CC", _OTHER))
        roles = (Role.HOST, Role.LINK)
        return host_toolchain(
            self.machine,
            Overrides(drivers=dict.fromkeys(roles, driver), flags=dict.fromkeys(roles, tuple(flags))),
        )

    def absent(self) -> str:
        try:
            require_driver(self.toolchain, Role.HOST)
        except SwbuildError as error:
            return str(error)
        return ""

    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        return reference_built(store, generated, self.toolchain, "host")

    def run(self, item: KernelItem, prepared: Prepared) -> tuple[CaseRun, ...]:
        return (self._run(prepared, self.context.limit(item)),)

    def run_once(self, record: Record, prepared: Prepared, handle: TargetHandle, limit: float) -> CaseRun:
        return self._run(prepared, limit)

    def _run(self, prepared: Prepared, limit: float) -> CaseRun:
        output = prepared.directory / "host.bin"
        return run_here(
            self.toolchain, prepared.executable, prepared.plan, "host", prepared.inputs, output, limit
        )
