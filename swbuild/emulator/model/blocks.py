"""Assembly of the emulating machine as basic blocks, with what each hands on to the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from swbuild.emulator.model.instructions import steps
from swbuild.emulator.model.step import Role, Step
from swbuild.sw64.instructions import Kind

__all__ = ["Block", "Reader", "functions"]

_LABEL = re.compile(r"(?P<name>\.L\d+|[A-Za-z_$][\w$.]*):")
_SECTION = re.compile(
    r"\s*\.(?P<name>text|data|bss|section|pushsection|popsection|previous)\b\s*(?P<rest>.*)"
)
_FILE = re.compile(r'\s*\.file\s+(?P<number>\d+)\s+"(?P<one>[^"]*)"(?:\s+"(?P<two>[^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
#: How gcc's -fverbose-asm marks a place of the stack that holds a value for want of registers.
_SPILLED = "%sfp"
_ENDS = (Role.BRANCH, Role.JUMP, Role.CALL, Role.RETURN)


@dataclass(slots=True)
class Block:
    """A basic block: the line of text that it starts at, its labels, its place in the source and its steps.

    Its place is that of its first instruction, ``last`` the line of the last one.

    ``following`` are the numbers of the blocks behind it within its function, the target of its jump first;
    ``live`` are the registers whose values someone reads behind it, or is called with.
    """

    start: int
    labels: tuple[str, ...]
    file: str
    line: int
    steps: list[Step] = field(default_factory=list)
    following: tuple[int, ...] = ()
    live: frozenset[str] = frozenset()
    last: int = 0

    @property
    def end(self) -> Step | None:
        """Return the jump, call or return that ends the block, None where it falls through."""
        return self.steps[-1] if self.steps and self.steps[-1].role in _ENDS else None

    @property
    def loops(self) -> bool:
        """Return whether the block's jump goes to its own start."""
        return self.end is not None and self.end.role is Role.BRANCH and self.end.where in self.labels


class Reader:
    """One pass over the lines, with the section, the source place and the labels that hold.

    ``width`` is that of the core's vectors in bytes; ``roomy``: it has registers for the vectors and floating
    values, too, that the code keeps on the stack for want of them.
    """

    def __init__(self, text: str, width: int, roomy: bool = False) -> None:
        self.lines = text.splitlines()
        self.width, self.roomy = width, roomy
        self.files: dict[str, str] = {}
        self.file, self.line = "", 0
        self.sections, self.before = ["text"], "text"
        self.labels: tuple[str, ...] = ()
        self.block: Block | None = None

    def read(self) -> Iterator[Block]:
        """Yield the blocks; one ends behind a jump or a call, and ahead of a label."""
        for number, line in self.code():
            label = _LABEL.match(line)
            if label:
                if self.block is not None:
                    yield from self._finish()
                self.labels = (*self.labels, label["name"])
            else:
                yield from self._instruction(number, line)
        yield from self._finish()

    def code(self) -> Iterator[tuple[int, str]]:
        """Yield the labels and instructions with the numbers of their lines."""
        for number, line in enumerate(self.lines):
            if not self._directive(line) and self.sections[-1] == "text" and line.strip():
                yield number, line

    def _instruction(self, number: int, line: str) -> Iterator[Block]:
        if line.lstrip().startswith((".", "#")):
            return
        found = steps(line, self.width)
        if self.block is None:
            self.block = Block(number, self.labels, self.file, self.line)
            self.labels = ()
        self.block.steps += _in_registers(found, self.roomy) if _SPILLED in line else found
        self.block.last = self.line
        if any(step.role in _ENDS for step in found):
            yield from self._finish()

    def _finish(self) -> Iterator[Block]:
        if self.block is not None:
            yield self.block
            self.block = None

    def _directive(self, line: str) -> bool:
        """Take in a directive that says where we are; return whether the line was one."""
        if place := _LOC.match(line):
            self.file, self.line = self.files.get(place["file"], ""), int(place["line"])
        elif known := _FILE.match(line):
            name = f"{known['one']}/{known['two']}" if known["two"] else known["one"]
            absolute = known["two"] is not None and known["two"].startswith("/")
            self.files[known["number"]] = known["two"] if absolute else name
        elif section := _SECTION.match(line):
            self._enter(section["name"], section["rest"])
        else:
            return False
        return True

    def _enter(self, name: str, rest: str) -> None:
        if name == "popsection":
            self.sections = self.sections[:-1] or ["text"]
            return
        found = "text" if name == "text" or rest.lstrip().startswith(".text") else "other"
        if name == "previous":
            self.sections[-1], self.before = self.before, self.sections[-1]
            return
        self.before = self.sections[-1]
        if name == "pushsection":
            self.sections.append(found)
        else:
            self.sections[-1] = found


def _in_registers(found: Sequence[Step], roomy: bool) -> list[Step]:
    """Return the steps with values that x86 keeps on the stack, for want of registers, in registers.

    Without ``roomy`` integers only: the code spills vectors where the core does, too.
    """
    result = []
    for step in found:
        slot = f"slot{step.address.offset}" if step.address and step.address.base else ""
        if slot and step.role is Role.LOAD and (roomy or step.kind is Kind.LOAD):
            result.append(Step(Kind.NONE, Role.COPY, (slot,), step.target))
        elif (
            slot and step.role is Role.STORE and (roomy or not any(name[:1] == "v" for name in step.sources))
        ):
            source = step.sources or ("zero",)
            result.append(Step(Kind.NONE, Role.COPY, source, slot))
        else:
            result.append(replace(step, spilled=bool(step.address)))
    return result


def functions(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Return the blocks of each function: one starts at every label that is not local."""
    function: list[Block] = []
    for block in found:
        if function and any(not label.startswith(".L") for label in block.labels):
            yield function
            function = []
        function.append(block)
    if function:
        yield function
