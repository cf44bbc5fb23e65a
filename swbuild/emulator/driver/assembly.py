"""Translate inline assembly of the Sunway processors into C.

A statement ``asm volatile("putr %0,%1\\n" :: "r"(v), "r"(d) : "memory")`` becomes a block with a register for
each operand: they are loaded from the inputs, go through the instructions (``swbuild.sw64``), and are stored
to the outputs.  What is not known is an error at its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swbuild.sw64 import expansion, pieces, semantics, syntax
from swbuild.sw64.semantics import OWN, Machine, Unknown

__all__ = ["MACHINES", "Translation", "Unknown", "translate"]

#: Whose registers and instructions code has: by name for the CPEs of a machine, and the host's.
MACHINES = {machine.name: machine for machine in (semantics.SW3, semantics.SWS, semantics.HOST)}
_NAME = "__swemu_r{}"
_OPERAND = re.compile(r"%(?:\[(\w+)\]|(\d+)|(%)|(=)|(\w\d*))")
_PART = re.compile(r'^(?:\[(\w+)\]\s*)?((?:"[^"]*"\s*)+)\((.*)\)$', re.DOTALL)
_LITERAL = re.compile(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*$")
_IMMEDIATE = frozenset("inIJKLMNOP")


@dataclass(frozen=True, slots=True)
class Translation:
    """C text, and the instructions in it whose meaning is inferred."""

    code: str
    inferred: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand: ``number`` of its register, which a matching constraint shares with another operand."""

    number: int
    constraint: str
    expression: str
    output: bool

    @property
    def memory(self) -> bool:
        letters = set(self.constraint)
        return bool(letters & set("moV")) and not letters & set("rfg")

    @property
    def immediate(self) -> bool:
        return bool(self.constraint) and set(self.constraint) <= _IMMEDIATE

    @property
    def loaded(self) -> bool:
        return not self.immediate and (not self.output or "+" in self.constraint or self.memory)

    @property
    def stored(self) -> bool:
        return self.output and not self.memory

    def text(self) -> str:
        """Return what stands for the operand in the template."""
        if not self.immediate:
            return f"0(${self.number})" if self.memory else f"${self.number}"
        literal = _LITERAL.match(self.expression.strip("() "))
        return literal[1] if literal else f"__swemu_i{self.number}"


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator outside brackets and strings."""
    parts, depth, quote, start, k = [], 0, "", 0, 0
    while k < len(text):
        c = text[k]
        if quote:
            if c == "\\":
                k += 1
            elif c == quote:
                quote = ""
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and not depth:
            parts.append(text[start:k])
            start = k + 1
        k += 1
    return [*parts, text[start:]]


def _template(text: str) -> str:
    """Return the value of adjacent string literals, as far as assembly uses escapes."""
    whole = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.DOTALL))
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " "}.get(m[1], m[1]), whole, flags=re.DOTALL)


def _operands(sections: Sequence[str]) -> tuple[list[_Operand], dict[str, int]]:
    """Return the operands of the outputs and inputs in order, and their numbers by name."""
    found: list[_Operand] = []
    names: dict[str, int] = {}
    for output, section in zip((True, False), sections, strict=False):
        for part in _split(section, ","):
            match = _PART.match(part.strip())
            if not match:
                continue
            constraint = re.sub(r'[\s"=&%*!?]', "", match[2])
            same = re.match(r"\[(\w+)\]$|(\d+)$", constraint)
            number = len(found) if not same else int(same[2]) if same[2] else names.get(same[1], len(found))
            if match[1]:
                names[match[1]] = len(found)
            found.append(_Operand(OWN + number, constraint, match[3].strip(), output))
    return found, names


def _put_in(template: str, operands: Sequence[_Operand], names: dict[str, int]) -> str:
    """Return the template with the operands put in."""

    def text(match: re.Match[str]) -> str:
        if match[3] or match[4]:
            return "%" if match[3] else "0"
        index = names.get(match[1], -1) if match[1] else int(match[2] or -1)
        if not 0 <= index < len(operands):
            raise Unknown(f"operand '{match[0]}' is not known")
        return operands[index].text()

    return _OPERAND.sub(text, template)


def _kind(is_c: bool) -> str:
    if is_c:
        return "_Generic(__swemu_operand,float:1,sw64_vs:2,default:0)"
    return "__swemu_kind(__swemu_operand)"


def _load(operand: _Operand, is_c: bool) -> str:
    register, value = _NAME.format(operand.number), f"({operand.expression})"
    if operand.memory:
        return f"{register}.u=(unsigned long)&{value};"
    decayed = f"{value}+0" if is_c else f"+{value}"  # no array, and nothing smaller than an int
    return (
        f"{{__typeof__({decayed}) __swemu_operand={value};"
        f"sw64_in(&{register},&__swemu_operand,sizeof __swemu_operand,{_kind(is_c)});}}"
    )


def _store(operand: _Operand, is_c: bool) -> str:
    value = f"({operand.expression})"
    register = _NAME.format(operand.number)
    return (
        f"{{__typeof__({value}) __swemu_operand;"
        f"sw64_out(&{register},(void*)&__swemu_operand,sizeof __swemu_operand,{_kind(is_c)});"
        f"{value}=__swemu_operand;}}"
    )


def translate(body: str, machine: Machine = semantics.SW3, is_c: bool = True) -> Translation | None:
    """Return the C for the inside of an asm statement; None to keep it (an empty template).

    Raises :class:`Unknown` for what is not emulated.
    """
    sections = _split(body, ":")
    template = _template(sections[0])
    if not syntax.read(template):
        return None
    operands, names = _operands(sections[1:3])
    expanded = expansion.expand(_put_in(template, operands, names))
    if expanded.problems:
        raise Unknown(expanded.problems[0][1])
    piece = pieces.piece(expanded.items(), machine, _NAME)
    used = sorted(piece.registers | {operand.number for operand in operands if not operand.immediate})
    constants = [o for o in operands if o.immediate and o.text().startswith("__swemu_")]
    lines = [f"const long {o.text()}=(long)({o.expression});" for o in constants]
    lines += [f"sw64_reg {','.join(f'{_NAME.format(n)}={{0}}' for n in used)};"] if used else []
    lines += [_load(operand, is_c) for operand in operands if operand.loaded]
    barrier = '__asm__ volatile("":::"memory");' if '"memory"' in "".join(sections[3:]) else ""
    lines += [barrier, "{", piece.text, "}", barrier]
    lines += [_store(operand, is_c) for operand in operands if operand.stored]
    return Translation("{" + "".join(lines) + "}", frozenset(piece.inferred))
