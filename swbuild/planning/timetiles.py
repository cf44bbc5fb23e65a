"""How large tiles over time are to be, and the order of a region in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from swbuild.expressions.trees import walk
from swbuild.frontend.scop import Array, Scop
from swbuild.islnumbers import int_of, val_of
from swbuild.kernelir.vectors import lanes_of
from swbuild.machine import load
from swbuild.mapping.diamonds import Sweeps, in_diamonds, sweeps_of
from swbuild.mapping.strides import AccessStrides
from swbuild.options import Distribution, KernelOptions
from swbuild.planning.ordering import Order, all_stay_home, split_tree
from swbuild.planning.sizes import assumed_sizes
from swbuild.planning.widths import UNIT, Plane, cheapest
from swbuild.polyhedral.islutil import bounded_effort, constant_of, ran_out, sets_of
from swbuild.polyhedral.scheduling import Origin

__all__ = ["in_time_tiles"]

#: The narrowest diamonds along one loop alone, and the widest ones.
_NARROWEST, _WIDEST = 12, 512

#: What the ends of rows add to what a point takes: replays of 120 to 1300 points a row have 1.1 to 2.1.
_ENDS = 1.5

#: isl steps to find how far sweeps reach.
_EFFORT = 1_000_000

_PARAM = isl.dim_type.param


def in_time_tiles(scop: Scop, options: KernelOptions, order: Order) -> tuple[Scop, Order] | None:
    """Return the kernels of ``order`` in tiles over time, None where it has no sweeps that can be tiled.

    Or where these are wide enough at no size.

    These tiles are dealt out in turn.  They come with the region at the sizes that they are for.
    """
    if options.distribution not in (None, Distribution.CYCLIC):
        return None
    sweeps = _sweeps(scop, order)
    tile = _tile(scop, options, sweeps) if sweeps else ()
    if sweeps is None or not tile:
        return None
    schedule = in_diamonds(sweeps, tile)
    scheduled = replace(order.scheduled, schedule=schedule, peeled=(), front=tile, origin=Origin.DIAMONDS)
    if sweeps.wide is not None:
        scop = replace(scop, assumptions=scop.assumptions.intersect(sweeps.wide))
        if scop.assumptions.intersect(scop.context).is_empty():
            return None
        scheduled = replace(scheduled, kept=scheduled.kept.intersect_params(sweeps.wide))
    found = replace(order, scheduled=scheduled, tree=split_tree(scop, scheduled), alone=frozenset())
    home = not found.tree.statements and all_stay_home(scop, scheduled.private, found.tree)
    return (scop, found) if home else None


def _sweeps(scop: Scop, order: Order) -> Sweeps | None:
    """Return the sweeps of ``order``, None where it has none, or isl takes long over how far they reach."""
    try:
        with bounded_effort(_EFFORT):
            score = AccessStrides(scop).score
            return sweeps_of(order.scheduled.schedule, order.scheduled.kept, score)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def _tile(scop: Scop, options: KernelOptions, sweeps: Sweeps) -> tuple[int, ...]:
    """Return the width of diamonds, and the length of the pieces of one if there is a second loop.

    () where they would be too small.  Along one loop, all CPEs are to have a diamond.
    """
    machine, sizes = load(options.machine), assumed_sizes(scop, options)
    if len(sweeps.loops) == 1:
        share = -(-_extent(sweeps.loops[0], sizes.values) // machine.cpes)
        return (min(_WIDEST, max(_NARROWEST, -(-share // UNIT) * UNIT)),)
    slopes = sweeps.slopes[0], sweeps.slopes[1]
    elements = tuple(size for array in scop.arrays for size in _planes(array, len(slopes)))
    budget = options.ldm_budget or machine.ldm_budget
    point = _point_cycles(scop, options, sweeps)
    plane = Plane(slopes, sweeps.in_a_step, elements, budget, point, machine)
    loops = sweeps.loops[0], sweeps.loops[1]
    runs = [
        (_extent(sweeps.time, each), (_extent(loops[0], each), _extent(loops[1], each)))
        for each in sizes.orders
    ]
    return cheapest(plane, runs) or ()


def _planes(array: Array, rank: int) -> list[int]:
    """Return the size of an element for each plane of this ``rank`` that ``array`` is taken to consist of.

    One of another length than its planes (``A[2][n][n]``) has as many as that.
    """
    before = len(array.extents) - rank
    known = [None if extent is None else constant_of(extent) for extent in array.extents[: max(0, before)]]
    count = prod(each or 1 for each in known) if before >= 0 else 0
    return [array.element.size] * count


def _point_cycles(scop: Scop, options: KernelOptions, sweeps: Sweeps) -> float:
    """Return what a point of a sweep takes on average.

    That is a cycle for an access or an operation, in vectors where there are such, and more for the ends of
    rows, which are computed one by one.
    """
    lanes = lanes_of(options)
    total = 0.0
    for statement in scop.statements:
        operations = sum(bool(node.children) for node in walk(statement.body))
        elements = {scop.array(access.array).element for access in statement.accesses}
        width = min((lanes[each][1] if each in lanes else 1 for each in elements), default=1)
        total += (len(statement.accesses) + operations) / width
    return _ENDS * total / sweeps.in_a_step


def _extent(loop: isl.UnionPwAff, sizes: Mapping[str, int]) -> int:
    """Return how many values ``loop`` has at ``sizes``."""
    (values,) = sets_of(isl.UnionMap.from_union_pw_aff(loop).range())
    for name, size in sizes.items():
        position = values.find_dim_by_name(_PARAM, name)
        if position >= 0:
            values = values.fix_val(_PARAM, position, val_of(size))
    last, first = values.dim_max_val(0), values.dim_min_val(0)
    return int_of(last.sub(first)) + 1 if last.is_int() and first.is_int() else 1
