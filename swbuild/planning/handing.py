"""Which boxes of a placed kernel CPEs need alike, so that one may get them and hand them on to the others."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.machine import MachineModel, load
from swbuild.mapping import tiling
from swbuild.memory.plan import Buffer
from swbuild.options import KernelOptions
from swbuild.planning.loops import Loops
from swbuild.planning.shape import all_getters
from swbuild.planning.slots import Room
from swbuild.planning.tilings import Placed

__all__ = ["Alike", "alike_in", "sharers_of"]

_IN, _SET = isl.dim_type.in_, isl.dim_type.set

#: The buffers whose boxes some CPEs need alike, with the mapped loops that their boxes depend on.
Alike = Mapping[str, frozenset[int]]


def alike_in(scop: Scop, placed: Placed, options: KernelOptions) -> Alike:
    """Return the buffers of ``placed`` that may be handed on: CPEs along a way have equal boxes all the time.

    Nothing in the kernel writes what they hold, all CPEs run it, and none comes to more visits than others
    do, but for tiles that it has at the ragged end.
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
        used = frozenset(k for k in _used(buffer, mapped) if mapping.threads[k] > 1)
        if not used or (straight and len(used) == 1):
            found[buffer.name] = used
    return found


def _is_even(buffer: Buffer, mapped: int) -> bool:
    """Return whether the visits of ``buffer`` are the same for all values of each of the ``mapped`` loops."""
    visits, count = buffer.box.visits, buffer.box.visits.dim(_SET)
    for k in range(mapped):
        others = visits.eliminate(_SET, k, 1)
        alone = visits.eliminate(_SET, 0, k).eliminate(_SET, k + 1, count - k - 1)
        if not others.intersect(alone).is_subset(visits):
            return False
    return True


def _used(buffer: Buffer, mapped: int) -> frozenset[int]:
    """Return which of the ``mapped`` loops tell where the boxes of ``buffer`` lie, or how long they are."""
    values = (*buffer.box.low, *buffer.box.high)
    return frozenset(k for k in range(mapped) if any(_depends(v, k, buffer.box.visits) for v in values))


def _depends(value: isl.PwAff, position: int, visits: isl.Set) -> bool:
    if value.dim(_IN) <= position:
        return False
    pieces = value.gist(visits).get_pieces()
    return any(
        aff.involves_dims(_IN, position, 1) or where.involves_dims(_SET, position, 1) for where, aff in pieces
    )


def sharers_of(
    used: frozenset[int],
    loops: Loops,
    mapping: tiling.Mapping,
    machine: MachineModel,
    outer: tuple[int, ...],
) -> float:
    """Return for how many CPEs one gets a box at the values ``outer`` of sizes and host's loops.

    The box depends on the mapped loops ``used``.
    """
    found, before = 1.0, outer
    for k, count in enumerate(mapping.threads):
        first, tiles = loops.top.span(before)
        found *= 1 if k in used else max(1, min(tiles, count))
        before = (*before, first + loops.top.steps[len(before)] * (tiles // 2))
    return found if used else max(1.0, found / all_getters(machine))
