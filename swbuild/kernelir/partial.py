"""Vectors of which some lanes are stored, and the others left as they are.

What vectors leave over of a loop is fewer iterations than they have lanes.  Where the loop has had more
before, the last vector begins so far back that it ends with the loop: what it computes anew of iterations
that are done is not stored.  The same goes for ends that differ from one jammed iteration to the next.

All that such a vector reads is in boxes, which are rectangles: a lane stands for an iteration of the loop,
though perhaps not of each jammed one.  Nothing in it may fail, whatever the numbers: it does not divide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.c import Call, Cast, Conditional, Literal, Operation, Variable
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.trees import mentions, substituted, walk
from swbuild.expressions.types import ElementType
from swbuild.kernelir.lanewise import ROOT
from swbuild.kernelir.nests import Nest, plus
from swbuild.kernelir.nodes import Fetch, Keep, Loop, Node, Register
from swbuild.kernelir.rectangles import Slope
from swbuild.names import own, plain_name

__all__ = ["Lanes", "Part", "at_end", "at_slanted_first", "at_slanted_last", "may_be_partial"]

#: What the vectors are called with the numbers of lanes, and those that these are compared with.
_LANES, _SINCE, _FIRST, _LAST, _ZERO = "lanes_v", "since_v", "first_v", "last_v", "zero_v"


@dataclass(frozen=True, slots=True)
class Part:
    """One vector for iterations of a loop, from ``first`` on, where ``condition`` holds.

    Its iterator is called ``name``.  ``kept`` has, for each copy of the body, the first lane that is stored,
    and the last iteration if others have more.  All iterations before ``since`` are done.
    """

    name: str
    first: Expression
    condition: Expression
    kept: tuple[tuple[int, Expression | None], ...]
    since: Expression | None

    def nest(self, nest: Nest, along: str) -> Nest:
        """Return ``nest`` with its iterator ``along`` called by the name of this one."""
        named = {along: Name(self.name)}
        computes = tuple(
            replace(
                compute,
                body=substituted(compute.body, named),
                iterators=tuple(substituted(value, named) for value in compute.iterators),
            )
            for compute in nest.computes
        )
        return replace(nest, computes=computes)


def may_be_partial(nest: Nest, along: str, jammed: str | None) -> bool:
    """Return whether vectors of ``nest``, which run ``along``, may compute what is in no iteration.

    That is where no subscript depends on both that loop and the ``jammed`` one, so that boxes have it, and
    nothing divides or takes a root.
    """
    places = (*nest.targets, *nest.reads)
    if jammed and any(
        mentions(s, along) and mentions(s, jammed) for place in places for s in place.arguments
    ):
        return False
    return not any(_fails(node) for compute in nest.computes for node in walk(compute.body))


def _fails(node: Expression) -> bool:
    if isinstance(node, Operation) and node.operator == "/":
        return True
    return isinstance(node, Call) and node.function.rstrip("f") == ROOT


def at_end(loop: Loop, lanes: int, copies: int) -> Part:
    """Return the last vector of ``loop``, for what others of ``lanes`` leave where there may be one."""
    return _last(loop, lanes, (None,) * copies)


def at_slanted_last(slope: Slope, lanes: int, copies: int) -> Part:
    """Return the last vector for the ``copies``, which end one after another."""
    ends = enumerate(slope.ends(copies))
    kept = tuple(end if slope.lacks(copy, copies) else None for copy, end in ends)
    return _last(slope.all(copies), lanes, kept)


def _last(loop: Loop, lanes: int, lasts: tuple[Expression | None, ...]) -> Part:
    condition = loop.condition
    assert loop.first is not None and isinstance(condition, Binary)
    exclusive = condition.operator is BinaryOperator.LT
    begin = plus(condition.right, 1 - lanes - exclusive)
    fits = replace(condition, left=plus(loop.first, lanes - 1))
    kept = tuple((0, last) for last in lasts)
    conditions: list[Expression] = [condition, fits]
    if any(lasts):  # those that end before others may leave more than one vector has
        conditions.append(Binary(BinaryOperator.LE, begin, Name(loop.iterator)))
    return Part(_name(loop), begin, _all(*conditions), kept, Name(loop.iterator))


def at_slanted_first(slope: Slope, lanes: int, copies: int) -> Part:
    """Return the first vector for the ``copies``, which begin one after another."""
    loop, first = slope.loop, slope.ends(copies)
    (begin,) = (end for copy, end in enumerate(first) if not slope.lacks(copy, copies))
    assert isinstance(loop.condition, Binary)
    begun = (Binary(BinaryOperator.LE, each, begin) for each in slope.firsts)
    ended = replace(loop.condition, left=plus(begin, lanes - 1))
    kept = tuple((slope.lacks(copy, copies), None) for copy in range(copies))
    return Part(_name(loop), begin, _all(*begun, ended), kept, None)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Has vectors of ``type`` begin with, and stored in, the lanes of a ``part`` alone."""

    part: Part
    element: ElementType
    type: ElementType

    def bounds(self) -> Iterator[Node]:
        """Yield what sets the vectors that the numbers of lanes are compared with, and these.

        They are set where they are used, so that no other tile has to do without their registers.
        """
        first, *further = (Literal(self.element, str(lane)) for lane in range(self._lanes))
        yield Fetch(own(_LANES), self.type, first, further=tuple(further))
        if self.part.since is not None:
            yield self._bound(_SINCE, self._lane(self.part.since))
        for copy, (lane, last) in enumerate(self.part.kept):
            if lane:
                yield self._bound(f"{_FIRST}{copy}", Constant(lane))
            if last is not None:
                yield self._bound(f"{_LAST}{copy}", self._lane(last))
        if any(lane or last is not None for lane, last in self.part.kept):
            yield self._bound(_ZERO, Constant(0))

    def begun(self, name: str, place: Call, copy: int) -> Iterator[Node]:
        """Yield what loads a vector from ``place`` for a copy of the body; lanes of no iteration begin as 0.

        For what was never set there, a signal might be raised.
        """
        before = self._before(name)
        yield Fetch(before.name, self.type, place)
        yield Register(name, self.type, self._inside(copy, before, self._variable(_ZERO)))

    def stored(self, statement: str, name: str, place: Call, copy: int) -> Iterator[Node]:
        """Yield what stores the vector ``name`` where that is kept."""
        before, kept = self._before(name), own(f"{plain_name(name)}_kept", "kept")
        value = self._inside(copy, Variable(self.type, name), before)
        if self.part.since is not None:
            value = self._unless(self._variable(_LANES), self._variable(_SINCE), before, value)
        yield Register(kept, self.type, value)
        yield Keep(statement, kept, place, vector=True)

    @property
    def _lanes(self) -> int:
        return self.type.size // self.element.size

    def _before(self, name: str) -> Variable:
        return Variable(self.type, own(f"{plain_name(name)}_before", "before"))

    def _variable(self, name: str) -> Variable:
        return Variable(self.type, own(name))

    def _inside(self, copy: int, value: Expression, outside: Expression) -> Expression:
        """Return ``value`` in the lanes of iterations that a copy has, another one in the others."""
        lane, last = self.part.kept[copy]
        numbers = self._variable(_LANES)
        if lane:
            value = self._unless(numbers, self._variable(f"{_FIRST}{copy}"), outside, value)
        if last is not None:
            value = self._unless(self._variable(f"{_LAST}{copy}"), numbers, outside, value)
        return value

    def _unless(self, one: Variable, other: Variable, then: Expression, value: Expression) -> Expression:
        """Return ``then`` in the lanes where ``one`` is less than the ``other``, ``value`` in those left."""
        return Conditional(self.type, Operation(self.type, "<", self.type, one, other), then, value)

    def _lane(self, iteration: Expression) -> Expression:
        return Binary(BinaryOperator.SUB, iteration, Name(self.part.name))

    def _bound(self, name: str, lane: Expression) -> Register:
        return Register(own(name), self.type, Cast(self.element, lane), fill=True)


def _name(loop: Loop) -> str:
    return own(f"{plain_name(loop.iterator)}_part", "part")


def _all(first: Expression, *further: Expression) -> Expression:
    for each in further:
        first = Binary(BinaryOperator.AND, first, each)
    return first
