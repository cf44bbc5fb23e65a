"""What a block does on the pipes: its slots, cycles and stalls, and the least that its pipes allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swbuild.sw64.blocks import Block
from swbuild.sw64.pipeline import Operation, Rules, Slot, issue, turns

__all__ = ["Schedule", "schedule"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The slots of a block's pass, or of the turns after which a loop's state repeats; ``total`` cycles."""

    block: Block
    slots: tuple[tuple[Slot, ...], ...]
    total: int
    least: int

    @property
    def cycles(self) -> float:
        """Return the cycles of one pass or turn."""
        return self.total / len(self.slots)

    @property
    def stalls(self) -> float:
        """Return the cycles of one pass or turn in which nothing issues."""
        busy = {slot.cycle for turn in self.slots for slot in turn}
        return (self.total - len(busy)) / len(self.slots)

    def used(self, pipe: int) -> float:
        """Return how many operations of a pass or turn issue on ``pipe``."""
        return sum(slot.pipe == pipe for turn in self.slots for slot in turn) / len(self.slots)


def schedule(block: Block, operations: Sequence[Operation], rules: Rules) -> Schedule:
    """Return what a block does, a loop in its steady state; ``operations`` are its own."""
    least = _least(operations, rules)
    if block.loops:
        steady = turns(operations, rules)
        return Schedule(block, steady.slots, steady.total, least)
    slots = tuple(issue(operations, rules))
    return Schedule(block, (slots,), slots[-1].cycle + 1, least)


def _least(operations: Sequence[Operation], rules: Rules) -> int:
    """Return the cycles that the pipes need if nothing ever waits for a result, in any order."""
    bound = [sum(rules.takes[item.kind] == (pipe,) for item in operations) for pipe in range(rules.pipes)]
    return max(*bound, -(-len(operations) // rules.pipes))
