"""The order in which gets are issued: a CPE's DMA engine serves them one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from swbuild.kernelir.groups import full, gets_of, of_buffers, stays
from swbuild.kernelir.nodes import (
    AT_HAND,
    Arrived,
    Begin,
    Block,
    Direction,
    Guard,
    Meet,
    Node,
    Place,
    Rotate,
    Share,
    Transfer,
    Wait,
)
from swbuild.kernelir.passes import transform, walk

__all__ = ["urgent_first"]


def urgent_first(node: Node) -> Node:
    """Return the tree whose iterations issue the gets they wait for before those for the next iteration.

    The engine would serve them last else, and computing hide nothing of what is got ahead.  They come while
    boxes are handed on, too.  Equivalent: only gets change places, into slots that are free at either place,
    and the boxes of each buffer are set in the order they were.
    """

    def change(found: Node) -> Node:
        if not isinstance(found, Block):
            return found
        nodes = list(_flat(found.children))
        for position, each in enumerate(nodes):
            soon = _got_ahead(each)
            if soon:
                first, rest = _urgent(nodes[position + 1 :], soon)
                start = _start(nodes[:position]) if all(map(_is_alone, first)) else position
                made = (*nodes[:start], *first, *nodes[start : position + 1], *rest)
                return Block(made) if first else found
        return found

    return transform(node, change)


def _start(before: Sequence[Node]) -> int:
    """Return where an iteration of which ``before`` comes ahead of its early gets waits for its boxes."""
    for position in range(len(before) - 1, -1, -1):
        node = before[position]
        if isinstance(node, Wait) and node.group.ahead and node.group.direction is Direction.GET:
            return position
        if not isinstance(node, (Arrived, Meet, Rotate, Share)):
            break
    return len(before)


def _is_alone(node: Node) -> bool:
    """Return whether a CPE gets the boxes in ``node`` for itself, not to hand them on, from another slot."""
    return all(found.slot == AT_HAND for found in walk(node) if isinstance(found, Transfer))


def _flat(nodes: Iterable[Node]) -> Iterable[Node]:
    """Yield ``nodes``, with those of a block in its place."""
    for node in nodes:
        if isinstance(node, Block):
            yield from _flat(node.children)
        else:
            yield node


def _got_ahead(node: Node) -> frozenset[str]:
    """Return the buffers for which ``node``, as a whole, gets the boxes of the next iteration."""
    if not (isinstance(node, Guard) and node.otherwise is None and isinstance(node.then, Block)):
        return frozenset()
    begin = next(iter(node.then.children), None)
    if not (isinstance(begin, Begin) and begin.group.ahead and begin.group.direction is Direction.GET):
        return frozenset()
    return frozenset(found.buffer for found in walk(node) if isinstance(found, Transfer))


def _urgent(nodes: Sequence[Node], ahead: frozenset[str]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the gets with which ``nodes`` begin, up to their wait, and the others with those of ``ahead``.

    Boxes may be set before them, but for those that stay in the LDM: whether these are got is known then.
    There are no gets where they are not of other buffers than ``ahead``, whose boxes are set with them.
    """
    for position, node in enumerate(nodes):
        before, behind = tuple(nodes[:position]), tuple(nodes[position + 1 :])
        if isinstance(node, Begin):
            gets = None if node.group.ahead else gets_of(Block((node, *behind)))
            moved = frozenset(gets.buffers if gets else ())
            if gets is None or ahead & moved or not moved <= _placed(gets.nodes):
                break
            first = (node, *of_buffers(gets.nodes, _placed(gets.nodes) - ahead))
            return first, (*before, *of_buffers(gets.nodes, ahead), *behind[len(gets.nodes) :])
        if isinstance(node, Guard) and node.otherwise is None:
            first, rest = _urgent(tuple(_flat([node.then])), ahead)
            if first:
                inside = replace(node, then=Block(full(rest)))
                return (replace(node, then=Block(first)),), (*before, inside, *behind)
        if stays(node) or not all(isinstance(each, (Block, Guard, Place)) for each in walk(node)):
            break
    return (), tuple(nodes)


def _placed(nodes: Iterable[Node]) -> frozenset[str]:
    """Return the buffers whose boxes ``nodes`` set."""
    return frozenset(found.buffer for node in nodes for found in walk(node) if isinstance(found, Place))
