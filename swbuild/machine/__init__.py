"""The machines: a file for each chip, every number in it with its source and how far it can be trusted."""

from __future__ import annotations

from swbuild.machine.loader import facts, load
from swbuild.machine.model import (
    FEATURES,
    LIBRARY,
    Compute,
    Control,
    Dialect,
    Dma,
    Fact,
    Flag,
    Host,
    Library,
    MachineModel,
    Memory,
    Pipes,
    Register,
    Rma,
    Scheduler,
    Simd,
    Tool,
    Tools,
    VectorFunctions,
    Vectors,
)
from swbuild.machine.reading import CONFIDENCES
from swbuild.machine.registry import (
    DEFAULT_MACHINE,
    further_places,
    machine_file,
    machine_names,
    own_machines,
)

__all__ = [
    "CONFIDENCES",
    "DEFAULT_MACHINE",
    "FEATURES",
    "LIBRARY",
    "Compute",
    "Control",
    "Dialect",
    "Dma",
    "Fact",
    "Flag",
    "Host",
    "Library",
    "MachineModel",
    "Memory",
    "Pipes",
    "Register",
    "Rma",
    "Scheduler",
    "Simd",
    "Tool",
    "Tools",
    "VectorFunctions",
    "Vectors",
    "facts",
    "further_places",
    "load",
    "machine_file",
    "machine_names",
    "own_machines",
]
