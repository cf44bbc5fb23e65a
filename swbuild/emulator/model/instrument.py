"""Make slave code count its own model cycles: an assembly file in, one with counters out.

A slave file that is to be profiled is compiled to assembly twice, for running and for costing (the compiler
stand-ins know the options); :func:`instrument` makes of the two one that is assembled.  At the start of every
basic block the result adds the block's cost (``costs.block_costs``, in eighths of a cycle) to its CPE's sum
and one to the block's own counter; the runtime's half of the bargain is ``swb_count.c``.  The added code uses
the two registers that those options set aside and leaves the processor's flags alone, so the results of the
program stay what they are.  Ahead of accesses that may be of main memory it asks the runtime (``probes``).

``python -m swbuild.emulator.model.instrument MACHINE RUNNING.s COSTED.s OUT.s [NAME=NUMBER...]`` does the
same from outside, with numbers of the machine file overridden; the compiler stand-ins, which run without site
packages, call it so.  What the runtime adds: it compiles ``swb_count.c``, calls ``swb_count_start()`` in a
CPE's thread ahead of its kernels and ``swb_count_take()`` for each record's ``compute``, sets bit 0 of the
trace's flags if ``swb_count_any()``, and writes ``"lines"`` into the profile with ``swb_count_write()``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from swbuild.emulator.model.blocks import Block, Reader
from swbuild.emulator.model.costs import Cost, block_costs
from swbuild.emulator.model.flow import read_blocks
from swbuild.emulator.model.instructions import steps
from swbuild.emulator.model.marked import marked_costs
from swbuild.emulator.model.probes import probe
from swbuild.machine import MachineModel, load, machine_names

__all__ = ["instrument", "main"]

_EIGHTH = 8
_OWN = 1 << 31  # in a block's line; swb_count.c has it too


def instrument(text: str, costed: str, machine: MachineModel) -> str:
    """Return the assembly ``text`` with counters ahead of every basic block, by the costs of ``costed``.

    In translated assembly they stand ahead of its instructions, with their own costs.
    """
    width = machine.simd.register_bytes
    found, costs = marked_costs(text, machine)
    if not found:
        found = read_blocks(text, width)
        costs = block_costs(found, read_blocks(costed, width), machine)
    if not found:
        return text
    lines = text.splitlines()
    ahead = _probes(text, width)
    for number, (block, cost) in enumerate(zip(found, costs, strict=True)):
        ahead[block.start] = [*_counter(number, _eighths(cost.cycles)), *ahead.get(block.start, [])]
    result = [line for number, old in enumerate(lines) for line in (*ahead.get(number, ()), old)]
    return "\n".join([*result, *_tables(found, costs), ""])


def _eighths(cycles: float) -> int:
    return round(_EIGHTH * cycles)


def _probes(text: str, width: int) -> dict[int, list[str]]:
    """Return what goes ahead of instructions to ask whether they access main memory, by their lines."""
    reader = Reader(text, width)
    return {number: probe(reader.lines, number, steps(line, width)) for number, line in reader.code()}


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


def _tables(found: Sequence[Block], costs: Sequence[Cost]) -> list[str]:
    """Return the file's table of blocks and the constructor that makes it known to the runtime."""
    files = {name: k for k, name in enumerate(dict.fromkeys(block.file for block in found))}
    lines = ["\t.section\t.rodata"]
    for name, k in files.items():
        lines.append(f'.Lswb_file{k}:\n\t.string\t"{name}"')
    waits = {text: f".Lswb_wait{k}" for k, text in enumerate(dict.fromkeys(cost.waits for cost in costs))}
    lines += [f'{label}:\n\t.string\t"{text}"' for text, label in waits.items()]
    lines += ['\t.section\t.data.rel.ro.local,"aw"', "\t.align\t8", ".Lswb_table:"]
    for block, cost in zip(found, costs, strict=True):
        line = block.line | _OWN * cost.own
        lines.append(f"\t.quad\t.Lswb_file{files[block.file]}, {waits[cost.waits]}")
        lines.append(f"\t.long\t{line}, {_eighths(cost.cycles)}, {_eighths(cost.stalls)}, 0")
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
    """Act for ``MACHINE RUNNING.s COSTED.s OUT.s [NAME=NUMBER...]``; return the exit status."""
    if len(arguments) < 4 or arguments[0] not in machine_names():
        files = "RUNNING.s COSTED.s OUT.s [NAME=NUMBER...]"
        print(f"usage: python -m swbuild.emulator.model.instrument MACHINE {files}", file=sys.stderr)
        return 2
    running, costed = (Path(name).read_text(encoding="latin-1") for name in arguments[1:3])
    machine = load(arguments[0], overrides=dict(_override(word) for word in arguments[4:]))
    Path(arguments[3]).write_text(instrument(running, costed, machine), encoding="latin-1")
    return 0


def _override(word: str) -> tuple[str, int | float]:
    name, _, number = word.partition("=")
    return name, float(number) if "." in number else int(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
