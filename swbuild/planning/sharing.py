"""Who does what of a kernel: how many CPEs have work in a launch, and what part of it the busiest has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil

from swbuild.classes import dataclass
from swbuild.mapping import tiling
from swbuild.options import Distribution
from swbuild.planning.counting import Bounds
from swbuild.planning.loops import Loops

__all__ = ["Share", "share_of"]

#: of a tile, a round or a thread, in each mapped loop
_Numbers = tuple[int, ...]

#: Tiles that are looked at one by one, as some have more work than others; more even out.
_MOST_TILES = 300


@dataclass(frozen=True, slots=True)
class Share:
    """``busy`` CPEs have work; the busiest has ``largest`` of all.

    ``in_step`` is what the busiest of each round of tiles have together: as much, unless others are busiest
    in other rounds.  Where all CPEs begin a round together, these are waited for.
    """

    busy: float
    largest: float
    in_step: float


def share_of(
    loops: Loops, mapping: tiling.Mapping, weights: Mapping[str, float], outer: tuple[int, ...]
) -> Share:
    """Return who does what in the launch at the values ``outer`` of the sizes and the host's loops.

    ``weights`` are the cycles of an instance of each statement.
    """
    if loops.top.count(outer) > _MOST_TILES:
        rows = _by_rows(loops, mapping, weights, outer)
        return _even(loops, mapping, outer) if rows is None else rows
    tiles = list(_tiles(loops.top, outer, len(outer) + loops.mapped))
    owners = _owners([tile[len(outer) :] for tile in tiles], loops.tiles, mapping)
    work: dict[_Numbers, float] = {}
    rounds: dict[_Numbers, dict[_Numbers, float]] = {}
    for tile, (turn, owner) in zip(tiles, owners, strict=True):
        cycles = sum(nest.bounds.roughly(tile) * weights[name] for name, nest in loops.nests.items())
        work[owner] = work.get(owner, 0.0) + cycles
        there = rounds.setdefault(turn, {})
        there[owner] = there.get(owner, 0.0) + cycles
    total = sum(work.values())
    if not total:
        return Share(1.0, 1.0, 1.0)
    busy = float(sum(cycles > 0 for cycles in work.values()))
    in_step = sum(max(there.values()) for there in rounds.values())
    return Share(busy, max(work.values()) / total, in_step / total)


def _by_rows(
    loops: Loops, mapping: tiling.Mapping, weights: Mapping[str, float], outer: tuple[int, ...]
) -> Share | None:
    """Return the same for rows of tiles of different lengths, dealt in turn; None for others or too many.

    All tiles of a row are taken for as heavy as the one in its middle.
    """
    top = loops.top
    first, rows = top.span(outer)
    if mapping.distribution is not Distribution.CYCLIC or not top.matters[len(outer)] or rows > _MOST_TILES:
        return None
    work: dict[_Numbers, float] = {}
    step, (height, width) = top.steps[len(outer) + 1], mapping.threads
    for value in range(first, first + rows * top.steps[len(outer)], top.steps[len(outer)]):
        begin, tiles = top.span((*outer, value))
        middle = (*outer, value, begin + step * (tiles // 2))
        cycles = sum(nest.bounds.roughly(middle) * weights[name] for name, nest in loops.nests.items())
        for k in range(min(tiles, width)):
            owner = value // loops.tiles[0] % height, (begin // loops.tiles[1] + k) % width
            work[owner] = work.get(owner, 0.0) + cycles * ((tiles - k - 1) // width + 1)
    total = sum(work.values())
    if not total:
        return None
    largest = max(work.values()) / total
    return Share(float(sum(map(bool, work.values()))), largest, largest)


def _even(loops: Loops, mapping: tiling.Mapping, outer: tuple[int, ...]) -> Share:
    """Return the same where there are so many tiles that their differences even out."""
    if mapping.is_joint:
        tiles, threads = loops.top.count(outer), mapping.threads[0]
        largest = max(1 / tiles, 1 / threads + 0.5 * (1 - 1 / threads) / tiles)
        return Share(min(tiles, float(threads)), largest, largest)
    busy, largest, before = 1.0, 1.0, outer
    for count in mapping.threads:
        first, tiles = loops.top.span(before)
        rounds = ceil(tiles / count)
        in_blocks = mapping.distribution is Distribution.BLOCK
        busy *= ceil(tiles / max(1, rounds)) if in_blocks else min(tiles, count)
        largest *= rounds / tiles if tiles else 1.0
        before = (*before, first + loops.top.steps[len(before)] * (tiles // 2))
    largest = max(largest, 1.0 / max(1.0, busy))
    return Share(max(1.0, busy), largest, largest)


def _tiles(top: Bounds, before: tuple[int, ...], depth: int) -> Iterator[tuple[int, ...]]:
    if len(before) == depth:
        yield before
        return
    first, values = top.span(before)
    for k in range(values):
        yield from _tiles(top, (*before, first + k * top.steps[len(before)]), depth)


def _owners(
    tiles: list[_Numbers], sizes: _Numbers, mapping: tiling.Mapping
) -> list[tuple[_Numbers, _Numbers]]:
    """Return for each tile, by its first iterations, the round in which it is run, and the thread.

    In blocks of tiles there is one round for all.
    """
    numbers = [tuple(value // size for value, size in zip(tile, sizes, strict=False)) for tile in tiles]
    if mapping.distribution is Distribution.CYCLIC:
        dealt = [
            [divmod(n, count) for n, count in zip(tile, mapping.threads, strict=True)] for tile in numbers
        ]
        return [(tuple(turn for turn, _ in each), tuple(owner for _, owner in each)) for each in dealt]
    if mapping.is_joint:
        count = mapping.threads[0]
        return [((turn // count,), (turn % count,)) for turn in range(len(tiles))]
    columns = list(zip(*numbers, strict=True))
    firsts = [min(column) for column in columns]
    lengths = [max(column) - min(column) + 1 for column in columns]
    chunks = [ceil(length / count) for length, count in zip(lengths, mapping.threads, strict=True)]
    return [
        ((), tuple((n - first) // chunk for n, first, chunk in zip(tile, firsts, chunks, strict=True)))
        for tile in numbers
    ]
