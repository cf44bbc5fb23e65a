"""What the tiles of a candidate make of a kernel: visits of its levels, boxes, transfers, computing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import gcd, prod

from swbuild.classes import dataclass
from swbuild.machine import MachineModel
from swbuild.machine.cost.launches import Moved, Shape, cycles_alone
from swbuild.memory.budget import Option
from swbuild.memory.groups import Group
from swbuild.memory.levels import Level
from swbuild.planning.shape import Family, KernelShape, Loop, Place, all_getters, joint_share

__all__ = ["Candidate", "Choice", "View"]

#: How often a loop of any length is short, for all that is known.
_SHORT = 0.05

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
    """A buffer of a family at one level, or none (``direct`` accesses of main memory)."""

    moved: tuple[Moved, ...] = ()
    direct: float = 0.0

    def handed_on(self, sharers: float, slots: int) -> Choice:
        """Return the buffer, of ``slots`` so far, with the slot that its box is handed on from.

        One of the ``sharers`` gets it for all.
        """
        moved = tuple(replace(m, sharers=sharers) for m in self.moved)
        return replace(self, bytes=self.bytes * 2 // slots, moved=moved)

    def handed_ahead(self) -> Choice:
        """Return the buffer, which is handed on, with slots for that to be done one visit ahead."""
        return replace(
            self, bytes=2 * self.bytes, moved=tuple(replace(m, handed_ahead=True) for m in self.moved)
        )

    def got_ahead(self, part: float) -> Choice:
        """Return the buffer with two slots, ``part`` of its visits getting what the next one needs."""
        return replace(self, bytes=2 * self.bytes, moved=tuple(replace(m, ahead=part) for m in self.moved))


class View:
    """A kernel's numbers with the tiles of one candidate."""

    def __init__(self, shape: KernelShape, candidate: Candidate, machine: MachineModel) -> None:
        self.shape = shape
        self.machine = machine
        self.tile = candidate.tile
        self.threads = candidate.threads
        self.joint = candidate.joint
        self.share = self._share()
        self.uneven = any(loop.trips < loop.extent for loop in shape.loops)

    def mapped(self) -> Iterator[tuple[int, Loop, int]]:
        return zip(self.threads, self.shape.loops, self.tile, strict=False)

    @cached_property
    def busy(self) -> float:
        """How many CPEs have work."""
        return self._busy()

    def _busy(self, short: int | None = None) -> float:
        """Return how many CPEs have work; the loop at ``short`` is taken to have a single tile."""
        mapped = [each for k, each in enumerate(self.mapped()) if k != short]
        if self.joint:
            return min(float(prod(self.threads)), prod(loop.runs(size) for _, loop, size in mapped))
        return float(prod(min(count, loop.tiles(size)) for count, loop, size in mapped))

    @cached_property
    def work(self) -> float:
        """The cycles of the busiest CPE for all statements."""
        return sum(self.computing(k) for k in range(len(self.shape.works)))

    @cached_property
    def rows(self) -> float:
        """How many rows of tiles every CPE walks to find its own."""
        if not self.joint:
            return 0.0
        return prod(loop.runs(size) for _, loop, size in list(self.mapped())[:-1])

    @property
    def risk(self) -> float:
        """How much longer the kernel takes on average, as some loops may be shorter than assumed.

        Of those whose length nothing limits, each is taken to have a single tile once in a while.
        """
        found, busy = 1.0, self.busy
        mapped = list(self.mapped())
        for k, (_, loop, _) in enumerate(mapped):
            if not loop.certain and len(mapped) > 1:
                found *= (busy / self._busy(k)) ** _SHORT
        return found

    def _share(self) -> float:
        """Return the part of all work that the busiest CPE does."""
        mapped = list(self.mapped())
        if self.joint:
            loops, tiles = [loop for _, loop, _ in mapped], [size for _, _, size in mapped]
            return joint_share(loops, tiles, prod(self.threads))
        return prod(loop.share(size, count) for count, loop, size in mapped)

    def visits(self, place: Place) -> float:
        """Return how often the busiest CPE comes to ``place``."""
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
                found *= max(1.0, loop.share(tile, self.threads[k]) * loop.extent / tile)
        return found

    def computing(self, position: int) -> float:
        """Return the cycles of the busiest CPE for one of the statements."""
        work = self.shape.works[position]
        cycles, entered = work.cycles, 1.0
        if work.costs is not None:
            loops = [() if k is None else self.shape.loops[k].lengths(self.tile[k]) for k in work.nest]
            cycles = work.costs.per_iteration(loops, work.cycles)
        for k in reversed(work.order):
            entered /= max(1.0, min(self.tile[k], self.shape.loops[k].trips))
            cycles += _LOOP * entered if work.costs is None or k not in work.nest else 0.0
        return work.instances * self.share * cycles

    def ahead(self, family: Family, choice: Choice) -> float:
        """Return which part of the visits of a buffer may get what the next one needs."""
        written = any(other.writes for other in self.shape.families if other.array == family.array)
        if written or not choice.moved or not self.shape.ahead:
            return 0.0
        position = choice.moved[0].level - 1 if choice.moved[0].level else self.shape.mapped - 1
        if position >= len(self.shape.loops) or (self.joint and not choice.moved[0].level):
            return 0.0
        runs = self.shape.loops[position].runs(self.tile[position])
        if not choice.moved[0].level:
            runs = max(1.0, runs / self.threads[position])
        return 1.0 - 1.0 / max(1.0, runs)

    def sharers(self, family: Family) -> float:
        """Return how many CPEs need the same boxes of a buffer at a time, 1 where none can hand them on.

        All of them come to each of its visits where no loop has other lengths for some.
        """
        whole = prod(self.threads) == self.machine.cpes and not self.joint
        written = any(other.writes for other in self.shape.families if other.array == family.array)
        if not (self.shape.hands_on and whole and family.passed_on) or written or self.uneven:
            return 1.0
        factors = [factor for subscript in family.subscripts for factor in subscript.factors]
        used = {k for k, _ in factors if k < self.shape.mapped}
        if not used:
            return max(1.0, self.busy / all_getters(self.machine))
        if self.threads != self.machine.mesh or len(used) > 1:
            return 1.0
        (other,) = {0, 1} - used
        return float(min(self.threads[other], self.shape.loops[other].tiles(self.tile[other])))

    @cached_property
    def options(self) -> list[list[Choice]]:
        """The buffers that each family may have, from the outermost level on; the last has none."""
        return [
            [Choice(each.bytes, self._price(each), each.moved, each.direct) for each in self._choices(family)]
            for family in self.shape.families
        ]

    @cached_property
    def outermost(self) -> list[Choice]:
        """The first of the options of each family, without what it costs."""
        return [next(self._choices(family)) for family in self.shape.families]

    def _choices(self, family: Family) -> Iterator[Choice]:
        """Yield the options of ``family``, without what they cost."""
        least = None
        for number in family.places:
            place = self.shape.places[number]
            box = self._box(family, place)
            size = prod(box) * family.element if box is not None else 0
            if box is not None and (least is None or size < least):
                least = size
                usual = self._usual(family, place, box) if self.uneven else box
                yield Choice(size, 0.0, self._moved(family, place, usual))
        yield Choice(0, 0.0, (), family.instances * self.share)

    def _price(self, choice: Choice) -> float:
        return choice.direct * self.machine.control.direct_cycles + sum(
            cycles_alone(moved, self.machine) for moved in choice.moved
        )

    def _box(self, family: Family, place: Place) -> tuple[int, ...] | None:
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

    def _moved(self, family: Family, place: Place, box: tuple[int, ...]) -> tuple[Moved, ...]:
        visits = self.visits(place)
        sizes = [
            min(side, extent) if extent else side for side, extent in zip(box, family.extents, strict=True)
        ]
        rows = sizes[-2] if len(sizes) > 1 else 1
        pitch = family.extents[-1] * family.element
        shape = Shape(rows, sizes[-1] * family.element, pitch, self._alignment(family, place))
        operations = float(prod(sizes[:-2]))
        ways = [put for put, wanted in ((False, family.reads), (True, family.writes)) if wanted]
        size = family.element
        return tuple(Moved(place.number, put, visits, operations, shape, element=size) for put in ways)

    def _alignment(self, family: Family, place: Place) -> int:
        """Return of what number of bytes the beginning of a box is a multiple."""
        last = family.subscripts[-1]
        steps = [
            abs(factor) * (1 if k in place.fixed else self.tile[k])
            for k, factor in last.factors
            if k in place.above | place.fixed
        ]
        pitch = family.extents[-1] if len(family.extents) > 1 else 0
        return gcd(128, family.element * gcd(last.least, pitch, *steps)) or 128

    def of_buffer(self, level: Level, group: Group) -> float:
        """Return what it costs to move the box of ``group`` at every visit of ``level``."""
        first = group.refs[0]
        family = next((f for f in self.shape.families if (first.statement, first.ref) in f.refs), None)
        place = next((p for p in self.shape.places if p.number == level.number), None)
        if family is None or place is None or group.box.bound is None:
            return 0.0
        moved = self._moved(family, place, group.box.bound)
        return sum(cycles_alone(m, self.machine) for m in moved)

    def of_direct(self, statement: str) -> float:
        """Return what it costs to access main memory once in every instance of ``statement``."""
        count = sum(work.instances for work in self.shape.works if work.statement == statement)
        return count * self.share * self.machine.control.direct_cycles
