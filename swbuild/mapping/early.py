"""Wavefronts of tiles, with a part of each front in front of its tiles."""

from __future__ import annotations

import islpy as isl

from swbuild.mapping.tiling import distances, open_pairs
from swbuild.mapping.wavefront import front_of, in_tiles, tile_numbers

__all__ = ["fronts_behind"]


def fronts_behind(
    band: isl.ScheduleNode, tile: tuple[int, ...], early: isl.UnionSet, kept: isl.UnionMap
) -> isl.Schedule:
    """Return the schedule of ``band`` with it in wavefronts of tiles of ``tile`` iterations per loop.

    In each front the instances ``early`` come first, in the order of the band; of its loops, those are marked
    as parallel that carry none of the pairs ``kept`` there.
    """
    numbers = tile_numbers(band, tile)
    rest = band.get_domain().subtract(early)
    parts = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, 2).add(early).add(rest)
    both = band.insert_sequence(parts).insert_partial_schedule(front_of(numbers)).child(0)
    first = _flagged(both.child(0).child(0), kept)
    return in_tiles(first.parent().parent().child(1).child(0), numbers).get_schedule()


def _flagged(band: isl.ScheduleNode, kept: isl.UnionMap) -> isl.ScheduleNode:
    """Return ``band`` with the loops marked as parallel that carry no pair of ``kept``."""
    for member, found in enumerate(distances(band.band_get_partial_schedule(), open_pairs(band, kept))):
        band = band.band_member_set_coincident(member, int(found.is_subset(isl.Set("{ [0] }"))))
    return band
