"""What each instruction does, as C over a file of registers.

:func:`statement` gives the C for one instruction, :func:`condition` the C for the test of a branch; both
name registers through ``R(n)``, an lvalue of type ``sw64_reg`` (``swemu_sw64.h``).  Control flow, and
displacements that are symbols or relocations, are the caller's.  What has no published meaning is refused by
name (:class:`Unknown`); ``meanings.py`` has the table with the source of every meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from swbuild.sw64.instructions import INSTRUCTIONS, ZERO
from swbuild.sw64.meanings import BRANCHES, MEANINGS, REFUSED, Meaning
from swbuild.sw64.syntax import Instruction, Item, memory_operand, register_number

__all__ = [
    "HOST",
    "SW3",
    "SWS",
    "Machine",
    "Unknown",
    "condition",
    "inferred",
    "is_control_flow",
    "meaning",
    "register",
    "statement",
]


class Unknown(Exception):
    """An instruction, or an operand of one, whose meaning is not published; says which and why."""


@dataclass(frozen=True, slots=True)
class Machine:
    """``registers`` in all, of ``lanes`` 64-bit lanes.

    In a ``unified`` file integers, floating point and vectors share the registers; else integers end at 31.
    ``counters`` are the control registers that can be read, ``controls`` those that can be written.
    """

    name: str
    registers: int
    lanes: int
    unified: bool
    counters: frozenset[int]
    controls: frozenset[int] = frozenset()


#: A CPE of the SW26010 (``.arch sw3``), a CPE of the SW26010-Pro (``.arch sws``), and the host's processor.
SW3 = Machine("sw3", 32, 4, True, frozenset({0, 1, 2, 4}))
SWS = Machine("sws", 64, 8, True, frozenset({0, 4, 0x90, 0x91, 0x92}), frozenset({0x90, 0x91, 0x92}))
HOST = Machine("host", 64, 4, False, frozenset())

#: Registers with greater numbers are the caller's own, such as the operands of inline assembly.
OWN = 100

_TOKEN = re.compile(r"(?<![\w.])([abcd])(?:\.(\w+))?(?![\w(])")
_NUMBER = re.compile(
    r"[-+~(]*(?:0[xX][0-9a-fA-F]+|\d+|__swemu_\w+)(?:[-+*/%&|<>~()\s]+|0[xX][0-9a-fA-F]+|\d+)*$"
)
#: Views that only a number can have: how many values each has by lane, or which.
_INDICES = {"windex": 2, "lindex": 1}
_CHOICES: dict[str, frozenset[int]] = {"rounding": frozenset(range(4, 8))}
_VECTORS = ("vl", "vu", "vw", "vx")


def meaning(mnemonic: str, machine: Machine) -> Meaning | None:
    """Return what an instruction means on a machine; None when that is not known."""
    found = MEANINGS.get(mnemonic, ())
    return next((row for row in found if machine.name in row.machines), None)


def inferred(code: Iterable[Item], machine: Machine) -> dict[str, int]:
    """Return the instructions whose meaning is inferred, each with the line of its first place."""
    found: dict[str, int] = {}
    for item in code:
        known = meaning(item.mnemonic, machine) if isinstance(item, Instruction) else None
        if known and known.inferred and isinstance(item, Instruction):
            found.setdefault(item.mnemonic, item.line)
    return found


def is_control_flow(mnemonic: str) -> bool:
    """Return whether an instruction is a branch, a call or a return, which :func:`statement` refuses."""
    known = INSTRUCTIONS.get(mnemonic)
    return known is not None and ("l" in known.form or mnemonic in ("ret", "jmp", "call"))


def statement(instruction: Instruction, machine: Machine, name: str = "R({})", volatile: bool = False) -> str:
    """Return C statements for one instruction that is no control flow.

    ``name`` spells a register by its number.  With ``volatile`` its access of memory is one.
    Raises :class:`Unknown`.
    """
    found = meaning(instruction.mnemonic, machine)
    if found is None:
        raise Unknown(_unknown(instruction.mnemonic, machine))
    writer = _Writer(instruction, machine, name)
    text = writer.text(found.text, found.view)
    if volatile:
        text = re.sub(r"\(sw64_([ium]\d\*\))", r"(volatile sw64_\1", text)
    if writer.discards and not found.effect:
        return ";"
    target = f"{writer.target}.{found.result}=" if found.result else ""
    body = f"{target}{text};"
    if "@" in body:
        align = found.align * (machine.lanes if found.vector else 1)
        body = _access(writer.address(), align, body.replace("@", "sw64_a"))
    return f"{{sw64_reg sw64_d;{body}}}" if writer.discards else f"{{{body}}}"


def condition(instruction: Instruction, machine: Machine, name: str = "R({})") -> str:
    """Return the C expression that is true when a conditional branch is taken.  Raises :class:`Unknown`."""
    text = BRANCHES.get(instruction.mnemonic)
    if text is None:
        raise Unknown(_unknown(instruction.mnemonic, machine))
    return "(" + _Writer(instruction, machine, name).text(text, "l") + ")"


def register(operand: str, machine: Machine) -> int | None:
    """Return the number of a register in the machine's file; None for what is no register.

    Raises :class:`Unknown` for a register that the machine does not have.
    """
    number = register_number(operand)
    if number is not None and machine.registers <= number < OWN:
        raise Unknown(f"register {operand} does not exist on this processor")
    return number


def _unknown(mnemonic: str, machine: Machine) -> str:
    if mnemonic in REFUSED:
        return f"instruction '{mnemonic}' is not emulated: {REFUSED[mnemonic]}"
    if mnemonic in MEANINGS:
        return f"what '{mnemonic}' does on this processor is not published"
    if is_control_flow(mnemonic):
        return f"'{mnemonic}' is no instruction of a straight line"
    return f"instruction '{mnemonic}' is not known"


def _access(address: str, align: int, body: str) -> str:
    """Return an access of memory at ``sw64_a``, with the test of its alignment that the processor makes."""
    test = f"if(sw64_a&{align - 1})__swemu_unaligned((void*)sw64_a,{align}UL);" if align > 1 else ""
    return f"unsigned long sw64_a={address};{test}{body}"


class _Writer:
    """Puts the operands of one instruction into the text of its meaning."""

    def __init__(self, instruction: Instruction, machine: Machine, name: str) -> None:
        self.instruction, self.machine, self.name = instruction, machine, name
        form = INSTRUCTIONS[instruction.mnemonic].form
        if len(form) != len(instruction.operands):
            raise Unknown(f"'{instruction.mnemonic}' takes {len(form)} operands")
        pairs = list(zip(form, instruction.operands, strict=True))
        self.inputs = [text for letter, text in pairs if letter in "rin"]
        self.memory = next((text for letter, text in pairs if letter == "m"), "")
        written = next((text for letter, text in pairs if letter == "w"), "")
        number = self._number_of(written) if written else None
        self.discards = number == ZERO
        self.target = "sw64_d" if self.discards or number is None else name.format(number)

    def text(self, text: str, view: str) -> str:
        """Return the text with every operand ``a b c`` (inputs in order) and ``d`` (the target) put in."""
        if "OFFSET" in text:
            base, offset = self._address()
            text = text.replace("BASE", base).replace("OFFSET", offset)
        return _TOKEN.sub(lambda match: self._operand(match[1], match[2], view), text)

    def address(self) -> str:
        """Return the C expression of the memory operand's address."""
        base, offset = self._address()
        return f"{base}+({offset})"

    def _address(self) -> tuple[str, str]:
        found = memory_operand(self.memory)
        if found is None:
            raise Unknown(f"'{self.memory}' is no address")
        return self._register(found.base) + ".u", self._literal(found.displacement or "0")

    def _operand(self, letter: str, chosen: str | None, usual: str) -> str:
        if letter == "d":
            return f"{self.target}.{chosen}" if chosen else self.target
        view = chosen or usual
        operand = self.inputs["abc".index(letter)]
        number = register(operand, self.machine)
        if number is None:
            return self._constant(operand, view)
        text = self._register(number)
        if view == "reg":
            return text
        if view in ("count", "word"):
            cast = {"count": ".u", "word": ".l"} if self.machine.unified else {}
            scalar = text + cast[view] if cast else f"sw64_narrow({text}.u)"
            return scalar if view == "count" else f"(int){scalar}"
        if view in _INDICES or view in _CHOICES or view in ("counter", "control"):
            raise Unknown(f"'{self.instruction.mnemonic}' takes a number, not '{operand}'")
        return f"{text}.{view}"

    def _register(self, number: int) -> str:
        return "sw64_zero" if number == ZERO else self.name.format(number)

    def _number_of(self, operand: str) -> int:
        number = register(operand, self.machine)
        if number is None:
            raise Unknown(f"'{operand}' is no register")
        return number

    def _constant(self, operand: str, view: str) -> str:
        text = self._literal(operand)
        if view in _INDICES:
            return self._within(text, range(_INDICES[view] * self.machine.lanes))
        if view in _CHOICES:
            return self._within(text, _CHOICES[view])
        if view in ("counter", "control"):
            return self._within(text, self.machine.counters if view == "counter" else self.machine.controls)
        if view not in ("l", "u", "count", *_VECTORS):
            raise Unknown(f"'{self.instruction.mnemonic}' takes a register, not '{operand}'")
        return f"{text}UL" if view == "u" and text.isdigit() else f"({text})"

    def _within(self, text: str, allowed: Collection[int]) -> str:
        try:
            value = int(text, 0)
        except ValueError:
            value = -1
        if value not in allowed:
            raise Unknown(f"'{self.instruction.mnemonic}' with the number {text} has no published meaning")
        return str(value)

    def _literal(self, text: str) -> str:
        if not _NUMBER.match(text.strip()):
            raise Unknown(f"'{text}' is no number")
        return text.strip()
