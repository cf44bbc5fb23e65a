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

#: Tiles that are looked at one by one where some have more work than others; more even out.
_MOST_TILES = 4096


@dataclass(frozen=True, slots=True)
class Share:
    """``busy`` CPEs have work; the busiest has ``largest`` of all."""

    busy: float
    largest: float


def share_of(
    loops: Loops, mapping: tiling.Mapping, weights: Mapping[str, float], hosts: tuple[int, ...]
) -> Share:
    """Return who does what in the launch at the values ``hosts`` of the host's loops.

    ``weights`` are the cycles of an instance of each statement.
    """
    top = loops.top
    assert top is not None
    behind = slice(len(hosts), len(hosts) + loops.mapped)
    uneven = any(any(nest.bounds.matters[behind]) for nest in loops.nests.values())
    if (uneven or any(top.matters[behind])) and top.count(hosts) <= _MOST_TILES:
        return _weighed(loops, mapping, weights, hosts)
    busy, largest, before = 1.0, 1.0, hosts
    for count in mapping.threads:
        first, tiles = top.span(before)
        rounds = ceil(tiles / count)
        in_blocks = mapping.distribution is Distribution.BLOCK
        busy *= ceil(tiles / max(1, rounds)) if in_blocks else min(tiles, count)
        largest *= rounds / tiles if tiles else 1.0
        before = (*before, first)
    return Share(max(1.0, busy), largest)


def _weighed(
    loops: Loops, mapping: tiling.Mapping, weights: Mapping[str, float], hosts: tuple[int, ...]
) -> Share:
    """Return the same by a look at each tile."""
    assert loops.top is not None
    work: dict[tuple[int, ...], float] = {}
    tiles = list(_tiles(loops.top, hosts, len(hosts) + loops.mapped))
    numbers = [
        tuple(value // size for value, size in zip(tile[len(hosts) :], loops.sizes, strict=False))
        for tile in tiles
    ]
    owners = _owners(numbers, mapping)
    for tile, owner in zip(tiles, owners, strict=True):
        cycles = sum(nest.bounds.count(tile) * weights[name] for name, nest in loops.nests.items())
        work[owner] = work.get(owner, 0.0) + cycles
    total = sum(work.values())
    if not total:
        return Share(1.0, 1.0)
    return Share(float(sum(cycles > 0 for cycles in work.values())), max(work.values()) / total)


def _tiles(top: Bounds, before: tuple[int, ...], depth: int) -> Iterator[tuple[int, ...]]:
    if len(before) == depth:
        yield before
        return
    first, values = top.span(before)
    for k in range(values):
        yield from _tiles(top, (*before, first + k * top.steps[len(before)]), depth)


def _owners(numbers: list[tuple[int, ...]], mapping: tiling.Mapping) -> list[tuple[int, ...]]:
    """Return for each tile, by its numbers, the thread that runs it."""
    if mapping.distribution is Distribution.CYCLIC:
        return [tuple(n % count for n, count in zip(tile, mapping.threads, strict=True)) for tile in numbers]
    firsts = [min(column) for column in zip(*numbers, strict=True)]
    chunks = [
        ceil((max(column) - first + 1) / count)
        for column, first, count in zip(zip(*numbers, strict=True), firsts, mapping.threads, strict=True)
    ]
    return [
        tuple((n - first) // chunk for n, first, chunk in zip(tile, firsts, chunks, strict=True))
        for tile in numbers
    ]
