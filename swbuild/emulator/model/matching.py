"""Which block of the code that is costed is a block of the code that runs: two compilations of one function.

The two are walked side by side, by what jumps where; what the same ways lead to is the same.  Where the
compilations differ, a jump or call that a line has once in both is where ways begin anew, and what was met is
believed if its lines are close.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swbuild.emulator.model.blocks import Block
from swbuild.emulator.model.flow import loop_begin, trivial
from swbuild.emulator.model.step import Role

__all__ = ["Match", "closes", "is_near", "matched"]

#: Lines that the first or the last instructions of a block may be apart in two compilations of it.
_NEAR = 3


@dataclass(frozen=True, slots=True)
class Match:
    """The blocks of the model for those of running code; ``whole``: the two go the same ways everywhere.

    ``passed``: running blocks on ways on which the model has nothing but their end, and that end.
    """

    blocks: dict[int, int]
    whole: bool
    passed: dict[int, int]


def is_near(running: Sequence[Block], one: int, model: Sequence[Block], other: int) -> bool:
    """Return whether two blocks are likely to be of the same source, which their jumps alone do not tell.

    Either end may have instructions from elsewhere; what is first in a loop says nothing.
    """
    block, there = running[one], model[other]
    loops = [closes(function, number) for function, number in ((running, one), (model, other))]
    if trivial(block) or loops[0] != loops[1] or block.file != there.file:
        return False
    begins = not loops[0] and abs(block.line - there.line) <= _NEAR
    return begins or abs(block.last - there.last) <= _NEAR


def closes(function: Sequence[Block], number: int) -> bool:
    """Return whether a block ends with the jump back of a loop, of which it may be all."""
    return function[number].loops or loop_begin(function, number) is not None


def matched(running: Sequence[Block], model: Sequence[Block]) -> Match:
    """Return the blocks of ``model`` for those of ``running``, as far as the two go the same ways.

    Both are walked from their begin, from one branch, call or return to the next; where that does not lead
    everywhere, also from those that cannot be mistaken.
    """
    walk = _Walk(running, model)
    alike = walk.goes([(0, 0)])
    if not alike:
        walk.forget_far()
        for one, other in _anchors(running, model):
            walk.goes_from(one, other)
    twice = _twice(running, walk.pairs)
    pairs = {k: other for k, other in walk.pairs.items() if k not in twice}
    return Match(pairs, alike and not twice, {k: end for k, end in walk.passed.items() if k not in pairs})


class _Walk:
    """The blocks of two compilations of a function that were met side by side."""

    def __init__(self, running: Sequence[Block], model: Sequence[Block]) -> None:
        self.running, self.model = running, model
        self.pairs: dict[int, int] = {}
        #: running blocks that do something on a way on which the model does nothing, and the way's end
        self.passed: dict[int, int] = {}

    def goes_from(self, one: int, other: int) -> None:
        """Walk on from two blocks that are the same, unless they were met."""
        if one not in self.pairs and other not in self.pairs.values():
            self.pairs[one] = other
            self.goes(self._behind(one, other))

    def goes(self, starts: Iterable[tuple[int, int]]) -> bool:
        """Walk both from these starts; return whether the ways are the same as far as they lead."""
        waiting, alike = list(starts), True
        while waiting:
            further = self._step(*waiting.pop())
            alike = alike and further is not None
            waiting += further or ()
        return alike

    def forget_far(self) -> None:
        """Forget the pairs whose ends are far apart in the source: the two were on different ways by then."""
        self.pairs = {k: other for k, other in self.pairs.items() if self._is_close(k, other)}

    def _is_close(self, one: int, other: int) -> bool:
        block, there = self.running[one], self.model[other]
        return block.file == there.file and abs(block.last - there.last) <= _NEAR

    def _behind(self, one: int, other: int) -> list[tuple[int, int]]:
        return list(zip(self.running[one].following, self.model[other].following, strict=True))

    def _step(self, ours: int, theirs: int) -> list[tuple[int, int]] | None:
        """Walk to the next branch, call or return; return the starts there, None if the two differ."""
        (passed, here), (others, there) = _way(self.running, ours), _way(self.model, theirs)
        between = _paired(self.running, passed, self.model, others, self.pairs)
        if between is None or any(self.pairs.get(one, other) != other for one, other in between):
            return None
        self.pairs |= between
        if here is None or there is None:
            return [] if here is there else None
        known = self.pairs.get(here)
        if known is not None and known != there:
            if not _is_copy(self.model, known, there):
                return None
            if passed and not between:
                self.pairs.setdefault(passed[-1], there)
            return []
        self.passed |= dict.fromkeys(set(passed).difference(one for one, _ in between), here)
        if known == there:
            return []
        if _kind(self.running[here]) != _kind(self.model[there]):
            return None
        self.pairs[here] = there
        return self._behind(here, there)


def _anchors(running: Sequence[Block], model: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Yield blocks that end with the only jump or call of their kind in a line of both functions."""
    places = [_only(function) for function in (running, model)]
    for key, one in places[0].items():
        if key in places[1]:
            yield one, places[1][key]


def _only(function: Sequence[Block]) -> dict[object, int]:
    """Return the numbers of the blocks whose end is the only one of its kind in its line, by both."""
    keys = [
        (block.file, block.last, _kind(block)) if block.end is not None and not _is_straight(block) else None
        for block in function
    ]
    times = Counter(keys)
    return {key: number for number, key in enumerate(keys) if key is not None and times[key] == 1}


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
