"""What the units of one file share when they become C: names, calls, and places of the code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from swbuild.sw64.flow import ZERO, Unit
from swbuild.sw64.program import Program
from swbuild.sw64.semantics import Machine
from swbuild.sw64.symbols import Symbols

__all__ = ["PROCEDURE", "STACK", "Call", "Emitter", "label_name", "value_of"]

PROCEDURE, STACK = 27, 30


def label_name(name: str) -> str:
    """Return the C label of a label."""
    return "L" + re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}_", name)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of something outside the unit: for the link, which checks and connects them."""

    unit: str
    target: str
    line: int


@dataclass(slots=True)
class Emitter:
    """What the units of one file share; what of them cannot be written is noted in the program's problems."""

    made: Program
    symbols: Symbols
    units: Sequence[Unit]
    machine: Machine
    places: Sequence[tuple[str, int]]
    where: dict[str, tuple[Unit, int]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    indirect: int = 0
    sites: int = 0

    def __post_init__(self) -> None:
        self.where = {name: (unit, k) for unit in self.units for k, name in enumerate(unit.entries)}

    def restart(self) -> None:
        """Begin anew; places of the code keep their numbers."""
        self.sites, self.calls = 0, []

    def name(self, unit: Unit) -> str:
        """Return the C name of a unit's function."""
        return f"sw64_unit_{self.units.index(unit)}"

    def entry(self, name: str) -> str:
        """Return the name of the function that assembly of other files calls."""
        plain = name.removeprefix("slave_") if self.symbols.slave else name
        return f"__swemu_sw64_{'s' if self.symbols.slave else 'h'}_{plain}"


def value_of(register: int) -> str:
    """Return the C for what a register holds, as a signed integer."""
    return "0L" if register == ZERO else f"R({register}).l"
