"""Gets that iterations of an inner loop over tiles repeat, taken out of it."""

from __future__ import annotations

from dataclasses import replace

from swbuild.expressions.trees import mentions
from swbuild.kernelir.groups import Permission, Transfers, count_of, gets_of, of_buffers
from swbuild.kernelir.nodes import Block, Guard, Loop, Node, Place
from swbuild.kernelir.origin import Role
from swbuild.kernelir.passes import expressions_of, transform, walk
from swbuild.kernelir.prefetching import starts

__all__ = ["hoisted"]


def hoisted(node: Node, may: Permission) -> Node:
    """Return the tree with gets ahead of loops whose iterations all begin with them, of the same box.

    These are loops over the tiles of a CPE that do not depend on each other: what one of them only reads,
    none of them writes.  ``may`` says of a buffer that its tiles only read it.
    """

    def change(found: Node) -> Node:
        if not isinstance(found, Loop) or found.first is None or found.condition is None:
            return found
        if found.origin.role is not Role.ROUND or not found.origin.coincident:
            return found
        gets = gets_of(found.body)
        same = frozenset(n for n in gets.buffers if may(n) and _is_same(gets, n, found)) if gets else None
        return _ahead(found, gets, same) if gets and same else found

    return transform(node, change)


def _is_same(gets: Transfers, buffer: str, loop: Loop) -> bool:
    """Return whether all iterations of ``loop`` get the same box of ``buffer``."""
    nodes = (n for node in of_buffers(gets.nodes, frozenset({buffer})) for n in walk(node))
    return not any(mentions(value, loop.iterator) for node in nodes for value in expressions_of(node))


def _ahead(loop: Loop, gets: Transfers, same: frozenset[str]) -> Node:
    """Return ``loop`` behind the gets of the buffers ``same``, which it does without."""
    assert isinstance(loop.body, Block)
    nodes = [found for node in gets.nodes for found in walk(node)]
    # with boxes of what is only put, which are placed among the gets
    rest = frozenset(found.buffer for found in nodes if isinstance(found, Place)) - same
    left = _group(gets, rest) if rest & frozenset(gets.buffers) else of_buffers(gets.nodes, rest)
    others = loop.body.children[len(gets.nodes) + 2 :]
    return Block(
        (Guard(starts(loop), Block(_group(gets, same))), replace(loop, body=Block((*left, *others))))
    )


def _group(gets: Transfers, buffers: frozenset[str]) -> tuple[Node, ...]:
    """Return the gets of ``buffers`` with their begin and wait."""
    wait = replace(gets.wait, count=count_of(gets, buffers))
    return (gets.begin, *of_buffers(gets.nodes, buffers), wait)
