"""Make host code tell what it does: an assembly file in, one that counts out.

At the start of every basic block the result adds one to the block's counter.  Ahead of every access to memory
it looks whether the caches know that the access changes nothing, and calls the runtime (``swb_host.c``) for
any other.  The added code uses the two registers that the compiler stand-ins set aside and leaves the
processor's flags alone where anybody reads them.  Accesses of the stack by a constant distance are not told:
they would be registers, or hit the first level.

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
from swbuild.emulator.model.x86_operands import registers
from swbuild.machine import MachineModel, load, machine_names

__all__ = ["instrument_host", "main"]

#: What steps make of their sources alone, in the register that they name.
_PLAIN = (Role.COPY, Role.CONSTANT, Role.ADD, Role.ADDRESS, Role.LOAD, Role.STORE, Role.SUM, Role.PRODUCT)
_SLOT = re.compile(r"-?\w*\(%rsp\)$")
_ENTRY = 56  # sizeof (struct host_block)
_ROW = 8 * 256  # bytes of a row of __swemu_host_lines


@dataclass(frozen=True, slots=True)
class _Access:
    """An access that is told of: the line ahead of which that is done, its address, whether it stores.

    ``live``: the flags that hold there are read later.
    """

    line: int
    address: str
    store: bool
    live: bool


def instrument_host(text: str, machine: MachineModel) -> str:
    """Return the assembly ``text`` with code that tells of blocks and accesses."""
    functions = connected(Reader(text, VECTOR_BYTES, roomy=True))
    found = [block for function in functions for block in function]
    if not found:
        return text
    lines = text.splitlines()
    ahead: dict[int, list[str]] = {}
    for number, (block, end) in enumerate(_spans(found, len(lines))):
        ahead.setdefault(block.start, []).extend(_head(number, flags_live(lines, block.start)))
        for access in _accesses(lines, block.start, end):
            label = f"{number}_{len(ahead.setdefault(access.line, []))}_{access.line}"
            ahead[access.line] += _told(access, number, label, machine.host.line_bytes)
    result = [line for number, old in enumerate(lines) for line in (*ahead.get(number, ()), old)]
    texts = [str(mix) for function in functions for mix in mixes(function, machine.host)]
    return "\n".join([*result, *_tables(found, texts), ""])


def _spans(found: Sequence[Block], length: int) -> list[tuple[Block, int]]:
    """Return every block with the line behind it: that of the next one, or the file's end."""
    ends = [after.start for _, after in pairwise(found)] + [length]
    return list(zip(found, ends, strict=True))


def _accesses(lines: Sequence[str], start: int, end: int) -> list[_Access]:
    """Return the accesses of a block: an operand that is changed in place is stored to."""
    result = []
    for number in range(start, end):
        roles = {step.role for step in steps(lines[number], VECTOR_BYTES)}
        address = memory_operand(lines[number]) if roles & {Role.LOAD, Role.STORE} else ""
        if address and not _SLOT.match(address):
            line = _ahead_of_flags(lines, number, start, frozenset(registers(address)))
            result.append(_Access(line, address, Role.STORE in roles, flags_live(lines, line)))
    return result


def _ahead_of_flags(lines: Sequence[str], number: int, start: int, needed: frozenset[str]) -> int:
    """Return the last line up to ``number`` where no flags are live and the registers have their values.

    That is ``number`` itself if there is none.
    """
    for line in range(number, start - 1, -1):
        if not flags_live(lines, line):
            return line
        if line == start or not _leaves(lines[line - 1], needed):
            break
    return number


def _leaves(line: str, needed: frozenset[str]) -> bool:
    """Return whether an instruction is known to leave the registers ``needed`` as they are."""
    if not line.strip() or line.lstrip().startswith((".", "#")):
        return True
    found = steps(line, VECTOR_BYTES)
    plain = all(step.role in _PLAIN or step.target == "flags" for step in found)
    return bool(found) and plain and not needed & {step.target for step in found} and "sp" not in needed


def _told(access: _Access, block: int, label: str, line_bytes: int) -> list[str]:
    """Return the code that tells of an access of ``block``, if the caches do not know of its line."""
    address = f"\tleaq\t{access.address}, %r11"
    call = [
        address,
        f"\tleaq\t.Lswb_hosts+{_ENTRY * block + access.store}(%rip), %r10",
        "\tleaq\t-128(%rsp), %rsp",
        *(["\tpushfq"] if access.live else []),
        "\tcall\t*__swemu_host_access@GOTPCREL(%rip)",
        *(["\tpopfq"] if access.live else []),
        "\tleaq\t128(%rsp), %rsp",
    ]
    if access.live:
        return call
    return [
        address,
        f"\tshrq\t${line_bytes.bit_length() - 1}, %r11",
        "\tmovzbl\t%r11b, %r10d",
        "\tshll\t$3, %r10d",
        "\taddq\t__swemu_host_lines@GOTPCREL(%rip), %r10",
        f"\tcmpq\t%r11, {_ROW * access.store}(%r10)",
        f"\tjne\t.Lswb_new{label}",
        f".Lswb_known{label}:",
        "\t.subsection 1",
        f".Lswb_new{label}:",
        *call,
        f"\tjmp\t.Lswb_known{label}",
        "\t.subsection 0",
    ]


def _head(number: int, live: bool) -> list[str]:
    """Return the code that counts a pass through block ``number``."""
    place = ["\tmovq\t__swemu_host@gottpoff(%rip), %r11", "\tmovq\t%fs:(%r11), %r11"]
    if not live:
        return [*place, "\taddq\t.Lswb_base(%rip), %r11", f"\tincq\t{8 * number}(%r11)"]
    return [
        *place,
        "\tmovq\t.Lswb_base(%rip), %r10",
        f"\tleaq\t{8 * number}(%r11,%r10), %r11",
        "\tmovq\t(%r11), %r10",
        "\tleaq\t1(%r10), %r10",
        "\tmovq\t%r10, (%r11)",
    ]


def _tables(found: Sequence[Block], mix_texts: Sequence[str]) -> list[str]:
    """Return the file's table of blocks and the constructor that makes it known to the runtime."""
    texts = dict.fromkeys([*(block.file for block in found), *mix_texts])
    names = {text: f".Lswb_text{k}" for k, text in enumerate(texts)}
    lines = ["\t.section\t.rodata", *(f'{name}:\n\t.string\t"{text}"' for text, name in names.items())]
    lines += ["\t.data", "\t.align\t8", ".Lswb_hosts:"]
    for block, mix in zip(found, mix_texts, strict=True):
        lines.append(f"\t.quad\t{names[block.file]}, {names[mix]}, {block.line}, 0, 0, 0, 0")
    return [
        *lines,
        "\t.bss\n\t.align\t8\n.Lswb_base:\n\t.zero\t8",
        "\t.text\n.Lswb_register:",
        "\tleaq\t.Lswb_hosts(%rip), %rdi",
        f"\tmovl\t${len(found)}, %esi",
        "\tleaq\t.Lswb_base(%rip), %rdx",
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
