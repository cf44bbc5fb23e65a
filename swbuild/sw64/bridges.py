"""The C between assembly and C: it puts arguments where the other side looks, and makes the stack.

The convention is the family's: arguments by position in $16 to $21 and then in 8-byte slots above $sp,
results in $0; on the host, floating point in the registers $f of the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from swbuild.sw64.notes import Notes
from swbuild.sw64.prototypes import CLASSES, Prototype
from swbuild.sw64.symbols import SHORT_DOUBLE
from swbuild.sw64.unset import after_call, given

__all__ = ["Links"]

_FIRST, _REGISTERS = 16, 6
_SLACK = 16384
_KERNEL = ("p",)
#: Functions with arguments by a format, as the ones that take the arguments as a list.
_BY_FORMAT = {
    **{
        name: "v" + name
        for name in ["printf", "fprintf", "sprintf", "snprintf", "dprintf", "scanf", "fscanf", "sscanf"]
    },
    "ordered_printf": "vprintf",
}
#: Functions of the hardware's counters, which do nothing here.
_COUNTERS = "penv_"


def _plain(name: str) -> str:
    return name.removeprefix("slave_")


class Links:
    """The bridges of one side of a program.

    ``named`` are the functions that C of this side names, so that its declarations must say what they take;
    ``defined`` those that C of this side defines.
    """

    def __init__(self, files: Sequence[Notes], slave: bool, named: set[str], defined: set[str]) -> None:
        self.files = [file for file in files if file.slave == slave]
        self.slave, self.named, self.defined = slave, named, defined
        self.problems: list[str] = []
        self.entries = {
            self._key(name): (file, unit) for file in self.files for name, unit in file.entries.items()
        }
        self.declared: dict[str, Prototype] = {}
        for file in self.files:
            for prototype in file.prototypes:
                self._declare(prototype)

    def text(self) -> str:
        """Return the C; ``problems`` says what has no bridge."""
        lines = ["#include <swemu_sw64_calls.h>", "#include <swemu_sw64_bridges.h>"]
        for name in self.entries:
            lines += self._inward(name)
        outward = self._outward_names()
        for name, place in outward.items():
            lines += self._outward(name, place)
        if any(file.indirect for file in self.files):
            lines += self._table([name for name in outward if name not in self.problems])
        return "\n".join(lines) + "\n"

    def lookups(self) -> dict[str, str]:
        """Return, by the names that assembly looks up, the symbols that they stand for."""
        found = {}
        for file in self.files:
            for name in file.addresses:
                is_function = self._key(name) in self.entries or self._key(name) in self.defined
                found[name] = self._symbol(name) if is_function else name
        return found

    def _key(self, name: str) -> str:
        return _plain(name) if self.slave else name

    def _symbol(self, name: str) -> str:
        return f"slave_{_plain(name)}" if self.slave else name

    def _entry(self, name: str) -> str:
        return f"__swemu_sw64_{'s' if self.slave else 'h'}_{self._key(name)}"

    def _declare(self, prototype: Prototype) -> None:
        key = self._key(prototype.name)
        old = self.declared.get(key)
        if old is None or old.parameters is None:
            self.declared[key] = prototype
        elif prototype.parameters is not None and _shape(prototype) != _shape(old) and key in self.entries:
            self.problems.append(
                f"{prototype.place}: error[SW601]: '{key}' is declared otherwise at {old.place}"
            )

    # ---- from C to assembly ----

    def _inward(self, name: str) -> list[str]:
        prototype = self._as_called(name, self.declared.get(name))
        file, unit = self.entries[name]
        if prototype is None or prototype.parameters is None:
            if name in self.named:
                place = prototype.place if prototype else file.path
                self.problems.append(
                    f"{place}: error[SW601]: no C file says what the assembly function '{name}' takes\n"
                    f"  hint: declare it with its parameters, or (void), in the C file that calls it"
                )
            prototype = Prototype(
                name, "p", ("i4", "p", "p") if name == "main" else _KERNEL, False, file.path
            )
        if self._unknown(prototype, prototype.place) or prototype.variadic:
            if prototype.variadic:
                self.problems.append(f"{prototype.place}: error[SW601]: '{name}' is assembly and takes '...'")
            return []
        return self._inward_text(name, prototype, self._need((id(file), unit), file, unit, ()))

    def _as_called(self, name: str, prototype: Prototype | None) -> Prototype | None:
        """Return the declaration, with the parameters that the calls show where it has none."""
        calls = {types for file in self.files for called, types in file.called if self._key(called) == name}
        if prototype is None or prototype.parameters is not None or len(calls) != 1:
            return prototype
        return replace(prototype, parameters=calls.pop())

    def _inward_text(self, name: str, prototype: Prototype, need: int) -> list[str]:
        types = prototype.parameters or ()
        arguments = ", ".join(f"{CLASSES[c]} a{k}" for k, c in enumerate(types)) or "void"
        result = "i4" if name == "main" else prototype.result
        head = f"{CLASSES[result]} {self._symbol(name)}({arguments})"
        slots = max(0, len(types) - _REGISTERS)
        return [
            f"void {self._entry(name)}(struct sw64_cpu *cpu);",
            f"{head};",
            head,
            "{",
            f"    SW64_ENTER({need}, {slots}, {given(len(types))}, {self._symbol(name)})",
            *(f"    {self._put(k, c)}" for k, c in enumerate(types)),
            f"    {self._entry(name)}(cpu);",
            "    SW64_LEAVE",
            *([] if result == "v" else [f"    return {self._get(0, 0, result, 0)};"]),
            "}",
        ]

    def _floating(self, register: int, kind: str) -> int:
        return register + 32 if not self.slave and kind in ("d", "f") else register

    def _put(self, k: int, kind: str) -> str:
        if k >= _REGISTERS:
            return f"*({CLASSES[_slot(kind)]} *)(stack + {8 * (k - _REGISTERS)}) = a{k};"
        register = f"cpu->r[{self._floating(_FIRST + k, kind)}]"
        return {
            "d": f"{register}.d = a{k};",
            "f": f"{register}.u = sw64_put_s(a{k});",
            "vd": f"{register}.vd = a{k};",
            "vf": f"{register}.vu = sw64_put_vs(a{k});",
            "u4": f"{register}.l = (int)a{k};",
        }.get(kind, f"{register}.l = (long)a{k};")

    def _get(self, first: int, k: int, kind: str, registers: int = _REGISTERS) -> str:
        if registers and k >= registers:
            return f"({CLASSES[kind]})*({CLASSES[_slot(kind)]} *)(cpu->r[30].u + {8 * (k - registers)})"
        register = f"cpu->r[{self._floating(first + k, kind)}]"
        return {
            "d": f"{register}.d",
            "f": f"sw64_get_s({register}.u)",
            "vd": f"{register}.vd",
            "vf": f"sw64_get_vs({register}.vu)",
        }.get(kind, f"({CLASSES[kind]}){register}.l")

    # ---- stack ----

    def _need(self, key: tuple[int, str], file: Notes, unit: str, above: tuple[tuple[int, str], ...]) -> int:
        """Return the stack that a unit and all that it calls take."""
        if key in above:
            return _SLACK
        deepest = 0
        for caller, target, _ in file.calls:
            if caller != unit:
                continue
            if not target.startswith("="):
                below = (file, target)
            elif self._key(target[1:]) in self.entries:
                below = self.entries[self._key(target[1:])]
            else:
                continue
            deepest = max(deepest, self._need((id(below[0]), below[1]), *below, (*above, key)))
        return file.units.get(unit, 0) + deepest

    # ---- from assembly to C ----

    def _outward_names(self) -> dict[str, str]:
        """Return what assembly calls that is C, with the place of a call."""
        found: dict[str, str] = {}
        for file in self.files:
            for _, target, line in file.calls:
                if target.startswith("=") and self._key(target[1:]) not in self.entries:
                    found.setdefault(self._key(target[1:]), f"{file.path}:{line}")
            if file.indirect:
                for name in self.declared:
                    if name in self.defined and name not in self.entries:
                        found.setdefault(name, f"{file.path}:{file.indirect}")
        return found

    def _outward(self, name: str, place: str) -> list[str]:
        real = name.removeprefix(SHORT_DOUBLE)
        prototype = self.declared.get(name) or self.declared.get(real)
        if prototype is None and name.startswith(_COUNTERS):
            prototype = Prototype(name, "v", ("p",), False, place)
        if prototype is None or prototype.parameters is None:
            self.problems.append(
                f"{place}: error[SW601]: '{name}' is called, and no C file says what parameters it takes\n"
                "  hint: a C file of the program has to declare it with its parameters"
            )
            return []
        if self._unknown(prototype, place):
            return []
        if prototype.variadic:
            return self._by_format(name, real, prototype, place)
        return self._outward_text(name, real, prototype, "")

    def _outward_text(self, name: str, real: str, prototype: Prototype, slots: str) -> list[str]:
        types = prototype.parameters or ()
        symbol = self._symbol(real)
        values = [self._get(_FIRST, k, kind) for k, kind in enumerate(types)]
        if slots:
            values[-1:] = ["(void *)format", slots]
        call = f"{symbol}({', '.join(values)})"
        declared = (
            ", ".join([*(CLASSES[kind] for kind in types), *(["__builtin_va_list"] if slots else [])])
            or "void"
        )
        result = f"cpu->r[{self._floating(0, prototype.result)}]"
        taken = {
            "v": call,
            "d": f"{result}.d = {call}",
            "f": f"{result}.u = sw64_put_s({call})",
            "vd": f"{result}.vd = {call}",
            "vf": f"{result}.vu = sw64_put_vs({call})",
            "u4": f"{result}.l = (int){call}",
        }.get(prototype.result, f"{result}.l = (long){call}")
        return [
            f"{CLASSES[prototype.result]} {symbol}({declared});",
            f"void {self._entry(name)}(struct sw64_cpu *cpu);",
            f"void {self._entry(name)}(struct sw64_cpu *cpu)",
            "{",
            *([f"    SW64_LIST({len(types)}, {32 * (not self.slave)})"] if slots else []),
            f"    {taken};",
            f"    {after_call(prototype.result != 'v')}",
            "}",
        ]

    def _by_format(self, name: str, real: str, prototype: Prototype, place: str) -> list[str]:
        if real not in _BY_FORMAT:
            self.problems.append(
                f"{place}: error[SW601]: '{name}' takes '...', which only the C library's formats tell"
            )
            return []
        return self._outward_text(name, _BY_FORMAT[real], prototype, "list")

    def _table(self, outward: Iterable[str]) -> list[str]:
        """Return the function that calls what a register points to."""
        names = [*self.entries, *(name for name in outward if name in self.defined)]
        rows = [f"    {{(void *){self._symbol(n)}, {self._entry(n)}}}," for n in names]
        return [
            "static const struct sw64_known known[] = {",
            *rows,
            "};",
            f"void {self._entry('')}(struct sw64_cpu *cpu, unsigned long address);",
            f"void {self._entry('')}(struct sw64_cpu *cpu, unsigned long address)",
            "{",
            "    for (unsigned long k = 0; k < sizeof known / sizeof *known; k++)",
            "        if ((unsigned long)known[k].address == address) {",
            "            known[k].function(cpu);",
            "            return;",
            "        }",
            '    __swemu_sw64_lost("a register", "is called, and holds no function of these", address, 0);',
            "}",
        ]

    def _unknown(self, prototype: Prototype, place: str) -> bool:
        """Note the types of values that cannot be passed; return whether there are any."""
        bad = [c for c in (prototype.result, *(prototype.parameters or ())) if c not in CLASSES]
        bad += [c for c in (prototype.parameters or ())[_REGISTERS:] if c in ("vd", "vf")]
        for text in bad[:1]:
            self.problems.append(
                f"{place}: error[SW601]: '{prototype.name}' takes or returns "
                f"a value of '{CLASSES.get(text, text)}', which is not passed between C and assembly here"
            )
        return bool(bad)


def _slot(kind: str) -> str:
    """Return the class of what an 8-byte slot of the stack holds."""
    return kind if kind in ("d", "f", "p") else "i8"


def _shape(prototype: Prototype) -> tuple[object, ...]:
    return prototype.result, prototype.parameters, prototype.variadic
