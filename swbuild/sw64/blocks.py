"""Basic blocks of a file of assembly, the loops among them, and what they cost on the pipes, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from swbuild.sw64.instructions import Kind, shape
from swbuild.sw64.pipeline import Operation, Rules, Slot, costs, issue, turns
from swbuild.sw64.rules import operation
from swbuild.sw64.syntax import Directive, Instruction, Item, Label

__all__ = ["Block", "LineCost", "basic_blocks", "function", "line_costs", "operations"]

_NAMES = re.compile(r"[A-Za-z_.$][\w.$]*")
_BACKWARD = re.compile(r"(\d+)b")
_DECLARING = {".ent", ".globl", ".global", ".weak"}
_DATA = {".word", ".long", ".quad", ".4byte", ".8byte", ".gprel32"}
_ENDS = {Kind.BRANCH, Kind.CALL}


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after another, never none, and the labels in front of them."""

    labels: tuple[str, ...]
    instructions: tuple[Instruction, ...]

    @property
    def loops(self) -> bool:
        """Return whether the block ends in a branch to its own begin."""
        last = self.instructions[-1]
        known = shape(last)
        if known is None or known.kind is not Kind.BRANCH:
            return False
        backward = _BACKWARD.fullmatch(last.operands[-1])
        return (backward[1] if backward else last.operands[-1]) in self.labels


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one pass of a line's instructions takes: cycles, those of them that stall, and who waits there."""

    cycles: float = 0.0
    stalls: float = 0.0
    waits: tuple[Slot, ...] = ()


def basic_blocks(items: Iterable[Item]) -> list[Block]:
    """Return the blocks in order: cut at labels that something may jump to, and behind jumps and calls."""
    items = list(items)
    targets = _targets(items)
    blocks: list[Block] = []
    labels: list[str] = []
    body: list[Instruction] = []
    for item in items:
        ends = isinstance(item, Label) and (item.name in targets or item.name.isdigit())
        if isinstance(item, Instruction):
            body.append(item)
            known = shape(item)
            ends = known is not None and known.kind in _ENDS
        if ends and body:
            blocks.append(Block(tuple(labels), tuple(body)))
            labels, body = [], []
        if isinstance(item, Label) and not body:
            labels.append(item.name)
    return [*blocks, Block(tuple(labels), tuple(body))] if body else blocks


def function(items: Sequence[Item], name: str) -> list[Item]:
    """Return what belongs to the function ``name``: from its label to its ``.end`` or the next function."""
    declared = {word for item in items if isinstance(item, Directive) for word in _declared(item)}
    found: list[Item] = []
    for item in items:
        begins = isinstance(item, Label) and item.name in declared
        if found and (_ends(item, name) or (begins and item != found[0])):
            break
        if found or (isinstance(item, Label) and item.name == name):
            found.append(item)
    return found


def line_costs(items: Iterable[Item], rules: Rules) -> dict[int, LineCost]:
    """Return the costs of each line's instructions, whenever they run once.

    A loop of one block counts by its steady state.  A block with an unknown instruction has none.
    """
    result: dict[int, LineCost] = {}
    for block in basic_blocks(items):
        found = operations(block)
        for slot, spent, stall in _costs(found, rules, block.loops) if found else ():
            old = result.get(slot.operation.line, LineCost())
            waits = (*old.waits, slot) if stall else old.waits
            result[slot.operation.line] = LineCost(old.cycles + spent, old.stalls + stall, waits)
    return result


def operations(block: Block) -> list[Operation] | None:
    """Return the operations of a block, None if one of its instructions is not known."""
    found = [operation(instruction) for instruction in block.instructions]
    return None if None in found else [item for item in found if item]


def _costs(found: Sequence[Operation], rules: Rules, loops: bool) -> Iterator[tuple[Slot, float, float]]:
    if loops:
        steady = turns(found, rules)
        slots: Sequence[Slot] = [slot for turn in steady.slots for slot in turn]
        end, count = steady.total, len(steady.slots)
    else:
        slots = issue(found, rules)
        end, count = slots[-1].cycle + 1, 1
    for slot, (spent, stall) in zip(slots, costs(slots, end), strict=True):
        yield slot, spent / count, stall / count


def _targets(items: Sequence[Item]) -> set[str]:
    """Return the names that instructions mention, files declare, or tables in code and data hold."""
    found: set[str] = set()
    debugging = False
    for item in items:
        if isinstance(item, Instruction):
            found.update(name for operand in item.operands for name in _NAMES.findall(operand))
        elif isinstance(item, Directive):
            debugging = _debugging(item, debugging)
            found.update(_declared(item))
            if item.name in _DATA and not debugging:
                found.update(_NAMES.findall(item.arguments))
    return found


def _debugging(item: Directive, before: bool) -> bool:
    if item.name in {".text", ".data", ".bss"}:
        return False
    return (
        item.arguments.lstrip('"').startswith((".debug", ".eh_frame")) if item.name == ".section" else before
    )


def _declared(item: Directive) -> list[str]:
    return _NAMES.findall(item.arguments) if item.name in _DECLARING else []


def _ends(item: Item, name: str) -> bool:
    return isinstance(item, Directive) and item.name == ".end" and item.arguments.split() == [name]
