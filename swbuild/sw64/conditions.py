"""Conditions of the assembler: ``.if`` and its relatives, as GNU as has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from swbuild.sw64.expressions import number
from swbuild.sw64.macros import Row, directive

__all__ = ["alternatives", "holds"]

_COMPARED: dict[str, Callable[[int], bool]] = {
    ".if": lambda value: value != 0,
    ".ifne": lambda value: value != 0,
    ".ifeq": lambda value: value == 0,
    ".iflt": lambda value: value < 0,
    ".ifle": lambda value: value <= 0,
    ".ifgt": lambda value: value > 0,
    ".ifge": lambda value: value >= 0,
}


def alternatives(body: Sequence[Row], k: int) -> tuple[list[tuple[int, int]], int | None]:
    """Return where the parts of a condition at ``k`` begin and end, and its ``.endif``, if there is one."""
    found: list[tuple[int, int]] = []
    begin, depth = k, 0
    for j in range(k + 1, len(body)):
        word = directive(body[j])
        if word == ".endif" and not depth:
            return [*found, (begin, j)], j
        if word in (".else", ".elseif") and not depth:
            found.append((begin, j))
            begin = j
        depth += word.startswith(".if") - (word == ".endif")
    return found, None


def holds(name: str, rest: str, constants: Mapping[str, int], labels: Collection[str]) -> bool:
    """Return whether a condition holds; raise ValueError for one that is not known."""
    if name in _COMPARED:
        value = number(rest, constants)
        if value is None:
            raise ValueError(f"'{rest.strip()}' is no number here")
        return _COMPARED[name](value)
    if name in (".ifdef", ".ifndef", ".ifnotdef"):
        return (rest.strip() in constants or rest.strip() in labels) == (name == ".ifdef")
    if name in (".ifb", ".ifnb"):
        return (not rest.strip(' \t"')) == (name == ".ifb")
    if name in (".ifc", ".ifnc", ".ifeqs", ".ifnes"):
        first, _, second = rest.partition(",")
        same = first.strip().strip("'") == second.strip().strip("'")
        return same == (name in (".ifc", ".ifeqs"))
    raise ValueError(f"the directive '{name}' is not emulated")
