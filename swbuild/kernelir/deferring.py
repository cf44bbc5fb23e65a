"""Puts waited for one iteration later: while a box is stored, the CPE computes the next into another slot."""

from __future__ import annotations

from dataclasses import replace

from swbuild.kernelir.groups import Permission, Permissions, Slotted, Transfers, late_of
from swbuild.kernelir.nodes import (
    AT_HAND,
    NEXT,
    SPARE,
    Begin,
    Block,
    Deal,
    Direction,
    Guard,
    Loop,
    Node,
    Place,
    Rotate,
    Transfer,
    Wait,
)
from swbuild.kernelir.passes import transform, walk

__all__ = ["deferred"]


def deferred(node: Node, may: Permission) -> Slotted:
    """Return the tree whose loops store the boxes of an iteration while they compute those of the next.

    That is done in loops that end with puts, where each buffer that is put ``may`` be stored late: no
    iteration needs what another one puts, and nothing else in the loop touches its array.  ``may`` is asked
    once for each buffer, of inner loops first, and counts what it allows.  Loops around nothing but such a
    loop wait as late, unless something after it gets what it puts.  Equivalent: one put is waited for before
    the next is issued, the last one after the loops, and no slot is written while it is stored.
    """
    asked = Permissions(may)
    return Slotted(transform(node, _Pass(asked).change), asked.given)


class _Pass:
    """Changes loops, from the inside out."""

    def __init__(self, may: Permissions) -> None:
        self._may = may

    def change(self, node: Node) -> Node:
        if not isinstance(node, (Deal, Loop)) or (isinstance(node, Loop) and node.trip_count in (0, 1)):
            return node
        late = late_of(node.body)
        if late is not None and not late[2].fence and not _has_more(*late[1:]):
            begin, inner, wait = late
            return Block((begin, replace(node, body=inner), wait))
        puts = _puts_of(node.body)
        if puts is None or not puts.buffers or not all(map(self._may, puts.buffers)):
            return node
        return _behind(node, puts)


def _puts_of(body: Node) -> Transfers | None:
    """Return the puts that ``body`` ends with, where nothing has to wait for them in the iteration."""
    if not isinstance(body, Block) or not body.children:
        return None
    wait = body.children[-1]
    if not isinstance(wait, Wait) or wait.group.direction is not Direction.PUT:
        return None
    for position in range(len(body.children) - 2, -1, -1):
        node = body.children[position]
        if isinstance(node, Begin) and node.group == wait.group:
            return Transfers(node, body.children[position + 1 : -1], wait)
        if not all(isinstance(found, (Block, Guard, Loop, Place, Transfer)) for found in walk(node)):
            return None
    return None


def _has_more(inner: Node, wait: Wait) -> bool:
    """Return whether puts of the group of ``wait`` stand before the loop in ``inner`` that it is for."""
    before = inner.children[:-1] if isinstance(inner, Block) else ()
    found = (n for node in before for n in walk(node) if isinstance(n, (Begin, Wait)))
    return any(n.group == wait.group for n in found)


def _behind(loop: Loop | Deal, puts: Transfers) -> Node:
    """Return ``loop`` with its puts waited for ahead of those of the next iteration, the last after it."""
    assert isinstance(loop.body, Block)
    group = replace(puts.wait.group, ahead=True)

    def change(node: Node) -> Node:
        return replace(node, group=group) if isinstance(node, Transfer) else node

    begin, last = replace(puts.begin, group=group), replace(puts.wait, group=group)
    wait = replace(last, fence=False)  # nothing in the loop gets what it puts
    before = loop.body.children[: -len(puts.nodes) - 2]
    moved = (transform(node, change) for node in puts.nodes)
    turns = _turns(puts.buffers, _got_early(loop.body))
    body = Block((*before, wait, begin, *moved, *turns))
    return Block((replace(begin, complete=wait.count or 0), replace(loop, body=body), last))


def _turns(buffers: tuple[str, ...], early: frozenset[str]) -> list[Rotate]:
    """Return what leaves the boxes of ``buffers`` in slots of their own, beside the next of ``early``."""
    slots = {slot: [b for b in buffers if (b in early) is (slot == SPARE)] for slot in (NEXT, SPARE)}
    return [Rotate(tuple(names), AT_HAND, slot) for slot, names in slots.items() if names]


def _got_early(node: Node) -> frozenset[str]:
    """Return the buffers whose next box comes into a slot of its own in ``node``."""
    return frozenset(n.buffer for n in walk(node) if isinstance(n, Transfer) and n.slot == NEXT)
