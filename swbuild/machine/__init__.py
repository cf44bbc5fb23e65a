"""The machines: every number of the chips, with its source and how far it can be trusted."""

from __future__ import annotations

from swbuild.machine.loader import CONFIDENCES, facts, load, machine_file
from swbuild.machine.model import (
    Compute,
    Control,
    Dma,
    Fact,
    Host,
    MachineModel,
    Memory,
    Pipes,
    Register,
    Rma,
    Scheduler,
    Simd,
)

__all__ = [
    "CONFIDENCES",
    "Compute",
    "Control",
    "Dma",
    "Fact",
    "Host",
    "MachineModel",
    "Memory",
    "Pipes",
    "Register",
    "Rma",
    "Scheduler",
    "Simd",
    "facts",
    "load",
    "machine_file",
]
