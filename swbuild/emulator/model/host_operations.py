"""What one instruction of host code asks of the management core, as operations with their kinds.

The host code that runs is x86-64 code of the same C source.  Its instructions stand for those that a Sunway
compiler would have made: arithmetic for arithmetic, a memory operand for a load or a store, nothing for a
move between registers (three-operand code needs none), a fraction of a vector operation where x86 has the
narrower registers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

__all__ = ["KINDS", "Operation", "Unit", "fuse", "operations"]

#: Latencies that stand for the kinds of operations: the machine's numbers come in when a profile is read.
KINDS = {101: "arithmetic", 103: "load", 107: "divide", 109: "multiply", 113: "integer_divide"}
_ARITHMETIC_LATENCY, _LOAD, _DIVIDE, _MULTIPLY, _INTEGER_DIVIDE = KINDS
_VECTOR_BYTES = 32  # of the host, on both machines


class Unit(Enum):
    """What an operation occupies."""

    FLOAT = "float"
    MEMORY = "memory"
    INTEGER = "integer"
    CONTROL = "control"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Operation:
    """``slots`` cycles of its unit; the result is there ``latency`` cycles after the start.

    ``role`` is "product" or "sum" for what multiply-add melts together, "load" or "store" for accesses
    to memory, "address" for the sum of a base and an index, "call" for a call, else empty; ``target`` is
    the name that a call or a jump goes to, or the place on the stack that a load or a store is for.
    """

    unit: Unit
    slots: float
    latency: float
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    role: str = ""
    target: str = ""


_NOTHING: frozenset[str] = frozenset()
_FLAGS = frozenset({"flags"})
_STACK = re.compile(r"-?\d*\(%rsp\)$")
_REGISTER = re.compile(r"%([a-z0-9]+)")
_MEMORY = re.compile(r"(?:%fs:)?[^\s,()]*\([^)]*\)|%fs:[^\s,]+")
_ARITHMETIC = re.compile(r"v?(add|sub|mul|div|sqrt|min|max|hadd|addsub|rcp|rsqrt)(ss|sd|ps|pd)$")
_FUSED = re.compile(r"vfn?m(add|sub)\d*(ss|sd|ps|pd)$")
_FLOAT_MOVE = re.compile(r"v?mov(ss|sd|[au]p[sd]|dq[au](64)?|q|d|[hl]p[sd]|nt\w+|ddup)$")
_FLOAT_COMPARE = re.compile(r"v?u?comis[sd]$")
_PACKED = re.compile(
    r"v?(p[a-z]{2,}|andn?p[sd]|x?orp[sd]|unpck\w+|shufp[sd]|perm\w+|insert\w+|extract\w+|blend\w+|broadcast\w+"
    r"|cmp\w*[ps][sd]|movmskp[sd])$"
)
_VECTOR = re.compile(r"(p[sd]|dq[au](64)?|ntdq)$|^v?p[a-z]{2,}$")
_INTEGER_MOVE = re.compile(r"mov(abs)?[bwlq]?$")
_DIVISION = re.compile(r"i?div[bwlq]?$")
_MULTIPLICATION = re.compile(r"i?mul[bwlq]?$")
_COMPARE = re.compile(r"(cmp|test|bt)[bwlq]?$")
_JUMP = re.compile(r"(j[a-z]+|retq?|leave)$")
_PREFIXES = frozenset({"rep", "repz", "repnz", "repe", "repne", "lock", "notrack", "bnd"})
_FREE = frozenset(
    {"nop", "nopw", "nopl", "endbr64", "cltd", "cqto", "cltq", "cwtl", "pause", "vzeroupper", "ud2"}
)
_WIDTHS = {"x": 16, "y": 32, "z": 64}


def operations(line: str) -> tuple[Operation, ...]:
    """Return the operations of one line of AT&T assembly: none for a directive, a label or an empty line."""
    words = line.split("#", 1)[0].strip().split(None, 1)
    if not words or words[0].startswith(".") or words[0].endswith(":"):
        return ()
    name, operands = words[0], words[1].strip() if len(words) > 1 else ""
    if name in _PREFIXES:
        return operations(operands)
    if name in _FREE or name.startswith("prefetch"):
        return ()
    if name.startswith("call"):
        return (Operation(Unit.CONTROL, 1.0, 1.0, role="call", target=operands.split("@")[0].lstrip("*")),)
    if _JUMP.match(name):
        reads = _NOTHING if name in ("jmp", "ret", "retq", "leave") else _FLAGS
        return (Operation(Unit.CONTROL, 1.0, 1.0, reads | _registers(operands), target=operands),)
    return tuple(_data(name, operands))


def _data(name: str, operands: str) -> list[Operation]:
    """Return the operations of an instruction that computes or moves data."""
    memory = _MEMORY.search(operands)
    address = memory.group() if memory else ""
    parts = [part.strip() for part in _MEMORY.sub("@", operands).split(",") if part.strip()]
    if name.startswith(("push", "pop")):
        store = name.startswith("push")
        latency = 1.0 if store else _LOAD
        register = _registers(operands)
        reads, writes = (register, _NOTHING) if store else (_NOTHING, register)
        return [Operation(Unit.MEMORY, 1.0, latency, reads, writes)]
    if name.startswith("lea"):
        return [Operation(Unit.INTEGER, 1.0, 1.0, _registers(address), _registers(parts[-1]), "address")]
    moves = bool(_INTEGER_MOVE.match(name) or _FLOAT_MOVE.match(name))
    compares = bool(_COMPARE.match(name) or _FLOAT_COMPARE.match(name))
    stores_last = len(parts) > 1 and parts[-1] == "@" and not compares
    into_memory = stores_last or operands == address != ""
    loads = bool(address) and not (moves and into_memory)
    share = _share(name, operands)
    found: list[Operation] = []
    slot = address if _STACK.match(address) else ""
    place = _registers(address)
    if address and "," in address:  # base and index: one addition ahead of the access
        found.append(Operation(Unit.INTEGER, 1.0, 1.0, place, frozenset({"address"}), "address"))
        place = frozenset({"address"})
    named = [_registers(part) for part in parts]
    target = _NOTHING if into_memory or compares or not named else named[-1]
    sources = _NOTHING.union(*(named if not target else named[:-1]))
    if loads:
        result = target if moves else frozenset({"loaded"})
        found.append(Operation(Unit.MEMORY, share, _LOAD, place, result, "load", slot))
        sources |= _NOTHING if moves else {"loaded"}
    if moves:
        found += _move(parts, address, into_memory, share, sources, target, place, slot)
        return found
    if len(parts) >= 2 and "xor" in name and len(set(parts)) == 1:
        return [Operation(Unit.NONE, 0.0, 0.0, _NOTHING, target)]
    unit, slots, latency, role, overwrites = _kind(name, share)
    reads = sources | (_NOTHING if overwrites else target)
    if name.startswith(("set", "cmov", "adc", "sbb")):
        reads |= _FLAGS
    writes = _FLAGS if compares else target | (_FLAGS if unit is Unit.INTEGER else _NOTHING)
    if into_memory:
        writes |= {"stored"}
    found.append(Operation(unit, slots, latency, reads, writes, role))
    if into_memory:
        found.append(Operation(Unit.MEMORY, share, 1.0, place | {"stored"}, _NOTHING, "store", slot))
    return found


def _move(
    parts: list[str],
    address: str,
    into_memory: bool,
    share: float,
    sources: frozenset[str],
    target: frozenset[str],
    place: frozenset[str],
    slot: str,
) -> list[Operation]:
    """Return what a move needs beside a load: a store, a constant's load, or nothing between registers."""
    if into_memory:
        return [Operation(Unit.MEMORY, share, 1.0, sources | place, _NOTHING, "store", slot)]
    if address:
        return []
    if parts and parts[0].startswith("$"):
        return [Operation(Unit.INTEGER, 1.0, 1.0, _NOTHING, target)]
    return [Operation(Unit.NONE, 0.0, 0.0, sources, target)]


def _kind(name: str, share: float) -> tuple[Unit, float, float, str, bool]:
    """Return unit, slots, latency and role of an operation, and whether it ignores its target's old value."""
    arithmetic = _ARITHMETIC.match(name)
    if arithmetic and arithmetic[1] in ("div", "sqrt", "rcp", "rsqrt"):
        return Unit.FLOAT, _DIVIDE, _DIVIDE, "", arithmetic[1] != "div"
    if arithmetic:
        role = {"mul": "product", "add": "sum", "sub": "sum"}.get(arithmetic[1], "")
        return Unit.FLOAT, share, _ARITHMETIC_LATENCY, role, False
    if _FUSED.match(name) or _FLOAT_COMPARE.match(name) or "cvt" in name:
        return Unit.FLOAT, share, _ARITHMETIC_LATENCY, "", "cvt" in name
    if _PACKED.match(name):
        return Unit.FLOAT, share, 1.0, "", False
    if _DIVISION.match(name):
        return Unit.INTEGER, _INTEGER_DIVIDE, _INTEGER_DIVIDE, "", False
    if _MULTIPLICATION.match(name):
        return Unit.INTEGER, 1.0, _MULTIPLY, "", False
    return Unit.INTEGER, 1.0, 1.0, "", name.startswith(("movs", "movz", "set"))


def _share(name: str, operands: str) -> float:
    """Return the part of one CPE vector operation that an x86 vector instruction does; 1 for scalars."""
    if not _VECTOR.search(name):
        return 1.0
    widths = [_WIDTHS[kind] for kind in re.findall(r"%([xyz])mm", operands)]
    return min(1.0, max(widths, default=16) / _VECTOR_BYTES)


def _registers(text: str) -> frozenset[str]:
    return frozenset(_canonical(name) for name in _REGISTER.findall(text) if name not in ("rip", "fs"))


def _canonical(name: str) -> str:
    """Return one name for all widths of a register: rax, eax, ax, al -> ax; xmm1, ymm1 -> v1; r8d -> r8."""
    if name[1:3] == "mm":
        return "v" + name[3:]
    if name[0] == "r" and name[1].isdigit():
        return name.rstrip("dwb")
    short = name[1:] if name[0] in "re" and len(name) == 3 else name
    if len(short) == 2 and short[1] in "lh":
        return short[0] + "x"
    return short.removesuffix("l") if len(short) == 3 else short


def fuse(block: Sequence[Operation]) -> list[Operation]:
    """Return the block with each product that only the next use of it, a sum, needs melted into that sum.

    The machine has multiply-add instructions and its compilers use them; the emulator keeps the two
    apart so that its results are those of the serial reference.
    """
    found = list(block)
    for at, total in enumerate(found):
        source = _product_of(found, at) if total.role == "sum" else None
        if source is not None:
            product = found[source]
            found[at] = replace(total, reads=total.reads - product.writes | product.reads, role="")
            if product.writes & total.writes:  # two-operand code: x = x * y; x = x + z
                found[at] = replace(found[at], reads=total.reads - product.writes | product.reads)
            found[source] = replace(product, unit=Unit.NONE, slots=0.0, latency=0.0, role="")
    return found


def _product_of(found: Sequence[Operation], at: int) -> int | None:
    """Return the product whose result the sum ``at`` reads first-hand and nothing reads in between."""
    for name in sorted(found[at].reads):
        for k in range(at - 1, -1, -1):
            if name in found[k].writes:
                if found[k].role == "product":
                    return k
                break
            if name in found[k].reads:
                break
    return None
