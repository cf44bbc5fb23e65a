"""Make slave code count its own model cycles: an assembly file in, one with counters out.

A slave file that is to be profiled is compiled to assembly with ``FLAGS`` added, passed through
:func:`instrument`, and assembled.  At the start of every basic block the result adds the block's cost
(``schedule.block_cycles``, in eighths of a cycle) to its CPE's sum and one to the block's own counter; the
runtime's half of the bargain is ``swb_count.c``.  The added code uses the two registers that ``FLAGS``
sets aside and leaves the processor's flags alone, so the results of the program stay what they are.  Ahead of
accesses that may be of main memory it asks the runtime (``probes``).

``python -m swbuild.emulator.model.instrument MACHINE IN.s OUT.s`` does the same from outside; the compiler
stand-ins, which run without site packages, call it so.  What the runtime adds: it compiles ``swb_count.c``,
calls ``swb_count_start()`` in a CPE's thread ahead of its kernels and ``swb_count_take()`` for each
record's ``compute``, sets bit 0 of the trace's flags if ``swb_count_any()``, and writes ``"lines"`` into
the profile with ``swb_count_write()``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from pathlib import Path

from swbuild.emulator.model.instructions import Operation, Unit, operations
from swbuild.emulator.model.probes import probe
from swbuild.emulator.model.schedule import block_cycles
from swbuild.emulator.model.stack import loaded_slots, without_detours
from swbuild.machine import MachineModel, load
from swbuild.options import Machine

__all__ = ["FLAGS", "Block", "blocks", "instrument", "main"]

#: What the compiler must be told: two scratch registers, no vectors beyond the source's own, and loops that
#: stay loops (a call of memset or a string instruction would hide the work from the count).
FLAGS = (
    *("-ffixed-r10", "-ffixed-r11", "-g1", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"),
    *("-fno-tree-loop-distribute-patterns", "-mstringop-strategy=loop"),
)

_LABEL = re.compile(r"(?P<name>\.L\d+|[A-Za-z_$][\w$.]*):")
_SECTION = re.compile(
    r"\s*\.(?P<name>text|data|bss|section|pushsection|popsection|previous)\b\s*(?P<rest>.*)"
)
_FILE = re.compile(r'\s*\.file\s+(?P<number>\d+)\s+"(?P<one>[^"]*)"(?:\s+"(?P<two>[^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_ADDRESSED = re.compile(r"\s*lea\w*\s[^#]*\(%rsp")
_EIGHTH = 8


@dataclass(slots=True)
class Block:
    """A basic block: the line of text that it starts at, its place in the source and its operations.

    ``test`` is the block behind it if the two are a loop: a body, and the test into which the loop is
    entered.
    """

    start: int
    label: str
    file: str
    line: int
    operations: list[Operation] = field(default_factory=list)
    test: Block | None = None

    def cycles(self, machine: MachineModel) -> float:
        """Return what one pass costs a CPE."""
        if self.test is not None:
            together = block_cycles([*self.operations, *self.test.operations], machine, True)
            return max(0.0, together - self.test.cycles(machine))
        return block_cycles(self.operations, machine, self.jumps_to(self.label))

    def jumps_to(self, label: str) -> bool:
        """Return whether the block's last jump goes to ``label``."""
        jumps = [operation.target for operation in self.operations if operation.unit is Unit.CONTROL]
        return bool(label) and bool(jumps) and jumps[-1] == label


def blocks(text: str, machine: MachineModel) -> list[Block]:
    """Return the basic blocks of an assembly file, in order; a block ends behind a jump or a call."""
    reader = _Reader(text, machine)
    found = list(reader.read())
    for function in _functions(found):
        if not reader.addressed.intersection(block.start for block in function):
            needed = loaded_slots(block.operations for block in function)
            for block in function:
                block.operations = without_detours(block.operations, needed)
    for body, test in pairwise(found):
        jumps = any(operation.unit is Unit.CONTROL for operation in body.operations)
        body.test = test if not jumps and test.jumps_to(body.label) else None
    return found


def _functions(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Return the blocks of each function: one starts at every label that is not local."""
    function: list[Block] = []
    for block in found:
        if block.label and not block.label.startswith(".L") and function:
            yield function
            function = []
        function.append(block)
    yield function


def instrument(text: str, machine: MachineModel) -> str:
    """Return the assembly ``text`` with counters at the start of every basic block."""
    found = blocks(text, machine)
    if not found:
        return text
    lines = text.splitlines()
    ahead = _Reader(text, machine).probes()
    for number, block in enumerate(found):
        ahead[block.start] = [
            *_counter(number, ceil(_EIGHTH * block.cycles(machine))),
            *ahead.get(block.start, []),
        ]
    result = [line for number, old in enumerate(lines) for line in (*ahead.get(number, ()), old)]
    return "\n".join([*result, *_tables(found, machine), ""])


class _Reader:
    """One pass over the lines, with the section, the source place and the label that hold."""

    def __init__(self, text: str, machine: MachineModel) -> None:
        self.lines = text.splitlines()
        self.machine = machine
        self.files: dict[str, str] = {}
        self.file, self.line = "", 0
        self.sections = ["text"]
        self.label = ""
        self.block: Block | None = None
        self.addressed: set[int] = set()  # starts of the blocks that take the address of a stack place

    def read(self) -> Iterator[Block]:
        for number, line in enumerate(self.lines):
            if self._directive(line):
                continue
            label = _LABEL.match(line)
            if label:
                yield from self._finish(label["name"])
            elif self.sections[-1] == "text":
                yield from self._instruction(number, line)
        yield from self._finish("")

    def probes(self) -> dict[int, list[str]]:
        """Return what goes ahead of instructions to ask whether they access main memory, by their lines."""
        found: dict[int, list[str]] = {}
        for number, line in enumerate(self.lines):
            if not self._directive(line) and not _LABEL.match(line) and self.sections[-1] == "text":
                found[number] = probe(self.lines, number, operations(line, self.machine))
        return found

    def _instruction(self, number: int, line: str) -> Iterator[Block]:
        found = operations(line, self.machine)
        starts = not line.lstrip().startswith((".", "#")) and bool(line.strip())
        if self.block is None and starts:
            self.block = Block(number, self.label, self.file, self.line)
        if self.block is not None:
            self.block.operations += found
            if _ADDRESSED.match(line):
                self.addressed.add(self.block.start)
        if any(operation.unit is Unit.CONTROL for operation in found):
            yield from self._finish("")

    def _finish(self, label: str) -> Iterator[Block]:
        if self.block is not None:
            yield self.block
        self.block, self.label = None, label

    def _directive(self, line: str) -> bool:
        """Take in a directive that says where we are; return whether the line was one."""
        if place := _LOC.match(line):
            self.file, self.line = self.files.get(place["file"], ""), int(place["line"])
        elif named := _FILE.match(line):
            self.files[named["number"]] = _path(named["one"], named["two"])
        elif section := _SECTION.match(line):
            self._enter(section["name"], section["rest"])
        else:
            return False
        return True

    def _enter(self, name: str, rest: str) -> None:
        kind = "text" if name == "text" or rest.startswith(".text") else "data"
        if name == "popsection":
            self.sections[-1:] = [] if len(self.sections) > 1 else ["text"]
        elif name == "pushsection":
            self.sections.append(kind)
        elif name == "previous":
            self.sections[-1] = "text"
        else:
            self.sections[-1] = kind


def _path(one: str, two: str | None) -> str:
    if two is None:
        return one
    return two if two.startswith("/") or not one else f"{one}/{two}"


def _counter(number: int, eighths: int) -> list[str]:
    """Return the code that counts one pass through block ``number``; it touches r10 and r11 only."""
    return [
        "\tmovq\t__swemu_count_area@gottpoff(%rip), %r11",
        "\tmovq\t%fs:(%r11), %r11",
        "\tmovq\t(%r11), %r10",
        f"\tleaq\t{eighths}(%r10), %r10",
        "\tmovq\t%r10, (%r11)",
        "\tmovq\t.Lswb_base(%rip), %r10",
        f"\tleaq\t{8 * number}(%r11,%r10), %r11",
        "\tmovq\t(%r11), %r10",
        "\tleaq\t1(%r10), %r10",
        "\tmovq\t%r10, (%r11)",
    ]


def _tables(found: list[Block], machine: MachineModel) -> list[str]:
    """Return the file's table of blocks and the constructor that makes it known to the runtime."""
    files = {name: k for k, name in enumerate(dict.fromkeys(block.file for block in found))}
    lines = ["\t.section\t.rodata"]
    for name, k in files.items():
        lines.append(f'.Lswb_file{k}:\n\t.string\t"{name}"')
    lines += ['\t.section\t.data.rel.ro.local,"aw"', "\t.align\t8", ".Lswb_table:"]
    for block in found:
        cost = ceil(_EIGHTH * block.cycles(machine))
        lines.append(f"\t.quad\t.Lswb_file{files[block.file]}\n\t.long\t{block.line}, {cost}")
    return [
        *lines,
        "\t.bss\n\t.align\t8\n.Lswb_base:\n\t.zero\t8",
        "\t.text\n.Lswb_register:",
        "\tleaq\t.Lswb_table(%rip), %rdi",
        f"\tmovl\t${len(found)}, %esi",
        "\tleaq\t.Lswb_base(%rip), %rdx",
        "\tjmp\t__swemu_count_register@PLT",
        '\t.section\t.init_array,"aw"\n\t.align\t8\n\t.quad\t.Lswb_register',
        "\t.text",
    ]


def main(arguments: Sequence[str]) -> int:
    """Act for ``MACHINE IN.s OUT.s``; return the exit status."""
    if len(arguments) != 3 or arguments[0] not in [machine.value for machine in Machine]:
        print("usage: python -m swbuild.emulator.model.instrument MACHINE IN.s OUT.s", file=sys.stderr)
        return 2
    machine, source, target = Machine(arguments[0]), Path(arguments[1]), Path(arguments[2])
    text = source.read_text(encoding="latin-1")
    target.write_text(instrument(text, load(machine)), encoding="latin-1")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
