"""What a placed kernel moves between main memory and the LDM in a launch: transfers with their shapes."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine.cost.launches import Moved, Shape
from swbuild.memory.box import Box, whole_dimensions
from swbuild.memory.buffers import Buffer, InTile, Residency, Store
from swbuild.planning.counting import Weighted
from swbuild.planning.formulas import Formula, formula_of
from swbuild.planning.loops import Loops
from swbuild.polyhedral.islutil import constant_of

__all__ = ["ARGUMENTS", "Sight", "moved_by"]

#: Visits of which the boxes are looked at.
_VISITS = 8

#: What every CPE gets first.
ARGUMENTS = Moved(-1, False, 1, 1, Shape(1, 128, 128, 64))


@dataclass(frozen=True, slots=True)
class Sight:
    """A kernel's loops in its region, with the ends of boxes and the extents that were asked for."""

    scop: Scop
    loops: Loops
    known: dict[int, Formula]


def moved_by(
    sight: Sight,
    buffer: Buffer,
    outer: tuple[int, ...],
    largest: float,
    *,
    ahead: bool,
) -> Iterator[Moved]:
    """Yield what the busiest CPE, with ``largest`` of all work, moves for ``buffer`` in a launch.

    ``outer`` are the values of the sizes and of the host's loops.  ``ahead``: boxes are got one iteration
    ahead where there is one.
    """
    bounds = sight.loops.visits[buffer.name]
    stored = buffer.store is not Store.NONE
    samples = list(bounds.sample(bounds.dimensions, outer)) if buffer.load or stored else []
    if not samples:
        return
    visits = largest * sum(sample.weight for sample in samples)
    kept = buffer.residency or buffer.in_tile
    if kept is not None:
        visits *= 1.0 - _part_resident(sight, kept, visits, samples[0].point)
    if buffer.residency is not None:
        yield from _exchanged(sight, buffer, buffer.residency, outer, largest)
    box = _mean_box(sight, buffer.box, samples)
    for is_put in [False] * buffer.load + [True] * stored:
        if buffer.missing is not None and not is_put:
            some = _mean_box(sight, buffer.missing.box, samples)
            operations, shape = _shape(sight, buffer, some, outer, Store.ROWS)
        else:
            operations, shape = _shape(sight, buffer, box, outer, buffer.store if is_put else Store.BOX)
        part = _part_ahead(sight, buffer, samples, outer) if ahead and not is_put else 0.0
        element = sight.scop.array(buffer.array).element.size
        yield Moved(buffer.level, is_put, visits, operations, shape, part, element=element)


def _part_resident(
    sight: Sight, residency: Residency | InTile, visits: float, point: tuple[int, ...]
) -> float:
    """Return in which part of the ``visits`` of a launch the tile is one that stays in the CPE's LDM.

    A visit is on a tile of its own as far as there are others, by their number at a point of a level.
    """
    count = prod(max(1, _value(length, sight, point)) for length in residency.lengths)
    return min(1.0, residency.room / max(1.0, min(visits, count)))


def _exchanged(
    sight: Sight, buffer: Buffer, residency: Residency, outer: tuple[int, ...], largest: float
) -> Iterator[Moved]:
    """Yield what a CPE exchanges with others of its resident tiles, as if all took a like part in it."""
    element = sight.scop.array(buffer.array).element.size
    parts = [(False, k, part) for k, part in enumerate(residency.fresh)]
    parts += [(True, k, part) for k, part in enumerate(residency.wanted)]
    for is_put, number, exchange in parts:
        bounds = sight.loops.exchanges[buffer.name, is_put, number]
        samples = list(bounds.sample(bounds.dimensions, outer))
        if not samples:
            continue
        box = _mean_box(sight, exchange.box, samples) if exchange.box.is_usable else None
        lengths = box.lengths if box is not None else tuple(map(float, buffer.box.bound or ()))
        row = max(1, round(lengths[-1])) * element
        visits = largest * sum(sample.weight for sample in samples)
        shape = Shape(1, row, row, element)
        yield Moved(buffer.level, is_put, visits, prod(lengths[:-1]), shape, element=element)


def _part_ahead(sight: Sight, buffer: Buffer, samples: list[Weighted], outer: tuple[int, ...]) -> float:
    """Return which part of the visits has another one before it in the same run of the innermost loop."""
    loops, bounds = sight.loops, sight.loops.visits[buffer.name]
    runs = sum(sample.weight for sample in bounds.sample(bounds.dimensions - 1, outer))
    trips = sum(sample.weight for sample in samples) / (runs or 1.0)
    if not buffer.level:
        trips = trips / loops.threads if loops.threads else 1.0
    return 1.0 - 1.0 / max(1.0, trips)


@dataclass(frozen=True, slots=True)
class _Box:
    """The mean lengths of a box, and the first elements of its rows in some visits."""

    lengths: tuple[float, ...]
    firsts: tuple[int, ...]


def _mean_box(sight: Sight, whole: Box, samples: list[Weighted]) -> _Box:
    chosen = samples[:: max(1, len(samples) // _VISITS)]
    weight = sum(sample.weight for sample in chosen)
    sums = [0.0] * len(whole.low)
    firsts = []
    for sample in chosen:
        lows = [_value(low, sight, sample.point) for low in whole.low]
        highs = [_value(high, sight, sample.point) for high in whole.high]
        firsts.append(lows[-1])
        for k, (low, high) in enumerate(zip(lows, highs, strict=True)):
            sums[k] += sample.weight * max(0, high - low + 1)
    return _Box(tuple(max(1.0, total / weight) for total in sums), tuple(firsts))


def _value(formula: isl.PwAff, sight: Sight, point: tuple[int, ...]) -> int:
    """Return the value of ``formula`` at a point of a level, 0 where it has none."""
    if id(formula) not in sight.known:
        sight.known[id(formula)] = formula_of(formula, sight.loops.outer)
    return sight.known[id(formula)](point)


def _shape(
    sight: Sight, buffer: Buffer, box: _Box, outer: tuple[int, ...], store: Store
) -> tuple[float, Shape]:
    """Return how many operations a visit takes, and what one of them moves on average."""
    array = sight.scop.array(buffer.array)
    element, pitch, lengths = array.element.size, _pitch(sight, buffer, outer), box.lengths
    # the array is taken to begin at a whole request
    alignment = gcd(pitch, *(element * first for first in box.firsts))
    if store is Store.ELEMENTS:
        return prod(lengths), Shape(1, element, element, element)
    whole = whole_dimensions(buffer.box, array.extents) if store is Store.BOX else 0
    if whole and buffer.residency is None:  # they are part of the rows
        run = prod(lengths[-whole:])
        lengths = (*lengths[: -whole - 1], lengths[-whole - 1] * run)
        first = array.extents[-whole - 1] if len(lengths) > 1 else None
        pitch = 0 if first is None else round(run) * element * _value(first, sight, outer)
        alignment = gcd(pitch, round(run) * element)
    row = max(1, round(lengths[-1])) * element
    if store is Store.ROWS or len(lengths) == 1:
        return prod(lengths[:-1]), Shape(1, row, row, alignment)
    return prod(lengths[:-2]), Shape(max(1, round(lengths[-2])), row, max(row, pitch), alignment)


def _pitch(sight: Sight, buffer: Buffer, outer: tuple[int, ...]) -> int:
    """Return the bytes from row to row of a buffer's array in main memory, 0 where it is one row."""
    array = sight.scop.array(buffer.array)
    extent = array.extents[-1]
    if len(array.extents) == 1 or extent is None:
        return 0
    count = constant_of(extent)
    return array.element.size * (_value(extent, sight, outer) if count is None else count)
