"""What an assembly file holds: its code in order, its data by section, what directives say of names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from swbuild.sw64.expressions import number
from swbuild.sw64.syntax import Directive, Instruction, Item, Label

__all__ = ["Problem", "Program", "Section", "SectionKind", "program"]

_LOCAL_REFERENCE = re.compile(r"(?<![\w.$])(\d+)([bf])(?![\w.$])")


class SectionKind(Enum):
    """What becomes of a section: debugging and unwinding information is skipped."""

    CODE = "code"
    DATA = "data"
    CONSTANTS = "constants"
    ZEROS = "zeros"
    LOCAL = "thread-local"
    LOCAL_ZEROS = "thread-local zeros"
    SKIPPED = "skipped"


#: By the beginning of the name, where the flags of the section do not tell.
_KINDS = {
    (".text", ".init", ".fini"): SectionKind.CODE,
    (".tdata", ".ldm", ".thread_local"): SectionKind.LOCAL,
    (".tbss",): SectionKind.LOCAL_ZEROS,
    (".rodata", ".rdata", ".srodata", ".lit"): SectionKind.CONSTANTS,
    (".bss", ".sbss"): SectionKind.ZEROS,
    (".data", ".sdata"): SectionKind.DATA,
}
_SKIPPED = (
    ".debug",
    ".eh_frame",
    ".note",
    ".comment",
    ".stab",
    ".line",
    ".mdebug",
    ".pdr",
    ".gcc_except",
    ".gptab",
)


@dataclass(slots=True)
class Section:
    """A section of data: its items in order, of all the places where the file goes on with it."""

    name: str
    kind: SectionKind
    items: list[Label | Directive] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Problem:
    """What cannot be translated, and where."""

    line: int
    text: str


@dataclass(slots=True)
class Program:
    """One assembly file."""

    code: list[Instruction | Label] = field(default_factory=list)
    sections: dict[str, Section] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    visible: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    common: list[Directive] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def program(items: Sequence[Item]) -> Program:
    """Sort the items of a file."""
    return _Sorter().sort(_numbered(items))


class _Sorter:
    def __init__(self) -> None:
        self.made = Program()
        self.stack = [".text"]
        self.previous = ".text"
        self.sections: dict[str, SectionKind] = {".text": SectionKind.CODE}
        self.actions: dict[str, Callable[[Directive], None]] = {
            ".section": self._section,
            ".pushsection": self._section,
            ".popsection": lambda _: self._pop(),
            ".previous": lambda _: self._enter(self.previous),
            **dict.fromkeys((".text", ".data", ".bss", ".sdata", ".sbss", ".rdata"), self._plain),
            **dict.fromkeys((".globl", ".global"), self._visible),
            ".ent": lambda d: self.made.functions.add(d.arguments.split(",")[0].strip()),
            ".type": self._type,
            **dict.fromkeys((".set", ".equ", ".equiv"), self._set),
            **dict.fromkeys((".comm", ".lcomm"), self.made.common.append),
        }

    def sort(self, items: Sequence[Item]) -> Program:
        for item in items:
            kind = self.sections[self.stack[-1]]
            action = self.actions.get(item.name) if isinstance(item, Directive) else None
            if action and isinstance(item, Directive):
                action(item)
            elif kind is SectionKind.SKIPPED:
                continue
            elif kind is SectionKind.CODE:
                self._code(item)
            elif isinstance(item, Instruction):
                self._refuse(item.line, f"'{item.mnemonic}' in the data section {self.stack[-1]}")
            else:
                self.made.sections[self.stack[-1]].items.append(item)
        return self.made

    def _code(self, item: Item) -> None:
        if not isinstance(item, Directive):
            self.made.code.append(item)
        elif item.name in _DATA:
            self._refuse(item.line, f"'{item.name}' among instructions: data belongs into a section of data")
        elif item.name not in _SILENT:
            self._refuse(item.line, f"the directive '{item.name}' is not emulated")

    def _refuse(self, line: int, text: str) -> None:
        self.made.problems.append(Problem(line, text))

    def _section(self, directive: Directive) -> None:
        name, _, rest = directive.arguments.partition(",")
        name = name.strip().strip('"')
        if name not in self.sections:
            self.sections[name] = _kind(name, rest)
        if directive.name == ".pushsection":
            self.stack.append(self.stack[-1])
        self._enter(name)

    def _plain(self, directive: Directive) -> None:
        self.sections.setdefault(directive.name, _kind(directive.name, ""))
        self._enter(directive.name)

    def _enter(self, name: str) -> None:
        self.previous, self.stack[-1] = self.stack[-1], name
        kind = self.sections[name]
        if kind not in (SectionKind.CODE, SectionKind.SKIPPED):
            self.made.sections.setdefault(name, Section(name, kind))

    def _pop(self) -> None:
        if len(self.stack) > 1:
            self.stack.pop()

    def _visible(self, directive: Directive) -> None:
        self.made.visible.update(name.strip() for name in directive.arguments.split(","))

    def _type(self, directive: Directive) -> None:
        name, _, kind = directive.arguments.partition(",")
        if kind.strip().lstrip("@%#").lower() in ("function", "2", "stt_func"):
            self.made.functions.add(name.strip())
        elif self.stack[-1] in self.made.sections:
            self.made.sections[self.stack[-1]].items.append(directive)

    def _set(self, directive: Directive) -> None:
        name, comma, value = directive.arguments.partition(",")
        if comma:
            self._constant(directive.line, name.strip(), value)

    def _constant(self, line: int, name: str, text: str) -> None:
        value = number(text, self.made.constants)
        if value is None:
            self._refuse(line, f"'{name}' is no number: {text.strip()}")
        else:
            self.made.constants[name] = value


#: Directives that mean nothing for what a program computes.
_SILENT = frozenset(
    (
        ".align",
        ".balign",
        ".p2align",
        ".arch",
        ".file",
        ".loc",
        ".ident",
        ".size",
        ".end",
        ".prologue",
        ".frame",
        ".mask",
        ".fmask",
        ".weak",
        ".hidden",
        ".internal",
        ".protected",
        ".local",
        ".cpu",
        ".version",
        ".usepv",
        ".usegp",
        ".gpvalue",
        ".option",
        ".nop",
        ".body",
        ".eflag",
        ".cfi_startproc",
        ".cfi_endproc",
        ".cfi_def_cfa_offset",
        ".cfi_offset",
        ".cfi_def_cfa",
        ".cfi_restore",
        ".cfi_def_cfa_register",
        ".cfi_sections",
        ".extern",
        ".verstamp",
    )
)
_DATA = frozenset(
    (
        ".byte",
        ".short",
        ".half",
        ".hword",
        ".2byte",
        ".4byte",
        ".8byte",
        ".word",
        ".long",
        ".int",
        ".quad",
        ".ascii",
        ".asciz",
        ".string",
        ".float",
        ".double",
        ".skip",
        ".space",
        ".org",
    )
)


def _kind(name: str, rest: str) -> SectionKind:
    flags = rest.split(",")[0].strip().strip('"')
    empty = "nobits" in rest
    if name.startswith(_SKIPPED):
        return SectionKind.SKIPPED
    if "T" in flags:
        return SectionKind.LOCAL_ZEROS if empty or name.startswith(".tbss") else SectionKind.LOCAL
    for starts, kind in _KINDS.items():
        if name.startswith(starts):
            return kind
    if "x" in flags:
        return SectionKind.CODE
    if "a" not in flags:
        return SectionKind.SKIPPED
    return SectionKind.ZEROS if empty else SectionKind.DATA if "w" in flags else SectionKind.CONSTANTS


def _numbered(items: Sequence[Item]) -> list[Item]:
    """Return the items with names for the labels that are numbers, and for what refers to them."""
    last: dict[str, str] = {}
    ends = [(k, item.name) for k, item in enumerate(items) if isinstance(item, Label) and item.name.isdigit()]
    names = {k: f".L{name}_swemu{k}" for k, name in ends}
    found: list[Item] = []
    for k, item in enumerate(items):
        if k in names and isinstance(item, Label):
            last[item.name] = names[k]
            item = Label(item.line, names[k])
        found.append(_renamed(item, last, _behind(k, ends, names)))
    return found


def _behind(k: int, ends: Sequence[tuple[int, str]], names: Mapping[int, str]) -> Callable[[str], str]:
    def label(name: str) -> str:
        return next((names[j] for j, other in ends if j > k and other == name), "")

    return label


def _renamed(item: Item, last: dict[str, str], following: Callable[[str], str]) -> Item:
    def resolved(match: re.Match[str]) -> str:
        return (last.get(match[1]) if match[2] == "b" else following(match[1])) or match[0]

    if isinstance(item, Instruction):
        operands = tuple(_LOCAL_REFERENCE.sub(resolved, operand) for operand in item.operands)
        return Instruction(item.line, item.mnemonic, operands, item.relocation, item.cycle)
    if isinstance(item, Directive) and item.name in _DATA - {".ascii", ".asciz", ".string"}:
        return Directive(item.line, item.name, _LOCAL_REFERENCE.sub(resolved, item.arguments))
    return item
