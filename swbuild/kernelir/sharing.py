"""Boxes that are equal along rows or columns of the mesh: one CPE gets them and hands them to the others.

All CPEs come to the place where that is done, so that rounds of tiles become equal for all; what a CPE does
alone stands under the condition that it has a tile in the round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.conditions import both, parts_of
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.trees import substituted
from swbuild.kernelir.affine import by_name
from swbuild.kernelir.groups import late_of, stays
from swbuild.kernelir.nodes import (
    Along,
    Arrived,
    Begin,
    Block,
    Compute,
    Direction,
    Guard,
    Loop,
    Meet,
    Node,
    Place,
    Rotate,
    Share,
    Transfer,
    Wait,
)
from swbuild.kernelir.origin import Role
from swbuild.kernelir.passes import transform, walk
from swbuild.kernelir.prefetching import following, goes_on, starts
from swbuild.kernelir.terms import Around, under
from swbuild.kernelir.transfers import low_of
from swbuild.kernelir.uneven import Crowd

__all__ = ["Grid", "Sharing", "shared"]

_OFTEN = "CPEs do not run the loops around it equally often"


@dataclass(frozen=True, slots=True)
class InMessages:
    """What messages along the mesh need to know of it: the number ``cpe`` of a CPE, and the ``columns``."""

    cpe: Expression
    columns: int


@dataclass(frozen=True, slots=True)
class Grid:
    """The CPEs of the core group as a kernel numbers them: by row and column, so many of each name.

    The mesh has so many ``rows``.

    ``straight``: its rows and columns are those of the mesh, along which CPEs can share.  ``messages``: they
    do so in messages, and what is for all is handed on along the first row, and from there along all columns.
    """

    threads: Mapping[str, int]
    rows: int
    straight: bool
    messages: InMessages | None = None

    def along(self, differing: frozenset[str]) -> Along | None:
        """Return who has equal boxes that depend on the names ``differing`` only, None for nobody."""
        if not differing:
            return Along.ALL
        if not self.straight or len(differing) > 1:
            return None
        return Along.ROW if next(iter(self.threads)) in differing else Along.COLUMN

    def handed(self, shares: list[Share]) -> list[Node]:
        """Return what hands out the boxes of ``shares``."""
        if self.messages or not shares:
            return [*shares]
        return [Meet(), *shares, Arrived(tuple(share.under for share in shares))]

    def owner(self, along: Along) -> Expression:
        """Return the condition that a CPE is one that gets boxes for others ``along``.

        Those of rows and of columns lie on the two diagonals of the mesh: none has to get both.  In messages
        those of columns are the first row, by way of which boxes for all come: so what a CPE is sent along a
        column always comes from one other.
        """
        if self.messages is not None and along is Along.ALL:
            return Binary(BinaryOperator.EQ, self.messages.cpe, Constant(0))
        names = [Name(name) for name in self.threads]
        if along is Along.ALL:
            return both(Binary(BinaryOperator.EQ, name, Constant(0)) for name in names)
        if along is Along.ROW:
            return Binary(BinaryOperator.EQ, names[1], names[0])
        if self.messages is not None:
            return Binary(BinaryOperator.EQ, names[0], Constant(0))
        opposite = Binary(BinaryOperator.SUB, Constant(self.rows - 1), names[1])
        return Binary(BinaryOperator.EQ, names[0], opposite)

    def passing(self, along: Along) -> Expression | None:
        """Return the condition that a CPE hands on what comes to it in a message, None where nobody does."""
        if self.messages is None or along is not Along.ALL:
            return None
        return Binary(BinaryOperator.LT, self.messages.cpe, Constant(self.messages.columns))


@dataclass(frozen=True, slots=True)
class Sharing:
    """A tree, the buffers that are shared in it, and why others are not, though they were asked for."""

    tree: Node
    buffers: frozenset[str]
    refused: Mapping[str, str]


def shared(node: Node, grid: Grid, buffers: frozenset[str], given: isl.Set | None = None) -> Sharing:
    """Return the tree in which one CPE gets each of ``buffers`` for all with equal boxes, where possible.

    Nobody writes what they hold while the tree runs; each has a slot 1 that is free, or that their boxes come
    into ahead.  All CPEs of the core group run the tree, for none but the parameters ``given``.  Equivalent:
    what a CPE finds in slot 0 is what it would have got itself.
    """
    refused: dict[str, str] = {}
    crowd = Crowd(grid.threads, given=None if given is None else by_name(given))
    while buffers:
        made = _Pass(grid, buffers)
        tree = made.changed(node, Around(crowd))
        if not made.refused:
            return Sharing(tree, buffers, refused)
        refused |= made.refused
        buffers -= made.refused.keys()
    return Sharing(node, buffers, refused)


@dataclass(frozen=True, slots=True)
class _Gets:
    """The gets of a group as they are to be issued, and what is then handed out, in the order of the gets."""

    nodes: list[Node]
    shares: list[Share]


class _Pass:
    """Rewrites a tree, from the outside in, so that ``buffers`` are shared in it.

    Those that cannot be shared, with the reasons, are in ``refused`` afterwards; the tree is no good then.
    """

    def __init__(self, grid: Grid, buffers: frozenset[str]) -> None:
        self._ways: dict[str, Along] = {}
        self._grid, self._buffers = grid, buffers
        self.refused: dict[str, str] = {}

    def changed(self, node: Node, around: Around) -> Node:
        """Return ``node``, which is run under the conditions of ``around``, for all to come to."""
        if not self._got(node):
            return under(around.conditions, node)
        late = late_of(node)
        if late is not None:
            begin, rest, wait = late
            return Block((begin, self.changed(rest, around), wait))
        if isinstance(node, Block):
            return self._ahead(node, around) if _is_ahead(node) else self._block(node, around)
        if isinstance(node, Guard) and node.otherwise is None:
            common, inside = around.where(node.condition)
            return under(common, self.changed(node.then, inside))
        if isinstance(node, Loop):
            return self._loop(node, around, lambda inside: self.changed(node.body, inside))
        self._refuse(self._got(node), "it is got under a condition of several cases")
        return node

    def _refuse(self, buffers: Iterable[str], why: str) -> None:
        """Note that ``buffers`` cannot be shared."""
        self.refused |= dict.fromkeys(sorted(buffers), why)

    def _got(self, node: Node) -> frozenset[str]:
        """Return the buffers that are got in ``node``, and are to be shared."""
        return frozenset(n.buffer for n in walk(node) if isinstance(n, Transfer)) & self._buffers

    def _loop(self, loop: Loop, around: Around, body: Callable[[Around], Node]) -> Node:
        found = around.inside(loop)
        if found is None:
            self._refuse(self._got(loop), _OFTEN)
            return loop
        made, inside = found
        if made.iterator == loop.iterator:
            return replace(made, body=body(inside))
        assert isinstance(made.body, Loop)
        return replace(made, body=replace(made.body, body=body(inside)))

    def _block(self, block: Block, around: Around) -> Block:
        """Return the block: what is for each CPE alone in as few guards as possible.

        What only sets boxes and moves them may come after the gets of others: those are of nothing that it
        writes.  A box that stays has to be in the same guard as all that asks for it.
        """
        found: list[Node] = []
        alone: list[Node] = []
        children = list(block.children)

        def finish_guard(rest: Sequence[Node]) -> None:
            if any(stays(node) for node in alone):
                self._refuse(self._got(Block(tuple(rest))), "it is got while a box that stays is used")
            found.extend([under(around.conditions, Block(tuple(alone)))] if alone else [])
            alone.clear()

        while children:
            child = children.pop(0)
            group = self._group(child, children)
            if group:
                if any(isinstance(n, Compute) for node in alone for n in walk(node)):
                    finish_guard(group)
                found += self._at_once(child, group, around)
                del children[: len(group)]
            elif self._got(child):
                finish_guard([child])
                found.append(self.changed(child, around))
            else:
                alone.append(child)
        found += [under(around.conditions, Block(tuple(alone)))] if alone else []
        return Block(tuple(found))

    def _group(self, begin: Node, behind: list[Node]) -> list[Node]:
        """Return the nodes ``behind`` that belong to the gets that ``begin`` opens, if any are shared."""
        if not isinstance(begin, Begin) or begin.group.direction is not Direction.GET:
            return []
        for position, node in enumerate(behind):
            if isinstance(node, Wait) and node.group == begin.group:
                nodes = behind[: position + 1]
                return nodes if self._got(Block(tuple(nodes))) else []
        return []

    def _at_once(self, begin: Node, group: list[Node], around: Around) -> list[Node]:
        """Return the gets of a ``group`` that is waited for at once, and its boxes handed out."""
        *nodes, wait = group
        assert isinstance(begin, Begin) and isinstance(wait, Wait)
        gets = self._issued(nodes, around, around.conditions, deep=True)
        return [
            replace(begin, dynamic=True),
            *gets.nodes,
            replace(wait, count=None),
            *self._grid.handed(gets.shares),
        ]

    def _ahead(self, block: Block, around: Around) -> Block:
        """Return the loop whose boxes come one iteration ahead, and the gets before it."""
        before, loop = block.children
        assert isinstance(loop, Loop) and loop.condition is not None
        found = around.inside(loop)
        if found is None:
            self._refuse(self._got(loop), _OFTEN)
            return block
        made, inside = found
        first = before.then if isinstance(before, Guard) else before
        start = around.certainly(_unless_common(starts(loop), around)).entering(loop, made, inside)
        assert made.first is not None
        first = self._in_step(first, loop, made.first, inside)
        early = under(parts_of(starts(made)) if isinstance(before, Guard) else (), self._early(first, start))

        def iteration(inside: Around) -> Node:
            return self._iteration(loop, made, inside, inside.next_round(loop, around))

        return Block((early, self._loop(loop, around, iteration)))

    def _iteration(self, loop: Loop, made: Loop, inside: Around, later: Around) -> Node:
        """Return an iteration: its boxes have come, are handed out, and the next ones are on their way.

        ``later`` is around the next one.
        """
        assert isinstance(loop.body, Block)
        wait, turn, soon, *rest = loop.body.children
        assert isinstance(wait, Wait) and isinstance(turn, Rotate) and isinstance(soon, Guard)
        mine = [name for name in turn.buffers if name in self._buffers]
        shares = [share for name in mine for share in self._shared_box(name, rest, inside)]
        others = tuple(name for name in turn.buffers if name not in mine)
        later = later.certainly(_unless_common(soon.condition, inside))
        next_ones = self._in_step(soon.then, loop, following(loop), inside)
        return Block(
            (
                replace(wait, count=None),
                *([Rotate(others)] if others else []),
                *self._grid.handed(shares),
                Guard(goes_on(made), self._early(next_ones, later)),
                self._block(Block(tuple(rest)), inside),
            )
        )

    def _in_step(self, gets: Node, loop: Loop, value: Expression, inside: Around) -> Node:
        """Return ``gets`` for the iteration of ``loop`` with ``value``, the same for all CPEs that run it.

        Their boxes are as the iteration itself, ``inside`` the loop, has them where fewer threads tell those.
        """
        if loop.iterator in inside.values:
            return gets  # CPEs have values of their own
        assert isinstance(loop.body, Block)
        found = (node for child in loop.body.children[3:] for node in walk(child) if isinstance(node, Place))
        boxes = {place.buffer: self._alike(place, inside) for place in found}

        def change(node: Node) -> Node:
            box = boxes.get(node.buffer) if isinstance(node, Place) else None
            if box is None or not isinstance(node, Place):
                return node
            other = replace(
                box,
                low=tuple(substituted(low, {loop.iterator: value}) for low in box.low),
                size=tuple(substituted(size, {loop.iterator: value}) for size in box.size),
            )
            return other if _differing(other, inside) < _differing(node, inside) else node

        return transform(gets, change)

    def _early(self, gets: Node, around: Around) -> Node:
        assert isinstance(gets, Block)
        begin, *nodes = gets.children
        assert isinstance(begin, Begin)
        issued = self._issued(nodes, around, around.conditions, deep=False)
        return Block((replace(begin, dynamic=True), *issued.nodes))

    def _issued(
        self, nodes: list[Node], around: Around, conditions: tuple[Expression, ...], *, deep: bool
    ) -> _Gets:
        """Return gets each under its own condition; ``deep``: shared ones may have some of their own."""
        gets = _Gets([], [])
        boxes: dict[str, Place] = {}
        together = self._got(Block(tuple(nodes)))

        def issue(node: Node, around: Around) -> None:
            if isinstance(node, Block):
                for child in node.children:
                    issue(child, around)
            elif isinstance(node, Guard) and node.otherwise is None:
                issue(node.then, around.certainly(parts_of(node.condition)))
            elif isinstance(node, Place):
                boxes[node.buffer] = alike = self._alike(node, around)
                gets.nodes.append(alike)
            else:
                gets.nodes.append(self._transfer(node, boxes, around, gets.shares, together))
                if not deep and around.conditions != conditions:
                    self._refuse(self._got(node), "it is got ahead under conditions of its own")

        for node in nodes:
            issue(node, around)
        return gets

    def _transfer(
        self,
        node: Node,
        boxes: dict[str, Place],
        around: Around,
        shares: list[Share],
        together: frozenset[str],
    ) -> Node:
        """Return the get ``node`` of one buffer as those issue it who have to.

        ``together``: the buffers to be shared that are got in its group.
        """
        names = {found.buffer for found in walk(node) if isinstance(found, Transfer)}
        splits = not isinstance(node, Loop) or node.origin.role is Role.SPLIT
        if len(names) != 1 or not splits or not names <= boxes.keys():
            self._refuse(self._got(node) or together, "it is got row by row, or together with such")
            return node
        (name,) = names
        if name not in self._buffers:
            return under(around.conditions, _counted(node, None))
        share = self._share(boxes[name], around)
        if share is None:
            return node
        shares.append(share)
        return under((share.owner, *share.under), _counted(node, 1))

    def _alike(self, place: Place, around: Around) -> Place:
        """Return the box ``place`` in terms of as few of the threads as one finds, if it is shared."""
        if place.buffer not in self._buffers:
            return place
        lows = {low_of(place.buffer, k).name: low for k, low in enumerate(place.low)}
        size = (substituted(value, lows) for value in place.size)
        return replace(place, low=tuple(map(around.alike, place.low)), size=tuple(map(around.alike, size)))

    def _shared_box(self, name: str, nodes: list[Node], around: Around) -> list[Share]:
        """Return how the only box is handed out that ``nodes`` set for the buffer ``name``, if it is."""
        places = {n for node in nodes for n in walk(node) if isinstance(n, Place) and n.buffer == name}
        if len(places) != 1:
            self._refuse([name], "an iteration computes on several boxes of it")
            return []
        share = self._share(self._alike(places.pop(), around), around)
        return [] if share is None else [share]

    def _share(self, place: Place, around: Around) -> Share | None:
        """Return how the box ``place`` is handed out, None if it is not."""
        differing = frozenset[str]().union(*(around.differing(value) for value in (*place.low, *place.size)))
        along = self._grid.along(differing)
        if along is None:
            self._refuse([place.buffer], "its boxes differ from CPE to CPE")
            return None
        if self._ways.setdefault(place.buffer, along) is not along:  # who gets it is not who hands it on
            self._refuse([place.buffer], "other CPEs have equal boxes in other iterations")
            return None
        when = around.without(frozenset(around.threads) - differing)
        if when is None:
            self._refuse([place.buffer], "no CPE has a tile whenever another has that needs the same")
            return None
        owner, passes = self._grid.owner(along), self._grid.passing(along)
        in_messages = self._grid.messages is not None
        return Share(place.buffer, along, owner, place.size, when, in_messages=in_messages, passes=passes)


def _differing(place: Place, around: Around) -> int:
    """Return how many of the threads the box ``place`` depends on."""
    lows = {low_of(place.buffer, k).name: low for k, low in enumerate(place.low)}
    values = (*place.low, *(substituted(size, lows) for size in place.size))
    return len(frozenset[str]().union(*map(around.differing, values)))


def _is_ahead(block: Block) -> bool:
    """Return whether ``block`` is a loop with gets ahead, and the first ones before it."""
    if len(block.children) != 2 or not isinstance(block.children[1], Loop):
        return False
    body = block.children[1].body
    return isinstance(body, Block) and len(body.children) > 1 and isinstance(body.children[1], Rotate)


def _unless_common(condition: Expression, around: Around) -> tuple[Expression, ...]:
    """Return the parts of ``condition`` that differ from CPE to CPE."""
    return tuple(part for part in parts_of(condition) if around.differing(part))


def _counted(node: Node, slot: int | None) -> Node:
    """Return ``node`` with its transfers counted by the code, and into ``slot`` where one is given."""

    def change(found: Node) -> Node:
        if not isinstance(found, Transfer):
            return found
        return replace(found, counted=True, slot=found.slot if slot is None else slot)

    return transform(node, change)
