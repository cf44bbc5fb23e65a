"""The statements of a unit: one of C, or several, for each instruction."""

from __future__ import annotations

import re
from dataclasses import replace

from swbuild.sw64.emit import STACK, Emitter, label_name, value_of
from swbuild.sw64.expressions import Value, evaluate, number
from swbuild.sw64.flow import ZERO, Unit, jump
from swbuild.sw64.instructions import shape
from swbuild.sw64.leaps import Jumps
from swbuild.sw64.program import Problem
from swbuild.sw64.semantics import Unknown, register, statement
from swbuild.sw64.syntax import Instruction, Label, memory_operand, register_number
from swbuild.sw64.unset import Unset, begins

__all__ = ["SAVED", "Body", "line_marker"]

#: Holds the address of a symbol for one instruction.
SCRATCH = 100
#: The caller's registers.
SAVED = (*range(9, 16), STACK)
_IGNORED = ("gpdisp",)
_REGISTER_WORD = re.compile(r"\bR\((\d+)\)")


class Body:
    """The statements of one unit."""

    def __init__(self, emitter: Emitter, unit: Unit) -> None:
        self.emitter, self.unit = emitter, unit
        self.made, self.symbols = emitter.made, emitter.symbols
        self.jumps = Jumps(emitter, unit)
        self.unset = Unset(unit)
        self.function = (unit.functions or [unit.name])[0]
        self.lines = self._statements()
        self.used = sorted({int(n) for line in self.lines for n in _REGISTER_WORD.findall(line)} | {26})

    def registers(self) -> list[int]:
        return [n for n in self.used if n not in (ZERO, SCRATCH)]

    def variables(self) -> list[str]:
        """Return the declarations of what the unit keeps beside the registers."""
        used = self.registers()
        whole = " || ".join(
            f"entry == {k}" for k, n in enumerate(self.unit.entries) if n in self.unit.functions
        )
        found = [f"    sw64_reg R({SCRATCH});"] if any(f"R({SCRATCH})" in line for line in self.lines) else []
        if STACK in used:
            found.append("    const unsigned long low = sw64_low(cpu), room = sw64_room(cpu);")
        return [
            *found,
            "    const unsigned long back = sw64_back(cpu);",
            f"    const int whole = {whole or 0};",
            "    unsigned long target;",
            *begins(self.unit, self.made.visible),
            *(["    unsigned turns = 0;"] if self.jumps.spins else []),
            *(f"    const unsigned long kept{n} = R({n}).u;" for n in SAVED if n in used),
        ]

    def targets(self) -> list[tuple[str, int]]:
        """Return the C labels that computed jumps may go to, with the numbers of their places."""
        places = [(label_name(n), k) for n, k in self.symbols.places.items() if n in self.jumps.own]
        return [*places, *self.jumps.returns]

    def _statements(self) -> list[str]:
        lines = []
        for k, item in enumerate(self.unit.items):
            lines.append(line_marker(*self.emitter.places[item.line]))
            if isinstance(item, Label):
                if item.name in self.unit.functions:
                    self.function = item.name
                self.unset.label()
                lines.append(f"{label_name(item.name)}: __attribute__((unused)); {_mark(item, k)}")
                continue
            try:
                lines.append(f"    {_mark(item, k)} {self._instruction(item, k)}")
            except Unknown as error:
                self._refuse(item, str(error) or f"the instruction '{item.mnemonic}' is not known")
            except ValueError as error:
                self._refuse(item, str(error) or f"'{item.mnemonic}' with operands that it cannot have")
        return lines

    def _refuse(self, item: Instruction, text: str) -> None:
        self.made.problems.append(Problem(item.line, text))

    def _instruction(self, item: Instruction, k: int) -> str:
        if item.relocation in _IGNORED:
            return ";"
        found = jump(item)
        text = self.jumps.text(item, found, k, self.function) if found else self._plain(item)
        return self.unset.before(item, found, self.function) + text

    def _plain(self, item: Instruction) -> str:
        known = shape(item)
        if known is None:
            raise Unknown(
                f"the instruction '{item.mnemonic}' with {len(item.operands)} operands is not known"
            )
        text, operands = "", []
        for letter, operand in zip(known.form, item.operands, strict=True):
            if letter == "m":
                before, operand = self._memory(item, operand)
                text += before
            elif register_number(operand) is None and letter in "in":
                operand = self._constant(operand)
            operands.append(operand)
        if text.endswith("!"):
            return text[:-1]
        text += statement(replace(item, operands=tuple(operands), relocation=""), self.emitter.machine)
        written = [operand for letter, operand in zip(known.form, operands, strict=True) if letter in "wu"]
        takes_stack = STACK in (register(operand, self.emitter.machine) for operand in written)
        return f'{text} SW64_STACK("{self.function}")' if takes_stack else text

    def _constant(self, operand: str) -> str:
        value = number(operand, self.made.constants)
        if value is None:
            raise ValueError(f"'{operand}' is neither a register nor a number")
        return str(value)

    def _memory(self, item: Instruction, operand: str) -> tuple[str, str]:
        """Return what has to be done first and the operand with a number; ``!`` ends what is all there is."""
        found = memory_operand(operand)
        text, base = (found.displacement, found.base) if found else (operand, ZERO)
        value = evaluate(text, self.made.constants) if text else Value()
        if value is None or value.minus:
            raise ValueError(f"'{operand}' is no address")
        if not value.symbol:
            return "", f"{value.offset}(${base})"
        return self._symbolic(item, value, base)

    def _symbolic(self, item: Instruction, value: Value, base: int) -> tuple[str, str]:
        relocation = item.relocation
        high, low = relocation.endswith("hi"), relocation.endswith("lo")
        if low:
            return "", f"{value.offset}(${base})"
        address = self.symbols.address(value.symbol, item.line, relocation.startswith(("tp", "dtp")))
        if relocation == "literal" and item.mnemonic == "ldl":
            return f"{self._take(item)} = (long)({address} + {value.offset});!", ""
        if high and item.mnemonic == "ldih":
            return f"{self._take(item)} = {value_of(base)} + (long){address};!", ""
        if relocation and relocation not in ("gprel", "gprel16", "tprel", "tprel16"):
            raise ValueError(f"the relocation '!{relocation}' of '{item.mnemonic}' is not known")
        if not relocation and base not in (ZERO, 29):
            raise ValueError(f"'{value.symbol}' with a base register needs a relocation")
        return f"R({SCRATCH}).u = {address};", f"{value.offset}(${SCRATCH})"

    def _take(self, item: Instruction) -> str:
        target = register_number(item.operands[0])
        if target is None:
            raise ValueError
        return f"R({target}).l" if target != ZERO else f"R({SCRATCH}).l"


def _mark(item: Label | Instruction, index: int) -> str:
    """Return what shows an item in compiled code whose work is counted (swbuild.emulator.model.marked)."""
    text = f"{item.name}:" if isinstance(item, Label) else f"{item.mnemonic} {', '.join(item.operands)}"
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'if (SW64_COUNTED) __asm__ volatile("# swbuild-sw64 {item.line} {index} {quoted}");'


def line_marker(path: str, line: int) -> str:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{quoted}"'
