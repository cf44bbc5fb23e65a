"""The machine's numbers as text, in the form in which the replay (``emulator/replay``) reads them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from swbuild.machine import MachineModel

__all__ = ["has_part", "numbers_text"]

_SECTIONS = ("dma", "memory", "rma", "register", "control", "library", "host")
_SINGLE = ("clock_hz", "host_clock_hz", "mesh_rows", "mesh_columns")


def numbers_text(machine: MachineModel) -> str:
    """Return ``name=number`` for all that the replay may rest on, with commas between."""
    found = {name: getattr(machine, name) for name in _SINGLE}
    for section in _SECTIONS:
        part = getattr(machine, section)
        assert is_dataclass(part)
        found |= {f"{section}.{each.name}": getattr(part, each.name) for each in fields(part)}
    return ",".join(f"{name}={value!r}" for name, value in found.items())


def has_part(name: str) -> bool:
    """Return whether a number of the machine file has a part in the replay."""
    return name in _SINGLE or name.partition(".")[0] in _SECTIONS
