"""The names of the source, and of threads, that the printed body of a kernel has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import identifiers
from swbuild.expressions.trees import names_in
from swbuild.kernelir.nodes import (
    Arrived,
    Compute,
    Copy,
    Counter,
    Deal,
    ElementStore,
    Fetch,
    FromTile,
    Guard,
    Keep,
    Loop,
    Node,
    Phase,
    Piece,
    Place,
    Register,
    Row,
    Share,
    Transfer,
    Window,
)
from swbuild.kernelir.passes import expressions_of, walk
from swbuild.memory.buffers import Buffer

__all__ = ["Extents", "names_in_array", "names_in_body"]

#: the extents of arrays by their names; the outermost one of an array may not be known
Extents = Mapping[str, tuple[Expression | None, ...]]


def names_in_body(
    body: Node, buffers: Mapping[str, Buffer], extents: Extents, sizes: Callable[[Buffer], list[int]]
) -> frozenset[str]:
    """Return the names in ``body``; ``sizes`` says which sizes of a buffer's box are printed."""
    found: set[str] = set()
    for node in walk(body):
        for expression in _printed(node, buffers, sizes):
            found |= names_in(expression)
        if isinstance(node, (Compute, Register)):
            found |= identifiers(node.body if isinstance(node, Compute) else node.value)
        elif isinstance(node, (ElementStore, Transfer)):
            found |= names_in_array(buffers[node.buffer].array, extents)
    return frozenset(found)


def names_in_array(array: str, extents: Extents) -> frozenset[str]:
    """Return the names with which an element of ``array`` is reached, but for those in its subscripts."""
    rows = [extent for extent in extents[array][1:] if extent is not None]
    return frozenset({array}).union(*map(names_in, rows))


def _printed(
    node: Node, buffers: Mapping[str, Buffer], sizes: Callable[[Buffer], list[int]]
) -> Iterator[Expression]:
    """Yield the expressions of ``node`` that stand in the code."""
    if isinstance(node, Compute):
        yield node.body
    elif isinstance(node, Guard):
        yield node.condition
    elif isinstance(node, (Loop, Counter)):
        ends = (node.first, node.condition if isinstance(node, Loop) else None)
        yield from (end for end in ends if end is not None)
    elif isinstance(node, Deal):
        yield from (node.first, node.last, node.end)
    elif isinstance(node, Place):
        yield from (*node.low, *(node.size[k] for k in sizes(buffers[node.buffer])))
        yield from [] if node.number is None else [node.number]
    elif isinstance(node, ElementStore):
        yield from node.index
    elif isinstance(node, Register):
        yield node.value
    elif isinstance(node, Fetch):
        yield from (node.place, *node.further)
    elif isinstance(node, Keep):
        yield node.place
    elif isinstance(node, (Share, Arrived)):
        yield from expressions_of(node)
    elif isinstance(node, Phase):
        yield from node.loops
    elif isinstance(node, Transfer) and isinstance(node.part, Row):
        yield from (*node.part.outer, node.part.low, node.part.size)
    elif isinstance(node, FromTile):
        yield from (*node.part.low, *node.part.size, *node.tile.low, *node.tile.size[1:], node.number)
    elif isinstance(node, (Copy, Transfer)) and isinstance(node.part, Window):
        yield from (*node.part.low, *node.part.size)
    elif isinstance(node, Transfer) and isinstance(node.part, Piece):
        yield from (*node.part.offset, node.part.length)
        yield from [] if node.part.rows is None else [node.part.rows]
