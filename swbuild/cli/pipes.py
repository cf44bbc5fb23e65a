"""``swbuild explain --pipeline``: the two pipes cycle by cycle, for the loops of files of assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.sw64.blocks import Block, basic_blocks, function, operations
from swbuild.sw64.expansion import expand
from swbuild.sw64.instructions import INSTRUCTIONS, shape
from swbuild.sw64.pipeline import Rules, Slot
from swbuild.sw64.schedule import Schedule, schedule
from swbuild.sw64.syntax import Instruction
from swbuild.sw64.waits import awaited
from swbuild.tables import plain_rows

__all__ = ["pipeline_data", "pipeline_lines", "schedules"]

_SUFFIXES = {".s", ".sx", ".asm"}


def schedules(
    path: str, rules: Rules, name: str | None, everything: bool
) -> tuple[list[Schedule], list[Diagnostic]]:
    """Return what the loops of a file do, or all its blocks, and the instructions that are not known there.

    ``name`` restricts it to a function.  Raise :class:`SwbuildError` for a file that cannot be read or has no
    such function.
    """
    text = _text(path)
    items = expand(text).items()
    if name is not None and not (items := function(items, name)):
        raise SwbuildError(Diagnostic("SW117", f"the file has no function '{name}'", Span(path)))
    found, problems = [], []
    lines = text.split("\n")
    for block in basic_blocks(items):
        if everything or block.loops:
            known = operations(block)
            found += [schedule(block, known, rules)] if known else []
            problems += [] if known else list(_unknown(path, block, lines))
    return found, problems


def _text(path: str) -> str:
    if Path(path).suffix.lower() not in _SUFFIXES:
        message = "--pipeline takes files of assembly, which end in .s or .S"
        raise SwbuildError(Diagnostic("SW100", message, Span(path), "a compiler makes one of C with -S"))
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SwbuildError(Diagnostic("SW108", message, Span(path))) from None


def _unknown(path: str, block: Block, lines: Sequence[str]) -> Iterator[Diagnostic]:
    for instruction in block.instructions:
        if shape(instruction) is None:
            place = re.search(
                rf"\b{re.escape(instruction.mnemonic)}\b", lines[instruction.line - 1], re.IGNORECASE
            )
            span = Span(path, instruction.line, place.start() + 1 if place else 0)
            yield Diagnostic("SW116", _objection(instruction), span, "the block is not shown")


def _objection(instruction: Instruction) -> str:
    known = INSTRUCTIONS.get(instruction.mnemonic)
    if known is None:
        return f"'{instruction.mnemonic}' is no instruction that is known here"
    count = len(instruction.operands)
    return f"'{instruction.mnemonic}' takes {len(known.form)} operands, not {count}"


def pipeline_lines(path: str, found: Schedule) -> Iterator[str]:
    """Yield the lines about one loop or block: a summary, and a table with a row per cycle."""
    block = found.block
    what, per = ("loop", " a turn") if block.loops else ("block", "")
    names = [what, *block.labels[-1:]]
    cycles = _counted(found.cycles, "cycle")
    count = _counted(len(block.instructions), "instruction")
    yield f"{path}:{block.instructions[0].line}: {' '.join(names)}: {cycles}{per}, {count}"
    yield f"  {_summary(found)}"
    if len(found.slots) > 1:
        yield f"  what the turns carry over repeats after {len(found.slots)} turns, shown one after another"
    table = plain_rows(("cycle", "P0", "P1", "waits"), list(_rows(found)), frozenset({0}))
    yield from ("  " + line for line in table.rstrip("\n").split("\n"))


def _summary(found: Schedule) -> str:
    shares = [f"P{pipe} {found.used(pipe):g} ({found.used(pipe) / found.cycles:.0%})" for pipe in (0, 1)]
    stalls = f"{_counted(found.stalls, 'cycle')} stalled" if found.stalls else "no stall"
    few = found.cycles == found.least
    bound = "as few as its pipes allow" if few else f"its pipes alone need {found.least}"
    return f"{', '.join(shares)}; {stalls}; {bound}"


def _counted(number: float, what: str) -> str:
    return f"{number:g} {what}{'' if number == 1 else 's'}"


def _rows(found: Schedule) -> Iterator[tuple[str, ...]]:
    """Yield a row per cycle; cycles without an issue share one."""
    by_cycle: dict[int, list[Slot]] = {}
    for turn in found.slots:
        for slot in turn:
            by_cycle.setdefault(slot.cycle, []).append(slot)
    after = 0
    for cycle in [*by_cycle, found.total]:
        if cycle > after:
            yield (_range(after, cycle - 1), "", "", "nothing issues")
        if cycle in by_cycle:
            slots = by_cycle[cycle]
            cells = [next((_cell(slot) for slot in slots if slot.pipe == pipe), "") for pipe in (0, 1)]
            yield (str(cycle), *cells, "; ".join(text for slot in slots if (text := _wait(slot))))
        after = cycle + 1


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _cell(slot: Slot) -> str:
    return f"{slot.operation.line}: {slot.operation.text}"


def _wait(slot: Slot) -> str:
    what = awaited(slot)
    return f"{_counted(slot.wait.cycles, 'cycle')} for {what}" if slot.wait and what else ""


def pipeline_data(path: str, found: Schedule) -> Mapping[str, Any]:
    """Return what ``--json`` prints of one loop or block."""
    return {
        "file": path,
        "line": found.block.instructions[0].line,
        "labels": list(found.block.labels),
        "loop": found.block.loops,
        "instructions": len(found.block.instructions),
        "cycles": found.cycles,
        "stalls": found.stalls,
        "least": found.least,
        "used": [found.used(pipe) for pipe in (0, 1)],
        "turns": [[_slot_data(slot) for slot in turn] for turn in found.slots],
    }


def _slot_data(slot: Slot) -> Mapping[str, Any]:
    wait = slot.wait
    return {
        "cycle": slot.cycle,
        "pipe": slot.pipe,
        "line": slot.operation.line,
        "text": slot.operation.text,
        "wait": wait
        and {"cycles": wait.cycles, "cause": wait.cause, "line": wait.line, "register": wait.register},
    }
