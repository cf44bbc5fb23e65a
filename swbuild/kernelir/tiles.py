"""Register tiles: nests of point loops computed several iterations at a time, in vectors where that can be.

The copies of a body that run side by side belong to loops without dependences; every element gets its values
in the order of the source.  What a tile leaves over is done by smaller ones, down to single iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count, product
from math import prod

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, Expression, Select
from swbuild.expressions.types import ElementType
from swbuild.kernelir.nests import Nest, most_trips, nest_of, plus, shifted
from swbuild.kernelir.nodes import Block, Counter, Deal, Guard, Loop, Node
from swbuild.kernelir.orders import Fact, Order, facts_of, nonempty, orders_of
from swbuild.kernelir.origin import Role
from swbuild.kernelir.partial import Part, at_end, at_slanted_first, at_slanted_last, may_be_partial
from swbuild.kernelir.rectangles import Slope, rectangle_of, slope_of, with_ends
from swbuild.kernelir.registers import Body, Fills, element_of, is_vectorisable

__all__ = ["Lanes", "Making", "Tile", "fitting", "longest", "tiled"]

#: Vectors per element type: their type, and how many elements they have.
Lanes = Mapping[ElementType, tuple[ElementType, int]]

#: Registers that a tile may take of the 32 that CPEs have.
_REGISTERS = 28

#: Registers that a tile of single numbers may take: as each is used once, few are held at a time.
_NUMBERS = 80

#: The same of one vector, with what is in all its lanes: that is in the LDM if no registers are left for it.
_ONE_VECTOR = 340

#: Iterations of the innermost sum in a turn of the largest tiles, so that the next one's numbers are loaded
#: and multiplied while those of the last one are added: turns of a loop do not overlap.
_TURNS = 2
#: Vectors that such a tile has at least.
_LARGE = 8

#: How many iterations of the jammed loops, and how many vectors of the one along, are tried: largest first.
_ONE_JAMMED = ((4, 4), (4, 2), (4, 1), (2, 1))
_NONE_JAMMED = ((4,), (2,), (1,))
_SCALARS = {0: ((),), 1: ((8,), (4,), (2,)), 2: ((4, 4), (4, 2), (2, 2))}


@dataclass(frozen=True, slots=True)
class Tile:
    """How a nest was tiled: ``jammed`` loops with their copies, the loop in vectors of ``lanes``.

    A turn of the innermost of the ``sums`` does so many iterations as ``turns``.
    """

    statements: tuple[str, ...]
    jammed: tuple[tuple[str, int], ...]
    along: str | None
    lanes: int
    vectors: int
    sums: tuple[str, ...]
    turns: int = 1


def tiled(
    node: Node,
    buffers: frozenset[str],
    lanes: Lanes,
    *,
    gathers: bool = False,
    divides: bool = False,
    selects: Collection[ElementType] = (),
) -> tuple[Node, tuple[Tile, ...]]:
    """Return the tree with its nests of point loops in register tiles, and how each of these is tiled.

    ``buffers`` are the macros for elements of LDM buffers; ``lanes`` has the element types with vectors,
    ``gathers``: that can be made of elements that lie apart, ``divides``: and taken apart, to divide numbers
    that are computed one by one; ``selects`` are the element types of which the lanes of vectors can be told
    apart by their numbers.
    """
    pass_ = _Pass(buffers, lanes, gathers, divides, frozenset(selects), [], count(1))
    return pass_.changed(node, ()), tuple(pass_.found)


@dataclass(frozen=True, slots=True)
class _Pass:
    buffers: frozenset[str]
    lanes: Lanes
    gathers: bool
    divides: bool
    selects: frozenset[ElementType]
    found: list[Tile]
    numbers: Iterator[int]

    def changed(self, node: Node, facts: tuple[Fact, ...]) -> Node:
        """Return ``node`` with the nests in it tiled, where ``facts`` hold."""
        if isinstance(node, Block):
            return Block(tuple(self.changed(child, facts) for child in node.children))
        if isinstance(node, Counter):
            return replace(node, body=self.changed(node.body, facts))
        if isinstance(node, Guard):
            otherwise = None if node.otherwise is None else self.changed(node.otherwise, facts)
            then = self.changed(node.then, (*facts, *facts_of(node)))
            return replace(node, then=then, otherwise=otherwise)
        if not isinstance(node, (Loop, Deal)):
            return node
        made = self._tiled(node, facts) if isinstance(node, Loop) else None
        return made or self._inside(node, facts)

    def _inside(self, node: Loop | Deal, facts: tuple[Fact, ...]) -> Node:
        return replace(node, body=self.changed(node.body, (*facts, *facts_of(node))))

    def _tiled(self, loop: Loop, facts: tuple[Fact, ...]) -> Node | None:
        nest = nest_of(loop, self.buffers)
        element = None if nest is None else element_of(nest)
        if nest is None or element is None:
            return None
        chosen = self._chosen(nest, element)
        ended = with_ends(nest)
        rectangle = rectangle_of(ended)
        full = None if rectangle is None else self._chosen(rectangle.nest, element)
        if rectangle is None or full is None or (chosen and full.shape == chosen.shape):
            return self._made(chosen, facts) if chosen else None
        sloping = full.on_slope(nest)
        if sloping is not None:
            return self._made(sloping, facts)
        if ended != nest:  # there is no full tile
            return self._made(chosen, facts) if chosen else None
        guard = Guard(rectangle.condition, Block(()))
        then = self._made(full, (*facts, *facts_of(guard)))
        return replace(
            guard, then=then, otherwise=self._made(chosen, facts) if chosen else self._inside(loop, facts)
        )

    def _chosen(self, nest: Nest, element: ElementType) -> _Chosen | None:
        """Return how to tile ``nest``, which computes with numbers of type ``element``."""
        vector, lanes = self.lanes.get(element, (element, 1))
        able = lanes > 1 and is_vectorisable(nest)

        def making(order: Order) -> Making:
            divides, selects = self.divides and lanes > 1, element in self.selects
            return Making(nest, order, element, vector, lanes, Fills(0), divides, selects)

        def registers(order: Order, factors: tuple[int, ...], width: int) -> int:
            return making(order).body(factors, width).registers

        orders = orders_of(nest, vectors=able, gathers=self.gathers)
        found = fitting(orders, lanes, most_trips, registers)
        if found is None:
            return None
        order, factors, width = found
        return _Chosen(making(order), factors, width)

    def _made(self, chosen: _Chosen, facts: tuple[Fact, ...]) -> Node:
        making = replace(chosen.making, fills=Fills(next(self.numbers)))
        self.found.append(chosen.described())
        return making.made(chosen.factors, facts)


def fitting(
    orders: Iterable[Order],
    lanes: int,
    trips: Callable[[Loop], int | None],
    registers: Callable[[Order, tuple[int, ...], int], int],
) -> tuple[Order, tuple[int, ...], int] | None:
    """Return the first of ``orders`` with a tile that fits: its factors, and the lanes of its vectors.

    ``trips`` gives the most iterations of a loop, ``registers`` how many registers such a tile takes.
    """
    for order in orders:
        width = lanes if order.along else 1
        most = [trips(loop) for loop in order.tiled]
        for factors in _factors(order, width, most):
            if registers(order, factors, width) <= _room(order, factors):
                return order, factors, width
    return None


def _room(order: Order, factors: tuple[int, ...]) -> int:
    """Return the registers that a tile of so many copies may take."""
    if order.sums:
        return _REGISTERS
    if order.along is None:
        return _NUMBERS
    return _ONE_VECTOR if prod(factors) == 1 else _REGISTERS


def longest(lanes: int) -> int:
    """Return how many iterations of a loop a tile takes at most in vectors of ``lanes``."""
    choices = (*_ONE_JAMMED, *_NONE_JAMMED, *(each for some in _SCALARS.values() for each in some))
    return lanes * max(copies for factors in choices for copies in factors)


def _factors(order: Order, lanes: int, trips: Sequence[int | None]) -> list[tuple[int, ...]]:
    """Return how many copies of the jammed loops, and vectors, are worth trying, the most first.

    ``trips`` are the most iterations of the loops, None where they are not known.  The widest tile is for
    loops that it leaves nothing of: the rest would be computed one vector at a time.
    """
    if order.along is None:
        choices: Sequence[tuple[int, ...]] = _SCALARS[len(order.jammed)]
    else:
        choices = _ONE_JAMMED if order.jammed else _NONE_JAMMED
    widths = [*(1 for _ in order.jammed), *([lanes] if order.along else [])]

    def fits(choice: tuple[int, ...]) -> bool:
        known = [(n * w, t) for n, w, t in zip(choice, widths, trips, strict=True) if t is not None]
        if any(taken > trip for taken, trip in known):
            return False
        if order.along is None or choice != _ONE_JAMMED[0]:
            return True
        return trips[-1] is None or trips[-1] % (choice[-1] * lanes) == 0

    return [choice for choice in choices if fits(choice)]


@dataclass(frozen=True, slots=True)
class Making:
    """Makes the tiles of one nest."""

    nest: Nest
    order: Order
    element: ElementType
    vector: ElementType
    lanes: int
    fills: Fills
    #: whether vectors divide what is computed number by number
    divides: bool = False
    #: whether vectors can be stored in some lanes alone
    selects: bool = False
    #: the end of the loop along that depends on the jammed one
    slope: Slope | None = None

    def body(self, factors: tuple[int, ...], width: int, turns: int = 1) -> Body:
        """Return what a tile of so many copies of each loop does; ``width``: in vectors of so many lanes.

        It does so for as many iterations of the innermost sum as ``turns``.
        """
        along = self.order.along if width > 1 else None
        loops = self.order.tiled
        widths = [*(1 for _ in self.order.jammed), width]
        steps = [loop.step * w for loop, w in zip(loops, widths, strict=False)]
        offsets = [
            {loop.iterator: k * s for loop, k, s in zip(loops, at, steps, strict=True) if k}
            for at in product(*(range(n) for n in factors))
        ]
        kind = self.vector if along else self.element
        sums = tuple(loop.iterator for loop in self.order.sums)
        name = along.iterator if along else None
        ahead = [{sums[-1]: k * self.order.sums[-1].step} for k in range(1, turns)]
        divides = self.vector if self.divides and along is None else None
        turned = ({}, *ahead)
        return Body(self.nest, self.element, kind, name, offsets, sums, self.fills, turned, divides).made()

    def turns(self, factors: tuple[int, ...], width: int) -> int:
        """Return how many iterations of the innermost sum a turn of its loop does."""
        if width == 1 or not self.order.sums or prod(factors) < _LARGE:
            return 1
        most = most_trips(self.order.sums[-1])
        return _TURNS if most is None or most >= 2 * _TURNS else 1

    def made(self, factors: tuple[int, ...], facts: tuple[Fact, ...]) -> Node:
        """Return the nest in tiles of ``factors``, and of fewer copies where iterations are left over."""
        known = [*facts, *(fact for loop in self.order.outer for fact in facts_of(loop))]
        inside = self._levels(self.order.tiled, factors, ())
        for condition in nonempty(self.order.sums, known):
            inside = Guard(condition, inside)
        node = reduce(lambda body, loop: replace(loop, body=body), reversed(self.order.outer), inside)
        fills = tuple(self.fills.found.values())
        return Block((*fills, node)) if fills else node

    def _levels(self, loops: Sequence[Loop], factors: Sequence[int], taken: tuple[int, ...]) -> Node:
        """Return ``loops`` around the tiles; ``taken``: copies of the loops around them, then the lanes."""
        if not loops:
            return self._tile(taken)
        loop, further = loops[0], loops[1:]
        if loop is self.order.along:
            sizes = [(n, self.lanes) for n in dict.fromkeys((factors[0], 1))] + [(1, 1)]
        else:
            sizes = [(n, 1) for n in dict.fromkeys((factors[0], 1))]
        parts: list[tuple[int, Callable[[], Node]]] = []
        for copies, width in sizes:
            inner = (*taken, copies, *((width,) if loop is self.order.along else ()))
            parts.append((copies * width, lambda inner=inner: self._levels(further, factors[1:], inner)))  # type: ignore[misc]
        if loop is not self.order.along:
            return _split(loop, parts)
        return self._along(loop, parts, taken[0] if taken else 1)

    def _along(self, loop: Loop, parts: Sequence[tuple[int, Callable[[], Node]]], copies: int) -> Node:
        """Return the ``loop`` along for so many ``copies`` of the jammed one, in ``parts``."""
        slope = self.slope
        if slope is None or copies == 1:
            whole = loop if slope is None else slope.common(1)
            return _split(whole, parts, self._ending(at_end(whole, self.lanes, copies)))
        columns = [self._column(*column) for column in slope.columns(copies)]
        common, whole = slope.common(copies), slope.all(copies)
        if slope.upper:
            return _split(common, parts, self._ending(at_slanted_last(slope, self.lanes, copies), columns))
        assert whole.first is not None
        part, end = at_slanted_first(slope, self.lanes, copies), at_end(whole, self.lanes, copies)
        behind, ahead = whole.first, [*columns]
        if self._is_partial:
            behind = Select(part.condition, plus(part.first, self.lanes), behind)
            ahead = [Guard(part.condition, self._part(part)), *columns]
        return _split(replace(common, first=behind), parts, self._ending(end), ahead)

    @property
    def _is_partial(self) -> bool:
        """Whether sums that vectors leave over may be computed in vectors of which some lanes are stored."""
        along, jammed = self.order.along, self.order.jammed
        if not self.selects or along is None or not self.order.sums:
            return False
        return may_be_partial(self.nest, along.iterator, jammed[0].iterator if jammed else None)

    def _ending(self, part: Part, columns: Sequence[Node] = ()) -> Callable[[Node], Node]:
        """Return what puts ``part`` in the place of a loop's rest, and of ``columns``, where it may be."""

        def ending(rest: Node) -> Node:
            one_by_one = _together((rest, *columns))
            return Guard(part.condition, self._part(part), one_by_one) if self._is_partial else one_by_one

        return ending

    def _part(self, part: Part) -> Node:
        """Return the vector of ``part``."""
        along, jammed = self.order.along, self.order.jammed
        assert along is not None
        offsets = [{loop.iterator: k * loop.step for loop in jammed if k} for k in range(len(part.kept))]
        sums = tuple(found.iterator for found in self.order.sums)
        nest = part.nest(self.nest, along.iterator)
        body = Body(nest, self.element, self.vector, part.name, offsets, sums, self.fills, part=part).made()
        return Counter(part.name, part.first, self._around(body))

    def _column(self, loop: Loop, copies: range) -> Node:
        """Return ``loop``, along, around those of the ``copies`` of the jammed loop that run in it."""
        assert self.slope is not None
        offsets = [{self.slope.outer: k * self.slope.step} for k in copies]
        sums = tuple(found.iterator for found in self.order.sums)
        body = Body(self.nest, self.element, self.element, None, offsets, sums, self.fills).made()
        return replace(loop, body=self._around(body), origin=replace(loop.origin, role=Role.REMAINDER))

    def _tile(self, taken: tuple[int, ...]) -> Node:
        width = taken[-1] if self.order.along else 1
        copies = taken[:-1] if self.order.along else taken
        if width == 1 and not self.order.sums and prod(copies) == 1:
            return Block(self.nest.computes) if len(self.nest.computes) > 1 else self.nest.computes[0]
        turns = self.turns(copies, width)
        further = self.body(copies, width, turns) if turns > 1 else None
        return self._around(self.body(copies, width), further, turns)

    def _around(self, body: Body, further: Body | None = None, turns: int = 1) -> Node:
        """Return what ``body`` does, the loops of the sums around its last level.

        Where there is ``further``, it does as many ``turns`` of the innermost one at a time as can be.
        """
        inner = tuple(body.levels[-1])
        for depth, loop in enumerate(reversed(self.order.sums)):
            before, once = body.levels[-2 - depth], _together(inner)
            around: Node = replace(loop, body=once)
            if not depth and further is not None:
                several = _together(further.levels[-1])
                around = _split(loop, [(turns, lambda made=several: made), (1, lambda made=once: made)])  # type: ignore[misc]
            inner = (*before, around)
        return Block((*inner, *body.last))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """How a nest is tiled: so many copies of each loop, in vectors of ``width`` lanes."""

    making: Making
    factors: tuple[int, ...]
    width: int

    @property
    def shape(self) -> tuple[object, ...]:
        """What tells one way to tile the statements from another."""
        tile = self.described()
        return tile.jammed, tile.along, tile.vectors, tile.sums

    def on_slope(self, nest: Nest) -> _Chosen | None:
        """Return the tile for ``nest``, which has an end that depends on the jammed loop; None for others."""
        order = self.making.order
        if order.along is None or len(order.jammed) != 1:
            return None
        slope = slope_of(nest, order.along.iterator, order.jammed[0].iterator)
        if slope is None:
            return None
        # what ends at every place leaves something of the widest tile, which pays for sums all the same
        narrower = self.factors == _ONE_JAMMED[0] and not order.sums
        factors = _ONE_JAMMED[1] if narrower else self.factors
        return replace(self, making=replace(self.making, slope=slope), factors=factors)

    def described(self) -> Tile:
        """Return the tile in words."""
        nest, order = self.making.nest, self.making.order
        jammed = tuple((loop.iterator, n) for loop, n in zip(order.jammed, self.factors, strict=False))
        along = order.along.iterator if order.along else None
        vectors = self.factors[-1] if order.along else 0
        statements = tuple(compute.statement for compute in nest.computes)
        sums = tuple(loop.iterator for loop in order.sums)
        turns = self.making.turns(self.factors, self.width)
        return Tile(statements, jammed, along, self.width, vectors, sums, turns)


def _together(nodes: Sequence[Node]) -> Node:
    return Block(tuple(nodes)) if len(nodes) > 1 else nodes[0]


def _split(
    loop: Loop,
    parts: Sequence[tuple[int, Callable[[], Node]]],
    ending: Callable[[Node], Node] = lambda rest: rest,
    ahead: Sequence[Node] = (),
) -> Node:
    """Return ``loop`` as one per part: so many iterations at a time, from where the last one has ended.

    ``ending`` gives what stands in the place of the last of several, ``ahead`` is what comes before all.
    """
    assert loop.first is not None and isinstance(loop.condition, Binary)
    exact = loop.trip_count
    found: list[Loop] = []
    for size, make in parts:
        if found and not ahead and exact is not None and exact * loop.step % found[-1].step == 0:
            break
        found.append(_by(loop, size, make()))
    if len(found) == 1:
        return replace(found[0], first=loop.first)
    ended = found[-1] if len(found) < len(parts) else ending(found[-1])
    return Counter(loop.iterator, loop.first, Block((*ahead, *found[:-1], ended)))


def _by(loop: Loop, size: int, body: Node) -> Loop:
    assert isinstance(loop.condition, Binary)
    last = shifted(loop.condition.left, loop.iterator, (size - 1) * loop.step)
    condition: Expression = Binary(loop.condition.operator, last, loop.condition.right)
    role = Role.UNROLLED if size > 1 else Role.REMAINDER
    return replace(
        loop,
        first=None,
        condition=condition,
        step=size * loop.step,
        body=body,
        origin=replace(loop.origin, role=role),
    )
