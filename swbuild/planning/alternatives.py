"""Other whole orders of a region, which compete with the one that was found first by what they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from swbuild.frontend.scop import AccessKind, Scop
from swbuild.mapping.blocking import blocked
from swbuild.options import Fusion, KernelOptions, Preset, Spawn
from swbuild.planning.ordering import Order, all_stay_home, split_tree
from swbuild.planning.singles import with_singles
from swbuild.planning.timetiles import in_time_tiles
from swbuild.polyhedral.islutil import bounded_effort, ran_out
from swbuild.polyhedral.scheduling import Origin, Scheduled, compute_schedule, permutable_schedule

__all__ = ["may_change", "may_run_in_blocks", "other_orders"]

#: Iterations in a block of the first sequential loop, in the order in which they are tried.
EDGES = (32,)


#: isl steps for blocks of one size.
_EFFORT = 1_000_000


def may_change(options: KernelOptions, order: Order) -> bool:
    """Return whether other orders than ``order`` are to be looked for.

    They are where its kernels run again and again inside sequential loops; not where the user chooses the
    order or its tiles, or where sums are computed in parts.
    """
    return _is_free(options, order) and any(kernel.host_loops for kernel in order.tree.kernels)


def may_run_in_blocks(scop: Scop, options: KernelOptions, order: Order) -> bool:
    """Return whether blocks of a sequential loop inside the kernels of ``order`` are to be looked for.

    They are where unknowns go into equations; not where :func:`may_change` says that the user chooses.
    """
    return _is_free(options, order) and _substitutes(scop, order)


def _is_free(options: KernelOptions, order: Order) -> bool:
    """Return whether the order and the tiles are not the user's choice, and no sums are in parts."""
    chosen = options.transform or options.tile or options.spawn is Spawn.KERNEL
    return not (chosen or options.preset is Preset.CLASSIC or order.split)


def other_orders(scop: Scop, options: KernelOptions, order: Order) -> Iterator[tuple[Scop, Order]]:
    """Yield orders of ``scop`` that may take less time than ``order``, if it may be changed.

    Each is with the region that it is an order of: for some, sizes are left out, which the serial loops run.
    """
    if not may_change(options, order):
        if may_run_in_blocks(scop, options, order):
            yield from _blocks(scop, options, order)
        return
    apart = _apart(scop, options, order)
    for some in (apart, order):  # an edge that is fused with a sweep leaves less choice
        tiled = None if some is None else in_time_tiles(scop, options, some)
        if tiled is not None:
            yield tiled
            break
    if apart is not None:
        yield scop, apart
    yield from _blocks(scop, options, order)


def _substitutes(scop: Scop, order: Order) -> bool:
    """Return whether a kernel reads elements of an array that it changes, but for a statement's own ones.

    It does where unknowns go into equations, and where one statement takes what another has computed: blocks
    are worth the look.  A sum reads nothing but the element that it changes.
    """
    for kernel in order.tree.kernels:
        accesses = [(name, a) for name in kernel.statements for a in scop.statement(name).accesses]
        written = {(name, a.array): a.relation for name, a in accesses if a.kind is not AccessKind.READ}
        changed = {array for _, array in written}
        for name, a in accesses:
            own = written.get((name, a.array))
            if a.kind is AccessKind.READ and a.array in changed and not (own and own.is_equal(a.relation)):
                return True
    return False


def _blocks(scop: Scop, options: KernelOptions, order: Order) -> Iterator[tuple[Scop, Order]]:
    """Yield orders in blocks of a sequential loop, where there are such."""
    scheduled = order.scheduled
    deep = permutable_schedule(scop, scheduled.private, options.fusing, scheduled.kept)
    if deep is None:
        return
    for edge in EDGES:
        found = _in_blocks(scop, order, deep, edge)
        if found is not None:
            yield scop, found


def _apart(scop: Scop, options: KernelOptions, order: Order) -> Order | None:
    """Return the order of isl's scheduler that keeps nests apart, where ``order`` is one that fuses them.

    Statements in one nest may have fewer parallel loops, or others, than each has by itself.
    """
    scheduled = order.scheduled
    if options.fusion is not None or scheduled.origin is not Origin.SCHEDULER:
        return None
    if not any(len(kernel.statements) > 1 and kernel.host_loops for kernel in order.tree.kernels):
        return None
    other = compute_schedule(scop, scheduled.private, Fusion.MIN, scheduled.dependences, scheduled.kept)
    if other.origin is not Origin.SCHEDULER:
        return None
    return _usable(scop, order, replace(other, origin=Origin.APART))


def _usable(scop: Scop, order: Order, scheduled: Scheduled) -> Order | None:
    """Return ``order`` as it is when ``scheduled`` so, None where private variables do not survive it."""
    found = replace(order, scheduled=scheduled, tree=split_tree(scop, scheduled), alone=frozenset())
    found = with_singles(scop, found) or found
    return found if all_stay_home(scop, scheduled.private, found.tree) else None


def _in_blocks(scop: Scop, order: Order, deep: isl.Schedule, edge: int) -> Order | None:
    """Return the order ``deep`` in blocks of ``edge``, None if it has none that can be used."""
    try:
        with bounded_effort(_EFFORT):
            schedule = blocked(deep, edge, order.scheduled.kept)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None
    if schedule is None:
        return None
    scheduled = replace(
        order.scheduled, schedule=schedule, peeled=(), front=(), block=edge, origin=Origin.BLOCKS
    )
    return _usable(scop, order, scheduled)
