"""Do all CPEs come to where they meet, and do they agree there on what is handed from one to the others?"""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.expressions.conditions import parts_of
from swbuild.expressions.nodes import Expression
from swbuild.kernelir.nodes import (
    EARLY,
    NEXT,
    Along,
    Arrived,
    Block,
    Counter,
    Deal,
    Direction,
    Guard,
    Loop,
    Meet,
    Node,
    Share,
    Transfer,
)
from swbuild.kernelir.passes import children, walk
from swbuild.kernelir.scope import Scope
from swbuild.kernelir.terms import Around
from swbuild.kernelir.uneven import Crowd

__all__ = ["reach_faults"]


def reach_faults(node: Node, scope: Scope) -> Iterator[str]:
    """Yield where not all CPEs of the core group meet, and where those along a way disagree."""
    shares = {n.buffer: n for n in walk(node) if isinstance(n, Share)}
    if not shares:
        return
    if not scope.whole:
        yield "all CPEs are to meet where not all run the kernel"
    yield from _reached(node, Around(Crowd(scope.threads)))
    yield from _owned(node, shares, frozenset())


def _reached(node: Node, around: Around) -> Iterator[str]:
    """Yield what is wrong in ``node``, to which all CPEs come."""
    if not any(isinstance(found, (Meet, Share, Arrived)) for found in walk(node)):
        return
    if isinstance(node, Share):
        yield from _agreed(node, around)
    elif isinstance(node, Block):
        for child in node.children:
            yield from _reached(child, around)
    elif isinstance(node, Guard):
        if around.differing(node.condition):
            yield "not all CPEs come to where they meet: a condition differs"
        for branch in children(node):
            yield from _reached(branch, around)
    elif isinstance(node, (Loop, Counter, Deal)):
        yield from _rounds(node, around)


def _rounds(node: Loop | Counter | Deal, around: Around) -> Iterator[str]:
    found = around.inside(node) if isinstance(node, Loop) else None
    if found is None or found[0].iterator != node.iterator:
        yield f"not all CPEs come to where they meet as often: the loop over {node.iterator} differs"
        return
    yield from _reached(node.body, found[1])


def _agreed(node: Share, around: Around) -> Iterator[str]:
    """Yield whether CPEs that are handed the same box disagree about it."""
    common = {Along.ROW: around.threads[:1], Along.COLUMN: around.threads[1:], Along.ALL: ()}[node.along]
    values: tuple[Expression, ...] = (*node.size, *node.under)
    if any(around.differing(value) - {*common} for value in values):
        yield f"CPEs along the {node.along.value} disagree about {node.buffer}"


def _owned(node: Node, shares: dict[str, Share], holding: frozenset[Expression]) -> Iterator[str]:
    """Yield the shared buffers that others get than those who hand them out."""
    if isinstance(node, Guard):
        yield from _owned(node.then, shares, holding | {*parts_of(node.condition)})
        if node.otherwise is not None:
            yield from _owned(node.otherwise, shares, holding)
    elif isinstance(node, Block):
        for child in node.children:
            yield from _owned(child, shares, holding)
    elif isinstance(node, (Loop, Counter, Deal)):
        yield from _owned(node.body, shares, holding)
    elif isinstance(node, Transfer) and node.buffer in shares:
        alone = node.slot in (NEXT, EARLY) and {*parts_of(shares[node.buffer].owner)} <= holding
        if node.group.direction is Direction.GET and not alone:
            yield f"{node.buffer}, which is handed out, is got by others as well"
