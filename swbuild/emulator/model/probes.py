"""Accesses of main memory without DMA: which instructions may be one, and the code that asks at run time.

Counted code has a *probe* ahead of each access by an address in registers, or of a variable in main memory.
It compares the address with the CPE's stack and variables, and calls the runtime (``runtime/direct.c``)
for any other.  Accesses by ``%rsp`` and ``%r10``, of thread-local variables and of constants that the
compiler made are known to be none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from swbuild.emulator.model.instructions import Role, Step

__all__ = ["flags_live", "memory_operand", "probe"]

_MEMORY = re.compile(r"[^\s,()*$]*\([^)]*\)")
#: The stack, and the way to it of a function that aligns it: code has no other use of r10.
_KNOWN = re.compile(r"\(%(rsp|r10)")
_BESIDE = re.compile(r"^\.L|@|^[^(]*:")
_FLAGS_READ = re.compile(r"j(?!mp)|set|cmov|adc|sbb|rc[lr]|lahf|pushf")
_FLAGS_WRITTEN = re.compile(r"(add|sub|cmp|test|and|x?or|neg|i?mul)[bwlq]?$|v?u?comis[sd]$|call|ret")
_NARROWED = re.compile(r"mov[sz](?P<from>[bwl])[wlq]$")
_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}
_WIDE = re.compile(r"([au]?p[sd]|dq[au]?|ddup)$")
_LOAD, _STORE = 0x100, 0x200  # runtime/direct.c has them too
_STACK_BYTES = 8 << 20


def probe(lines: Sequence[str], number: int, found: Iterable[Step]) -> list[str]:
    """Return the code that goes ahead of instruction ``number``: none if it is no access of main memory."""
    roles = {step.role for step in found}
    what = (_LOAD if Role.LOAD in roles else 0) | (_STORE if Role.STORE in roles else 0)
    words = lines[number].split("#", 1)[0].split(None, 1)
    address = memory_operand(lines[number]) if what else ""
    if not address or _KNOWN.search(address):
        return []
    return _code(number, address, what | _bytes(words[0], words[1]), flags_live(lines, number))


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


def _bytes(name: str, operands: str) -> int:
    """Return how many bytes an instruction moves from or to memory."""
    narrowed = _NARROWED.match(name)
    if narrowed:
        return _SIZES[narrowed["from"]]
    if _WIDE.search(name):
        return 32 if "%ymm" in operands else 16
    if "cvt" in name and "2" in name:
        source = name.split("2", 1)[0]
        return 4 if source.endswith("ss") or (source.endswith("si") and name.endswith("l")) else 8
    if name.endswith(("ss", "movd")):
        return 4
    if name.endswith(("sd", "pd", "ps")):
        return 8
    return 1 if name.startswith("set") else _SIZES.get(name[-1], 8)


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
