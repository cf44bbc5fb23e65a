"""Draws stencils that a loop over time repeats, with edges that are set in every step.

Their sweeps may run in tiles over time, of one array or of several, on a line or in a plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from swfuzz.linear import Linear, constant, variable
from swfuzz.program import Array, Assign, Binary, Expr, Index, Loop, Number, Program, Ref, Statement, is_valid

__all__ = ["random_sweeps"]

_COUNTERS, _SIZES = "ij", "nm"

#: Indices of an array go from 0 to its size and as many more.
_MORE = 2


@dataclass(slots=True)
class _Sweeping:
    """Draws the steps of one program on arrays of ``rank`` dimensions, in sweeps with the same limits."""

    random: Random
    rank: int = 1
    lows: tuple[int, ...] = (1,)
    highs: tuple[int, ...] = (1,)
    reach: int = 1

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *values: int) -> int:
        return self.random.choice(values)

    def at(self, array: str, *offsets: int) -> Ref:
        """Return the element at these ``offsets`` from the iteration, which are 0 where none is given."""
        shifts = [*offsets, *(0 for _ in range(self.rank - len(offsets)))]
        return Ref(array, tuple(Index(variable(c) + s) for c, s in zip(_COUNTERS, shifts, strict=False)))

    def part(self, value: Expr) -> Expr:
        return Binary("*", value, Number(self.random.choice(("0.25", "0.5", "0.125"))))

    def neighbours(self, array: str) -> Expr:
        """Return a sum of an element and some around it, on both sides most often."""
        found: Expr = self.part(self.at(array))
        for number in range(self.one_of(1, 2, 2, 3, 4)):
            offset = self.one_of(*range(1, self.reach + 1)) * (1 if number % 2 else -1)
            offsets = (0, offset) if self.rank == 2 and self.chance(0.5) else (offset,)
            found = Binary(self.random.choice("++-"), found, self.part(self.at(array, *offsets)))
        return found

    def over(self, item: Statement, ragged: bool) -> Statement:
        """Return loops around ``item``; ``ragged``: one of them may begin an iteration later."""
        for k in reversed(range(self.rank)):
            low = self.lows[k] + (1 if ragged and self.chance(0.3) else 0)
            high = variable(_SIZES[k]) + self.highs[k]
            item = Loop(_COUNTERS[k], (constant(low),), (high,), 1, False, 0, (item,))
        return item

    def sweeps(self) -> list[Statement]:
        """Return the sweeps of a step: there and back, of two fields, or of grids that are staggered."""
        ragged = self.chance(0.15)
        way = self.one_of(1, 1, 2, 3)
        if way == 3:
            ahead = self.part(Binary("-", self.at("b"), self.at("b", -1)))
            behind = self.part(Binary("-", self.at("a", *((0, 1) if self.rank == 2 else (1,))), self.at("a")))
            items = [Assign(self.at("a"), "-=", ahead), Assign(self.at("b"), "-=", behind)]
        else:
            back = self.at("b") if self.chance(0.8) else self.neighbours("b")
            items = [Assign(self.at("b"), "=", self.neighbours("a")), Assign(self.at("a"), "=", back)]
        if way == 2:
            other = Binary("+", self.neighbours("c"), self.part(self.at("a")))
            items.insert(self.one_of(0, 1), Assign(self.at("d"), "=", other))
            items.append(Assign(self.at("c"), "=", self.at("d")))
        return [self.over(item, ragged) for item in items]

    def edge(self) -> Statement:
        """Return what sets a row, a column or an element, to a number or to what is beside it."""
        ends = [(constant(0), constant(1)), (constant(1), constant(2))]
        fixed = self.random.randrange(self.rank)
        last = variable(_SIZES[fixed]) + _MORE
        ends += [(last, last - 1), (last - 1, last - 2)]
        there, beside = self.random.choice(ends[:1] * 6 + ends)
        array = self.random.choice("ab")
        whole = self.chance(0.95)

        def element(place: Linear) -> Ref:
            others = [variable(c) if whole else constant(1) for c in _COUNTERS[: self.rank]]
            return Ref(array, tuple(Index(place if k == fixed else others[k]) for k in range(self.rank)))

        value: Expr = Ref("s", (Index(variable("t")),))
        if self.chance(0.5):
            value = self.part(element(beside))
        item: Statement = Assign(element(there), "=", value)
        for k in range(self.rank):
            if k != fixed and whole:
                item = Loop(
                    _COUNTERS[k], (constant(0),), (variable(_SIZES[k]) + _MORE + 1,), 1, False, 0, (item,)
                )
        return item

    def program(self) -> Program:
        self.rank = self.one_of(1, 2, 2)
        self.reach = self.one_of(1, 1, 1, 2) if self.rank == 1 else 1
        self.lows = tuple(max(self.reach, self.one_of(1, 1, 2)) for _ in range(self.rank))
        self.highs = tuple(min(_MORE + 1 - self.reach, self.one_of(1, 2, 2)) for _ in range(self.rank))
        body = self.sweeps()
        for _ in range(self.one_of(0, 1, 1, 1, 2)):
            body.insert(self.one_of(0, 0, len(body), self.random.randrange(len(body) + 1)), self.edge())
        kind = self.random.choice(("double", "double", "float"))
        dims = tuple(variable(size) + _MORE + 1 for size in _SIZES[: self.rank])
        arrays = [Array(name, kind, dims) for name in "abcd"]  # type: ignore[arg-type]
        arrays.append(Array("s", kind, (variable("n") + 8,)))  # type: ignore[arg-type]
        steps = self.random.choice((constant(7), variable("n"), variable("n"), variable("n") + 2))
        time = Loop("t", (constant(0),), (steps,), 1, False, 0, tuple(body))
        return Program(("n", "m"), tuple(arrays), (time,))


def random_sweeps(random: Random) -> Program:
    """Return a valid program with options under which its steps may run in tiles."""
    while True:
        program = _Sweeping(random).program()
        if is_valid(program):
            return replace(program, options=_options(random))


def _options(random: Random) -> dict[str, object]:
    options: dict[str, object] = {}
    if random.random() < 0.5:
        options["ldm_budget"] = random.choice((4096, 8192, 16384, 32768))
    if random.random() < 0.2:
        options["fusion"] = "min"
    if random.random() < 0.2:
        options["vectorize"] = "never"
    if random.random() < 0.2:
        options["prefetch"] = "never"
    return options
