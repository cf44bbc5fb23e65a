"""Translate an assembly file of the SW64 family to C, with the file's own lines.

The text goes the way of every C file of its side.  Beside it stands what the link has to know: which
functions the file defines and needs, and how much stack they take (``connect``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swbuild.sw64.data import data_text
from swbuild.sw64.emit import Emitter
from swbuild.sw64.expansion import expand
from swbuild.sw64.expressions import number
from swbuild.sw64.flow import Unit, units
from swbuild.sw64.frame import unit_text
from swbuild.sw64.instructions import writes
from swbuild.sw64.macros import Row
from swbuild.sw64.program import Program, program
from swbuild.sw64.semantics import HOST, SW3, SWS, inferred
from swbuild.sw64.symbols import TEXT, Symbols
from swbuild.sw64.syntax import Instruction, memory_operand, read

__all__ = ["Refused", "Translation", "translate"]

#: The section with the notes for the link.
NOTES = ".swbuild.sw64"
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"(?: \d)*$')
_STACK = 30
#: Taken once for a unit that changes $sp by more than a number, or that calls itself.
_SLACK = 16384


class Refused(Exception):
    """``file:line: error[SW601]: what``, one line for each thing that cannot be translated."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The C text, the external functions that it calls, and where instructions mean what is inferred."""

    text: str
    needs: tuple[str, ...]
    inferred: Mapping[str, str]


def translate(text: str, path: str, slave: bool, pro: bool = False) -> Translation:
    """Return the C for an assembly file; ``path`` is what messages call it.

    Raise :class:`Refused` for what has no known meaning, with all the places.
    """
    given = _places(text, path)
    expanded = expand(text)
    places = [(path, 0), *(given[row.line] for row in expanded.rows)]
    made = program(read(expanded.text))
    found = units(made)
    called = {name for unit in found for name in _called(unit, made)}
    symbols = Symbols(made, slave, called)
    machine = HOST if not slave else SWS if pro else SW3
    emitter = Emitter(made, symbols, found, machine, places)
    for _ in range(2):  # the second time all places are known whose addresses are taken
        emitter.restart()
        bodies = [unit_text(emitter, unit) for unit in found]
        data = data_text(made, symbols.sections, lambda name: symbols.reference(name, 0))
    wrong = [*expanded.problems, *((expanded.rows[p.line - 1], p.text) for p in made.problems)]
    if wrong:
        raise Refused("\n".join(_messages(given, wrong)))
    lines = [
        *_head(emitter),
        *symbols.declarations(),
        *_prototypes(emitter),
        *(line for body in bodies for line in body),
    ]
    lines += [*_entries(emitter), *_assembly([*data, *_code_places(symbols)])]
    notes = _notes(emitter, path)
    lines += _assembly(
        [f'\t.pushsection {NOTES},"",@progbits', *(_ascii(note) for note in notes), "\t.popsection"]
    )
    needs = {call.target[1:] for call in emitter.calls if call.target.startswith("=")}
    told = {name: "{}:{}".format(*places[line]) for name, line in inferred(made.code, machine).items()}
    return Translation("\n".join(lines) + "\n", tuple(sorted(needs)), told)


def _places(text: str, path: str) -> list[tuple[str, int]]:
    """Return for each line of the text, from 1 on, the file and the line that it comes from."""
    file, line = path, 0
    found = [(path, 0)]
    for row in text.split("\n"):
        marked = _MARKER.match(row)
        file, line = (marked[2], int(marked[1]) - 1) if marked else (file, line + 1)
        found.append((file, line))
    return found


def _messages(places: Sequence[tuple[str, int]], wrong: Iterable[tuple[Row, str]]) -> Iterator[str]:
    """Yield a message for each thing that is wrong, with the macros that led there, the innermost first."""
    for row, text in sorted(set(wrong), key=lambda found: found[0].line):
        calls = [f" (in macro '{name}', called at line {places[line][1]})" for name, line in row.via]
        yield "{}:{}: error[SW601]: ".format(*places[row.line]) + text + "".join(reversed(calls))


def _called(unit: Unit, made: Program) -> Iterable[str]:
    from swbuild.sw64.flow import JumpKind, jump

    for item in unit.items:
        if isinstance(item, Instruction):
            try:
                known = jump(item)
            except ValueError:
                continue
            if known and known.kind in (JumpKind.CALL, JumpKind.CALL_REGISTER) and known.target:
                yield known.target


def _head(emitter: Emitter) -> list[str]:
    return [
        "#include <swemu_sw64_calls.h>",
        "enum { SW64_CHECKED = 0 };",
        "enum { SW64_COUNTED = 0 };",
        f"enum {{ SW64_PLACES = {len(emitter.symbols.places) + 1} }};",
    ]


def _prototypes(emitter: Emitter) -> list[str]:
    """Return the declarations of the units and of what they call outside the file."""
    own = [f"static void {emitter.name(unit)}(struct sw64_cpu *cpu, int entry);" for unit in emitter.units]
    outside = sorted({call.target[1:] for call in emitter.calls if call.target.startswith("=")})
    found = [f"extern void {emitter.entry(name)}(struct sw64_cpu *cpu);" for name in outside]
    if emitter.indirect:
        found.append(f"extern void {emitter.entry('')}(struct sw64_cpu *cpu, unsigned long address);")
    return [*own, *found]


def _global_functions(emitter: Emitter) -> list[tuple[str, Unit, int]]:
    return [(name, *place) for name, place in emitter.where.items() if name in emitter.made.visible]


def _entries(emitter: Emitter) -> list[str]:
    """Return what other files call."""
    return [
        f"void {emitter.entry(name)}(struct sw64_cpu *cpu);"
        f"void {emitter.entry(name)}(struct sw64_cpu *cpu) {{ {emitter.name(unit)}(cpu, {k}); }}"
        for name, unit, k in _global_functions(emitter)
    ]


def _assembly(lines: Sequence[str]) -> list[str]:
    """Return a statement of assembly outside functions; behind it the section is the code's, as before it."""
    quoted = [line.replace("\\", "\\\\").replace('"', '\\"') for line in [*lines, "\t.text"]]
    return ["__asm__(", *(f'    "{line}\\n"' for line in quoted), ");"]


def _code_places(symbols: Symbols) -> list[str]:
    return ['\t.section\t.rodata.sw64text,"a",@progbits', f"{TEXT}:", f"\t.zero\t{len(symbols.places) + 1}"]


def _ascii(note: str) -> str:
    return '\t.ascii\t"' + note.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def _notes(emitter: Emitter, path: str) -> list[str]:
    """Return the notes: the file, units with their stack, entries, calls, names to look up."""
    side = "slave" if emitter.symbols.slave else "host"
    found = [f"file\t{side}\t{path}"]
    for unit in emitter.units:
        found.append(f"unit\t{emitter.name(unit)}\t{_stack(unit, emitter.made)}")
    found += [f"entry\t{emitter.name(unit)}\t{name}" for name, unit, _ in _global_functions(emitter)]
    found += sorted(
        {f"call\t{c.unit}\t{c.target}\t{emitter.places[c.line][1]}" for c in emitter.calls}, key=lambda n: n
    )
    found += [f"address\t{name}\t{emitter.places[line][1]}" for name, line in emitter.symbols.asked.items()]
    return found + ([f"indirect\t{emitter.places[emitter.indirect][1]}"] if emitter.indirect else [])


def _stack(unit: Unit, made: Program) -> int:
    """Return how far the unit takes $sp down, at most."""
    size = 0
    for item in unit.items:
        if isinstance(item, Instruction) and _STACK in writes(item):
            size += _lowered(item, made)
    return size


def _lowered(item: Instruction, made: Program) -> int:
    if item.mnemonic not in ("ldi", "ldih"):
        return 0 if item.mnemonic == "mov" or item.mnemonic.startswith("ld") else _SLACK
    address = memory_operand(item.operands[1])
    value = number(address.displacement or "0", made.constants) if address and address.base == _STACK else 0
    scale = 1 if item.mnemonic == "ldi" else 65536
    return max(0, -(value or 0) * scale)
