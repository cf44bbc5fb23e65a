"""A piece of assembly whose branches stay inside it, as C: the inside of an inline assembly statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swbuild.sw64 import semantics
from swbuild.sw64.flow import ZERO, Jump, JumpKind, jump
from swbuild.sw64.instructions import reads, writes
from swbuild.sw64.semantics import OWN, Machine, Unknown
from swbuild.sw64.spins import spins
from swbuild.sw64.syntax import Directive, Instruction, Item, Label

__all__ = ["Piece", "piece"]

#: Directives that say nothing about what is computed.
_SILENT = frozenset({".align", ".p2align", ".balign", ".set", ".loc"})
_INSIDE = (JumpKind.CONDITION, JumpKind.GOTO)


@dataclass(frozen=True, slots=True)
class Piece:
    """C text, the registers of the processor that it uses, and instructions whose meaning is inferred."""

    text: str
    registers: frozenset[int]
    inferred: frozenset[str]


def piece(items: Sequence[Item], machine: Machine, name: str) -> Piece:
    """Return the C for the items; ``name`` spells a register by its number.

    A loop that only looks at memory lets others run at every turn.  Raises :class:`Unknown` for what has no
    known meaning, for branches that leave, and for registers of the processor that are read before the piece
    has set them.
    """
    code = _with_labels_of_its_own(_code(items))
    steps = [item for item in code if isinstance(item, Instruction)]
    _check(steps)
    waits = spins(code)
    labels = [item.name for item in code if isinstance(item, Label)]
    lines = [f"__label__ {','.join(labels)};"] if labels else []
    lines += ["unsigned __swemu_n=0;"] if waits else []
    flags = bool(waits) or len(steps) == 1  # what is looked at or set alone orders CPEs
    lines += [_line(item, machine, waits.get(k, ""), flags) for k, item in enumerate(code)]
    return Piece(
        re.sub(r"\bR\((\d+)\)", lambda match: name.format(match[1]), "".join(lines)),
        frozenset(n for step in steps for n in (*reads(step), *writes(step)) if n < OWN),
        frozenset(semantics.inferred(steps, machine)),
    )


def _code(items: Sequence[Item]) -> list[Instruction | Label]:
    for item in items:
        if isinstance(item, Directive) and item.name not in _SILENT:
            raise Unknown(f"directive '{item.name}' is not known")
    return [item for item in items if not isinstance(item, Directive)]


def _line(item: Instruction | Label, machine: Machine, word: str, volatile: bool) -> str:
    if isinstance(item, Label):
        return f"{item.name}:;"
    found = _jump(item)
    if found is None:
        return semantics.statement(item, machine, volatile=volatile)
    wait = f"__swemu_relax(__swemu_n++,{word});" if word else ""
    test = f"if({semantics.condition(item, machine)})" if found.kind is JumpKind.CONDITION else ""
    return f"{test}{{{wait}goto {found.target};}}"


def _jump(item: Instruction) -> Jump | None:
    try:
        found = jump(item)
    except ValueError:
        raise Unknown(f"'{item.mnemonic}' does not take these operands") from None
    if found and (found.kind not in _INSIDE or found.link != ZERO):
        raise Unknown(f"'{item.mnemonic}' in inline assembly: calls and returns are not emulated there")
    return found


def _with_labels_of_its_own(code: Sequence[Instruction | Label]) -> list[Instruction | Label]:
    """Return the code with names of labels that C takes, each once, and branches that go to them."""
    places = {k: item.name for k, item in enumerate(code) if isinstance(item, Label)}
    made: list[Instruction | Label] = []
    for k, item in enumerate(code):
        found = _jump(item) if isinstance(item, Instruction) else None
        if isinstance(item, Label):
            made.append(Label(item.line, f"__swemu_l{k}"))
        elif found is None:
            made.append(item)
        else:
            target = f"__swemu_l{_place(places, found.target, k)}"
            made.append(replace(item, operands=(*item.operands[:-1], target)))
    return made


def _place(places: dict[int, str], target: str, at: int) -> int:
    """Return where the label lies that a branch at ``at`` goes to."""
    found = [k for k, name in places.items() if name == target]
    if target[:-1].isdigit() and target[-1:] in ("b", "f"):
        near = [k for k, name in places.items() if name == target[:-1] and (k < at) == (target[-1] == "b")]
        found = near[-1:] if target[-1] == "b" else near[:1]
    if not found:
        raise Unknown(f"branch to '{target}', which is not in this statement")
    return found[0]


def _check(steps: Sequence[Instruction]) -> None:
    """Raise :class:`Unknown` where a register of the processor is read that nothing has set."""
    written: set[int] = set()
    for step in steps:
        for number in reads(step):
            if number < OWN and number not in written:
                raise Unknown(f"'{step.mnemonic}' reads ${number}, which this statement has not set")
        written |= set(writes(step))
