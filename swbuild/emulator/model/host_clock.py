"""The host's part in a replay: what each block of its code took, and where in the program that lies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.host_block import HostBlock
from swbuild.emulator.model.result import BlockTime, HostTime
from swbuild.emulator.model.trace import Kind, Record
from swbuild.machine import MachineModel
from swbuild.machine.cost.host import HostRun

__all__ = ["HostClock"]


class HostClock:
    """Turns the host's records into cycles of the CPEs' clock, and adds them to ``total``.

    ``end`` is when the host has done what it was last given.
    """

    def __init__(
        self, blocks: Sequence[HostBlock], records: Sequence[Record], machine: MachineModel, total: HostTime
    ) -> None:
        self.blocks, self.records, self.machine, self.total = blocks, records, machine, total
        self.end = 0.0
        self.costs = [block.mix.cycles(machine) for block in blocks]

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Return the numbers of the first spawn and of the last join among the records."""
        kinds = [record.kind for record in self.records]
        first = kinds.index(Kind.SPAWN) if Kind.SPAWN in kinds else len(kinds)
        joins = [number for number, kind in enumerate(kinds) if kind == Kind.JOIN]
        return first, joins[-1] if joins else len(kinds)

    def take(self, number: int) -> float:
        """Return the cycles of the record ``number``, and count them."""
        record = self.records[number]
        if record.ldm >= len(self.blocks):
            message = f"the trace speaks of block {record.ldm} of the host's code, which has no name"
            raise SwbuildError(Diagnostic("SW692", message, Span("<trace>")))
        run = HostRun(record.address, record.length, record.block, record.gap)
        pace = self.machine.clock_hz / self.machine.host_clock_hz
        stalled = pace * run.stalled(self.machine.host)
        cycles = pace * run.passes * self.costs[record.ldm] + stalled
        entry = self.total.blocks.setdefault(record.ldm, BlockTime())
        entry.passes += run.passes
        entry.cycles += cycles
        entry.stalled += stalled
        self._place(number, cycles)
        return cycles

    def _place(self, number: int, cycles: float) -> None:
        first, last = self.bounds
        if number < first:
            self.total.before += cycles
        elif number > last:
            self.total.after += cycles
        else:
            self.total.between += cycles
