"""The basic blocks of host code, without what only x86's few and narrow registers make.

The management core has 32 registers, so a value that is stored to a place of the stack and loaded again in
the same block stays in a register there, and a store that nothing ever loads is no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from swbuild.emulator.model.host_operations import Operation, Unit, operations

__all__ = ["Block", "blocks"]

_LABEL = re.compile(r"(?P<name>\.L\d+|[A-Za-z_$][\w$.]*):")
_SECTION = re.compile(
    r"\s*\.(?P<name>text|data|bss|section|pushsection|popsection|previous)\b\s*(?P<rest>.*)"
)
_FILE = re.compile(r'\s*\.file\s+(?P<number>\d+)\s+"(?P<one>[^"]*)"(?:\s+"(?P<two>[^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_ADDRESSED = re.compile(r"\s*lea\w*\s[^#]*\(%rsp")


@dataclass(slots=True)
class Block:
    """A basic block: the line of text that it starts at, its place in the source and its operations.

    ``test`` is the block behind it if the two are a loop: a body, and the test into which the loop is
    entered.
    """

    start: int
    label: str
    file: str
    line: int
    operations: list[Operation] = field(default_factory=list)
    test: Block | None = None

    def jumps_to(self, label: str) -> bool:
        """Return whether the block's last jump goes to ``label``."""
        jumps = [operation.target for operation in self.operations if operation.unit is Unit.CONTROL]
        return bool(label) and bool(jumps) and jumps[-1] == label


def blocks(text: str) -> list[Block]:
    """Return the basic blocks of an assembly file, in order; a block ends behind a jump or a call."""
    reader = _Reader(text)
    found = list(reader.read())
    for function in _functions(found):
        if not reader.addressed.intersection(block.start for block in function):
            needed = _loaded_slots(block.operations for block in function)
            for block in function:
                block.operations = _without_detours(block.operations, needed)
    for body, test in pairwise(found):
        jumps = any(operation.unit is Unit.CONTROL for operation in body.operations)
        body.test = test if not jumps and test.jumps_to(body.label) else None
    return found


def _functions(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Return the blocks of each function: one starts at every label that is not local."""
    function: list[Block] = []
    for block in found:
        if block.label and not block.label.startswith(".L") and function:
            yield function
            function = []
        function.append(block)
    yield function


class _Reader:
    """One pass over the lines, with the section, the source place and the label that hold."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.files: dict[str, str] = {}
        self.file, self.line = "", 0
        self.sections = ["text"]
        self.label = ""
        self.block: Block | None = None
        self.addressed: set[int] = set()  # starts of the blocks that take the address of a stack place

    def read(self) -> Iterator[Block]:
        for number, line in enumerate(self.lines):
            if self._directive(line):
                continue
            label = _LABEL.match(line)
            if label:
                yield from self._finish(label["name"])
            elif self.sections[-1] == "text":
                yield from self._instruction(number, line)
        yield from self._finish("")

    def _instruction(self, number: int, line: str) -> Iterator[Block]:
        found = operations(line)
        starts = not line.lstrip().startswith((".", "#")) and bool(line.strip())
        if self.block is None and starts:
            self.block = Block(number, self.label, self.file, self.line)
        if self.block is not None:
            self.block.operations += found
            if _ADDRESSED.match(line):
                self.addressed.add(self.block.start)
        if any(operation.unit is Unit.CONTROL for operation in found):
            yield from self._finish("")

    def _finish(self, label: str) -> Iterator[Block]:
        if self.block is not None:
            yield self.block
        self.block, self.label = None, label

    def _directive(self, line: str) -> bool:
        """Take in a directive that says where we are; return whether the line was one."""
        if place := _LOC.match(line):
            self.file, self.line = self.files.get(place["file"], ""), int(place["line"])
        elif named := _FILE.match(line):
            self.files[named["number"]] = _path(named["one"], named["two"])
        elif section := _SECTION.match(line):
            self._enter(section["name"], section["rest"])
        else:
            return False
        return True

    def _enter(self, name: str, rest: str) -> None:
        kind = "text" if name == "text" or rest.startswith(".text") else "data"
        if name == "popsection":
            self.sections[-1:] = [] if len(self.sections) > 1 else ["text"]
        elif name == "pushsection":
            self.sections.append(kind)
        elif name == "previous":
            self.sections[-1] = "text"
        else:
            self.sections[-1] = kind


def _path(one: str, two: str | None) -> str:
    if two is None:
        return one
    return two if two.startswith("/") or not one else f"{one}/{two}"


def _loaded_slots(blocks: Iterable[Sequence[Operation]]) -> frozenset[str]:
    """Return the places of the stack from which some block loads what it has not stored itself."""
    found: set[str] = set()
    for block in blocks:
        stored: set[str] = set()
        for operation in block:
            if operation.role == "store":
                stored.add(operation.target)
            elif operation.role == "load" and operation.target not in stored:
                found.add(operation.target)
    return frozenset(found - {""})


def _without_detours(block: Sequence[Operation], needed: frozenset[str]) -> list[Operation]:
    """Return the block with loads of its own stack stores as moves, and stores outside ``needed`` gone."""
    stored: set[str] = set()
    result = []
    for operation in block:
        slot = operation.target
        if operation.role == "store" and slot:
            stored.add(slot)
            result.append(
                _as_move(operation, writes=frozenset({slot})) if slot not in needed else _named(operation)
            )
        elif operation.role == "load" and slot in stored:
            result.append(_as_move(operation, reads=frozenset({slot})))
        else:
            result.append(operation)
    return result


def _named(store: Operation) -> Operation:
    """Return a store that stays, with its place as a name that later loads in the block can read."""
    return replace(store, writes=store.writes | {store.target})


def _as_move(
    operation: Operation, reads: frozenset[str] | None = None, writes: frozenset[str] | None = None
) -> Operation:
    return replace(
        operation,
        unit=Unit.NONE,
        slots=0.0,
        latency=0.0,
        reads=operation.reads if reads is None else reads,
        writes=operation.writes if writes is None else writes,
    )
