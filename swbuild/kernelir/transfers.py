"""Passes over transfers: operations of the machine, groups and their reply words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm, prod

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Min, Name
from swbuild.expressions.trees import constant_value
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Direction,
    Fence,
    Group,
    Loop,
    Node,
    Piece,
    Place,
    Row,
    Transfer,
    Wait,
    Window,
    in_turn,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import children, transform, walk
from swbuild.names import own

__all__ = [
    "Limits",
    "Shape",
    "allot_replies",
    "at_once",
    "count_waits",
    "low_of",
    "size_of",
    "split_transfers",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one operation of the machine moves at most, in bytes, and what all lengths are multiples of.

    ``length`` is for all of it, ``block`` for one of several rows.
    """

    length: int
    block: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A buffer as transfers see it: the most indices per dimension, and the bytes of an element.

    Its boxes have all indices of the last ``whole`` dimensions: with those of the dimension before them, they
    are one run in memory.
    """

    bound: tuple[int, ...]
    element: int
    whole: int = 0


def low_of(buffer: str, dimension: int) -> Name:
    """Return the variable that holds the first index of a buffer's box."""
    return Name(own(f"{buffer}_lo{dimension}"))


def size_of(buffer: str, dimension: int) -> Name:
    """Return the variable that holds the size of a buffer's box."""
    return Name(own(f"{buffer}_n{dimension}"))


def split_transfers(node: Node, shapes: Mapping[str, Shape], limits: Limits, *, apart: bool = False) -> Node:
    """Return the tree with every transfer in operations of the machine, each within ``limits``.

    That is a strided one for the last two dimensions, in loops over the others; rows one by one where
    a row is too long for that, or, with ``apart``, where the size of the box is not constant.
    """
    fixed = _constant_boxes(node)

    def change(found: Node) -> Node:
        if not isinstance(found, Transfer):
            return found
        shape = shapes[found.buffer]
        if isinstance(found.part, Window):
            return found
        if isinstance(found.part, Row):
            return _split_row(found, found.part, shape, limits)
        return _split_box(found, shape, limits, strided=found.buffer in fixed or not apart)

    return transform(node, change)


def _constant_boxes(node: Node) -> frozenset[str]:
    """Return the buffers of which all boxes have the same constant size."""
    places = [found for found in walk(node) if isinstance(found, Place)]
    variable = {p.buffer for p in places if any(constant_value(size) is None for size in p.size)}
    return frozenset(place.buffer for place in places) - variable


def _split_box(transfer: Transfer, shape: Shape, limits: Limits, *, strided: bool) -> Node:
    """Return ``transfer``, of a whole box, in operations; one of several rows only if ``strided``.

    Dimensions that are whole are part of the rows, where these are no longer than an operation moves.
    """
    whole = shape.whole if prod(shape.bound[-shape.whole - 1 :]) * shape.element <= _longest(limits) else 0
    count = len(shape.bound) - whole
    row = prod(shape.bound[-whole - 1 :]) * shape.element
    strided = strided and count > 1 and row <= _longest(limits)
    outer = [own(f"sw_d{k}") for k in range(count - (2 if strided else 1))]
    offset: list[Expression] = [
        *map(Name, outer),
        *(Constant(0) for _ in range(len(shape.bound) - len(outer))),
    ]
    sizes = [size_of(transfer.buffer, k) for k in range(count)]
    length = _times(sizes[-1], prod(shape.bound[count:]))
    inner, most = len(outer), limits.length // row if strided else _run(shape, limits)
    if (whole and not strided) or shape.bound[inner] <= most:
        moved = Piece(tuple(offset), length, sizes[-2] if strided else None, whole)
        return _in_loops(replace(transfer, part=moved), outer, sizes)
    counter = own(f"sw_d{inner}")
    offset[inner] = Name(counter)
    some = _at_most(most, sizes[inner], counter)
    moved = Piece(tuple(offset), length if strided else some, some if strided else None, whole)
    body = _loop(counter, sizes[inner], most, replace(transfer, part=moved))
    return _in_loops(body, outer, sizes)


def _longest(limits: Limits) -> int:
    """Return how many bytes a row has at most that an operation moves, be it one of several."""
    return min(limits.block, limits.length)


def _times(size: Expression, factor: int) -> Expression:
    return size if factor == 1 else Binary(BinaryOperator.MUL, size, Constant(factor))


def _split_row(transfer: Transfer, row: Row, shape: Shape, limits: Limits) -> Node:
    """Return ``transfer``, of a part of a row, in operations that are short enough."""
    run = _run(shape, limits)
    if shape.bound[-1] <= run:
        return transfer
    counter = own("sw_d0")
    low = Binary(BinaryOperator.ADD, row.low, Name(counter))
    part = Row(row.outer, low, _at_most(run, row.size, counter))
    return _loop(counter, row.size, run, replace(transfer, part=part))


def _run(shape: Shape, limits: Limits) -> int:
    """Return how many elements one operation moves at most."""
    unit = lcm(shape.element, limits.alignment)
    return limits.length // unit * unit // shape.element


def _at_most(most: int, size: Expression, counter: str) -> Expression:
    """Return how much of ``size`` is left at ``counter``, ``most`` at most."""
    return Min((Constant(most), Binary(BinaryOperator.SUB, size, Name(counter))))


def _in_loops(node: Node, counters: list[str], sizes: list[Name]) -> Node:
    for counter, size in reversed(list(zip(counters, sizes, strict=False))):
        node = _loop(counter, size, 1, node)
    return node


def _loop(counter: str, size: Expression, step: int, body: Node) -> Loop:
    condition = Binary(BinaryOperator.LT, Name(counter), size)
    return Loop(counter, Constant(0), condition, step, body, Origin(Role.SPLIT))


def at_once(node: Node) -> Node:
    """Return the tree with every transfer waited for as soon as it is issued, in a group of its own."""

    def change(found: Node) -> Node:
        if isinstance(found, Begin):
            return Block(())
        if isinstance(found, Wait):
            return Fence() if found.fence else Block(())
        if isinstance(found, Transfer):
            return Block((Begin(found.group), found, Wait(found.group)))
        return Block(_flat(found)) if isinstance(found, Block) else found

    return transform(node, change)


def _flat(block: Block) -> tuple[Node, ...]:
    children = (in_turn(n) for n in block.children)
    return tuple(node for nodes in children for node in nodes)


def count_waits(node: Node) -> Node:
    """Give every group of transfers its size where all of them are issued unconditionally.

    Where that is not so for some group, the emitted code counts what is issued.
    """

    def change(found: Node) -> Node:
        return Block(tuple(_counted(list(found.children)))) if isinstance(found, Block) else found

    counted = transform(node, change)
    if not any(isinstance(found, Begin) and found.dynamic for found in walk(counted)):
        return counted
    return transform(counted, lambda n: replace(n, counted=True) if isinstance(n, Transfer) else n)


def _counted(children: list[Node]) -> list[Node]:
    opened: dict[Group, int] = {}
    for position, child in enumerate(children):
        if isinstance(child, Begin):
            opened[child.group] = position
        elif isinstance(child, Wait) and child.group in opened:
            start = opened.pop(child.group)
            count = _group_size(children[start + 1 : position], child.group)
            if count is not None:
                children[start] = Begin(child.group, dynamic=False)
                children[position] = replace(child, count=count)
    return children


def _group_size(nodes: list[Node], group: Group) -> int | None:
    """Return how many transfers of ``group`` are issued by ``nodes`` where no loop or condition tells."""
    if any(_moves(inner, group) for node in nodes for inner in walk(node) if inner is not node):
        return None
    return sum(_moves(node, group) for node in nodes)


def _moves(node: Node, group: Group) -> bool:
    return isinstance(node, Transfer) and node.group == group


def allot_replies(node: Node) -> Node:
    """Give each group a reply word that no group has that is ever open at the same time."""
    words: dict[Group, int] = {}
    for group, others in _open_together(node).items():
        used = {words[other] for other in others if other in words}
        words[group] = next(word for word in range(len(words) + 1) if word not in used)

    def change(found: Node) -> Node:
        if isinstance(found, (Begin, Transfer, Wait)):
            return replace(found, group=replace(found.group, reply=words[found.group]))
        return found

    return transform(node, change)


def _open_together(node: Node) -> dict[Group, set[Group]]:
    """Return, per group, the others that are open while it is: begun and not yet waited for."""
    together: dict[Group, set[Group]] = {}
    _add_open(node, set(), together)
    return together


def _add_open(node: Node, current: set[Group], together: dict[Group, set[Group]]) -> None:
    """Add the groups in ``node`` to ``together``; ``current`` are those open before it, and then after it."""
    if isinstance(node, Wait):
        current.discard(node.group)
    elif isinstance(node, Begin):
        together.setdefault(node.group, set()).update(current)
        for other in current:
            together[other].add(node.group)
        current.add(node.group)
    for child in children(node):
        _add_open(child, current, together)
    if isinstance(node, Loop):  # its last iteration waits for what comes early, and begins nothing
        waits = (found.group for found in walk(node) if isinstance(found, Wait))
        current -= {group for group in waits if group.ahead and group.direction is Direction.GET}
