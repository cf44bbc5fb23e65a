"""Counting requests: the closed forms against a byte-by-byte count."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swbuild.machine.cost.requests import Requests, requests_of

WORDS = st.integers(0, 96).map(lambda n: 4 * n)


def count_by_bytes(address: int, length: int, block: int, gap: int) -> Requests:
    """Walk over every byte; blocks that meet in one request count apart, as the engine issues them apart."""
    block = block if 0 < block < length and gap else length
    blocks = full = merges = touched = doubled = 0
    place, left = address, length
    while left:
        piece = min(block, left)
        cover: dict[int, list[int]] = defaultdict(list)
        for byte in range(place, place + piece):
            cover[byte // 128].append(byte % 128)
        blocks += 1
        touched += len(cover)
        for bytes_ in cover.values():
            if len(bytes_) == 128:
                full += 1
                continue
            ragged = bytes_[0] % 8 or (bytes_[-1] + 1) % 8
            double = bool(ragged and bytes_[0] < 64 and bytes_[-1] >= 64)
            merges += 1 + double
            doubled += double
        place += piece + gap
        left -= piece
    return Requests(blocks, touched, full, merges, doubled)


@given(WORDS, WORDS, WORDS, WORDS)
@settings(max_examples=300, deadline=None)
def test_closed_forms_agree_with_a_walk_over_the_bytes(
    address: int, words: int, block: int, gap: int
) -> None:
    length = 4 * words + 4
    assert requests_of(0x500001406000 + address, length, block, gap, 128) == count_by_bytes(
        address, length, block, gap
    )


def test_long_strided_transfers_are_counted_by_their_period() -> None:
    assert requests_of(4, 2**24 - 4, 4, 4, 128) == count_by_bytes_period()


def count_by_bytes_period() -> Requests:
    blocks = (2**24 - 4) // 4
    return Requests(blocks, blocks, 0, blocks, 0)


@pytest.mark.parametrize(
    ("offset", "length", "merges", "full"),
    [
        (0, 128, 0, 1),
        (0, 64, 1, 0),
        (0, 124, 2, 0),
        (64, 124, 2, 0),
        (4, 128, 3, 0),
        (124, 132, 1, 1),
        (0, 96, 1, 0),
    ],
)
def test_merge_units_are_the_steps_that_were_measured(
    offset: int, length: int, merges: int, full: int
) -> None:
    counts = requests_of(offset, length, 0, 0, 128)
    assert (counts.merges, counts.full) == (merges, full)


def test_nothing_is_nothing() -> None:
    assert requests_of(0, 0, 0, 0, 128) == Requests(0, 0, 0, 0, 0)
    assert requests_of(0, 128, 0, 0, 128).partial == 0
