"""The choice of a target by its name."""

from __future__ import annotations

from pytest_sw.broker import Broker
from pytest_sw.context import Context
from pytest_sw.targets.base import Target
from pytest_sw.targets.emulator import EmulatorTarget
from pytest_sw.targets.host import HostTarget
from pytest_sw.targets.node import NodeTarget

__all__ = ["make_target"]


def make_target(name: str, machine: str, context: Context, broker: Broker) -> Target:
    """Return the target of this name for ``machine``; ``broker`` is for those that run jobs."""
    if name == "emulator":
        return EmulatorTarget(machine, context)
    if name == "host":
        return HostTarget(machine, context)
    return NodeTarget(machine, context, broker)
