"""Jumps of a unit as C: within it, to other units, to other files, and through registers."""

from __future__ import annotations

import re

from swbuild.sw64.emit import PROCEDURE, Call, Emitter, label_name, value_of
from swbuild.sw64.flow import ZERO, Jump, JumpKind, Unit, jump
from swbuild.sw64.semantics import condition
from swbuild.sw64.spins import spins
from swbuild.sw64.syntax import Instruction, Label, memory_operand, register_number

__all__ = ["Jumps"]


class Jumps:
    """The jumps of one unit; ``returns`` are the C labels behind those that leave their address."""

    def __init__(self, emitter: Emitter, unit: Unit) -> None:
        self.emitter, self.unit = emitter, unit
        self.own = {item.name for item in unit.items if isinstance(item, Label)}
        self.spins = spins(unit.items)
        self.returns: list[tuple[str, int]] = []

    def text(self, item: Instruction, found: Jump, k: int, function: str) -> str:
        if found.kind is JumpKind.CONDITION:
            return f"if {condition(item, self.emitter.machine)} {self._goto(found.target, k)}"
        if found.kind is JumpKind.GOTO:
            return self._link(found, "") + self._leave(item, found.target, k)
        if found.kind is JumpKind.CALL:
            return self._call(item, found, self._callee(item, found.target))
        if found.kind is JumpKind.CALL_REGISTER:
            return self._call(item, found, self._by_register(item, found, k))
        return self._computed(item, found, function)

    def _goto(self, target: str, k: int) -> str:
        if target in self.own:
            word = self.spins.get(k)
            wait = f"__swemu_relax(turns++, {word}); " if word else ""
            return f"{{ {wait}goto {label_name(target)}; }}"
        return "{ " + self._leave(self._at(k), target, k) + " }"

    def _at(self, k: int) -> Instruction:
        item = self.unit.items[k]
        assert isinstance(item, Instruction)
        return item

    def _leave(self, item: Instruction, target: str, k: int) -> str:
        """Return a jump to a label of the unit, or a call behind which the unit returns."""
        if target in self.own:
            return self._goto(target, k)
        callee = self._callee(item, target)
        return f"sw64_call(cpu, back); SW64_SAVE {callee}; return;"

    def _link(self, found: Jump, label: str) -> str:
        """Return the assignment of the address behind the jump."""
        if found.link == ZERO:
            return ""
        place = self.emitter.symbols.place(f"{self.emitter.name(self.unit)}:{self.emitter.sites}")
        self.emitter.sites += 1
        if label:
            self.returns.append((label, place))
        return f"R({found.link}).u = SW64_PLACE({place}); "

    def _callee(self, item: Instruction, target: str) -> str:
        known = self.emitter.where.get(target)
        if known:
            unit, entry = known
            if unit is not self.unit:
                self.emitter.calls.append(
                    Call(self.emitter.name(self.unit), self.emitter.name(unit), item.line)
                )
            else:
                self.emitter.calls.append(Call(self.emitter.name(unit), self.emitter.name(unit), item.line))
            return f"{self.emitter.name(unit)}(cpu, {entry})"
        if not re.fullmatch(r"[A-Za-z_][\w$]*", target):
            raise ValueError(f"'{target}' is no label of this file")
        self.emitter.calls.append(Call(self.emitter.name(self.unit), f"={target}", item.line))
        return f"{self.emitter.entry(target)}(cpu)"

    def _call(self, item: Instruction, found: Jump, callee: str) -> str:
        if found.link == ZERO:
            return f"sw64_call(cpu, back); SW64_SAVE {callee}; return;"
        link = self._link(found, "")
        return f"{link}sw64_call(cpu, R({found.link}).u); SW64_SAVE {callee}; SW64_LOAD"

    def _by_register(self, item: Instruction, found: Jump, k: int) -> str:
        """Return the call of a function by its address: of a known one if that was loaded here."""
        for before in reversed(self.unit.items[:k]):
            if isinstance(before, Label) or jump(before):
                break
            if before.operands and register_number(before.operands[0]) == found.base:
                address = memory_operand(before.operands[-1])
                if before.relocation == "literal" and address and address.displacement == found.target:
                    return self._callee(item, found.target)
                break
        self.emitter.indirect = self.emitter.indirect or item.line
        return f"{self.emitter.entry('')}(cpu, R({found.base}).u)"

    def _computed(self, item: Instruction, found: Jump, function: str) -> str:
        label = f"S{len(self.returns)}"
        link = self._link(found, label) if found.link != ZERO else ""
        back = f'if (target == back) {{ SW64_KEPT("{function}") SW64_SAVE return; }}'
        go = f'SW64_COMPUTED("{function}")'
        text = f"target = {value_of(found.base)}; {back} {self._elsewhere(item, found)}{link}{go}"
        return text + (f" {label}:;" if link else "")

    def _elsewhere(self, item: Instruction, found: Jump) -> str:
        """Return the call of another function instead of a jump in this one."""
        if item.mnemonic != "jmp" or found.link != ZERO:
            return ""
        if found.target and found.target not in self.own:
            return f"{self._leave(item, found.target, 0)} "
        if found.base != PROCEDURE:
            return ""
        self.emitter.indirect = self.emitter.indirect or item.line
        callee = f"{self.emitter.entry('')}(cpu, target)"
        outside = "target - SW64_PLACE(0) >= SW64_PLACES"
        return f"if ({outside}) {{ sw64_call(cpu, back); SW64_SAVE {callee}; return; }} "
