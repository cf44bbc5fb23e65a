"""The machines: every number of the chips, with its source and how far it can be trusted."""

from __future__ import annotations

from swbuild.machine.loader import CONFIDENCES, facts, load, machine_file
from swbuild.machine.model import Dma, Fact, MachineModel, Simd

__all__ = ["CONFIDENCES", "Dma", "Fact", "MachineModel", "Simd", "facts", "load", "machine_file"]
