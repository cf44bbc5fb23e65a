"""Where instructions go: what each jump means, and the units of code that become one C function each.

A unit is a function with all that jumps into it or falls through to it; calls go from unit to unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from swbuild.sw64.program import Problem, Program
from swbuild.sw64.syntax import Directive, Instruction, Label, memory_operand, register_number

__all__ = ["Jump", "JumpKind", "Unit", "jump", "units"]

ZERO = 31
_WORD = re.compile(r"[A-Za-z_.$][\w.$]*")
_CONDITIONS = frozenset(
    ("beq", "bne", "blt", "ble", "bgt", "bge", "blbc", "blbs", "fbeq", "fbne", "fblt", "fble", "fbgt", "fbge")
)


class JumpKind(Enum):
    """``COMPUTED``: to an address in a register, which may be the caller's; ``CALL_REGISTER`` likewise."""

    CONDITION = "condition"
    GOTO = "goto"
    CALL = "call"
    CALL_REGISTER = "call of a register"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Jump:
    """``link`` takes the address behind the jump (31: nothing does); ``base`` holds the target's address."""

    kind: JumpKind
    target: str = ""
    link: int = ZERO
    base: int = ZERO


def jump(instruction: Instruction) -> Jump | None:
    """Return what a jump does; None for other instructions.  Raise ValueError for operands it cannot have."""
    name, operands = instruction.mnemonic, list(instruction.operands)
    if name in _CONDITIONS:
        if len(operands) != 2 or register_number(operands[0]) is None:
            raise ValueError
        return Jump(JumpKind.CONDITION, operands[1])
    if name in ("br", "bsr"):
        link = register_number(operands.pop(0)) if len(operands) > 1 else (26 if name == "bsr" else ZERO)
        if link is None or len(operands) != 1:
            raise ValueError
        return Jump(JumpKind.CALL if name == "bsr" else JumpKind.GOTO, operands[0], link)
    return _by_register(name, operands) if name in ("call", "jmp", "ret") else None


def _by_register(name: str, operands: list[str]) -> Jump:
    link, base = (26 if name == "call" else ZERO), (26 if name == "ret" else 27)
    first = register_number(operands[0]) if operands else None
    if first is not None:
        link = first
        operands.pop(0)
    address = memory_operand(operands.pop(0)) if operands and "(" in operands[0] else None
    if address:
        if address.displacement not in ("", "0"):
            raise ValueError
        base = address.base
    hint = operands[0] if operands and not operands[0].lstrip("-").isdigit() else ""
    kind = JumpKind.COMPUTED if link == ZERO or name in ("ret", "jmp") else JumpKind.CALL_REGISTER
    return Jump(kind, hint, link, base)


def ends(item: Instruction | Label) -> bool:
    """Return whether nothing goes on behind the item."""
    if not isinstance(item, Instruction):
        return False
    try:
        found = jump(item)
    except ValueError:
        return False
    return found is not None and found.kind in (JumpKind.GOTO, JumpKind.COMPUTED)


@dataclass(slots=True)
class Unit:
    """Code that becomes one C function; ``entries`` are the labels that calls go to, in order."""

    name: str
    items: list[Instruction | Label]
    functions: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)


def units(made: Program) -> list[Unit]:
    """Return the units of a file, in order."""
    pieces = _pieces(made)
    where = {item.name: k for k, piece in enumerate(pieces) for item in piece if isinstance(item, Label)}
    called = _called(made.code)
    joined = _joined(pieces, where, made.functions | made.visible)
    found: dict[int, Unit] = {}
    for k, piece in enumerate(pieces):
        names = [item.name for item in piece if isinstance(item, Label)]
        unit = found.setdefault(_root(joined, k), Unit(names[0], []))
        unit.items += piece
        starts = [name for name in names if name in made.functions or name in made.visible]
        unit.functions += starts
        unit.entries += [name for name in names if name in called or name in starts]
    return _reached(list(found.values()), made)


def _reached(found: list[Unit], made: Program) -> list[Unit]:
    """Return the units that others may call and what those name: compilers leave unused functions."""
    homes = {item.name: unit.name for unit in found for item in unit.items if isinstance(item, Label)}
    by_name = {unit.name: unit for unit in found}
    waiting = [homes[name] for name in made.visible if name in homes]
    waiting += [homes[name] for name in _named_in_data(made) if name in homes]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [homes[word] for word in _words(by_name[name].items) if word in homes]
    return [unit for unit in found if unit.name in reached]


def _words(items: Sequence[Instruction | Label]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Instruction):
            for operand in item.operands:
                yield from _WORD.findall(operand)


def _named_in_data(made: Program) -> Iterator[str]:
    for section in made.sections.values():
        for item in section.items:
            if isinstance(item, Directive) and item.name not in (
                ".ascii",
                ".asciz",
                ".string",
                ".type",
                ".size",
            ):
                yield from _WORD.findall(item.arguments)


def _called(code: Sequence[Instruction | Label]) -> set[str]:
    """Return the labels that are called, or whose address may be."""
    found = set()
    for item in code:
        if isinstance(item, Instruction):
            try:
                known = jump(item)
            except ValueError:
                continue
            if known and known.kind in (JumpKind.CALL, JumpKind.CALL_REGISTER):
                found.add(known.target)
    return found


def _pieces(made: Program) -> list[list[Instruction | Label]]:
    """Cut the code at the labels of functions."""
    found: list[list[Instruction | Label]] = []
    starts = made.functions | made.visible
    for item in made.code:
        if isinstance(item, Label) and item.name in starts:
            found.append([item])
        elif found:
            found[-1].append(item)
        elif isinstance(item, Label):
            found.append([item])
        else:
            made.problems.append(Problem(item.line, f"'{item.mnemonic}' stands ahead of every label"))
            found.append([Label(item.line, ".Lsw64_start"), item])
    return found


def _joined(pieces: list[list[Instruction | Label]], where: dict[str, int], functions: set[str]) -> list[int]:
    """Return for each piece another of the same unit, or itself."""
    joined = list(range(len(pieces)))
    aims = {target for piece in pieces for target in _targets(piece)}
    for k, piece in enumerate(pieces):
        if k + 1 < len(pieces) and _goes_on(piece, aims):
            joined[_root(joined, k + 1)] = _root(joined, k)
        for target in _targets(piece):
            if where.get(target, k) != k and target not in functions:
                a, b = sorted((_root(joined, where[target]), _root(joined, k)))
                joined[b] = a
    return joined


def _goes_on(piece: Sequence[Instruction | Label], aims: set[str]) -> bool:
    """Return whether what is behind a piece can be reached from its end."""
    for item in reversed(piece):
        if isinstance(item, Instruction):
            return not ends(item)
        if item.name in aims:
            return True
    return True


def _targets(piece: Sequence[Instruction | Label]) -> Iterator[str]:
    for item in piece:
        if isinstance(item, Instruction):
            try:
                known = jump(item)
            except ValueError:
                continue
            if known and known.kind in (JumpKind.CONDITION, JumpKind.GOTO):
                yield known.target


def _root(joined: list[int], k: int) -> int:
    while joined[k] != k:
        k = joined[k]
    return k
