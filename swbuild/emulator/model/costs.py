"""What each block of the code that runs costs a CPE, taken from code that only is there to be costed.

Both come from one source.  The code that runs is for any x86-64; the other one has 32 registers for vectors
of the CPE's width, so that its operations are those of the source.  Their blocks are matched function by
function, by what jumps where.  Where that differs, those that the same ways lead to are if their lines are
close, and otherwise those of one line, if there are as many.  A loop is of the line that it jumps back in:
what is first in it may be different things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swbuild.emulator.model.blocks import Block, functions
from swbuild.emulator.model.flow import loop_begin, trivial
from swbuild.emulator.model.schedule import pass_cycles, turn_cycles
from swbuild.emulator.model.step import Role, whole
from swbuild.machine import MachineModel

__all__ = ["Cost", "block_costs", "function_cycles"]

#: Lines that the first instructions of a block may be apart in two compilations of it.
_NEAR = 3


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
    pairs = {
        name: _matched(function, models[name])
        for function in functions(running)
        if (name := _name(function)) in models
    }
    alike = {name for name, matched in pairs.items() if matched.whole}
    rest = [function for name, function in models.items() if name not in alike]
    alone = [function for function in functions(running) if _name(function) not in alike]
    by_line = _line_by_line(alone, rest, machine)
    found: list[Cost] = []
    for function in functions(running):
        name = _name(function)
        if name not in pairs:
            found += _rough(function, by_line, machine)
            continue
        matched, cycles = pairs[name].blocks, function_cycles(models[name], machine)
        if name in alike:
            found += [Cost(cycles[matched[k]] if k in matched else 0.0) for k in range(len(function))]
            continue
        near = {k: other for k, other in matched.items() if _is_near(function[k], models[name][other])}
        by_place = {id(function[k]): cycles[other] for k, other in near.items()}
        found += _rough(function, {**by_line, **by_place}, machine)
    return found


@dataclass(frozen=True, slots=True)
class _Match:
    """The blocks of the model for those of running code; ``whole``: the two go the same ways everywhere."""

    blocks: dict[int, int]
    whole: bool


def _is_near(block: Block, model: Block) -> bool:
    """Return whether two blocks are likely to be of the same source, which their jumps alone do not tell."""
    alike = block.loops == model.loops and block.file == model.file
    return not trivial(block) and alike and abs(_line(block)[1] - _line(model)[1]) <= _NEAR


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


def _matched(running: Sequence[Block], model: Sequence[Block]) -> _Match:
    """Return the blocks of ``model`` for those of ``running``, as far as the two go the same ways.

    Both are walked from their begin, from one branch, call or return to the next.
    """
    pairs: dict[int, int] = {}
    waiting, alike = [(0, 0)], True
    while waiting:
        starts = waiting.pop()
        (ours, here), (theirs, there) = (
            _way(function, start) for function, start in zip((running, model), starts, strict=True)
        )
        between = _paired(running, ours, model, theirs, pairs)
        if between is None or any(pairs.get(one, other) != other for one, other in between):
            alike = False
            continue
        pairs |= between
        if here is None or there is None:
            alike = alike and here is there
        elif here not in pairs:
            if _kind(running[here]) != _kind(model[there]):
                alike = False
                continue
            pairs[here] = there
            waiting += zip(running[here].following, model[there].following, strict=True)
        elif pairs[here] != there:
            if not _is_copy(model, pairs[here], there):
                alike = False
            elif ours and not between:
                pairs.setdefault(ours[-1], there)
    twice = _twice(running, pairs)
    return _Match({k: other for k, other in pairs.items() if k not in twice}, alike and not twice)


def _twice(running: Sequence[Block], pairs: Mapping[int, int]) -> set[int]:
    """Return the blocks, but straight ones, that are not the only ones of a block of the model's."""
    times = Counter(pairs.values())
    return {one for one, other in pairs.items() if times[other] > 1 and not _is_straight(running[one])}


def _is_straight(block: Block) -> bool:
    """Return whether ``block`` only leads to another: two ways may then have what other code has once."""
    return block.end is None or block.end.role is Role.JUMP


def _is_copy(function: Sequence[Block], one: int, other: int) -> bool:
    """Return whether two branches go the same ways: compilers test at the entry and at the end of a loop."""
    ends = [{_goal(function, k) for k in function[number].following} for number in (one, other)]
    return _kind(function[one]) == _kind(function[other]) and ends[0] == ends[1]


def _goal(function: Sequence[Block], number: int) -> tuple[int | None, ...]:
    passed, end = _way(function, number)
    return (passed[0] if passed else end,)


def _kind(block: Block) -> tuple[object, ...]:
    """Return how a block ends, as far as it has to be the same in both."""
    end = block.end
    called = end.where if end and end.role is Role.CALL else ""
    return (end.role if end else None, called, len(block.following))


def _way(function: Sequence[Block], number: int) -> tuple[list[int], int | None]:
    """Return the blocks that do something on the way to the next branch, call or return, and the latter."""
    passed: list[int] = []
    seen: set[int] = set()
    while number not in seen and number < len(function):
        seen.add(number)
        block = function[number]
        if block.end is not None and block.end.role is not Role.JUMP:
            return passed, number
        if not trivial(block):
            passed.append(number)
        if len(block.following) != 1:
            break
        number = block.following[0]
    return passed, None


def _paired(
    running: Sequence[Block],
    ours: Sequence[int],
    model: Sequence[Block],
    theirs: Sequence[int],
    pairs: Mapping[int, int],
) -> list[tuple[int, int]] | None:
    """Pair the blocks on one way from its end on, as ``pairs`` are; None if some of the model's stay over."""

    def same_line(one: int, other: int) -> bool:
        return running[one].line == model[other].line

    found = []
    left = list(ours)
    for place in range(len(theirs) - 1, -1, -1):
        number = theirs[place]
        while len(left) > place + 1 and number != pairs.get(left[-1]) and not same_line(left[-1], number):
            left.pop()  # does something here, and nothing there
        if not left:
            return None
        found.append((left.pop(), number))
    return found
