"""How a DMA descriptor falls on the memory controller's requests: the counts that its cost rests on.

A transfer is a run of equally long blocks in main memory.  The controller works on aligned requests of
``request`` bytes (128 on both machines), so a block touches one request more than its length says
when it starts in the middle of one.  A put that covers a request only in part must be merged with what
the memory holds.  Measured on the Pro, such a merge costs one unit, and a second one when the piece
is ragged (an end that is no multiple of 8 bytes, the word of the memory's error correction) and
lies in both halves of the request.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from operator import add
from typing import NamedTuple

__all__ = ["Requests", "requests_of"]

_WORD = 8


class Requests(NamedTuple):
    """Counts of one transfer.

    Blocks, requests touched, requests wholly covered, merge units of a put, and pieces of a request that
    need two units.
    """

    blocks: int
    touched: int
    full: int
    merges: int
    doubled: int

    @property
    def partial(self) -> int:
        """Return the number of requests that the transfer covers only in part."""
        return self.touched - self.full


def requests_of(address: int, length: int, block: int, gap: int, request: int) -> Requests:
    """Return the counts of a transfer of ``length`` bytes at ``address`` in blocks with gaps between.

    ``block`` 0 means contiguous; a last block that is not whole is counted as the piece that it is.
    """
    if length <= 0:
        return Requests(0, 0, 0, 0, 0)
    if block <= 0 or block >= length or gap == 0:
        return _contiguous(address % request, length, request)
    return _strided(address % request, length, block, gap % request, request)


@lru_cache(maxsize=65536)
def _contiguous(start: int, length: int, request: int) -> Requests:
    end = start + length
    touched = -(-end // request)
    if touched == 1:
        units = 0 if length == request else _merge_units(start, end, request)
        return Requests(1, 1, int(not units), units, int(units == 2))
    head = 0 if start == 0 else _merge_units(start, request, request)
    tail = 0 if end % request == 0 else _merge_units(0, end % request, request)
    full = touched - (head > 0) - (tail > 0)
    return Requests(1, touched, full, head + tail, (head == 2) + (tail == 2))


@lru_cache(maxsize=65536)
def _strided(start: int, length: int, block: int, gap: int, request: int) -> Requests:
    count, rest = divmod(length, block)
    step = (block + gap) % request
    cycle = _cycle(start % gcd(step, request), block, step, request)
    times, further = divmod(count, len(cycle.places))
    first = cycle.places[start]
    before, behind, whole = cycle.sums[first], cycle.sums[first + further], cycle.sums[len(cycle.places)]
    last = _contiguous((start + count * step) % request, rest, request) if rest else Requests(0, 0, 0, 0, 0)
    return Requests(
        last[0] + times * whole[0] + behind[0] - before[0],
        last[1] + times * whole[1] + behind[1] - before[1],
        last[2] + times * whole[2] + behind[2] - before[2],
        last[3] + times * whole[3] + behind[3] - before[3],
        last[4] + times * whole[4] + behind[4] - before[4],
    )


class _Cycle(NamedTuple):
    """Blocks that each begin elsewhere in a request, in their order, until one begins where the first did.

    ``places`` are their numbers by where they begin; ``sums`` the counts of the first 0, 1, … of them, for
    two rounds.
    """

    places: dict[int, int]
    sums: list[tuple[int, ...]]


@lru_cache(maxsize=4096)
def _cycle(start: int, block: int, step: int, request: int) -> _Cycle:
    period = request // gcd(step, request)
    places = {(start + k * step) % request: k for k in range(period)}
    counts = [_contiguous(place, block, request) for place in places]
    sums: list[tuple[int, ...]] = [(0, 0, 0, 0, 0)]
    for one in (*counts, *counts):
        sums.append(tuple(map(add, sums[-1], one)))
    return _Cycle(places, sums)


def _merge_units(start: int, end: int, request: int) -> int:
    """Return the merge units of the piece [start, end) of one request, which it does not fill."""
    ragged = start % _WORD or end % _WORD
    both_halves = start < request // 2 < end
    return 2 if ragged and both_halves else 1
