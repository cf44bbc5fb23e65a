"""Accesses of main memory without DMA: which instructions may be one, and the code that asks at run time.

Counted code has a *probe* ahead of each access by an address in registers, or of a variable in main memory.
It compares the address with the CPE's stack and variables, and calls the runtime (``runtime/direct.c``)
for any other.  Accesses by ``%rsp`` and ``%r10``, of thread-local variables and of constants that the
compiler made are known to be none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from swbuild.emulator.model.step import Role, Step

__all__ = ["flags_live", "memory_operand", "probe"]

_MEMORY = re.compile(r"[^\s,()*$]*\([^)]*\)")
#: The stack, and the way to it of a function that aligns it: code has no other use of r10.
_KNOWN = re.compile(r"\(%(rsp|r10)")
_BESIDE = re.compile(r"^\.L|@|^[^(]*:")
_FLAGS_READ = re.compile(r"j(?!mp)|set|cmov|adc|sbb|rc[lr]|lahf|pushf")
_FLAGS_WRITTEN = re.compile(r"(add|sub|cmp|test|and|x?or|neg|i?mul)[bwlq]?$|v?u?comis[sd]$|call|ret")
_LOAD, _STORE = 0x100, 0x200  # runtime/direct.c has them too
_STACK_BYTES = 8 << 20


def probe(lines: Sequence[str], number: int, found: Iterable[Step]) -> list[str]:
    """Return the code that goes ahead of instruction ``number``: none if it is no access of main memory."""
    accesses = [step for step in found if step.role in (Role.LOAD, Role.STORE)]
    what = sum({_LOAD if step.role is Role.LOAD else _STORE for step in accesses})
    address = memory_operand(lines[number]) if what else ""
    if not address or _KNOWN.search(address):
        return []
    moved = max(step.bytes for step in accesses)
    return _code(number, address, what | moved, flags_live(lines, number))


def memory_operand(line: str) -> str:
    """Return the address of an instruction's operand in memory: none if it has none.

    Thread-local variables, and what the compiler keeps beside the code, count as none.
    """
    words = line.split("#", 1)[0].split(None, 1)
    address = _MEMORY.search(words[1]) if len(words) > 1 else None
    if address is None or "%fs:" in words[1] or _BESIDE.search(address.group()):
        return ""
    return address.group()


def _code(number: int, address: str, what: int, live: bool) -> list[str]:
    label = f".Lswb_near{number}"
    test = [
        "\tmovq\t__swemu_top@gottpoff(%rip), %r10",
        "\tmovq\t%fs:(%r10), %r10",
        "\tsubq\t%r11, %r10",
        f"\tcmpq\t${_STACK_BYTES}, %r10",
        f"\tjbe\t{label}",
    ]
    return [
        f"\tleaq\t{address}, %r11",
        *([] if live else test),
        "\tleaq\t-128(%rsp), %rsp",
        f"\tmovl\t${what}, %r10d",
        "\tcall\t__swemu_direct@PLT",
        "\tleaq\t128(%rsp), %rsp",
        f"{label}:",
    ]


def flags_live(lines: Sequence[str], number: int) -> bool:
    """Return whether the flags that hold ahead of instruction ``number`` may be read later."""
    for line in lines[number:]:
        words = line.split("#", 1)[0].split()
        if not words or (words[0].startswith(".") and not words[0].endswith(":")):
            continue
        if words[0].endswith(":") or words[0] == "jmp" or _FLAGS_READ.match(words[0]):
            return True
        if _FLAGS_WRITTEN.match(words[0]):
            return False
    return True
