"""What the cost of a kernel's tiles rests on, in numbers: loops, levels, what is accessed and computed.

All of it is taken from one tiling of the kernel, at assumed sizes; the sizes of the tiles make no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, lcm, prod

from swbuild.classes import dataclass
from swbuild.memory.words import Words
from swbuild.planning.tilecosts import Lengths, TileCosts, TurnedCosts, even_lengths

__all__ = [
    "Copies",
    "Family",
    "KernelShape",
    "Loop",
    "Place",
    "Subscript",
    "Work",
    "joint_share",
]


@dataclass(frozen=True, slots=True)
class Loop:
    """A tiled loop at assumed sizes: ``extent`` values in one launch, of which one run of it has ``trips``.

    ``constant``: the extent has a bound at all sizes; ``certain``: it may be relied on, as the program sets
    it a limit.  ``weights`` are the instances at some values, evenly spread, where they differ.  Tiles begin
    at multiples of their size, wherever the ``first`` value lies.
    """

    extent: int
    trips: float
    constant: bool
    certain: bool = True
    weights: tuple[float, ...] = ()
    first: int = 0

    @property
    def whole(self) -> int:
        """The size of a tile that holds all values."""
        return self.extent + self.first % self.extent

    def tiles(self, size: int) -> int:
        """Return how many tiles of ``size`` the values lie in."""
        return -(-(self.first % size + self.extent) // size)

    def share(self, tile: int, threads: int) -> float:
        """Return the part of the loop's work that the busiest of ``threads`` does with tiles of ``tile``."""
        return _share(self, tile, threads)

    def lengths(self, tile: int) -> Lengths:
        """Return how long the runs of the loop inside tiles of ``tile`` are."""
        return _lengths(self, tile)

    def runs(self, tile: int) -> float:
        """Return how many tiles one run of the loop takes."""
        if self.trips >= self.extent:
            return self.tiles(tile)
        return max(1.0, self.trips / tile + 0.5)


@lru_cache(maxsize=8192)
def _share(loop: Loop, tile: int, threads: int) -> float:
    tiles, ahead = loop.tiles(tile), loop.first % tile
    if not loop.certain:  # half a round more than there are on average, perhaps of the heaviest
        heaviest = max(loop.weights) * len(loop.weights) / sum(loop.weights) if loop.weights else 1.0
        lost = 0.5 * heaviest * (1 - 1 / threads) * tile / loop.extent
        return min(1.0, max(1 / threads + lost, tile / loop.extent))
    if not loop.weights:
        rounds = -(-tiles // threads)
        last = min(tile, ahead + loop.extent - (rounds - 1) * threads * tile)
        return min(1.0, ((rounds - 1) * tile + last) / loop.extent)
    loads = [0.0] * min(threads, tiles)
    for k in range(tiles):
        begin, end = max(0, k * tile - ahead), min(loop.extent, (k + 1) * tile - ahead)
        middle = (begin + end) / 2 / loop.extent * len(loop.weights)
        loads[k % threads] += (end - begin) * loop.weights[min(len(loop.weights) - 1, int(middle))]
    return max(loads) / (sum(loads) or 1.0)


@lru_cache(maxsize=8192)
def _lengths(loop: Loop, tile: int) -> Lengths:
    if not loop.certain or tile >= loop.extent + loop.first % tile:
        mean = min(float(tile), loop.trips)
        return even_lengths(tile, mean) if loop.certain or mean < tile else ((1.0, tile),)
    if loop.trips < loop.extent:
        return even_lengths(tile, loop.trips / loop.runs(tile))
    tiles, ahead = loop.tiles(tile), loop.first % tile
    first, last = min(tile - ahead, loop.extent), (ahead + loop.extent - 1) % tile + 1
    if tiles == 1:
        return ((1.0, first),)
    return ((1.0 - 2.0 / tiles, tile), (1.0 / tiles, first), (1.0 / tiles, last))


def joint_share(loops: Sequence[Loop], tiles: Sequence[int], threads: int) -> float:
    """Return the part of all work that the busiest of ``threads`` does which share the tiles of ``loops``.

    Where these are not known to be even and as many as that, it has half a tile more than others on average.
    """
    count = prod(loop.runs(size) for loop, size in zip(loops, tiles, strict=True))
    part = prod(min(size, loop.trips) / loop.trips for loop, size in zip(loops, tiles, strict=True))
    if all(loop.certain and not loop.weights for loop in loops):
        return min(1.0, -(-count // threads) * part)
    heaviest = max(
        max(loop.weights) * len(loop.weights) / sum(loop.weights) if loop.weights else 1.0 for loop in loops
    )
    heaviest = max(1.0, heaviest / prod(loop.extent / loop.trips for loop in loops))
    return min(1.0, max(1 / threads + 0.5 * heaviest * (1 - 1 / threads) * part, part))


@dataclass(frozen=True, slots=True)
class Place:
    """A level, with the loops whose tiles are counted above it, and those that are ``fixed`` there.

    The iterations of the latter are counted above it one by one.
    """

    number: int
    above: frozenset[int]
    fixed: frozenset[int]
    statements: frozenset[str]


@dataclass(frozen=True, slots=True)
class Subscript:
    """One subscript of a family: its factor per loop, and how far the places of the family differ.

    ``free`` is what it spans besides the loops, None where that has no constant bound.
    """

    factors: tuple[tuple[int, int], ...]
    least: int
    width: int
    free: int | None


@dataclass(frozen=True, slots=True)
class Family:
    """Places that access one array with subscripts that differ by constants.

    ``places`` are the levels at which a buffer for them may be, outermost first; ``extents`` are the array's,
    in dimensions ``constant`` the same at all sizes.  ``passed_on``: a CPE can pass boxes of it on to others.
    ``words``: how small elements lie in words of memory.  ``steady``: no launch writes what it accesses.
    ``turned``: the LDM has a turned copy of the box besides.  ``recurs``: what is read of what is written
    lies so far before or after it in that dimension, and nothing else is read.
    """

    array: str
    element: int
    extents: tuple[int, ...]
    subscripts: tuple[Subscript, ...]
    reads: bool
    writes: bool
    places: tuple[int, ...]
    instances: float
    refs: frozenset[tuple[str, int]]
    passed_on: bool = False
    constant: frozenset[int] = frozenset()
    words: Words | None = None
    steady: bool = False
    turned: bool = False
    recurs: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What the instances of one statement cost a CPE: cycles each, and those of loops around them.

    ``order`` are the loops in a tile, the innermost last.  ``costs`` are those of register tiles, for the
    iterations of ``nest``, the loops of which some may be none of the tiled ones.
    """

    statement: str
    instances: float
    cycles: float
    order: tuple[int, ...]
    costs: TileCosts | TurnedCosts | None = None
    nest: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Copies:
    """A private variable of ``bytes`` that the LDM holds once per iteration of ``loops`` in a tile."""

    bytes: int
    loops: tuple[int, ...]

    def bytes_of(self, tile: Sequence[int]) -> int:
        """Return what all copies in tiles of these sizes take."""
        return self.bytes * prod(tile[k] for k in self.loops)


@dataclass(frozen=True, slots=True)
class KernelShape:
    """One kernel: the first ``mapped`` of its loops are shared out.  ``launches`` says how often it runs.

    ``ahead``: what is only read may be got one iteration ahead.  ``triangle``: where the second of the mapped
    loops begins or ends depends on the first one, and there is a single launch.
    """

    mapped: int
    loops: tuple[Loop, ...]
    places: tuple[Place, ...]
    families: tuple[Family, ...]
    works: tuple[Work, ...]
    launches: float
    direct: float
    ahead: bool = False
    triangle: bool = False

    @property
    def whole_words(self) -> tuple[int, ...]:
        """Per mapped loop, what tiles are multiples of so that no two of them write into a word of memory."""
        found = [1] * self.mapped
        for family in self.families:
            words = family.words if family.writes else None
            if words is None:
                continue
            counts = (words.count, *words.rest)
            for subscript, count in zip(family.subscripts[words.position :], counts, strict=True):
                between = subscript.least % count or subscript.width % count
                for loop, factor in subscript.factors:
                    if loop < self.mapped:
                        found[loop] = lcm(
                            found[loop], self._apart(loop, count // gcd(count, factor), between)
                        )
        return tuple(found)

    def _apart(self, loop: int, count: int, between: int) -> int:
        """Return what tiles of ``loop`` are multiples of so that each writes ``count`` elements or more.

        Where tiles would begin ``between`` two words, a single one has all iterations, if any size does.
        """
        this = self.loops[loop]
        return 1 << (this.whole - 1).bit_length() if between and this.constant else count
