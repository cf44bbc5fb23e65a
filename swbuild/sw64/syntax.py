"""Read assembly of the SW64 family: labels, directives and instructions, each with its line.

Sources of the syntax: listings of ``sw5cc -S`` and ``swgcc -S``, and hand-written files that people ran.
Operands come in the order sources first, destination last; memory operands are ``displacement($base)``; a
relocation (``!literal``, ``!gpdisp!3``, ``!tprelhi``) follows the operands; ``#`` starts a comment, and
``# [n]`` in one is the cycle within its basic block at which the compiler's scheduler placed the
instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Directive",
    "Instruction",
    "Item",
    "Label",
    "Memory",
    "memory_operand",
    "read",
    "register_number",
    "split",
    "without_block_comments",
    "without_comment",
]

#: Names of registers beside their numbers.
ALIASES = {"fp": 15, "ra": 26, "at": 28, "gp": 29, "sp": 30, "zero": 31, "r15": 15}

_LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$]*|\d+)\s*:")
_CYCLE = re.compile(r"#\s*\[(\d+)\]")
_RELOCATION = re.compile(r"\s*!(\w+)(?:!(\d+))?\s*$")
_REGISTER = re.compile(r"\$([rf])?(\d+)$|\$(\w+)$")
_MEMORY = re.compile(r"(.*?)\(\s*(\$\w+)\s*\)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the text, by name; a name of digits alone is local (``1b``, ``1f``)."""

    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Directive:
    """``name`` with its dot; ``arguments`` as they stand, without comment."""

    line: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """``relocation`` is a name such as ``literal``, or empty; ``cycle`` the compiler's ``# [n]``, or None."""

    line: int
    mnemonic: str
    operands: tuple[str, ...]
    relocation: str = ""
    cycle: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """An address: a displacement (a number or an expression of symbols; empty is 0) and a base register."""

    displacement: str
    base: int


Item = Label | Directive | Instruction


def read(text: str) -> list[Item]:
    """Return the items of an assembly file in order; lines count from 1.

    Text after ``//`` and in ``/* */`` (files that went through the C preprocessor) is comment, too.
    """
    items: list[Item] = []
    for number, line in enumerate(without_block_comments(text).split("\n"), 1):
        items += _items(line, number)
    return items


def without_block_comments(text: str) -> str:
    """Return the text with nothing but ends of lines in place of comments that may span several."""
    return re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)


def _items(line: str, number: int) -> list[Item]:
    """Return the items of one line: any labels, and statements separated by semicolons."""
    code, comment = without_comment(line)
    cycle = _CYCLE.match(comment)
    found: list[Item] = []
    for part in split(code, ";"):
        while match := _LABEL.match(part):
            found.append(Label(number, match[1]))
            part = part[match.end() :]
        if part.strip():
            found.append(_statement(part.strip(), number, int(cycle[1]) if cycle else None))
    return found


def _statement(text: str, number: int, cycle: int | None) -> Item:
    name, _, rest = text.replace("\t", " ").partition(" ")
    if name.startswith("."):
        return Directive(number, name, rest.strip())
    relocation = _RELOCATION.search(rest)
    if relocation:
        rest = rest[: relocation.start()]
    operands = tuple(part.strip() for part in split(rest, ",")) if rest.strip() else ()
    return Instruction(number, name.lower(), operands, relocation[1] if relocation else "", cycle)


def without_comment(line: str) -> tuple[str, str]:
    """Return the code of a line and its comment, which begins outside strings."""
    quoted = False
    for k, character in enumerate(line):
        if character == '"' and (k == 0 or line[k - 1] != "\\"):
            quoted = not quoted
        elif not quoted and (character == "#" or line.startswith("//", k)):
            return (line[:k], line[k:])
    return line, ""


def split(text: str, separator: str) -> list[str]:
    """Split outside brackets and strings."""
    parts, depth, quoted, start = [], 0, False, 0
    for k, character in enumerate(text):
        if character == '"' and text[k - 1 : k] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character == separator and not depth:
            parts.append(text[start:k])
            start = k + 1
        else:
            depth += (character == "(") - (character == ")")
    return [*parts, text[start:]]


def register_number(operand: str) -> int | None:
    """Return the number of a register operand (``$5``, ``$sp``), None for what is no register.

    Floating registers with names of their own (``$f5``) follow the others, from 32 on; ``$f31`` is zero, as
    ``$31`` is.
    """
    match = _REGISTER.match(operand)
    if not match:
        return None
    if match[2]:
        number = int(match[2])
        return number + 32 if match[1] == "f" and number != 31 else number
    return ALIASES.get(match[3])


def memory_operand(operand: str) -> Memory | None:
    """Return the address of a memory operand, None for what is none; ``($5)`` has an empty displacement."""
    match = _MEMORY.match(operand)
    base = register_number(match[2]) if match else None
    return Memory(match[1].strip(), base) if match and base is not None else None
