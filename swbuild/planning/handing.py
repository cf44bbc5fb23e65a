"""Which boxes of a placed kernel CPEs need alike, so that one may get them and hand them on to the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import prod

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping import tiling
from swbuild.memory.buffers import Buffer
from swbuild.options import KernelOptions, Share
from swbuild.planning.loops import Loops
from swbuild.planning.slots import Room
from swbuild.planning.tilings import Placed

__all__ = ["Alike", "alike_in", "sharers_of"]

_IN, _SET = isl.dim_type.in_, isl.dim_type.set

#: The buffers whose boxes some CPEs need alike, with the mapped loops that their boxes depend on.
Alike = Mapping[str, frozenset[int]]


def alike_in(scop: Scop, placed: Placed, options: KernelOptions) -> Alike:
    """Return the buffers of ``placed`` that may be handed on: CPEs along a way have equal boxes all the time.

    Nothing in the kernel writes what they hold, all CPEs run it, and with each of its tiles every CPE comes
    to the same visits.  None has more tiles than others but at the ragged end, unless boxes are to be handed
    on wherever they can: all wait for those with the longest rows of tiles, and estimates do not tell how
    long.
    """
    mapping, machine = placed.tiled.mapping, load(options.machine)
    if not options.hands_on or mapping.is_joint or prod(mapping.threads) != machine.cpes:
        return {}
    room, mapped = Room(placed), len(mapping.threads)
    straight = mapping.threads == machine.mesh
    found = {}
    for buffer in placed.plan.buffers:
        element = scop.array(buffer.array).element
        passed = machine.hands_on(element.name, element.size)
        if not (passed and buffer.load and room.may_hand_on(buffer.name) and _is_even(buffer, mapped)):
            continue
        if options.share is not Share.ALWAYS and _has_rows_of_many_lengths(buffer, mapped):
            continue
        used = frozenset(k for k in _used(buffer, mapped) if mapping.threads[k] > 1)
        if not used or (straight and len(used) == 1):
            found[buffer.name] = used
    return found


def _is_even(buffer: Buffer, mapped: int) -> bool:
    """Return whether the visits of ``buffer`` are the same with all tiles of the ``mapped`` loops."""
    visits, count = buffer.box.visits, buffer.box.visits.dim(_SET)
    tiles = visits.eliminate(_SET, mapped, count - mapped)
    return all(visits.eliminate(_SET, k, 1).intersect(tiles).is_subset(visits) for k in range(mapped))


def _has_rows_of_many_lengths(buffer: Buffer, mapped: int) -> bool:
    """Return whether the first of the ``mapped`` loops tell how many tiles the others have."""
    visits, count = buffer.box.visits, buffer.box.visits.dim(_SET)
    tiles = visits.eliminate(_SET, mapped, count - mapped)
    alone = (tiles.eliminate(_SET, 0, k).eliminate(_SET, k + 1, count - k - 1) for k in range(mapped))
    return not reduce(isl.Set.intersect, alone).is_subset(tiles)


def _used(buffer: Buffer, mapped: int) -> frozenset[int]:
    """Return which of the ``mapped`` loops tell where the boxes of ``buffer`` lie, or how long they are."""
    values = (*buffer.box.low, *buffer.box.high)
    return frozenset(k for k in range(mapped) if any(_depends(v, k, buffer.box.visits) for v in values))


def _depends(value: isl.PwAff, position: int, visits: isl.Set) -> bool:
    """Return whether visits that differ in the loop at ``position`` alone may have different values."""
    if value.dim(_IN) <= position:
        return False
    pieces = value.gist(visits).get_pieces()
    if not any(
        aff.involves_dims(_IN, position, 1) or where.involves_dims(_SET, position, 1) for where, aff in pieces
    ):
        return False
    values = isl.Map.from_pw_aff(value).intersect_domain(visits).project_out(_IN, position, 1)
    return not values.is_single_valued()


def sharers_of(used: frozenset[int], loops: Loops, mapping: tiling.Mapping, outer: tuple[int, ...]) -> float:
    """Return for how many CPEs one gets a box at the values ``outer`` of sizes and host's loops.

    The box depends on the mapped loops ``used``.
    """
    found, before = 1.0, outer
    for k, count in enumerate(mapping.threads):
        first, tiles = loops.top.span(before)
        found *= 1 if k in used else max(1, min(tiles, count))
        before = (*before, first + loops.top.steps[len(before)] * (tiles // 2))
    return found
