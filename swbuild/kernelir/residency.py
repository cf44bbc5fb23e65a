"""Transfers of boxes that stay in the LDM: what is not there yet, and what CPEs exchange."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression
from swbuild.expressions.trees import names_in
from swbuild.kernelir.insertions import Insertion, by_row, once_each, value_at, visit
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Copy,
    Direction,
    FromTile,
    Group,
    Guard,
    Loop,
    Node,
    Place,
    Purpose,
    Transfer,
    Wait,
    Whole,
    Window,
    in_turn,
    stays_of,
    there_of,
)
from swbuild.kernelir.origin import Role
from swbuild.kernelir.passes import transform
from swbuild.memory.buffers import Buffer, Exchange, InTile, Residency, Store

__all__ = ["around_resident", "from_tile", "with_flags_outside"]


def around_resident(buffer: Buffer, residency: Residency) -> tuple[list[Insertion], list[Insertion]]:
    """Return what comes before and after a visit of ``buffer``, whose boxes stay.

    Before: the box, got whole unless it is there, then what others have written of it since.  After: what
    others want of it, then all that the visit has written, if the box gives its slot to another.
    """
    before, after = [_place(buffer, residency)], []
    for number, exchange in enumerate(residency.fresh):
        before += _exchanged(buffer, exchange, Direction.GET, number)
    for number, exchange in enumerate(residency.wanted):
        after += _exchanged(buffer, exchange, Direction.PUT, number)
    if buffer.store is not Store.NONE:
        after += _rest(buffer)
    return before, after


def from_tile(buffer: Buffer, tile: InTile) -> Insertion:
    """Return what fills the box of ``buffer``: a copy from the ``tile`` that it is in, or else a get."""
    group = Group(buffer.level, Direction.GET, purpose=Purpose.FIRST)
    get = Block((Begin(group), Transfer(buffer.name, 0, Whole(), group), Wait(group)))
    absent = Binary(BinaryOperator.EQ, there_of(buffer.name), Constant(0))
    sizes = tuple(
        last.sub(first).add_constant_val(isl.Val(1)) for first, last in zip(tile.low, tile.high, strict=True)
    )

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        def here(values: tuple[isl.PwAff, ...]) -> tuple[Expression, ...]:
            return tuple(value_at(build, value, instances) for value in values)

        number = _number(here(tile.numbers), here(tile.lengths))
        low, size = here(buffer.box.low), here(buffer.box.size)
        placed, part = Place(buffer.name, low, size), Window(low, size)
        found = FromTile(buffer.name, part, Window(here(tile.low), here(sizes)), number, tile.room)
        return Block((placed, found, Guard(absent, get)))

    return Insertion(visit(f"sw_place_{buffer.name}", buffer.box.visits), leaf)


def with_flags_outside(node: Node, buffers: Iterable[str]) -> Node:
    """Return the tree with what is asked of the boxes of ``buffers`` asked once, and not for every row.

    Flags of a box only change where it is placed.
    """
    flags = frozenset(flag(name).name for name in buffers for flag in (there_of, stays_of))

    def change(found: Node) -> Node:
        if isinstance(found, Block):
            return _joined(found, flags)
        if isinstance(found, Loop) and found.origin.role is Role.MOVED and _asks(found.body, flags):
            assert isinstance(found.body, Guard)
            return replace(found.body, then=replace(found, body=found.body.then))
        return found

    return transform(node, change)


def _asks(node: Node, flags: frozenset[str]) -> bool:
    """Return whether ``node`` is there under a condition on ``flags`` alone."""
    if not isinstance(node, Guard) or node.otherwise is not None:
        return False
    return bool(names_in(node.condition)) and names_in(node.condition) <= flags


def _joined(block: Block, flags: frozenset[str]) -> Block:
    """Return ``block`` with neighbours under the same condition on ``flags`` under one."""
    found: list[Node] = []
    for child in block.children:
        last = found[-1] if found else None
        alike = isinstance(child, Guard) and isinstance(last, Guard) and child.condition == last.condition
        if alike and _asks(child, flags) and isinstance(last, Guard) and isinstance(child, Guard):
            found[-1] = replace(last, then=Block((*in_turn(last.then), *in_turn(child.then))))
        else:
            found.append(child)
    return Block(tuple(found))


def _place(buffer: Buffer, residency: Residency) -> Insertion:
    group = Group(buffer.level, Direction.GET, purpose=Purpose.FIRST)
    get = (Begin(group), Transfer(buffer.name, 0, Whole(), group), Wait(group))
    absent = Binary(BinaryOperator.EQ, there_of(buffer.name), Constant(0))

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        def here(values: tuple[isl.PwAff, ...]) -> tuple[Expression, ...]:
            return tuple(value_at(build, value, instances) for value in values)

        number = _number(here(residency.numbers), here(residency.lengths))
        low, size = here(buffer.box.low), here(buffer.box.size)
        return Block((Place(buffer.name, low, size, number, residency.room), Guard(absent, Block(get))))

    return Insertion(visit(f"sw_place_{buffer.name}", buffer.box.visits), leaf)


def _number(numbers: tuple[Expression, ...], lengths: tuple[Expression, ...]) -> Expression:
    """Return the number of a tile among all of a CPE, row by row."""
    result, zero = numbers[0], Constant(0)
    for number, length in zip(numbers[1:], lengths[1:], strict=True):
        if result != zero and length != Constant(1):
            result = Binary(BinaryOperator.MUL, result, length)
        if result == zero:
            result = number
        elif number != zero:
            result = Binary(BinaryOperator.ADD, result, number)
    return result


def _exchanged(buffer: Buffer, exchange: Exchange, direction: Direction, number: int) -> list[Insertion]:
    """Return the transfers of what is exchanged, at once where it is a rectangle of more than one row."""
    group = Group(buffer.level, direction, purpose=Purpose.EXCHANGE)
    name = f"{direction.value}_{buffer.name}_{number}"
    leading = exchange.box.bound or ()
    if exchange.whole and len(leading) > 1 and max(leading[:-2], default=1) == 1 and leading[-2] > 1:
        return [_in_window(buffer, exchange, group, name)]
    visits = exchange.moved.domain().coalesce()
    return [
        once_each(f"sw_begin_exchange_{name}", visits, Begin(group)),
        by_row(buffer.name, f"sw_exchange_{name}", exchange.moved, group),
        once_each(f"sw_wait_exchange_{name}", visits, _wait(group)),
    ]


def _wait(group: Group) -> Wait:
    """Return the wait for ``group``; other buffers of this CPE may get what was put, in the same launch."""
    return Wait(group, fence=group.direction is Direction.PUT)


def _in_window(buffer: Buffer, exchange: Exchange, group: Group, name: str) -> Insertion:
    """Return the transfer of a rectangle by way of the slot for boxes that do not stay, if this one does."""
    box, stays = exchange.box.simplified(), stays_of(buffer.name)

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        low, size = (
            tuple(value_at(build, value, instances) for value in values) for values in (box.low, box.size)
        )
        window = Window(low, size)
        moved = (Begin(group), Transfer(buffer.name, 0, window, group), _wait(group))
        copied = Copy(buffer.name, window, group.direction)
        put = group.direction is Direction.PUT
        nodes = (copied, *moved) if put else (*moved, copied)
        return Guard(stays, Block(nodes))

    return Insertion(visit(f"sw_exchange_{name}", box.visits), leaf)


def _rest(buffer: Buffer) -> list[Insertion]:
    """Return the puts of all that a visit has written, unless the box stays.

    The box is put as a whole where the rest of it is nobody's but this CPE's: it came with this visit.
    """
    group, visits = Group(buffer.level, Direction.PUT, purpose=Purpose.REST), buffer.box.visits
    leaves = Binary(BinaryOperator.EQ, stays_of(buffer.name), Constant(0))

    def guarded(node: Node) -> Guard:
        return Guard(leaves, node)

    assert buffer.written is not None
    if buffer.store is Store.BOX:
        nodes = (Begin(group), Transfer(buffer.name, 0, Whole(), group), Wait(group, fence=True))
        return [once_each(f"sw_put_rest_{buffer.name}", visits, guarded(Block(nodes)))]
    rows = by_row(buffer.name, f"sw_put_rest_{buffer.name}", buffer.written, group)
    return [
        once_each(f"sw_begin_rest_{buffer.name}", visits, guarded(Begin(group))),
        Insertion(rows.relation, lambda build, at: guarded(rows.leaf(build, at))),
        once_each(f"sw_wait_rest_{buffer.name}", visits, guarded(Wait(group, fence=True))),
    ]
