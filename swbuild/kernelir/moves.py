"""The transfers of a memory plan, as statements around what is below a level."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Name
from swbuild.kernelir.insertions import Insertion, by_element, by_row, once_each, value_at, visit
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Direction,
    Group,
    Loop,
    Node,
    Place,
    Row,
    Transfer,
    Wait,
    Whole,
)  # fmt: skip
from swbuild.kernelir.origin import MOVES_DATA
from swbuild.kernelir.residency import around_resident, from_tile
from swbuild.kernelir.transfers import low_of, size_of
from swbuild.memory.buffers import Buffer, MemoryPlan, Store
from swbuild.memory.levels import Level
from swbuild.memory.rows import Interval
from swbuild.names import own

__all__ = ["insertions", "put_name"]

#: What comes before and after what is below a level.
_Around = tuple[list[Insertion], list[Insertion]]


def insertions(plan: MemoryPlan, level: Level) -> _Around:
    """Return what comes before and after what is below ``level``: all transfers that ``plan`` has there."""
    here = [b for b in plan.buffers if b.level == level.number]
    before, after = _of_visits(level, [b for b in here if b.residency is None and b.in_tile is None])
    for buffer in here:
        if buffer.in_tile is not None:
            before = [*before, from_tile(buffer, buffer.in_tile)]
        if buffer.residency is not None:
            first, last = around_resident(buffer, buffer.residency)
            before, after = [*before, *first], [*last, *after]
    return before, after


def put_name(buffer: Buffer) -> str:
    """Return the name of the statement that puts the box of ``buffer``."""
    return f"sw_put_{buffer.name}"


def _of_visits(level: Level, buffers: list[Buffer]) -> _Around:
    """Return what moves the boxes of ``buffers``, which hold them for one visit of ``level``."""
    before = [_place(b) for b in buffers]
    loaded = [b for b in buffers if b.load]
    if loaded:
        group = Group(level.number, Direction.GET)
        rows = [
            by_row(b.name, f"sw_get_{b.name}", b.missing.moved, group)
            for b in loaded
            if b.missing is not None
        ]
        before = [_node(Begin(group), loaded), *before, *rows, _node(Wait(group), loaded)]
    after = [_put(b) for b in buffers if b.store is not Store.NONE]
    stored = [b for b in buffers if b.store is not Store.NONE]
    if stored:
        group = Group(level.number, Direction.PUT)
        wait = Wait(group, fence=any(b.reloaded for b in stored))
        after = [_node(Begin(group), stored), *after, _node(wait, stored)]
    return before, after


def _node(node: Begin | Wait, buffers: list[Buffer]) -> Insertion:
    """Insert ``node`` wherever one of ``buffers`` is visited."""
    visits = buffers[0].box.visits
    for buffer in buffers[1:]:
        visits = visits.union(buffer.box.visits)
    name = f"sw_{type(node).__name__.lower()}_{node.group.direction.value}s_{node.group.level}"
    return once_each(name, visits.coalesce(), node)


def _place(buffer: Buffer) -> Insertion:
    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        def here(value: isl.PwAff) -> Expression:
            return value_at(build, value, instances)

        low = tuple(here(value) for value in buffer.box.low)
        size = tuple(_size(buffer, k, here) for k in range(len(low)))
        placed = Place(buffer.name, low, size)
        whole = buffer.load and buffer.missing is None
        return Block((placed, _whole(buffer, Direction.GET))) if whole else placed

    return Insertion(visit(f"sw_place_{buffer.name}", buffer.box.visits), leaf)


def _size(buffer: Buffer, position: int, here: Callable[[isl.PwAff], Expression]) -> Expression:
    """Return the number of indices; where both ends depend on cases, in terms of the first index."""
    box = buffer.box
    if box.low[position].n_piece() == 1:
        return here(box.size[position])
    first = low_of(buffer.name, position)
    length = Binary(BinaryOperator.SUB, here(box.high[position]), first)
    return Binary(BinaryOperator.ADD, length, Constant(1))


def _whole(buffer: Buffer, direction: Direction) -> Transfer:
    return Transfer(buffer.name, 0, Whole(), Group(buffer.level, direction))


def _put(buffer: Buffer) -> Insertion:
    name = put_name(buffer)
    if buffer.store is Store.BOX:
        return once_each(name, buffer.box.visits, _whole(buffer, Direction.PUT))
    assert buffer.written is not None
    if buffer.store is Store.ELEMENTS:
        return by_element(buffer.name, name, buffer.written)
    group = Group(buffer.level, Direction.PUT)
    if buffer.rows is not None:
        return _rows_of_box(buffer, name, buffer.rows, group)
    return by_row(buffer.name, name, buffer.written, group)


def _rows_of_box(buffer: Buffer, name: str, rows: Interval, group: Group) -> Insertion:
    """Insert transfers of all rows of the box with an outermost index in ``rows``, row by row."""
    last = len(buffer.box.low) - 1
    low, size = ([end(buffer.name, k) for k in range(last + 1)] for end in (low_of, size_of))

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        counters = tuple(own(f"{buffer.name}_row{k}") for k in range(last))
        outer = tuple(map(Name, counters))
        node: Node = Transfer(buffer.name, 0, Row(outer, low[last], size[last]), group)
        begin, stop = (value_at(build, value.insert_domain(space), instances) for value in rows)
        for k in reversed(range(last)):
            first: Expression = low[k]
            end: Expression = Binary(BinaryOperator.ADD, low[k], size[k])
            if k == 0:
                first = Max((first, begin))
                end = Min((end, Binary(BinaryOperator.ADD, stop, Constant(1))))
            test = Binary(BinaryOperator.LT, outer[k], end)
            node = Loop(counters[k], first, test, 1, node, MOVES_DATA)
        return node

    space = buffer.box.visits.get_space()
    return Insertion(visit(name, buffer.box.visits), leaf)
