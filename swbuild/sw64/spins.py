"""Loops that only wait: what they test comes from memory at an address that stays, and they change nothing.

On the machine something else changes that memory; in the emulated group others must get their turn for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from swbuild.sw64.flow import ZERO, JumpKind, jump
from swbuild.sw64.instructions import Kind, reads, shape, writes
from swbuild.sw64.syntax import Instruction, Label, memory_operand

__all__ = ["spins"]

#: What a loop that waits is made of.
_HARMLESS = frozenset(
    (
        Kind.INTEGER,
        Kind.LOAD,
        Kind.FLOAT_LOAD,
        Kind.COMPARE,
        Kind.VECTOR,
        Kind.SHUFFLE,
        Kind.TRANSFER,
        Kind.NONE,
    )
)
_FENCES = frozenset(("memb", "imembs", "imemb", "wmemb"))
_LOADS = (Kind.LOAD, Kind.FLOAT_LOAD)


def spins(items: Sequence[Instruction | Label]) -> dict[int, str]:
    """Return, by the number of its jump back, the C expression of the word that a loop waits for."""
    at = {item.name: k for k, item in enumerate(items) if isinstance(item, Label)}
    found = {}
    for k, item in enumerate(items):
        if not isinstance(item, Instruction):
            continue
        start = at.get(_target(item), len(items))
        if start < k:
            word = _word([i for i in items[start : k + 1] if isinstance(i, Instruction)])
            if word:
                found[k] = word
    return found


def _target(item: Instruction) -> str:
    try:
        known = jump(item)
    except ValueError:
        return ""
    return known.target if known and known.kind in (JumpKind.CONDITION, JumpKind.GOTO) else ""


def _word(body: Sequence[Instruction]) -> str:
    """Return the word that a loop waits for, if it is one that waits."""
    if not all(_is_harmless(item) for item in body):
        return ""
    needed = {n for item in body if _target(item) for n in reads(item)}
    word = ""
    for item in [*reversed(body), *reversed(body)]:
        if needed.intersection(writes(item)):
            needed |= set(reads(item))
            word = word or _loaded(item)
    return "" if needed.intersection(_carried(body)) else word


def _carried(body: Sequence[Instruction]) -> set[int]:
    """Return the registers whose values come from the turn before."""
    written: set[int] = set()
    read: set[int] = set()
    for item in body:
        read |= set(reads(item)) - written
        written |= set(writes(item))
    return (read & written) - {ZERO}


def _loaded(item: Instruction) -> str:
    known = shape(item)
    address = memory_operand(item.operands[1]) if known and known.kind in _LOADS else None
    return _address(address.displacement, address.base) if address else ""


def _is_harmless(item: Instruction) -> bool:
    known = shape(item)
    if known and known.kind is Kind.BRANCH:
        return True
    return item.mnemonic in _FENCES or (known is not None and known.kind in _HARMLESS)


def _address(displacement: str, base: int) -> str:
    if not displacement.lstrip("-").isdigit() or base == ZERO:
        return "(const volatile void *)0"
    return f"(const volatile void *)(R({base}).u + {displacement})"
