"""Nests whose inner loops end where outer ones stand.

Where a tile is full, these ends do not matter.  Where several iterations of the outer loop run side by side,
they have the iterations of the inner one in common but for a few at that end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min
from swbuild.expressions.trees import names_in, substituted
from swbuild.kernelir.nests import Nest, plus, shifted, stride
from swbuild.kernelir.nodes import Loop

__all__ = ["Rectangle", "Slope", "rectangle_of", "slope_of", "with_ends"]

#: the first and the last value of an iterator
_Range = tuple[Expression, Expression]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A nest without the ends that depend on its outer loops: where ``condition`` holds, it is the same."""

    nest: Nest
    condition: Expression


@dataclass(frozen=True, slots=True)
class Slope:
    """An end of ``loop`` that moves by one from an iteration of the loop ``outer``, of ``step``, to the next.

    ``firsts`` and ``lasts`` are the other ends; ``end`` is one more of the lasts if ``upper``, else of the
    firsts.  ``rises``: it grows with the iterator of ``outer``.

    Iterations of both loops may run in any order (:class:`Nest` calls them free): those that several of the
    outer ones have in common come first, then what is left of each.
    """

    loop: Loop
    outer: str
    step: int
    firsts: tuple[Expression, ...]
    lasts: tuple[Expression, ...]
    end: Expression
    upper: bool
    rises: bool

    def common(self, copies: int) -> Loop:
        """Return the loop over what so many iterations of the outer one, from where it is, have in common."""
        end = self._common_end(copies)
        if self.upper:
            return self._between(self.firsts, (*self.lasts, end))
        return self._between((*self.firsts, end), self.lasts)

    def columns(self, copies: int) -> Iterator[tuple[Loop, range]]:
        """Yield what else one after the other has: a loop that goes on from there, and which copies run it.

        Where the last ends differ, that is from the end of :meth:`common` on; else from the first iteration
        that any of the ``copies`` has to there.
        """
        end = self._common_end(copies)
        exclusive = self._condition.operator is BinaryOperator.LT
        for distance in range(1, copies) if self.upper else range(copies - 1, 0, -1):
            last = plus(end, distance if self.upper else exclusive - distance)
            whose = range(copies - distance) if self._is_last else range(distance, copies)
            yield replace(self._between(self.firsts, (*self.lasts, last)), first=None), whose

    def all(self, copies: int) -> Loop:
        """Return the loop over what any of so many iterations of the outer one has."""
        end = shifted(self.end, self.outer, 0 if self._is_last else (copies - 1) * self.step)
        if self.upper:
            return self._between(self.firsts, (*self.lasts, end))
        return self._between((*self.firsts, end), self.lasts)

    def ends(self, copies: int) -> tuple[Expression, ...]:
        """Return the end of each of so many iterations of the outer one: the first, or the last, it has."""
        exclusive = self.upper and self._condition.operator is BinaryOperator.LT
        moved = (shifted(self.end, self.outer, k * self.step) for k in range(copies))
        return tuple(plus(end, -exclusive) for end in moved)

    def lacks(self, copy: int, copies: int) -> int:
        """Return how many iterations a copy has less than the one of ``copies`` that has most."""
        return copy if self._is_last else copies - 1 - copy

    @property
    def _condition(self) -> Binary:
        assert isinstance(self.loop.condition, Binary)
        return self.loop.condition

    @property
    def _is_last(self) -> bool:
        """Whether of several iterations of the outer loop the last one has the fewest of this one."""
        return self.upper != self.rises

    def _common_end(self, copies: int) -> Expression:
        return shifted(self.end, self.outer, (copies - 1) * self.step if self._is_last else 0)

    def _between(self, firsts: tuple[Expression, ...], lasts: tuple[Expression, ...]) -> Loop:
        first = firsts[0] if len(firsts) == 1 else Max(firsts)
        last = lasts[0] if len(lasts) == 1 else Min(lasts)
        return replace(self.loop, first=first, condition=replace(self._condition, right=last))


def slope_of(nest: Nest, along: str, outer: str) -> Slope | None:
    """Return the only end in ``nest`` that depends on another loop: of that ``along``, on the ``outer`` one.

    None where there are others, or where it moves by more than one at a time.
    """
    names = {loop.iterator: loop for loop in nest.loops}
    loop, steps = names[along], names[outer].step
    if any(_names_of_ends(other) & names.keys() for other in nest.loops if other is not loop):
        return None
    assert loop.first is not None and isinstance(loop.condition, Binary)
    firsts, lasts = _ends(loop)
    sloping = [end for end in (*firsts, *lasts) if names_in(end) & names.keys()]
    if len(sloping) != 1 or names_in(sloping[0]) & names.keys() != {outer} or loop.step != 1:
        return None
    (end,) = sloping
    moved = stride(end, outer)
    if moved is None or abs(moved * steps) != 1:
        return None
    others = tuple(e for e in firsts if e is not end), tuple(e for e in lasts if e is not end)
    return Slope(loop, outer, steps, *others, end, end in lasts, moved > 0)


def _ends(loop: Loop) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """Return what the iterator of ``loop`` is at least, and what it is compared with."""
    assert loop.first is not None and isinstance(loop.condition, Binary)
    right = loop.condition.right
    firsts = loop.first.operands if isinstance(loop.first, Max) else (loop.first,)
    return firsts, right.operands if isinstance(right, Min) else (right,)


def _names_of_ends(loop: Loop) -> frozenset[str]:
    assert loop.first is not None and isinstance(loop.condition, Binary)
    return names_in(loop.first) | names_in(loop.condition.right)


def rectangle_of(nest: Nest) -> Rectangle | None:
    """Return ``nest`` as a rectangle, None where it is one already, or some loop has no other end."""
    ranges: dict[str, _Range] = {}
    conditions: list[Expression] = []
    loops: list[Loop] = []
    for loop in nest.loops:
        straight = _straight(loop, ranges, conditions)
        if straight is None:
            return None
        loops.append(straight)
        ranges[loop.iterator] = _range(straight)
    if not conditions:
        return None
    condition = conditions[0]
    for further in conditions[1:]:
        condition = Binary(BinaryOperator.AND, condition, further)
    return Rectangle(replace(nest, loops=tuple(loops)), condition)


def with_ends(nest: Nest) -> Nest:
    """Return ``nest`` with ends that depend on no iterator beside those that all do, where there are such.

    They are beyond all iterations: those of the others at the last, or first, of the outer loops' values.
    """
    ranges: dict[str, _Range] = {}
    loops: list[Loop] = []
    for loop in nest.loops:
        assert loop.first is not None and isinstance(loop.condition, Binary)
        firsts, lasts = _ends(loop)
        first, last = _beyond(firsts, ranges, -1), _beyond(lasts, ranges, 1)
        begin = loop.first if first is None else Max((first, *firsts))
        condition = loop.condition if last is None else replace(loop.condition, right=Min((last, *lasts)))
        loops.append(replace(loop, first=begin, condition=condition))
        ranges[loop.iterator] = _range(loops[-1])
    return replace(nest, loops=tuple(loops))


def _beyond(ends: Sequence[Expression], ranges: Mapping[str, _Range], sign: int) -> Expression | None:
    """Return what one of ``ends`` is at most or at least by ``sign``, None if one of them needs no such."""
    if _kept(ends, ranges):
        return None
    return next((found for end in ends if (found := _extreme(end, ranges, sign)) is not None), None)


def _range(loop: Loop) -> _Range:
    """Return values that no iteration of ``loop`` is outside of."""
    assert loop.first is not None and isinstance(loop.condition, Binary)
    last = loop.condition.right
    if loop.condition.operator is BinaryOperator.LT:
        last = Binary(BinaryOperator.SUB, last, Constant(1))
    return loop.first, last


def _straight(loop: Loop, ranges: Mapping[str, _Range], conditions: list[Expression]) -> Loop | None:
    """Return ``loop`` without ends that depend on iterators of ``ranges``; add when they do not matter."""
    assert loop.first is not None and isinstance(loop.condition, Binary)
    firsts, lasts = _ends(loop)
    lower, upper = _kept(firsts, ranges), _kept(lasts, ranges)
    if not lower or not upper:
        return None
    first = lower[0] if len(lower) == 1 else Max(lower)
    last = upper[0] if len(upper) == 1 else Min(upper)
    for end in firsts:
        if end not in lower:
            most = _extreme(end, ranges, 1)
            if most is None:
                return None
            conditions.append(Binary(BinaryOperator.LE, most, first))
    for end in lasts:
        if end not in upper:
            least = _extreme(end, ranges, -1)
            if least is None:
                return None
            conditions.append(Binary(BinaryOperator.LE, last, least))
    return replace(loop, first=first, condition=replace(loop.condition, right=last))


def _kept(ends: Sequence[Expression], ranges: Mapping[str, _Range]) -> tuple[Expression, ...]:
    return tuple(end for end in ends if not names_in(end) & ranges.keys())


def _extreme(end: Expression, ranges: Mapping[str, _Range], sign: int) -> Expression | None:
    """Return what ``end`` is at most (``sign`` 1), or at least (-1), for iterators in their ``ranges``."""
    found: dict[str, Expression] = {}
    for name in sorted(names_in(end) & ranges.keys()):
        step = stride(end, name)
        if step is None:
            return None
        found[name] = ranges[name][step * sign > 0]
    return substituted(end, found)
