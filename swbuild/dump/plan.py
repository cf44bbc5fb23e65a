"""The plan of each kernel: threads, tiles, buffers and what moves between them and main memory."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from swbuild.dump.text import (
    aff_cases,
    indented,
    listed,
    map_lines,
    set_lines,
    union_set_lines,
)
from swbuild.dump.trees import tree_lines
from swbuild.frontend.scop import Scop
from swbuild.mapping.grid import grid_of
from swbuild.memory.buffers import Buffer, Residency, Store
from swbuild.memory.levels import Level
from swbuild.memory.partials import Partial
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import maps_of

__all__ = ["plan_lines"]

_STORES = {
    Store.NONE: "nothing",
    Store.BOX: "the box",
    Store.ROWS: "what is written, row by row",
    Store.ELEMENTS: "what is written, element by element",
}


def plan_lines(scop: Scop, placed: tuple[Placed, ...]) -> Iterator[str]:
    """Yield the plan of every kernel of ``scop``."""
    for place in placed:
        yield f"kernel {place.tiled.kernel.name}"
        yield from indented(_kernel(scop, place))
    if not placed:
        yield "no kernels"


def _kernel(scop: Scop, place: Placed) -> Iterator[str]:
    mapping, grid = place.tiled.mapping, grid_of(scop, place.tiled)
    yield f"statements: {listed(place.tiled.kernel.statements)}"
    yield f"threads: {' x '.join(map(str, mapping.grid))}, {mapping.distribution.value}"
    if place.tiled.kernel.single:
        yield "a single CPE runs it"
    for role, loops in (("shared out", grid.mapped), ("inside a tile", grid.inner)):
        yield from (f"loop {loop.name}: tiles of {loop.tile}, {role}" for loop in loops)
    used = place.bytes
    yield f"LDM: {used} of {place.budget} bytes"
    for level in place.plan.top.walk():
        yield from _level(level, place)
    for partial in place.partials:
        yield from _partial(partial)
    for direct in place.plan.direct:
        yield f"in main memory: {direct.array} in {direct.statement} (#{direct.ref}), {direct.reason}"
    yield f"private variables in buffers: {listed(sorted(place.expanded))}"
    yield "one thread's instances"
    yield from indented(union_set_lines(place.tiled.filter))
    yield "tree"
    yield from indented(tree_lines(place.tiled.schedule))


def _level(level: Level, place: Placed) -> Iterator[str]:
    yield f"level {level.number}, at depth {level.depth}: {listed(sorted(level.statements))}"
    for piece in maps_of(level.prefix.gist_domain(level.prefix.domain())):
        for position in range(level.depth):
            piece = piece.set_dim_name(isl.dim_type.out, position, f"i{position}")
        yield from (f"  at {line}" for line in map_lines(piece))
    for buffer in place.plan.buffers:
        if buffer.level == level.number:
            yield from indented(_buffer(buffer))


def _got(buffer: Buffer) -> str:
    if not buffer.load:
        return "nothing"
    return "the box" if buffer.missing is None else "by row, what is read of values from before the visit"


def _buffer(buffer: Buffer) -> Iterator[str]:
    shape = " x ".join(map(str, buffer.box.bound or ()))
    yield f"buffer {buffer.name} of {buffer.array}: at most {shape} elements, {buffer.bytes} bytes"
    yield f"  serves {listed(f'{statement} #{ref}' for statement, ref in buffer.refs)}"
    yield f"  get {_got(buffer)}"
    yield f"  put {_STORES[buffer.store]}"
    if buffer.turned is not None:
        yield f"  turned with index {buffer.turned.dimension} last, in {buffer.turned.bytes} bytes"
    if buffer.reloaded:
        yield "  put before another visit gets it"
    for position, (low, high) in enumerate(zip(buffer.box.low, buffer.box.high, strict=True)):
        yield from (f"  index {position} from {case}" for case in aff_cases(low))
        yield from (f"  index {position} to {case}" for case in aff_cases(high))
    yield from (f"  visited at {line}" for line in set_lines(buffer.box.visits))
    if buffer.written is not None:
        yield from (f"  written {line}" for line in map_lines(buffer.written))
    if buffer.residency is not None:
        yield from _residency(buffer.residency)


def _residency(residency: Residency) -> Iterator[str]:
    """Yield how the boxes of a buffer stay, and what is exchanged of them."""
    yield f"  boxes stay, {residency.room} at most"
    for position, (number, length) in enumerate(zip(residency.numbers, residency.lengths, strict=True)):
        yield from (f"  in dimension {position} number {case}" for case in aff_cases(number))
        yield from (f"  of {case}" for case in aff_cases(length))
    for what, parts in (("written by others", residency.fresh), ("wanted by others", residency.wanted)):
        yield from (f"  {what} {line}" for part in parts for line in map_lines(part.moved))


def _partial(partial: Partial) -> Iterator[str]:
    shape = " x ".join(map(str, partial.bound)) or "one element"
    yield f"part of {partial.array} by {partial.operator.value}: {shape}, {partial.bytes} bytes"
    yield f"  in {listed(sorted(partial.statements))}"
    for position, (low, high) in enumerate(zip(partial.low, partial.high, strict=True)):
        yield from (f"  index {position} from {case}" for case in aff_cases(low))
        yield from (f"  index {position} to {case}" for case in aff_cases(high))
