"""What each block of the code that runs costs a CPE, taken from code that only is there to be costed.

Both come from one source.  The code that runs is for any x86-64; the other one has 32 registers for vectors
of the CPE's width, so that its operations are those of the source.  Their blocks are matched function by
function, by what jumps where.  Where that differs, those that the same ways lead to are if their lines are
close; a jump or call that a line has once in both is where ways begin anew.  Otherwise those of one line are
matched, if there are as many.  A loop is of the line that it jumps back in: what is first in it may be
different things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swbuild.emulator.model.blocks import Block, functions
from swbuild.emulator.model.flow import loop_begin, trivial
from swbuild.emulator.model.matching import Match, closes, is_near, matched
from swbuild.emulator.model.schedule import pass_cycles, turn_cycles
from swbuild.emulator.model.step import whole
from swbuild.machine import MachineModel

__all__ = ["Cost", "block_costs", "function_cycles"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of one pass; ``own``: they were taken from the running code, as its function has no match.

    Of assembly it is known how many of them stall, and what ``waits`` there are.
    """

    cycles: float
    own: bool = False
    stalls: float = 0.0
    waits: str = ""


def block_costs(running: Sequence[Block], costed: Sequence[Block], machine: MachineModel) -> list[Cost]:
    """Return the cost of each running block in order."""
    models = {_name(function): function for function in functions(costed)}
    matches = {
        name: matched(function, models[name])
        for function in functions(running)
        if (name := _name(function)) in models
    }
    alike = {name for name, match in matches.items() if match.whole}
    rest = [function for name, function in models.items() if name not in alike]
    alone = [function for function in functions(running) if _name(function) not in alike]
    by_line = _line_by_line(alone, rest, machine)
    found: list[Cost] = []
    for function in functions(running):
        name = _name(function)
        if name in alike:
            cycles, blocks = function_cycles(models[name], machine), matches[name].blocks
            found += [Cost(cycles[blocks[k]] if k in blocks else 0.0) for k in range(len(function))]
            continue
        by_way = _way_by_way(function, models[name], matches[name], machine) if name in matches else {}
        found += _rough(function, {**by_line, **by_way}, machine)
    return found


def _way_by_way(
    running: Sequence[Block], model: Sequence[Block], match: Match, machine: MachineModel
) -> dict[int, float]:
    """Return cycles of blocks, by their ids: of those that the same ways lead to, if their lines are close.

    What a loop has ahead of the block that ends it costs nothing where the model's loop is that block alone.
    """
    cycles = function_cycles(model, machine)
    near = {k: other for k, other in match.blocks.items() if is_near(running, k, model, other)}
    loops = {k for k, other in near.items() if closes(model, other)}
    passed = {id(running[k]): 0.0 for k, end in match.passed.items() if end in loops}
    return passed | {id(running[k]): cycles[other] for k, other in near.items()}


def _rough(function: Sequence[Block], by_line: Mapping[int, float], machine: MachineModel) -> list[Cost]:
    """Return the costs of a function without a match: its own, where its lines have none either."""
    alone = [replace(block, steps=whole(block.steps)) for block in function]
    own = function_cycles(alone, machine)
    return [
        Cost(by_line[id(block)]) if id(block) in by_line else Cost(cycles, True)
        for block, cycles in zip(function, own, strict=True)
    ]


def _line_by_line(
    running: Sequence[Sequence[Block]], models: Sequence[Sequence[Block]], machine: MachineModel
) -> dict[int, float]:
    """Return cycles of blocks, by their ids: of those of lines that both codes have in as many blocks."""
    ours: dict[_Line, list[int]] = {}
    theirs: dict[_Line, list[float]] = {}
    for function in running:
        for block in function:
            if not trivial(block):
                ours.setdefault(_line(block), []).append(id(block))
    for function in models:
        for block, cycles in zip(function, function_cycles(function, machine), strict=True):
            if not trivial(block):
                theirs.setdefault(_line(block), []).append(cycles)
    found: dict[int, float] = {}
    for near in (0, 1, -1):  # what is first in a block may be of a neighbouring line
        for file, line, loops in list(ours):
            there = theirs.get((file, line + near, loops), ())
            if len(ours[file, line, loops]) == len(there):
                found |= zip(
                    ours.pop((file, line, loops)), theirs.pop((file, line + near, loops)), strict=True
                )
    return found


#: a file, a line of it, and whether a block there is a loop
_Line = tuple[str, int, bool]


def _line(block: Block) -> _Line:
    """Return the place of a block: of a loop that of its jump, which no scheduling moves."""
    return block.file, block.last if block.loops else block.line, block.loops


def function_cycles(function: Sequence[Block], machine: MachineModel) -> list[float]:
    """Return the cycles of one pass through each block of a function."""
    found = [0.0 if trivial(block) else _cycles(block, machine) for block in function]
    for number, block in enumerate(function):
        begin = loop_begin(function, number)
        if begin is not None:
            steps = [step for k in range(begin, number + 1) for step in function[k].steps]
            total = turn_cycles(steps, block.live, machine)
            body = max(range(begin, number + 1), key=lambda k: len(function[k].steps))
            found[body] = max(0.0, total - sum(found[begin : number + 1]) + found[body])
    return found


def _cycles(block: Block, machine: MachineModel) -> float:
    cycles = turn_cycles if block.loops else pass_cycles
    return cycles(block.steps, block.live, machine)


def _name(function: Sequence[Block]) -> str:
    return next((label for label in function[0].labels if not label.startswith(".L")), "")
