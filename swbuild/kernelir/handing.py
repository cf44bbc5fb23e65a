"""Boxes handed on one iteration ahead: while CPEs compute, the next boxes pass from LDM to LDM.

A buffer then has four slots: what a CPE computes on (0), what its owner hands on (1), what others hand to it
meanwhile (2), and what its owner gets meanwhile for the iteration after the next (3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.trees import added_up, without_zeros
from swbuild.kernelir.nodes import (
    AT_HAND,
    EARLY,
    NEXT,
    SPARE,
    Arrived,
    Block,
    Guard,
    Loop,
    Meet,
    Node,
    Rotate,
    Share,
    Transfer,
    Wait,
)
from swbuild.kernelir.passes import transform, walk, with_expressions, with_values
from swbuild.kernelir.prefetching import first_goes_on, following, goes_on, goes_on_twice

__all__ = ["handed_ahead"]


@dataclass(frozen=True, slots=True)
class _Round:
    """A loop that hands boxes on in each iteration: its first gets, under a guard or not, and its parts."""

    first: Node
    loop: Loop
    wait: Wait
    shares: tuple[Share, ...]
    arrived: Arrived
    soon: Guard
    rest: tuple[Node, ...]

    @property
    def buffers(self) -> tuple[str, ...]:
        return tuple(share.buffer for share in self.shares)


def handed_ahead(node: Node, may: Callable[[tuple[str, ...]], bool]) -> Node:
    """Return the tree whose loops hand on the boxes of the next iteration while they compute on others.

    That is done in loops that hand on what they have got one iteration ahead, and get nothing else so; if
    nothing is handed on in loops inside and their buffers ``may`` have four slots.  All CPEs run such a loop
    equally often.  Equivalent: a box is handed into a slot that no CPE has used since all have met, and is
    waited for before it is computed on and before all meet again.
    """

    def change(found: Node) -> Node:
        made = _round_of(found)
        return _ahead(made) if made is not None and may(made.buffers) else found

    return transform(node, change)


def _round_of(node: Node) -> _Round | None:
    """Return ``node`` as such a loop with its first gets, None if it is anything else."""
    if not isinstance(node, Block) or len(node.children) != 2:
        return None
    first, loop = node.children
    if not isinstance(loop, Loop) or loop.condition is None or not isinstance(loop.body, Block):
        return None
    wait, *steps = loop.body.children
    meeting = [k for k, step in enumerate(steps) if isinstance(step, Arrived)]
    if not (isinstance(wait, Wait) and wait.group.ahead and meeting):
        return None
    meet, *shares = steps[: meeting[0]]
    arrived, soon, *rest = steps[meeting[0] :]
    handed = tuple(share for share in shares if isinstance(share, Share))
    if not isinstance(meet, Meet) or len(handed) != len(shares) or not isinstance(arrived, Arrived):
        return None
    if not isinstance(soon, Guard) or soon.condition != goes_on(loop):
        return None
    if any(isinstance(inner, Meet) for step in rest for inner in walk(step)):
        return None
    return _Round(first, loop, wait, handed, arrived, soon, tuple(rest))


def _ahead(found: _Round) -> Node:
    loop = found.loop
    buffers, shares = found.buffers, tuple(replace(share, slot=SPARE) for share in found.shares)
    second = Guard(first_goes_on(loop), _into_early(_at_first(found.soon.then, loop)))
    gets = found.first.then if isinstance(found.first, Guard) else found.first
    early = (gets, found.wait, Meet(), *(_at_first(share, loop) for share in shares), second)
    first: Node = Block(early)
    if isinstance(found.first, Guard):
        first = replace(found.first, then=first)
    soon = Block(
        (
            Meet(),
            *(_next_of(share, loop) for share in shares),
            Guard(goes_on_twice(loop), _into_early(_next_of(found.soon.then, loop))),
        )
    )
    arrived = replace(found.arrived, sent=tuple((share.owner, *share.under) for share in shares))
    here = (arrived, Rotate(buffers, AT_HAND, SPARE))
    following_ones = (Guard(goes_on(loop), found.wait), Rotate(buffers, NEXT, EARLY))
    body = Block((*here, *following_ones, replace(found.soon, then=soon), *found.rest))
    return Block((first, replace(loop, body=body)))


def _at_first(node: Node, loop: Loop) -> Node:
    """Return ``node`` as it is in the first iteration of ``loop``."""
    assert loop.first is not None
    first = with_expressions(with_values(node, {loop.iterator: loop.first}), without_zeros)
    return with_expressions(first, added_up)


def _next_of(node: Node, loop: Loop) -> Node:
    """Return ``node`` as it is in the next iteration of ``loop``."""
    return with_expressions(with_values(node, {loop.iterator: following(loop)}), added_up)


def _into_early(node: Node) -> Node:
    """Return ``node`` with its gets into the slot for the iteration after the next."""

    def change(found: Node) -> Node:
        return replace(found, slot=EARLY) if isinstance(found, Transfer) else found

    return transform(node, change)
