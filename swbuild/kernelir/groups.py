"""What the passes that let transfers go on during an iteration have in common: groups, and second slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.kernelir.nodes import Begin, Block, Deal, Direction, Guard, Loop, Node, Place, Transfer, Wait
from swbuild.kernelir.passes import transform, walk

__all__ = [
    "Permission",
    "Permissions",
    "Slotted",
    "Transfers",
    "count_of",
    "full",
    "gets_of",
    "late_of",
    "of_buffers",
    "rest_of",
    "stays",
    "unless_empty",
]

#: Whether a buffer may have another slot, for transfers that go on in another iteration than their own.
Permission = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Slotted:
    """A tree, and the buffers of which it uses two slots."""

    tree: Node
    buffers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers of a group that stand together in a block, from its begin to its wait."""

    begin: Begin
    nodes: tuple[Node, ...]
    wait: Wait

    @property
    def buffers(self) -> tuple[str, ...]:
        """The buffers that are filled, or stored."""
        moved = (n for node in self.nodes for n in walk(node) if isinstance(n, Transfer))
        return tuple(dict.fromkeys(transfer.buffer for transfer in moved))


class Permissions:
    """A permission that is asked once for each buffer, and what it has said."""

    def __init__(self, may: Permission) -> None:
        self._may = may
        self._asked: dict[str, bool] = {}

    def __call__(self, buffer: str) -> bool:
        """Return whether ``buffer`` may have another slot."""
        if buffer not in self._asked:
            self._asked[buffer] = self._may(buffer)
        return self._asked[buffer]

    @property
    def given(self) -> frozenset[str]:
        """The buffers that may have one."""
        return frozenset(name for name, yes in self._asked.items() if yes)


def gets_of(body: Node) -> Transfers | None:
    """Return the gets that ``body`` begins with."""
    if not isinstance(body, Block) or not body.children or not isinstance(body.children[0], Begin):
        return None
    begin, rest = body.children[0], body.children[1:]
    if begin.group.direction is not Direction.GET:
        return None
    for position, node in enumerate(rest):
        if isinstance(node, Wait) and node.group == begin.group:
            return None if node.fence else Transfers(begin, rest[:position], node)
        if not all(isinstance(found, (Block, Guard, Loop, Place, Transfer)) for found in walk(node)):
            return None
    return None


def late_of(node: Node) -> tuple[Begin, Node, Wait] | None:
    """Return, if ``node`` is a loop that stores boxes late, it between the begin and the end of its puts.

    The first of the gets that it issues ahead come with it.  Who comes to no iteration has stored nothing,
    and waits for nothing.
    """
    if not isinstance(node, Block) or not node.children:
        return None
    *first, last = node.children
    if len(first) == 1 and isinstance(last, Block):  # gets ahead are put before all of it
        found = late_of(last)
        return None if found is None else (found[0], Block((*first, found[1])), found[2])
    if len(first) != 2 or not (isinstance(last, Wait) and last.group.ahead):
        return None
    begin, loop = first
    if not (isinstance(begin, Begin) and begin.group == last.group and isinstance(loop, (Loop, Deal))):
        return None
    return (begin, loop, last) if last.group.direction is Direction.PUT else None


def count_of(gets: Transfers, buffers: frozenset[str]) -> int | None:
    """Return how many transfers there are into ``buffers``, where their number is constant."""
    if gets.wait.count is None:
        return None
    found = (n for node in gets.nodes for n in walk(node) if isinstance(n, Transfer))
    return sum(transfer.buffer in buffers for transfer in found)


def rest_of(gets: Transfers, moved: frozenset[str]) -> tuple[Node, ...]:
    """Return ``gets`` without those of the buffers ``moved``, with their wait, and the boxes of all."""

    def change(node: Node) -> Node:
        if isinstance(node, Transfer) and node.buffer in moved:
            return Block(())
        return unless_empty(node)

    nodes = full(transform(node, change) for node in gets.nodes)
    rest = frozenset(gets.buffers) - moved
    return (gets.begin, *nodes, replace(gets.wait, count=count_of(gets, rest))) if rest else nodes


def of_buffers(nodes: Iterable[Node], buffers: frozenset[str]) -> tuple[Node, ...]:
    """Return what sets boxes of ``buffers`` in ``nodes``, and moves them, without that of others."""

    def change(node: Node) -> Node:
        if isinstance(node, (Place, Transfer)) and node.buffer not in buffers:
            return Block(())
        return unless_empty(node)

    return full(transform(node, change) for node in nodes)


def stays(node: Node) -> bool:
    """Return whether ``node`` sets a box that may stay in the LDM."""
    return any(isinstance(found, Place) and found.number is not None for found in walk(node))


def unless_empty(node: Node) -> Node:
    """Return ``node``, or nothing for a loop or condition around nothing."""
    if isinstance(node, Block):
        return Block(full(node.children))
    inside = {Loop: "body", Guard: "then"}.get(type(node))
    if inside is None or getattr(node, inside) != Block(()):
        return node
    return Block(()) if getattr(node, "otherwise", None) in (None, Block(())) else node


def full(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return those of ``nodes`` that do anything."""
    return tuple(node for node in nodes if node != Block(()))
