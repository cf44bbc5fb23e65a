"""Make host code tell what it does: an assembly file in, one that fills the runtime's buffer out.

At the start of every basic block the result takes room in the buffer (``swb_host.c``) and writes down which
block it is; ahead of every access to memory it writes the address.  The added code uses the two registers
that the compiler stand-ins set aside, of which one holds the place in the buffer until the block's end, and
leaves the processor's flags alone.  Accesses of the stack by a constant distance are not told: they would be
registers, or hit the first level.

``python -m swbuild.emulator.model.host_instrument MACHINE IN.s OUT.s`` does it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from swbuild.emulator.model.blocks import Block, Reader
from swbuild.emulator.model.flow import connected
from swbuild.emulator.model.host_mix import VECTOR_BYTES, mixes
from swbuild.emulator.model.instructions import steps
from swbuild.emulator.model.probes import flags_live, memory_operand
from swbuild.emulator.model.step import Role
from swbuild.machine import MachineModel, load, machine_names

__all__ = ["instrument_host", "main"]

_SLOT = re.compile(r"-?\w*\(%rsp\)$")
_ENTRY = 72  # sizeof (struct host_block)


@dataclass(frozen=True, slots=True)
class _Access:
    """An access that is told of: the line of its instruction, its address, and "l" or "s"."""

    line: int
    address: str
    kind: str


def instrument_host(text: str, machine: MachineModel) -> str:
    """Return the assembly ``text`` with code that tells of blocks and accesses."""
    functions = connected(Reader(text, VECTOR_BYTES, roomy=True))
    found = [block for function in functions for block in function]
    if not found:
        return text
    lines = text.splitlines()
    ahead: dict[int, list[str]] = {}
    kinds = []
    for number, (block, end) in enumerate(_spans(found, len(lines))):
        accesses = _accesses(lines, block.start, end)
        kinds.append("".join(access.kind for access in accesses))
        ahead[block.start] = _head(number, len(accesses), flags_live(lines, block.start))
        for k, access in enumerate(accesses):
            ahead.setdefault(access.line, []).extend(_told(access, 8 * (k - len(accesses))))
    result = [line for number, old in enumerate(lines) for line in (*ahead.get(number, ()), old)]
    texts = [str(mix) for function in functions for mix in mixes(function, machine.host)]
    return "\n".join([*result, *_tables(found, texts, kinds), ""])


def _spans(found: Sequence[Block], length: int) -> list[tuple[Block, int]]:
    """Return every block with the line behind it: that of the next one, or the file's end."""
    ends = [after.start for _, after in pairwise(found)] + [length]
    return list(zip(found, ends, strict=True))


def _accesses(lines: Sequence[str], start: int, end: int) -> list[_Access]:
    """Return the accesses of a block: an operand that is changed in place is one load and one store."""
    result = []
    for number in range(start, end):
        roles = {step.role for step in steps(lines[number], VECTOR_BYTES)} & {Role.LOAD, Role.STORE}
        address = memory_operand(lines[number]) if roles else ""
        if address and not _SLOT.match(address):
            result += [_Access(number, address, role.value[0]) for role in sorted(roles, key=_by_value)]
    return result


def _by_value(role: Role) -> str:
    return str(role.value)


def _told(access: _Access, at: int) -> list[str]:
    return [f"\tleaq\t{access.address}, %r11", f"\tmovq\t%r11, {at}(%r10)"]


def _head(number: int, accesses: int, live: bool) -> list[str]:
    """Return the code that takes room for block ``number`` and its accesses, and names the block.

    It leaves the end of that room in r10.
    """
    full = ["\tleaq\t-128(%rsp), %rsp", "\tcall\t__swemu_host_full@PLT", "\tleaq\t128(%rsp), %rsp"]
    room = 8 * (accesses + 1)
    place = ["\tmovq\t__swemu_host@gottpoff(%rip), %r11", "\tmovq\t%fs:(%r11), %r10"]
    test = [*place, "\tcmpq\t%fs:8(%r11), %r10", f"\tjb\t.Lswb_room{number}", *full]
    if live:
        test = [
            *("\tleaq\t-128(%rsp), %rsp", "\tpushfq"),
            *(*place, "\tcmpq\t%fs:8(%r11), %r10", f"\tjb\t.Lswb_some{number}"),
            *("\tcall\t__swemu_host_full@PLT", f".Lswb_some{number}:"),
            *("\tpopfq", "\tleaq\t128(%rsp), %rsp"),
        ]
    return [
        *test,
        f".Lswb_room{number}:",
        *place,
        f"\tleaq\t{room}(%r10), %r10",
        "\tmovq\t%r10, %fs:(%r11)",
        f"\tleaq\t.Lswb_hosts+{_ENTRY * number}(%rip), %r11",
        f"\tmovq\t%r11, -{room}(%r10)",
    ]


def _tables(found: Sequence[Block], mix_texts: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Return the file's table of blocks and the constructor that makes it known to the runtime."""
    texts = dict.fromkeys([*(block.file for block in found), *mix_texts, *kinds])
    names = {text: f".Lswb_text{k}" for k, text in enumerate(texts)}
    lines = ["\t.section\t.rodata", *(f'{name}:\n\t.string\t"{text}"' for text, name in names.items())]
    lines += ["\t.data", "\t.align\t8", ".Lswb_hosts:"]
    for block, mix, kind in zip(found, mix_texts, kinds, strict=True):
        lines.append(
            f"\t.quad\t{names[block.file]}, {names[mix]}, {names[kind]}, {block.line}, 0, 0, 0, 0, 0"
        )
    return [
        *lines,
        "\t.text\n.Lswb_register:",
        "\tleaq\t.Lswb_hosts(%rip), %rdi",
        f"\tmovl\t${len(found)}, %esi",
        "\tjmp\t__swemu_host_register@PLT",
        '\t.section\t.init_array.00050,"aw"\n\t.align\t8\n\t.quad\t.Lswb_register',
        "\t.text",
    ]


def main(arguments: Sequence[str]) -> int:
    """Act for ``MACHINE IN.s OUT.s``; return the exit status."""
    if len(arguments) != 3 or arguments[0] not in machine_names():
        print("usage: python -m swbuild.emulator.model.host_instrument MACHINE IN.s OUT.s", file=sys.stderr)
        return 2
    text = Path(arguments[1]).read_text(encoding="latin-1")
    Path(arguments[2]).write_text(instrument_host(text, load(arguments[0])), encoding="latin-1")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
