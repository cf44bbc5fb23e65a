"""The typed shape of a machine file: one frozen dataclass per section, one field per number.

The dataclasses are the truth: a machine file must hold every field that they name and nothing
else.  Lengths are in bytes, times in CPE clock cycles, rates in bytes per cycle, unless the
field's name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Dma", "Fact", "MachineModel", "Simd"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One number of a machine file with its provenance; ``name`` is dotted (``dma.alignment``)."""

    name: str
    value: int | float
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Simd:
    """Vector unit: register width, lanes per register and the alignment of loads and stores."""

    register_bytes: int
    double_lanes: int
    float_lanes: int
    alignment: int
    float_alignment: int


@dataclass(frozen=True, slots=True)
class Dma:
    """Limits of one DMA descriptor: addresses and lengths are multiples of ``alignment``."""

    alignment: int
    max_length: int
    max_block: int
    request_bytes: int


@dataclass(frozen=True, slots=True)
class MachineModel:
    """One core group as programs see it, plus what the timing model needs to know."""

    name: str
    title: str
    core_groups: int
    mesh_rows: int
    mesh_columns: int
    clock_hz: int
    host_clock_hz: int
    ldm_bytes: int
    ldm_budget: int
    icache_bytes: int
    dcache_line_bytes: int
    memory_bytes: int
    simd: Simd
    dma: Dma

    @property
    def cpes(self) -> int:
        """Return the number of CPEs of one core group."""
        return self.mesh_rows * self.mesh_columns
