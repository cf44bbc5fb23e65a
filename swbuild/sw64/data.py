"""Sections of data as assembly of the box, in sections of their own: positions in them are the file's.

Where a section is thread-local it lies in the LDM; red zones of checked mode may come between its variables,
so that positions are written as distances.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from swbuild.sw64.expressions import Value, evaluate, number
from swbuild.sw64.program import Problem, Program, Section, SectionKind
from swbuild.sw64.syntax import Directive, Label, split

__all__ = ["data_text", "section_symbol"]

#: By directive: the size of an element, and what the box's assembler calls it.
_ELEMENTS = {
    ".byte": (1, ".byte"),
    **dict.fromkeys((".short", ".half", ".hword", ".2byte"), (2, ".short")),
    **dict.fromkeys((".long", ".int", ".4byte"), (4, ".long")),
    **dict.fromkeys((".quad", ".8byte"), (8, ".quad")),
    ".float": (4, ".float"),
    ".double": (8, ".double"),
}
_HEADS = {
    SectionKind.DATA: (".data.sw64{}", '"aw",@progbits'),
    SectionKind.CONSTANTS: (".data.rel.ro.sw64{}", '"aw",@progbits'),
    SectionKind.ZEROS: (".bss.sw64{}", '"aw",@nobits'),
    SectionKind.LOCAL: (".tdata.sw64{}", '"awT",@progbits'),
    SectionKind.LOCAL_ZEROS: (".tbss.sw64{}", '"awT",@nobits'),
}
_STRINGS = {".ascii": "", ".asciz": "\\0", ".string": "\\0"}
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|.)")
_SILENT = (".weak", ".local", ".hidden", ".loc", ".file", ".ident", ".extern")
_GREATEST_ALIGNMENT = 12


def section_symbol(number: int) -> str:
    """Return the name of the place where the file's section of this number starts."""
    return f".Lsw64_section{number}"


@dataclass(slots=True)
class _Writer:
    """Writes one section; ``at`` is the position in it."""

    made: Program
    named: bool
    reference: Callable[[str], str]
    at: int = 0
    exact: bool = False
    waiting: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def write(self, item: Label | Directive) -> None:
        if isinstance(item, Label):
            self.waiting.append(f"{item.name}:")
        elif item.name in _ELEMENTS:
            self._elements(item, *_ELEMENTS[item.name])
        elif item.name in _STRINGS:
            self._strings(item)
        elif item.name in (".skip", ".space", ".zero"):
            self._skip(item, self._number(item, item.arguments.split(",")[0]))
        elif item.name == ".org":
            self._skip(item, self._number(item, item.arguments.split(",")[0]) - self.at)
        elif item.name in (".align", ".balign", ".p2align"):
            self._align(item)
        elif item.name in (".type", ".size"):
            self._object(item)
        elif item.name not in _SILENT:
            self._refuse(item, f"the directive '{item.name}' is not emulated")

    def place_labels(self) -> None:
        self.lines += self.waiting
        self.waiting = []

    def _refuse(self, item: Directive, text: str) -> None:
        self.made.problems.append(Problem(item.line, text))

    def _number(self, item: Directive, text: str) -> int:
        value = number(text, self.made.constants)
        if value is None:
            self._refuse(item, f"'{text.strip()}' is no number")
        return value or 0

    def _grow(self, size: int, line: str) -> None:
        self.place_labels()
        self.at += size
        self.lines.append(line)

    def _skip(self, item: Directive, size: int) -> None:
        if size < 0:
            self._refuse(item, f"'{item.name} {item.arguments}' goes back, from position {self.at}")
        elif size:
            self._grow(size, f"\t.zero\t{size}")
        else:
            self.place_labels()

    def _align(self, item: Directive) -> None:
        value = self._number(item, item.arguments.split(",")[0])
        power = value if item.name != ".balign" else max(value, 1).bit_length() - 1
        if not 0 <= power <= _GREATEST_ALIGNMENT:
            self._refuse(item, f"an alignment of 2 to the power of {power}")
            return
        self.exact = not power
        self._to_multiple(1 << power)

    def _to_multiple(self, size: int) -> None:
        if size > 1:
            self.lines.append(f"\t.p2align\t{size.bit_length() - 1}")
            self.at += -self.at % size

    def _elements(self, item: Directive, size: int, name: str) -> None:
        if not self.exact:
            self._to_multiple(size)
        for text in split(item.arguments, ","):
            value = text.strip() if name in (".float", ".double") else self._value(item, size, text)
            self._grow(size, f"\t{name}\t{value}")

    def _value(self, item: Directive, size: int, text: str) -> str:
        value = evaluate(text, self.made.constants)
        if value is None or (value.symbol and size != 8 and not value.minus):
            self._refuse(item, f"'{text.strip()}' is no value of {size} bytes")
            return "0"
        return self._text(value)

    def _text(self, value: Value) -> str:
        names = self.reference(value.symbol) if value.symbol else ""
        names += f"-{self.reference(value.minus)}" if value.minus else ""
        return f"{names}{value.offset:+d}" if names else str(value.offset)

    def _strings(self, item: Directive) -> None:
        for text in split(item.arguments, ","):
            inside = text.strip()[1:-1]
            data = "".join(
                f"\\{ord(_character(m[0])):03o}" for m in re.finditer(rf"{_ESCAPE.pattern}|.", inside, re.S)
            )
            data += {"": "", "\\0": "\\000"}[_STRINGS[item.name]]
            self._grow(data.count("\\"), f'\t.ascii\t"{data}"')

    def _object(self, item: Directive) -> None:
        name, _, rest = (part.strip() for part in item.arguments.partition(","))
        if self.named and item.name == ".type":
            self.lines.append(f"\t.type\t{name}, @object")
        elif self.named and (size := number(rest, self.made.constants)) is not None:
            self.lines.append(f"\t.size\t{name}, {size}")


def _character(text: str) -> str:
    if text[0] != "\\":
        return text
    if text[1] == "x":
        return chr(int(text[2:], 16) & 0xFF)
    if text[1].isdigit():
        return chr(int(text[1:], 8) & 0xFF)
    return {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}.get(text[1], text[1])


def data_text(made: Program, by_section: set[str], reference: Callable[[str], str]) -> list[str]:
    """Return the lines of assembly for all sections; ``by_section`` are those that code names as a whole.

    ``reference`` gives what the box's assembler calls a symbol.
    """
    lines: list[str] = []
    for k, section in enumerate(made.sections.values()):
        lines += _section_text(k, section, made, section.name in by_section, reference)
    for directive in made.common:
        lines += _common(directive, made)
    lines += [f"\t.globl\t{name}" for name in sorted(made.visible & labels(made))]
    return lines


def labels(made: Program) -> set[str]:
    """Return the names that the sections of data define."""
    return {item.name for s in made.sections.values() for item in s.items if isinstance(item, Label)}


def _section_text(
    k: int, section: Section, made: Program, whole: bool, reference: Callable[[str], str]
) -> list[str]:
    local = section.kind in (SectionKind.LOCAL, SectionKind.LOCAL_ZEROS)
    writer = _Writer(made, not (whole and local), reference)
    for item in section.items:
        writer.write(item)
    writer.place_labels()
    name, flags = _HEADS[section.kind]
    return [f"\t.section\t{name.format(k)},{flags}", "\t.p2align\t5", f"{section_symbol(k)}:", *writer.lines]


def _common(directive: Directive, made: Program) -> list[str]:
    name, size, *rest = (part.strip() for part in f"{directive.arguments},0".split(","))
    values = [number(text, made.constants) for text in (size, rest[0])]
    local = [f"\t.local\t{name}"] if directive.name == ".lcomm" else []
    return [*local, f"\t.comm\t{name},{values[0] or 0},{max(values[1] or 0, 16)}"]
