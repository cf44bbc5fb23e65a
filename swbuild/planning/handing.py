"""Which boxes of a placed kernel CPEs need alike, so that one may get them and hand them on to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping import tiling
from swbuild.memory.box import Box
from swbuild.memory.buffers import Buffer
from swbuild.options import KernelOptions
from swbuild.planning.loops import Loops
from swbuild.planning.rounds import are_as_long, second_follows
from swbuild.planning.slots import Room
from swbuild.planning.tilings import Placed

__all__ = ["Alike", "alike_in", "sharers_of", "with_alike_boxes"]

_IN, _SET = isl.dim_type.in_, isl.dim_type.set

#: The buffers whose boxes some CPEs need alike, with the mapped loops that their boxes depend on.
Alike = Mapping[str, frozenset[int]]


def alike_in(scop: Scop, placed: Placed, options: KernelOptions) -> Alike:
    """Return the buffers of ``placed`` that may be handed on: CPEs along a way have equal boxes all the time.

    Nothing in the kernel writes what they hold, all CPEs run it, and with each of its tiles every CPE comes
    to the same visits, some perhaps to fewer of them than others.  Where the second loop begins depends on
    the first only if the rounds of both are as long: else CPEs come to the same tiles in different rounds.
    """
    mapping, machine = placed.tiled.mapping, load(options.machine)
    if not options.hands_on or mapping.is_joint or prod(mapping.threads) != machine.cpes:
        return {}
    room, mapped = Room(placed), len(mapping.threads)
    straight = mapping.threads == machine.mesh
    if straight and not are_as_long(placed.tiled.sizes, mapping.threads) and second_follows(placed.tiled):
        straight = False
    found = {}
    for buffer in placed.plan.buffers:
        element = scop.array(buffer.array).element
        passed = machine.hands_on(element.name, element.size)
        if not (passed and buffer.load and room.may_hand_on(buffer.name) and _is_nested(buffer, mapped)):
            continue
        used = frozenset(k for k in _alike(scop, buffer, mapped)[1] if mapping.threads[k] > 1)
        if not used or (straight and len(used) == 1):
            found[buffer.name] = used
    return found


def _is_nested(buffer: Buffer, mapped: int) -> bool:
    """Return whether loops around visits of ``buffer`` begin or end with the same values in all tiles.

    The ``mapped`` loops, which tell tiles apart, come first.  So CPEs come to the same visits, but for some
    that they come to later, or that they leave earlier, than others.
    """
    visits = buffer.box.visits
    for position in range(mapped, visits.dim(_SET)):
        outer = visits.project_out(_SET, position + 1, visits.dim(_SET) - position - 1)
        values = isl.Map.from_domain(outer).move_dims(isl.dim_type.out, 0, _IN, position, 1)
        for end in (values.lexmin, values.lexmax):
            found = end()
            if all(found.project_out(_IN, k, 1).is_single_valued() for k in range(mapped)):
                break
        else:
            return False
    return True


def _alike(scop: Scop, buffer: Buffer, mapped: int) -> tuple[Box, frozenset[int]]:
    """Return the box of ``buffer`` that is handed on, and which of the ``mapped`` loops it depends on.

    Where one of these only tells how much of a box is read, as in a triangle, it is all of it, where all of
    it is in memory: nothing in the kernel writes there.
    """
    box, used = buffer.box, _used(buffer.box, mapped)
    others = (box.regardless_of(k) for k in sorted(used)) if len(used) > 1 else ()
    found = next((other for other in others if other is not None), None)
    if found is None or not scop.has_rows(buffer.array, found.indices(0)):
        return box, used
    return found, _used(found, mapped)


def with_alike_boxes(scop: Scop, placed: Placed) -> Placed:
    """Return ``placed`` with the boxes that are handed on as all have them who are handed them."""
    mapped = len(placed.tiled.mapping.threads)
    buffers = tuple(
        replace(b, box=_alike(scop, b, mapped)[0].plain()) if b.name in placed.handed else b
        for b in placed.plan.buffers
    )
    return replace(placed, plan=replace(placed.plan, buffers=buffers))


def _used(box: Box, mapped: int) -> frozenset[int]:
    """Return which of the ``mapped`` loops tell where ``box`` lies, or how long it is."""
    values = (*box.low, *box.high)
    return frozenset(k for k in range(mapped) if any(_depends(v, k, box.visits) for v in values))


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
