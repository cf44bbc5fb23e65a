"""Listings of the vendor's compiler against the pipes: its cycles of each block, and the model's.

``python -m swbuild.emulator.model.listings DIRECTORY`` reads the listings under a directory (checkouts of
``jameslinsjtu/swCandle`` and ``feifeibear/swGEMM``) and renews the figures in ``measured/``, of which the
page is made.  Figures only: nothing of the listings is kept.
"""

from __future__ import annotations

import csv
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from swbuild.emulator.model.listed import BLOCKS, LOOPS, PARAMETERS, STREAM, Listed, parameters
from swbuild.emulator.model.measurements import measured_on
from swbuild.machine import MachineModel
from swbuild.sw64.blocks import basic_blocks, operations
from swbuild.sw64.instructions import Kind, shape
from swbuild.sw64.pipeline import block_cycles, loop_cycles
from swbuild.sw64.rules import operation, rules, scheduler_rules
from swbuild.sw64.syntax import Instruction, read

__all__ = ["main"]

#: One listing in so many, in the order of the hashes of their texts, is held out.
_HELD_OUT = 3
#: Loops of at least so many instructions are listed.
_LONG = 24
#: The vector loops of STREAM by what they compute with.
_STREAM = {"vmuld": "scale", "vaddd": "add", "vmad": "triad"}
_MEMORY = {Kind.LOAD, Kind.FLOAT_LOAD, Kind.STORE, Kind.SEND, Kind.RECEIVE, Kind.CONTROL}
_INTEGER = {Kind.INTEGER, Kind.MULTIPLY, Kind.BRANCH, Kind.CALL, Kind.NONE}


def _pieces(text: str) -> Iterator[list[Instruction]]:
    """Yield runs of instructions that the compiler has placed, none of them before its predecessor.

    Inline assembly, which it does not place, ends a run, and so does what may be jumped to.
    """
    for block in basic_blocks(read(text)):
        run: list[Instruction] = []
        for instruction in block.instructions:
            placed = instruction.cycle is not None and shape(instruction) is not None
            if run and not (placed and _follows(run[-1], instruction)):
                yield run
                run = []
            if placed:
                run.append(instruction)
        if run:
            yield run


def _follows(first: Instruction, second: Instruction) -> bool:
    return first.cycle is not None and second.cycle is not None and first.cycle <= second.cycle


def _measure(texts: Iterable[str], machine: MachineModel) -> Counter[Listed]:
    """Return the distinct runs of the listings; one that a listing of the fit has, too, is not held out."""
    runs: dict[tuple[tuple[str, int | None], ...], tuple[bool, list[Instruction]]] = {}
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).hexdigest())
    for rank, text in enumerate(ordered):
        held_out = rank % _HELD_OUT == 0
        for run in _pieces(_separate(text)):
            key = tuple((f"{item.mnemonic} {item.operands}", item.cycle) for item in run)
            before = runs.get(key, (True, run))
            runs[key] = (held_out and before[0], run)
    return Counter(_figures(run, held_out, machine) for held_out, run in runs.values())


def _separate(text: str) -> str:
    """Number floating registers of the host, ``$f1``, apart from the integer ones."""
    return re.sub(r"\$f(\d+)", lambda match: f"${64 + int(match[1])}", text)


def _figures(run: Sequence[Instruction], held_out: bool, machine: MachineModel) -> Listed:
    found = [item for item in map(operation, run) if item]
    kinds = [item.kind for item in found]
    integer = sum(kind in _INTEGER for kind in kinds)
    memory = sum(kind in _MEMORY for kind in kinds)
    compiler = (run[-1].cycle or 0) - (run[0].cycle or 0) + 1
    schedule = block_cycles(found, scheduler_rules(machine))
    pipes = block_cycles(found, rules(machine))
    return Listed(held_out, integer, memory, len(kinds) - integer - memory, compiler, schedule, pipes)


def _loops(path: Path, machine: MachineModel) -> Iterator[tuple[str, str, int, float]]:
    """Yield file, label, instructions and cycles a turn of the loops of a file that are long in arithmetic.

    Behind some stands an older variant, line by line as a comment.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    for block in basic_blocks(read(text)):
        if block.loops and len(block.instructions) >= _LONG:
            last, label = block.instructions[-1], block.labels[-1]
            commented = "\n".join(_comments(text.split("\n")[last.line :]))
            older = basic_blocks(read(f"{label}:\n{commented}"))[:1]
            for name, found in [(label, block), *((f"{label}, older (comment)", item) for item in older)]:
                if found.loops and (known := operations(found)):
                    yield path.name, name, len(known), loop_cycles(known, rules(machine))


def _comments(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of comment, and empty ones, at the begin of ``lines``, without their first mark."""
    for line in lines:
        code = line.strip()
        if code and not code.startswith("#"):
            return
        if code.strip("#") and not code[1:].strip().isalpha():
            yield code[1:]


def _stream(path: Path, machine: MachineModel) -> Iterator[tuple[str, int, float]]:
    """Yield name, instructions and cycles a vector of STREAM's vector loops in the listing of a host.

    What the host keeps on the stack, for want of its few registers, is left out.
    """
    for block in basic_blocks(read(_separate(path.read_text(encoding="utf-8", errors="replace")))):
        found = [item for item in block.instructions if not item.operands[-1].endswith("($sp)")]
        names = [item.mnemonic for item in found]
        known = [item for item in map(operation, found) if item]
        for mnemonic, name in _STREAM.items():
            if block.loops and mnemonic in names:
                yield name, len(known), loop_cycles(known, rules(machine)) / names.count("vstd")


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def main(arguments: Sequence[str]) -> int:
    """Renew the figures from the listings under the directory that is named; return the exit status."""
    root, machine = Path(arguments[0]), measured_on("blocks_sw5cc")
    listings = [*root.glob("swCandle/**/*.s"), *root.glob("swGEMM/**/sgemm_small.S")]
    texts = {path.read_text(encoding="utf-8", errors="replace"): path for path in sorted(listings)}
    figures = _measure(texts, machine)
    head = ["held_out", "integer", "memory", "floating", "compiler", "scheduler", "pipes", "blocks"]
    _write(BLOCKS, head, ([*_values(item), count] for item, count in sorted(figures.items())))
    kernels = [row for path in sorted(root.glob("swGEMM/asm/*.S")) for row in _loops(path, machine)]
    _write(LOOPS, ["file", "loop", "instructions", "cycles"], kernels)
    stream = [
        row for path in root.glob("swCandle/**/stream_athread_main.s") for row in _stream(path, machine)
    ]
    _write(STREAM, ["loop", "instructions", "cycles"], stream)
    _write(PARAMETERS, ["name", "value"], parameters(machine))
    return 0


def _values(item: Listed) -> list[int]:
    return [int(value) for value in astuple(item)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
