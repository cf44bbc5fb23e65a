"""Gets one iteration ahead: while a CPE computes on one slot of a buffer, the next box comes into another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.trees import added_up, substituted, without_zeros
from swbuild.kernelir.groups import (
    Permission,
    Permissions,
    Slotted,
    Transfers,
    count_of,
    gets_of,
    of_buffers,
    rest_of,
)
from swbuild.kernelir.nodes import (
    NEXT,
    Block,
    Direction,
    ElementStore,
    Group,
    Guard,
    Loop,
    Node,
    Rotate,
    Transfer,
)
from swbuild.kernelir.passes import transform, walk, with_expressions, with_values

__all__ = ["first_goes_on", "following", "goes_on", "goes_on_twice", "prefetched", "starts"]


#: Whether a buffer may be filled while those of a set are stored.
Beside = Callable[[str, frozenset[str]], bool]


def prefetched(node: Node, may: Permission, beside: Beside) -> Slotted:
    """Return the tree whose loops get the boxes of the next iteration while they compute on those of this.

    That is done in loops that begin with the gets of boxes, for the buffers that ``may`` be filled early,
    ``beside`` those that an iteration stores: nobody writes what they hold while the loop runs.  Nothing else
    in an iteration gets boxes of them, which would need the slot of the next one.  ``may`` is asked once
    for each buffer, of inner loops first, and counts what it allows.  Equivalent: a box goes into a slot that
    nobody uses, and is waited for where it was before.
    """
    asked = Permissions(may)
    return Slotted(transform(node, _Pass(asked, beside).change), asked.given)


def starts(loop: Loop) -> Expression:
    """Return the condition under which ``loop``, which has a first value and a condition, runs at all."""
    assert loop.first is not None and loop.condition is not None
    return without_zeros(substituted(loop.condition, {loop.iterator: loop.first}))


def goes_on(loop: Loop) -> Expression:
    """Return the condition under which an iteration of ``loop`` is not the last."""
    assert loop.condition is not None
    return substituted(loop.condition, {loop.iterator: following(loop)})


def first_goes_on(loop: Loop) -> Expression:
    """Return the condition under which the first iteration of ``loop`` is not the last."""
    assert loop.first is not None
    return added_up(without_zeros(substituted(goes_on(loop), {loop.iterator: loop.first})))


def goes_on_twice(loop: Loop) -> Expression:
    """Return the condition under which two iterations of ``loop`` come after one."""
    return added_up(substituted(goes_on(loop), {loop.iterator: following(loop)}))


def following(loop: Loop) -> Expression:
    """Return the value of the iterator of ``loop`` in the next iteration."""
    return Binary(BinaryOperator.ADD, Name(loop.iterator), Constant(loop.step))


class _Pass:
    """Changes loops, from the inside out."""

    def __init__(self, may: Permissions, beside: Beside) -> None:
        self._may, self._beside = may, beside

    def change(self, node: Node) -> Node:
        if not isinstance(node, Loop) or node.first is None or node.condition is None or node.trip_count == 1:
            return node
        gets = gets_of(node.body)
        if gets is None:
            return node
        assert isinstance(node.body, Block)
        stored, further = _stored_in(node.body), _filled_in(node.body.children[len(gets.nodes) + 2 :])
        alone = (n for n in gets.buffers if n not in further)  # the next box keeps its slot
        early = frozenset(n for n in alone if self._beside(n, stored) and self._may(n))
        return _ahead(node, gets, early) if early else node


def _filled_in(nodes: Iterable[Node]) -> frozenset[str]:
    """Return the buffers that ``nodes`` get boxes of."""
    found = (n for node in nodes for n in walk(node) if isinstance(n, Transfer))
    return frozenset(n.buffer for n in found if n.group.direction is Direction.GET)


def _stored_in(node: Node) -> frozenset[str]:
    """Return the buffers that are stored in ``node``, or some elements of them."""
    puts = (n.buffer for n in walk(node) if isinstance(n, Transfer) and n.group.direction is Direction.PUT)
    return frozenset((*puts, *(n.buffer for n in walk(node) if isinstance(n, ElementStore))))


def _ahead(loop: Loop, gets: Transfers, early: frozenset[str]) -> Node:
    """Return ``loop`` with the boxes of the buffers ``early`` got one iteration ahead, the first before."""
    assert isinstance(loop.body, Block) and loop.first is not None
    soon = _early_gets(gets, early)
    first = with_expressions(with_values(soon, {loop.iterator: loop.first}), without_zeros)
    later = with_values(soon, {loop.iterator: following(loop)})
    body = (
        replace(gets.wait, group=_early_group(gets), count=count_of(gets, early)),
        Rotate(tuple(name for name in gets.buffers if name in early)),
        Guard(goes_on(loop), later),
        *rest_of(gets, early),
        *loop.body.children[len(gets.nodes) + 2 :],
    )
    runs = loop.trip_count is not None and loop.trip_count > 0
    before = first if runs else Guard(starts(loop), first)
    return Block((before, replace(loop, body=Block(body))))


def _early_group(gets: Transfers) -> Group:
    return replace(gets.begin.group, ahead=True)


def _early_gets(gets: Transfers, early: frozenset[str]) -> Node:
    """Return the gets of the buffers ``early`` alone, into the next slot, without the wait."""
    group = _early_group(gets)

    def change(node: Node) -> Node:
        return replace(node, slot=NEXT, group=group) if isinstance(node, Transfer) else node

    nodes = (transform(node, change) for node in of_buffers(gets.nodes, early))
    return Block((replace(gets.begin, group=group), *nodes))
