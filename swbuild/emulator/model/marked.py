"""What translated assembly costs: the instructions that it was made from, which stand in it as marks.

The translation (``swbuild.sw64.body``) puts a mark ahead of each instruction, and behind each label, when it
is compiled for counting; a compiler may double or move marks together with what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from swbuild.emulator.model.blocks import Block, Reader
from swbuild.emulator.model.costs import Cost
from swbuild.machine import MachineModel
from swbuild.sw64.blocks import LineCost, line_costs
from swbuild.sw64.rules import rules
from swbuild.sw64.syntax import read
from swbuild.sw64.waits import awaited

__all__ = ["marked_costs"]

_MARK = re.compile(r"\s*# swbuild-sw64 (\d+) (\d+) (.*)")


def marked_costs(text: str, machine: MachineModel) -> tuple[list[Block], list[Cost]]:
    """Return a block for each mark of compiled text, and its cost on the pipes; none without marks.

    The cycles of a line of assembly count with its first instruction.
    """
    reader = Reader(text, machine.simd.register_bytes)
    places: list[tuple[Block, int, int]] = []
    statements: dict[tuple[int, int], str] = {}
    for number, row in reader.code():
        if mark := _MARK.fullmatch(row):
            line, index = int(mark[1]), int(mark[2])
            statements[line, index] = mark[3]
            places.append((Block(number, (), reader.file, reader.line), line, index))
    cycles = line_costs(read(_source(statements)), rules(machine))
    first = dict(sorted(statements, reverse=True))
    kept = [(block, line) for block, line, index in places if index == first[line] and line in cycles]
    lines = {line: block.line for block, line, _ in places}
    return [block for block, _ in kept], [_cost(cycles[line], lines) for _, line in kept]


def _cost(found: LineCost, lines: Mapping[int, int]) -> Cost:
    """Return a line's cost; ``lines`` are those of the file, by those of the marks."""
    waits = dict.fromkeys(awaited(slot, lambda line: lines.get(line, line)) for slot in found.waits)
    return Cost(found.cycles, stalls=found.stalls, waits="; ".join(filter(None, waits)))


def _source(statements: Mapping[tuple[int, int], str]) -> str:
    """Return the assembly that the marks quote, each statement in its line."""
    lines: dict[int, list[str]] = {}
    for (line, _), statement in sorted(statements.items()):
        lines.setdefault(line, []).append(statement)
    return "\n".join("; ".join(lines.get(line, ())) for line in range(1, max(lines, default=0) + 1))
