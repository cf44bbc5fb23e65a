"""What the tiles of a candidate make of a kernel: visits of its levels, boxes, transfers, computing.

Candidates of one kernel have most of that in common: :class:`Views` keeps what was found for any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import gcd, prod
from typing import Any

from swbuild.classes import dataclass
from swbuild.machine import MachineModel
from swbuild.machine.cost.launches import Cycles, Moved, Shape, cycles_alone
from swbuild.memory.budget import Option
from swbuild.memory.groups import Group
from swbuild.memory.levels import Level
from swbuild.memory.plan import is_little
from swbuild.planning.dealing import Dealing
from swbuild.planning.rounds import are_as_long
from swbuild.planning.shape import Family, KernelShape, Loop, Place, Work

__all__ = ["Candidate", "Choice", "Launched", "View", "Views"]

#: Cycles to enter a loop of a tile.
_LOOP = 14


@dataclass(frozen=True, slots=True)
class Candidate:
    """Threads per mapped loop, and the tile of every loop.

    ``joint``: all threads, the first number, share the tiles of all mapped loops.
    """

    threads: tuple[int, ...]
    tile: tuple[int, ...]
    joint: bool = False

    @property
    def grid(self) -> tuple[int, ...]:
        """The threads in the directions in which they are counted."""
        return self.threads[:1] if self.joint else self.threads


@dataclass(frozen=True, slots=True)
class Choice(Option):
    """A buffer of a family at one level, or none (``direct`` accesses of main memory).

    ``copy`` are those of its bytes that a turned box takes, of which there is one whatever its slots.
    ``made`` is what it has been asked for, with further slots.
    """

    copy: int = 0
    moved: tuple[Moved, ...] = ()
    direct: float = 0.0
    made: dict[tuple[object, ...], Choice] = field(default_factory=dict, compare=False)

    def handed_on(self, sharers: float, slots: int) -> Choice:
        """Return the buffer, of ``slots`` so far, with the slot that its box is handed on from.

        One of the ``sharers`` gets it for all.
        """
        return self._with(self.slots * 2 // slots, ("handed on", sharers, slots), sharers=sharers)

    def handed_ahead(self) -> Choice:
        """Return the buffer, which is handed on, with slots for that to be done one visit ahead."""
        return self._with(2 * self.slots, ("handed ahead",), handed_ahead=True)

    def got_ahead(self, part: float) -> Choice:
        """Return the buffer with two slots, ``part`` of its visits getting what the next one needs."""
        return self._with(2 * self.slots, ("got ahead", part), ahead=part)

    @property
    def slots(self) -> int:
        """The bytes of all slots."""
        return self.bytes - self.copy

    def _with(self, slots: int, key: tuple[object, ...], **changes: Any) -> Choice:
        if key not in self.made:
            moved = tuple(replace(m, **changes) for m in self.moved)
            self.made[key] = Choice(slots + self.copy, self.cycles, self.copy, moved, self.direct)
        return self.made[key]


#: The number of no place.
_NOWHERE = -1

#: The numbers of a family and a place, and tiles that count there.
_Key = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Box:
    """The bytes that a buffer holds at most, and the transfers for what a visit moves of them."""

    bytes: int
    operations: float
    shape: Shape
    #: the same for what is got where that is less
    got: tuple[float, Shape] | None = None


@dataclass(frozen=True, slots=True)
class Launched:
    """The buffers of a candidate, and what a launch takes with them; ``hands_on``: some are handed on."""

    picked: list[Choice]
    cycles: Cycles
    hands_on: bool = False


@dataclass(frozen=True, slots=True)
class _Dealt:
    """What candidates have in common that deal out the same tiles of mapped loops.

    Of the others, those are told apart whose tiles are counted above a place.
    """

    dealing: Dealing
    visits: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)
    buffers: dict[_Key, Choice] = field(default_factory=dict)
    priced: dict[_Key, Choice] = field(default_factory=dict)


class Views:
    """All views of a kernel's numbers, each with the tiles of one candidate.

    ``alone`` has candidates whose buffers share so many bytes, None where these do not do.
    """

    def __init__(self, shape: KernelShape, machine: MachineModel) -> None:
        self.shape = shape
        self.machine = machine
        self.uneven = any(loop.trips < loop.extent for loop in shape.loops)
        #: the loops behind the mapped ones whose tiles are counted above each place
        self.inner = [tuple(k for k in sorted(place.above) if k >= shape.mapped) for place in shape.places]
        #: those whose tiles tell, by family and place, what a buffer holds
        self.held = [[_held(family, place) for place in shape.places] for family in shape.families]
        self.boxes: dict[_Key, _Box | None] = {}
        self.alone: dict[tuple[Candidate, int], Launched | None] = {}
        self._counted = [_counted_in(work) for work in shape.works]
        self._dealt: dict[tuple[object, ...], _Dealt] = {}
        self._cycles: list[dict[tuple[int, ...], float]] = [{} for _ in shape.works]

    def of(self, candidate: Candidate) -> View:
        """Return the view with the tiles of ``candidate``."""
        tile = candidate.tile[: len(candidate.threads)]
        key = candidate.threads, tile, candidate.joint
        dealt = self._dealt.get(key)
        if dealt is None:
            dealing = Dealing(self.shape.loops, candidate.threads, tile, joint=candidate.joint)
            dealt = self._dealt[key] = _Dealt(dealing)
        return View(self, candidate, dealt)

    def cycles(self, position: int, tile: tuple[int, ...]) -> float:
        """Return the cycles of an instance of one of the statements, with tiles of ``tile``."""
        known, key = self._cycles[position], tuple([tile[k] for k in self._counted[position]])
        if key not in known:
            known[key] = self._computed(self.shape.works[position], tile)
        return known[key]

    def _computed(self, work: Work, tile: tuple[int, ...]) -> float:
        cycles, entered = work.cycles, 1.0
        if work.costs is not None:
            loops = [() if k is None else self.shape.loops[k].lengths(tile[k]) for k in work.nest]
            cycles = work.costs.per_iteration(loops, work.cycles)
        for k in reversed(work.order):
            entered /= max(1.0, min(tile[k], self.shape.loops[k].trips))
            cycles += _LOOP * entered if work.costs is None or k not in work.nest else 0.0
        return cycles


def _held(family: Family, place: Place) -> tuple[int, ...]:
    """Return the loops whose tiles tell what a buffer of ``family`` holds at ``place``."""
    used = {k for subscript in family.subscripts for k, _ in subscript.factors}
    return tuple(sorted(used & (place.above - place.fixed)))


def _of_recurrence(family: Family, sides: Sequence[int]) -> tuple[float, Shape] | None:
    """Return the transfers for what a recurrence reads of the values from before, None where all is got."""
    if family.recurs is None:
        return None
    dimension, distance = family.recurs
    old = [distance if k == dimension else side for k, side in enumerate(sides)]
    if not is_little(old, sides, family.element):
        return None
    row = old[-1] * family.element
    return float(prod(old[:-1])), Shape(1, row, row, family.element)


def _counted_in(work: Work) -> list[int]:
    """Return the loops whose tiles count for what an instance of a statement takes."""
    return sorted({*work.order, *(k for k in work.nest if k is not None)})


class View:
    """A kernel's numbers with the tiles of one candidate."""

    def __init__(self, views: Views, candidate: Candidate, dealt: _Dealt) -> None:
        self.views = views
        self.candidate = candidate
        self.shape = views.shape
        self.machine = views.machine
        self.tile = candidate.tile
        self.threads = candidate.threads
        self.joint = candidate.joint
        self.dealing = dealt.dealing
        self._dealt = dealt

    @property
    def share(self) -> float:
        """The part of all work that the busiest CPE does."""
        return self.dealing.share

    @cached_property
    def work(self) -> float:
        """The cycles of the busiest CPE for all statements."""
        return sum(self.computing(k) for k in range(len(self.shape.works)))

    def visits(self, place: int) -> float:
        """Return how often the busiest CPE comes to a place."""
        known, key = self._dealt.visits, (place, self._inside(place))
        if key not in known:
            known[key] = self._visits(self.shape.places[place])
        return known[key]

    def _inside(self, place: int) -> tuple[int, ...]:
        """Return the tiles of the loops behind the mapped ones that are counted above a place."""
        return tuple([self.tile[k] for k in self.views.inner[place]])

    def _visits(self, place: Place) -> float:
        found = 1.0
        if self.joint:
            found = self.share
            for k in range(len(self.threads)):
                loop = self.shape.loops[k]
                found *= min(loop.extent, loop.trips) if k in place.fixed else loop.runs(self.tile[k])
            found = max(1.0, found)
        for k in place.above | place.fixed:
            loop, tile = self.shape.loops[k], self.tile[k]
            if self.joint and k < len(self.threads):
                continue
            if k in place.fixed:
                found *= (
                    loop.share(tile, self.threads[k]) * loop.extent if k < len(self.threads) else loop.trips
                )
            elif k >= len(self.threads):
                found *= loop.runs(tile)
            elif loop.certain:
                found *= -(-loop.runs(tile) // self.threads[k])
            else:
                found *= max(1.0, loop.share(tile, self.threads[k]) * self._tiles(loop, tile))
        return found

    def _tiles(self, loop: Loop, tile: int) -> float:
        """Return how many tiles a run of ``loop`` has on average, at most where CPEs share no boxes.

        Without rounds that all come to, estimates of uneven loops have been seen to be worse with an average.
        """
        longest = loop.extent / tile
        return min(longest, loop.runs(tile)) if self._shares else longest

    @cached_property
    def _shares(self) -> bool:
        """Whether CPEs may hand boxes of a triangle on to others."""
        return self.shape.triangle and any(self.sharers(family) > 1.0 for family in self.shape.families)

    def computing(self, position: int) -> float:
        """Return the cycles of the busiest CPE for one of the statements."""
        return self.shape.works[position].instances * self.share * self.views.cycles(position, self.tile)

    def ahead(self, family: Family, choice: Choice) -> float:
        """Return which part of the visits of a buffer may get what the next one needs."""
        if not family.steady or not choice.moved or not self.shape.ahead:
            return 0.0
        position = choice.moved[0].level - 1 if choice.moved[0].level else self.shape.mapped - 1
        if position >= len(self.shape.loops) or (self.joint and not choice.moved[0].level):
            return 0.0
        runs = self.shape.loops[position].runs(self.tile[position])
        if not choice.moved[0].level:
            runs = max(1.0, runs / self.threads[position])
        return 1.0 - 1.0 / max(1.0, runs)

    def sharers(self, family: Family) -> float:
        """Return how many CPEs need the same boxes of a buffer at a time, 1 where none can hand them on."""
        whole = prod(self.threads) == self.machine.cpes and not self.joint
        if not (whole and family.passed_on and family.steady):
            return 1.0
        factors = [factor for subscript in family.subscripts for factor in subscript.factors]
        used = {k for k, _ in factors if k < self.shape.mapped}
        if not used:
            return max(1.0, self.dealing.busy)
        if self.threads != self.machine.mesh or len(used) > 1 or not self._in_step:
            return 1.0
        (other,) = {0, 1} - used
        return float(min(self.threads[other], self.shape.loops[other].tiles(self.tile[other])))

    @property
    def _in_step(self) -> bool:
        """Whether rounds of tiles of the mapped loops can be made equal for all CPEs."""
        return not self.shape.triangle or are_as_long(self.tile, self.threads)

    @cached_property
    def options(self) -> list[list[Choice]]:
        """The buffers that each family may have, from the outermost level on."""
        return [
            [self._priced(key) for key in self._keys(number)] for number in range(len(self.shape.families))
        ]

    @cached_property
    def outermost(self) -> list[Choice]:
        """The first of the options of each family, without what it costs."""
        return [self._buffer(next(self._keys(number))) for number in range(len(self.shape.families))]

    def _keys(self, number: int) -> Iterator[_Key]:
        """Yield the buffers that a family may have: none only where no box of it has a bound."""
        least = None
        for place in self.shape.families[number].places:
            box = self._box(number, place)
            if box is not None and (least is None or box.bytes < least):
                least = box.bytes
                yield number, place, self._inside(place)
        if least is None:
            yield number, _NOWHERE, ()

    def _buffer(self, key: _Key) -> Choice:
        """Return a buffer without what it costs."""
        known = self._dealt.buffers
        if key not in known:
            known[key] = self._made(*key[:2])
        return known[key]

    def _made(self, number: int, place: int) -> Choice:
        family = self.shape.families[number]
        box = None if place == _NOWHERE else self._box(number, place)
        if box is None:
            return Choice(0, 0.0, 0, (), family.instances * self.share)
        copy = box.bytes if family.turned else 0
        moved = self._moves(family, place, box.operations, box.shape, box.got)
        return Choice(box.bytes + copy, 0.0, copy, moved)

    def _moves(
        self,
        family: Family,
        place: int,
        operations: float,
        shape: Shape,
        got: tuple[float, Shape] | None = None,
    ) -> tuple[Moved, ...]:
        """Return what the busiest CPE moves for a buffer of ``family`` at a place."""
        level, visits, size = self.shape.places[place].number, self.visits(place), family.element
        whole = operations, shape
        ways = [(False, got or whole)] if family.reads else []
        ways += [(True, whole)] if family.writes else []
        return tuple([Moved(level, put, visits, *way, element=size) for put, way in ways])

    def _priced(self, key: _Key) -> Choice:
        """Return a buffer with what it costs."""
        known = self._dealt.priced
        if key not in known:
            made = self._buffer(key)
            cycles = made.direct * self.machine.control.direct_cycles + sum(
                cycles_alone(moved, self.machine) for moved in made.moved
            )
            known[key] = replace(made, cycles=cycles, made={})
        return known[key]

    def _box(self, number: int, place: int) -> _Box | None:
        """Return what a buffer of a family holds at a place, None where that has no bound."""
        known = self.views.boxes
        key = number, place, tuple([self.tile[k] for k in self.views.held[number][place]])
        if key not in known:
            known[key] = self._held(self.shape.families[number], self.shape.places[place])
        return known[key]

    def _held(self, family: Family, place: Place) -> _Box | None:
        sides = self._sides(family, place)
        if sides is None:
            return None
        usual = self._usual(family, place, sides) if self.views.uneven else sides
        whole = self._transfers(family, place, usual)
        return _Box(prod(sides) * family.element, *whole, _of_recurrence(family, usual))

    def _sides(self, family: Family, place: Place) -> tuple[int, ...] | None:
        """Return the most elements that a visit touches per dimension, None where they have no bound."""
        box = []
        for subscript in family.subscripts:
            if subscript.free is None:
                return None
            extent = 1 + subscript.width + subscript.free
            for k, factor in subscript.factors:
                loop = self.shape.loops[k]
                if k in place.fixed:
                    continue
                if k in place.above:
                    extent += abs(factor) * (
                        min(self.tile[k], loop.extent) - 1 if loop.constant else self.tile[k] - 1
                    )
                elif loop.constant:
                    extent += abs(factor) * (loop.extent - 1)
                else:
                    return None
            box.append(extent)
        return tuple(box)

    def _usual(self, family: Family, place: Place, box: tuple[int, ...]) -> tuple[int, ...]:
        """Return how much of ``box`` a visit touches on average: what one run of each loop inside it does."""
        missed = [
            0 if k in place.above | place.fixed else round(loop.extent - loop.trips)
            for k, loop in enumerate(self.shape.loops)
        ]
        return tuple(
            max(1, side - sum(abs(factor) * missed[k] for k, factor in subscript.factors))
            for side, subscript in zip(box, family.subscripts, strict=True)
        )

    def _transfers(self, family: Family, place: Place, box: tuple[int, ...]) -> tuple[float, Shape]:
        """Return how many operations move ``box``, and what one of them moves."""
        sizes = [
            min(side, extent) if extent else side for side, extent in zip(box, family.extents, strict=True)
        ]
        last = len(sizes) - 1
        while last and last in family.constant and sizes[last] == family.extents[last]:
            last -= 1  # a dimension that is whole is part of the rows
        whole = prod(sizes[last + 1 :])
        rows = sizes[last - 1] if last else 1
        pitch = family.extents[last] * whole * family.element
        alignment = self._alignment(family, place, last, whole)
        shape = Shape(rows, sizes[last] * whole * family.element, pitch, alignment)
        return float(prod(sizes[: max(0, last - 1)])), shape

    def _alignment(self, family: Family, place: Place, position: int, whole: int) -> int:
        """Return of what number of bytes the beginning of a box is a multiple.

        It has so many ``whole`` elements of each index at ``position``.
        """
        last = family.subscripts[position]
        steps = [
            abs(factor) * (1 if k in place.fixed else self.tile[k])
            for k, factor in last.factors
            if k in place.above | place.fixed
        ]
        pitch = family.extents[position] if position else 0
        return gcd(128, family.element * whole * gcd(last.least, pitch, *steps)) or 128

    def of_buffer(self, level: Level, group: Group) -> float:
        """Return what it costs to move the box of ``group`` at every visit of ``level``."""
        first = group.refs[0]
        family = next((f for f in self.shape.families if (first.statement, first.ref) in f.refs), None)
        place = next((k for k, p in enumerate(self.shape.places) if p.number == level.number), None)
        if family is None or place is None or group.box.bound is None:
            return 0.0
        moved = self._transfers(family, self.shape.places[place], group.box.bound)
        return sum(cycles_alone(m, self.machine) for m in self._moves(family, place, *moved))

    def of_direct(self, statement: str) -> float:
        """Return what it costs to access main memory once in every instance of ``statement``."""
        count = sum(work.instances for work in self.shape.works if work.statement == statement)
        return count * self.share * self.machine.control.direct_cycles
