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
    period = request // gcd(step, request) if step else 1
    times, further = divmod(count, period)
    blocks, touched, full, merges, doubled = (
        _contiguous((start + count * step) % request, rest, request) if rest else (0, 0, 0, 0, 0)
    )
    for k in range(min(period, count)):  # the blocks that begin where block k does, in another request
        alike, one = times + (k < further), _contiguous((start + k * step) % request, block, request)
        blocks += alike * one[0]
        touched += alike * one[1]
        full += alike * one[2]
        merges += alike * one[3]
        doubled += alike * one[4]
    return Requests(blocks, touched, full, merges, doubled)


def _merge_units(start: int, end: int, request: int) -> int:
    """Return the merge units of the piece [start, end) of one request, which it does not fill."""
    ragged = start % _WORD or end % _WORD
    both_halves = start < request // 2 < end
    return 2 if ragged and both_halves else 1
