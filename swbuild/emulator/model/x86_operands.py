"""The operands of x86-64 code in AT&T syntax: registers without their width, addresses, numbers."""

from __future__ import annotations

import re

from swbuild.emulator.model.step import Address

__all__ = ["address", "is_memory", "mask", "number", "register", "registers", "split", "widest"]

#: Bytes of a vector register by the letter ahead of "mm".
_WIDTHS = {"x": 16, "y": 32, "z": 64}
_OPERANDS = re.compile(r"(?:[^,(]|\([^)]*\))+")
_ADDRESS = re.compile(
    r"(?:%[fg]s:)?(?P<text>[^(%]*)(?:\((?P<base>%\w+)?(?:,\s*(?P<index>%\w+)?(?:,\s*(?P<scale>\d))?)?\))?$"
)
_SYMBOL = re.compile(r"(?P<symbol>[A-Za-z_.$][\w.$@]*)?(?P<offset>[+-]?\d+)?(?:[+-].*)?$")


def split(text: str) -> list[str]:
    """Return the operands of an instruction in order."""
    return [part.strip() for part in _OPERANDS.findall(text)]


def widest(operands: list[str], default: int) -> int:
    """Return the bytes of the widest vector register among the operands."""
    return max((_WIDTHS[k] for k in re.findall(r"%([xyz])mm", " ".join(operands))), default=default)


def is_memory(operand: str) -> bool:
    """Return whether an operand lies in memory."""
    return not operand.startswith(("%", "$", "*%")) or operand.startswith(("%fs:", "%gs:"))


def address(text: str) -> Address:
    """Return an operand in memory as an address; one of another form is a symbol by its whole text."""
    match = _ADDRESS.match(text.split("{")[0].strip().lstrip("*"))
    if not match:
        return Address(text, 0, "", "", 1)
    symbol = _SYMBOL.match(match["text"].strip())
    name = symbol["symbol"] or "" if symbol else match["text"]
    offset = int(symbol["offset"] or 0) if symbol else 0
    base, index = (register(part) if part else "" for part in (match["base"], match["index"]))
    return Address(name, offset, "" if base == "ip" else base, index, int(match["scale"] or 1))


def number(text: str) -> int:
    """Return an immediate operand's value; an address counts as a number that fits no instruction."""
    try:
        return int(text[1:], 0)
    except ValueError:
        return 1 << 40  # an address


def mask(operand: str) -> tuple[str, ...]:
    """Return the mask register of a target such as ``%ymm1{%k1}``."""
    return tuple(re.findall(r"\{%(k\d)\}", operand))


def registers(text: str) -> tuple[str, ...]:
    """Return all registers in a text, but segments."""
    found = re.findall(r"%([a-z0-9]+)", text)
    return tuple(register("%" + name) for name in found if name not in ("fs", "gs"))


def register(text: str) -> str:
    """Return one name for all widths of a register: rax, eax, ax, al -> ax; xmm1, ymm1 -> v1; r8d -> r8."""
    name = text.split("{")[0].strip().lstrip("*%")
    if name[1:3] == "mm":
        return "v" + name[3:]
    if name[:1] == "r" and name[1:2].isdigit():
        return name.rstrip("dwb")
    short = name[1:] if name[:1] in ("r", "e") and len(name) == 3 else name
    if len(short) == 2 and short[1] in "lh":
        return short[0] + "x"
    return short.removesuffix("l") if len(short) == 3 else short
