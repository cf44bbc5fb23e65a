"""Units of code as C functions over a file of registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from swbuild.sw64.expressions import Value, evaluate, number
from swbuild.sw64.flow import ZERO, Jump, JumpKind, Unit, jump
from swbuild.sw64.instructions import shape
from swbuild.sw64.program import Problem, Program
from swbuild.sw64.semantics import Machine, Unknown, condition, register, statement
from swbuild.sw64.spins import spins
from swbuild.sw64.symbols import Symbols
from swbuild.sw64.syntax import Instruction, Label, memory_operand, register_number

__all__ = ["Emitter", "label_name"]

PROCEDURE, STACK = 27, 30
#: Holds the address of a symbol for one instruction.
SCRATCH = 100
SAVED = (*range(9, 16), STACK)
_IGNORED = ("gpdisp",)
_REGISTER_WORD = re.compile(r"\bR\((\d+)\)")


def label_name(name: str) -> str:
    """Return the C label of a label."""
    return "L" + re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}_", name)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of something outside the unit: for the link, which checks and connects them."""

    unit: str
    target: str
    line: int


@dataclass(slots=True)
class Emitter:
    """Writes the units of one file; what it cannot write is noted in the program's problems."""

    made: Program
    symbols: Symbols
    units: Sequence[Unit]
    machine: Machine
    places: Sequence[tuple[str, int]]
    where: dict[str, tuple[Unit, int]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    indirect: int = 0
    sites: int = 0

    def __post_init__(self) -> None:
        self.where = {name: (unit, k) for unit in self.units for k, name in enumerate(unit.entries)}

    def restart(self) -> None:
        """Begin anew; places of the code keep their numbers."""
        self.sites, self.calls = 0, []

    def name(self, unit: Unit) -> str:
        """Return the C name of a unit's function."""
        return f"sw64_unit_{self.units.index(unit)}"

    def entry(self, name: str) -> str:
        """Return the name of the function that assembly of other files calls."""
        plain = name.removeprefix("slave_") if self.symbols.slave else name
        return f"__swemu_sw64_{'s' if self.symbols.slave else 'h'}_{plain}"

    def unit(self, unit: Unit) -> list[str]:
        """Return the C lines of a unit."""
        body = _Body(self, unit)
        lines = body.lines()
        name = self.name(unit)
        return [
            *_macros(body),
            _line(*self.places[unit.items[0].line]),
            f"static void {name}(struct sw64_cpu *cpu, int entry)",
            "{",
            *[f"    sw64_reg R({n}) = sw64_get(cpu, {n});" for n in body.registers()],
            *body.variables(),
            "    switch (entry) {",
            *[f"    case {k}: goto {label_name(entry)};" for k, entry in enumerate(unit.entries)],
            "    }",
            *lines,
            *_tail(unit, body),
            "}",
            *(f"#undef {name}" for name in _MACROS),
        ]


_MACROS = ("SW64_SAVE", "SW64_LOAD", "SW64_STACK", "SW64_KEPT", "SW64_COMPUTED")


def _macros(body: _Body) -> list[str]:
    """Return what the statements of a unit say in short: to store, load and test its registers."""
    used = body.registers()
    save = " ".join(f"sw64_put(cpu, {n}, R({n}));" for n in used)
    load = " ".join(f"R({n}) = sw64_get(cpu, {n});" for n in used)
    stack = f"if (R({STACK}).u - low > room) __swemu_sw64_stack(name, R({STACK}).u, low, room, __LINE__);"
    changed = " | ".join(f"(R({n}).u != kept{n}) << {n - SAVED[0]}" for n in SAVED if n in used) or "0"
    kept = f"if (SW64_CHECKED && whole && ({changed})) __swemu_sw64_kept(name, {changed});"
    cases = " ".join(f"case {number}: goto {label};" for label, number in body.targets())
    what = "jumps to what is no place of it"
    lost = f'__swemu_sw64_lost(name, "{what}", target, __LINE__);'
    return [
        f"#define SW64_COMPUTED(name) switch (target - SW64_PLACE(0)) {{ {cases} }} {lost}",
        f"#define SW64_SAVE {save}",
        f"#define SW64_LOAD {load}",
        f"#define SW64_STACK(name) {stack}",
        f"#define SW64_KEPT(name) {kept}",
    ]


def _tail(unit: Unit, body: _Body) -> list[str]:
    """Return what the end of the code comes to."""
    name = (unit.functions or [unit.name])[0]
    return [
        _line(*body.emitter.places[unit.items[-1].line]),
        f'    __swemu_sw64_lost("{name}", "runs over the end of the code", 0, __LINE__);',
    ]


class _Body:
    """The statements of one unit."""

    def __init__(self, emitter: Emitter, unit: Unit) -> None:
        self.emitter, self.unit = emitter, unit
        self.made, self.symbols = emitter.made, emitter.symbols
        self.own = {item.name for item in unit.items if isinstance(item, Label)}
        self.returns: list[tuple[str, int]] = []
        self.function = (unit.functions or [unit.name])[0]
        self.spins = spins(unit.items)
        self.text = self._statements()
        self.used = sorted({int(n) for line in self.text for n in _REGISTER_WORD.findall(line)} | {26})

    def lines(self) -> list[str]:
        return self.text

    def registers(self) -> list[int]:
        return [n for n in self.used if n not in (ZERO, SCRATCH)]

    def variables(self) -> list[str]:
        """Return the declarations of what the unit keeps beside the registers."""
        used = self.registers()
        whole = " || ".join(
            f"entry == {k}" for k, n in enumerate(self.unit.entries) if n in self.unit.functions
        )
        found = [f"    sw64_reg R({SCRATCH});"] if any(f"R({SCRATCH})" in line for line in self.text) else []
        if STACK in used:
            found.append("    const unsigned long low = sw64_low(cpu), room = sw64_room(cpu);")
        return [
            *found,
            "    const unsigned long back = sw64_back(cpu);",
            f"    const int whole = {whole or 0};",
            "    unsigned long target;",
            *(["    unsigned turns = 0;"] if self.spins else []),
            *(f"    const unsigned long kept{n} = R({n}).u;" for n in SAVED if n in used),
        ]

    def targets(self) -> list[tuple[str, int]]:
        """Return the C labels that computed jumps may go to, with the numbers of their places."""
        places = [(label_name(n), k) for n, k in self.symbols.places.items() if n in self.own]
        return [*places, *self.returns]

    def _statements(self) -> list[str]:
        lines = []
        for k, item in enumerate(self.unit.items):
            lines.append(_line(*self.emitter.places[item.line]))
            if isinstance(item, Label):
                if item.name in self.unit.functions:
                    self.function = item.name
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
        if found:
            return self._jump(item, found, k)
        return self._plain(item)

    # ---- what is no jump ----

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
            return f"{self._take(item)} = {_read(base)} + (long){address};!", ""
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

    # ---- jumps ----

    def _jump(self, item: Instruction, found: Jump, k: int) -> str:
        if found.kind is JumpKind.CONDITION:
            return f"if {condition(item, self.emitter.machine)} {self._goto(found.target, k)}"
        if found.kind is JumpKind.GOTO:
            return self._link(found, "") + self._leave(item, found.target, k)
        if found.kind is JumpKind.CALL:
            return self._call(item, found, self._callee(item, found.target))
        if found.kind is JumpKind.CALL_REGISTER:
            return self._call(item, found, self._by_register(item, found, k))
        return self._computed(item, found, k)

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
        place = self.symbols.place(f"{self.emitter.name(self.unit)}:{self.emitter.sites}")
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

    def _computed(self, item: Instruction, found: Jump, k: int) -> str:
        label = f"S{len(self.returns)}"
        link = self._link(found, label) if found.link != ZERO else ""
        back = f'if (target == back) {{ SW64_KEPT("{self.function}") SW64_SAVE return; }}'
        go = f'SW64_COMPUTED("{self.function}")'
        text = f"target = {_read(found.base)}; {back} {self._elsewhere(item, found)}{link}{go}"
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


def _mark(item: Label | Instruction, index: int) -> str:
    """Return what shows an item in compiled code whose work is counted (swbuild.emulator.model.marked)."""
    text = f"{item.name}:" if isinstance(item, Label) else f"{item.mnemonic} {', '.join(item.operands)}"
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'if (SW64_COUNTED) __asm__ volatile("# swbuild-sw64 {item.line} {index} {quoted}");'


def _line(path: str, line: int) -> str:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{quoted}"'


def _read(register: int) -> str:
    return "0L" if register == ZERO else f"R({register}).l"
