"""Where kernels run: the emulator, a node behind a launcher, or this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_sw.targets.base import Target
from pytest_sw.targets.emulator import EmulatorTarget
from pytest_sw.targets.host import HostTarget
from pytest_sw.targets.node import NodeTarget
from swbuild.options import Machine

if TYPE_CHECKING:
    from pytest_sw.workbench import Workbench

__all__ = ["Target", "make_target"]


def make_target(name: str, machine: Machine, bench: Workbench) -> Target:
    """Return the target of this name for ``machine``."""
    if name == "emulator":
        return EmulatorTarget(machine, bench)
    if name == "host":
        return HostTarget(machine, bench)
    return NodeTarget(machine, bench)
