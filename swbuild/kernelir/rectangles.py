"""Nests whose inner loops end where outer ones stand: where a tile is full, these ends do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min
from swbuild.expressions.trees import names_in, substituted
from swbuild.kernelir.nests import Nest, stride
from swbuild.kernelir.nodes import Loop

__all__ = ["Rectangle", "rectangle_of"]

#: the first and the last value of an iterator
_Range = tuple[Expression, Expression]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A nest without the ends that depend on its outer loops: where ``condition`` holds, it is the same."""

    nest: Nest
    condition: Expression


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
    firsts = loop.first.operands if isinstance(loop.first, Max) else (loop.first,)
    right = loop.condition.right
    lasts = right.operands if isinstance(right, Min) else (right,)
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
