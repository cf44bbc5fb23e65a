"""What register tiles of a nest take: the tile that the passes over the kernel IR will choose, in cycles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    Assignment,
    Call,
    Conditional,
    Literal,
    Operation,
    Parentheses,
    Unary,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.types import ElementType, is_integer
from swbuild.frontend.scop import Scop
from swbuild.kernelir.lanewise import ABSOLUTE, GREATER, LANE, LESSER, ROOT
from swbuild.kernelir.nests import Nest
from swbuild.kernelir.nodes import Compute, Fetch, Keep, Node, Register
from swbuild.kernelir.orders import Order, orders_of
from swbuild.kernelir.registers import Body, Fills, element_of, is_vectorisable
from swbuild.kernelir.tiles import Making, fitting, longest
from swbuild.kernelir.turning import with_turned_reads
from swbuild.kernelir.vectors import vector_types
from swbuild.machine import MachineModel, load
from swbuild.machine.cost import blocks
from swbuild.machine.cost.blocks import Block, Kind, turn_cycles
from swbuild.options import KernelOptions, Turn
from swbuild.planning.apart import Buffers
from swbuild.planning.pointnests import Copied, point_nests
from swbuild.planning.turning import (
    TURNED_CYCLES,
    pays,
    turnable_in,
    unused_loops,
    written_in,
)

__all__ = ["Lengths", "TileCosts", "Tileable", "TurnedCosts", "even_lengths", "tile_costs"]

#: How long runs of a loop are, each with the part of all runs that are as long.
Lengths = tuple[tuple[float, int], ...]

#: Cycles to enter a loop.
_LOOP = 14.0

#: How much longer the order that the compiler chooses takes than the best one.
_ORDER = 1.25

#: So many lengths stand for all of those that runs may have.
_FEW = 4

#: For a loop of which nothing is known.
_UNKNOWN: Lengths = ((1.0, 64),)

#: Bytes of the largest number; a vector has more.
_LONGEST = 8

_DIVISION = "/"
_SUMS = ("+", "-")
_KINDS = {"+": Kind.FLOAT, "-": Kind.FLOAT, "*": Kind.FLOAT}
_CHOSEN = (ABSOLUTE, GREATER, LESSER)


def even_lengths(most: int, mean: float) -> Lengths:
    """Return lengths up to ``most`` that are ``mean`` on average: all of those, and as many of each less."""
    if mean >= most:
        return ((1.0, most),)
    whole = max(0.0, 2 * mean / most - 1)
    longest = most if whole else max(1, round(2 * mean))
    rest = [max(1, round(longest * (k + 0.5) / _FEW)) for k in range(_FEW)]
    found = [((1.0 - whole) / _FEW, length) for length in rest]
    return ((whole, most), *found) if whole else tuple(found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a loop: ``copies`` of its iterations at a time, in vectors of ``width`` lanes."""

    copies: int
    width: int

    @property
    def iterations(self) -> int:
        return self.copies * self.width


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A tile that fits: the number of its order, the factors of its loops, and the lanes of its vectors."""

    order: int
    factors: tuple[int, ...]
    width: int


class _Made:
    """The register tiles that a nest of ``element`` may have on a machine: each is made once."""

    def __init__(self, nest: Nest, element: ElementType, machine: MachineModel) -> None:
        self.nest = nest
        self.element = element
        self.machine = machine
        self.vector, self.lanes = vector_types(machine).get(element, (element, 1))
        self._bodies: dict[tuple[int, tuple[int, ...], int], Body] = {}
        self._levels: dict[tuple[int, tuple[int, ...], int], tuple[float, ...]] = {}
        self._chosen: dict[tuple[int, ...], _Chosen | None] = {}

    @cached_property
    def orders(self) -> list[Order]:
        """The orders of the nest's loops."""
        return list(
            orders_of(
                self.nest,
                vectors=self.lanes > 1 and is_vectorisable(self.nest),
                gathers=bool(self.machine.dialect.vectors.gather_double),
            )
        )

    def chosen(self, trips: Sequence[int]) -> _Chosen | None:
        """Return the tile that the passes choose where the nest's loops have so many ``trips`` at most.

        Of longer loops it only counts what the longest tiles leave over.
        """
        most = longest(self.lanes)
        key = tuple([each if each < most else most + each % most for each in trips])
        if key not in self._chosen:
            self._chosen[key] = self._fitting(key)
        return self._chosen[key]

    def _fitting(self, trips: tuple[int, ...]) -> _Chosen | None:
        by_loop = {loop.iterator: most for loop, most in zip(self.nest.loops, trips, strict=True)}
        found = fitting(
            self.orders,
            self.lanes,
            lambda loop: by_loop[loop.iterator],
            lambda order, factors, width: self._body(self._number(order), factors, width).registers,
        )
        return None if found is None else _Chosen(self._number(found[0]), *found[1:])

    def _number(self, order: Order) -> int:
        return next(number for number, each in enumerate(self.orders) if each is order)

    def levels(self, order: int, copies: tuple[int, ...], width: int) -> tuple[float, ...]:
        """Return the cycles of what a tile does at each level of its loops, the innermost last."""
        key = order, copies, width
        if key not in self._levels:
            turns = self._making(order).turns(copies, width)
            self._levels[key] = _body_cycles(self._body(*key), self.machine, turns)
        return self._levels[key]

    def _making(self, order: int) -> Making:
        divides = self.lanes > 1 and bool(self.machine.dialect.vectors.lane)
        return Making(self.nest, self.orders[order], self.element, self.vector, self.lanes, Fills(0), divides)

    def _body(self, order: int, copies: tuple[int, ...], width: int) -> Body:
        key = order, copies, width
        if key not in self._bodies:
            self._bodies[key] = self._making(order).body(copies, width)
        return self._bodies[key]


@lru_cache(maxsize=100)
def _made(nest: Nest, element: ElementType, machine: MachineModel) -> _Made:
    """Return the register tiles of ``nest``, which a kernel has at all sizes and in most tilings."""
    return _Made(nest, element, machine)


class TileCosts:
    """What the register tiles that a nest may have on a machine take."""

    def __init__(self, nest: Nest, element: ElementType, machine: MachineModel) -> None:
        self.nest = nest
        self.tiles = _made(nest, element, machine)
        self._known: dict[tuple[Lengths, ...], float | None] = {}

    def per_iteration(self, lengths: Sequence[Lengths], plain: float) -> float:
        """Return the cycles of an iteration where the nest's loops have ``lengths``, or one nobody knows: ().

        An iteration that is in no tile takes ``plain`` cycles.
        """
        key = tuple([each or _UNKNOWN for each in lengths])
        if key not in self._known:
            self._known[key] = self._priced(key, plain)
        found = self._known[key]
        return plain if found is None else found

    def _priced(self, lengths: tuple[Lengths, ...], plain: float) -> float | None:
        chosen = self.tiles.chosen([max([length for _, length in each]) for each in lengths])
        if chosen is None:
            return None
        order = self.tiles.orders[chosen.order]
        by_loop = {loop.iterator: each for loop, each in zip(self.nest.loops, lengths, strict=True)}
        means = {name: sum([part * length for part, length in each]) for name, each in by_loop.items()}
        return self._nest_cycles(chosen, by_loop, plain) / max(
            1.0, prod([means[loop.iterator] for loop in order.tiled])
        ) + self._entries(order, means)

    def _entries(self, order: Order, means: Mapping[str, float]) -> float:
        """Return the cycles to enter the loops around the tile, per iteration of the nest."""
        inside = prod([means[loop.iterator] for loop in (*order.tiled, *order.sums)])
        return _LOOP / max(1.0, inside)

    def _nest_cycles(self, chosen: _Chosen, by_loop: Mapping[str, Lengths], plain: float) -> float:
        """Return the cycles of all tiles in one run of the tiled loops, per iteration of the sums."""
        order = self.tiles.orders[chosen.order]
        parts = [
            _counts(by_loop[loop.iterator], _parts(factor, chosen.width if loop is order.along else 1))
            for loop, factor in zip(order.tiled, chosen.factors, strict=True)
        ]
        sums = [sum([part * n for part, n in by_loop[loop.iterator]]) for loop in order.sums]
        total = 0.0
        for choice in product(*parts):
            count = prod([n for _, n in choice])
            if count:
                copies = tuple([part.copies for part, _ in choice])
                lanes = choice[-1][0].width if order.along else 1
                total += count * self._tile_cycles(chosen.order, copies, lanes, sums, plain)
        return total

    def _tile_cycles(
        self, order: int, copies: tuple[int, ...], width: int, sums: Sequence[float], plain: float
    ) -> float:
        """Return the cycles of a tile for one iteration of the ``sums``, the mean numbers of these."""
        alone = prod(copies) == 1 or self.tiles.orders[order].along
        if width == 1 and not sums and alone:
            return plain * prod(copies)
        levels = self.tiles.levels(order, copies, width)
        total = levels[-1]
        for depth, cycles in enumerate(levels[:-1]):
            total += (cycles + _LOOP) / max(1.0, prod(sums[depth:]))
        return total


class TurnedCosts:
    """What register tiles of a nest take that reads turned boxes; ``alone``: what they take without.

    Of each turned box, ``unused`` are the positions of the loops of the nest that it is read in all of.
    Where there is a choice, a box is turned if that pays.
    """

    def __init__(self, costs: TileCosts, unused: Sequence[Sequence[int]], alone: TileCosts | None) -> None:
        self.nest = costs.nest
        self.costs = costs
        self.alone = alone
        self.unused = unused

    def per_iteration(self, lengths: Sequence[Lengths], plain: float) -> float:
        """Return the cycles of an iteration as :class:`TileCosts` does, with those of turning boxes."""
        means = [sum([part * length for part, length in each or _UNKNOWN]) for each in lengths]
        times = [[means[k] for k in unused] for unused in self.unused]
        if self.alone is not None and not all(map(pays, times)):
            return self.alone.per_iteration(lengths, plain)
        turning = sum(TURNED_CYCLES / max(1.0, prod(each)) for each in times)
        return self.costs.per_iteration(lengths, plain) + turning


@dataclass(frozen=True, slots=True)
class Tileable:
    """A statement in register tiles: what these take, and what the loops of its nest count."""

    costs: TileCosts | TurnedCosts
    counted: tuple[isl.UnionPwAff, ...]


def tile_costs(
    scop: Scop,
    schedule: isl.Schedule,
    copies: Copied,
    buffers: Buffers,
    options: KernelOptions,
    turned: Mapping[str, int] | None = None,
) -> dict[str, Tileable]:
    """Return, for statements of a tiled kernel that may be in register tiles, what these take.

    Arrays are in ``buffers`` of the LDM, private variables in those of ``copies``, all else in main memory.
    Of buffers ``turned``, boxes have copies with the given dimension last; None: wherever that pays.
    """
    if not options.tiles_registers:
        return {}
    found: dict[str, Tileable] = {}
    fixed = written_in(scop, buffers)
    for each in point_nests(scop, schedule, buffers, copies):
        costs = _costs(each.nest, fixed, options, turned)
        if costs is not None:
            found |= {name: Tileable(costs, each.counted) for name in each.statements}
    return found


def _costs(
    nest: Nest, fixed: frozenset[str], options: KernelOptions, turned: Mapping[str, int] | None
) -> TileCosts | TurnedCosts | None:
    """Return what register tiles of ``nest`` take, None where there are none; nothing ``fixed`` is turned."""
    element, machine = element_of(nest), load(options.machine)
    if element is None:
        return None
    alone = TileCosts(nest, element, machine)
    may = turnable_in(nest, fixed, options)
    reads = {read: k for read, k in may.items() if turned is None or turned.get(read.function) == k}
    if not reads:
        return alone
    unused = [unused_loops(read, nest) for read in reads]
    other = with_turned_reads(nest, reads, lambda name: f"{name} turned")
    free = turned is None and options.turn is Turn.AUTO
    return TurnedCosts(TileCosts(other, element, machine), unused, alone if free else None)


@lru_cache(maxsize=256)
def _parts(factor: int, width: int) -> tuple[_Part, ...]:
    found = [_Part(copies, width) for copies in dict.fromkeys((factor, 1))]
    return (*found, _Part(1, 1)) if width > 1 else tuple(found)


@lru_cache(maxsize=4096)
def _counts(lengths: Lengths, parts: tuple[_Part, ...]) -> tuple[tuple[_Part, float], ...]:
    """Return how often each part is run on average, the first as often as it fits."""
    counts = [0.0] * len(parts)
    for share, length in lengths:
        left = length
        for k, part in enumerate(parts):
            counts[k] += share * (left // part.iterations)
            left %= part.iterations
    return tuple(zip(parts, counts, strict=True))


def _body_cycles(body: Body, machine: MachineModel, turns: int) -> tuple[float, ...]:
    """Return the cycles of what is done at each level of ``body``, the first with what is done last.

    A turn of its innermost loop does it so many ``turns`` times.
    """
    held: set[str] = set()
    found = []
    for nodes in body.levels[:-1]:
        found.append(_cycles(nodes, held, machine, 1))
        held |= {node.name for node in nodes if isinstance(node, (Register, Fetch))}
    if found:
        found[0] += _cycles(body.last, held, machine, 1)
    inside = [*body.levels[-1], *([] if found else body.last)]
    return (*found, _cycles(inside, held, machine, turns if turns > 1 else 0))


def _cycles(nodes: Sequence[Node], held: Collection[str], machine: MachineModel, turns: int) -> float:
    """Return the cycles of ``nodes``, which are run in turns if these are not 1; ``held`` is set before."""
    return _ORDER * turn_cycles(_Operations(frozenset(held)).of(nodes), machine, turns) if nodes else 0.0


@dataclass(slots=True)
class _Operations:
    """Turns nodes into operations; ``held`` are variables set before them."""

    held: frozenset[str]
    made: list[blocks.Operation] = field(default_factory=list)
    values: dict[Expression, int | None] = field(default_factory=dict)
    names: dict[str, int | None] = field(default_factory=dict)
    readers: dict[int, int] = field(default_factory=dict)

    def of(self, nodes: Sequence[Node]) -> Block:
        """Return what ``nodes`` do in one turn."""
        for node in nodes:
            self._node(node)
        return Block(tuple(self.made))

    def _node(self, node: Node) -> None:
        if isinstance(node, Fetch):
            self.names[node.name] = self._fetched(node)
        elif isinstance(node, Register):
            self.names[node.name] = self._value(node.value)
        elif isinstance(node, Keep):
            source = self.names.get(node.name)
            for _ in range(1 + node.vector):
                self._add(Kind.STORE, *(() if source is None else (source,)))
        elif isinstance(node, Compute):
            self._assign(node)

    def _fetched(self, fetch: Fetch) -> int:
        """Return the operation that ends a load; a vector from anywhere is put together from two."""
        if isinstance(fetch.place, Variable):
            return self._put_together((fetch.place, *fetch.further))
        first = self._add(Kind.LOAD)
        for _ in fetch.further:
            first = self._add(Kind.SHUFFLE, first, self._add(Kind.LOAD))
        return (
            first if fetch.spread or fetch.further else self._add(Kind.SHUFFLE, first, self._add(Kind.LOAD))
        )

    def _put_together(self, values: Sequence[Expression]) -> int:
        """Return the operation that puts the last of ``values``, variables, into a vector."""
        found = [self.names.get(value.name) for value in values if isinstance(value, Variable)]
        last = self._add(Kind.SHUFFLE, *(source for source in found[:1] if source is not None))
        for source in dict.fromkeys(found[1:]):
            last = self._add(Kind.SHUFFLE, last, *(() if source is None else (source,)))
        return last

    def _assign(self, compute: Compute) -> None:
        assert isinstance(compute.body, Evaluation) and isinstance(compute.body.expression, Assignment)
        found = compute.body.expression
        assert isinstance(found.target, Variable)
        name, value = found.target.name, found.value
        before = name in self.names
        if found.operator == "=":
            self.names[name] = self._value(value)
            return
        own = self.names.get(name)
        number = self._combined(found.operator[0], found.computed, own, value)
        if not before and name in self.held:
            operation = self.made[number]
            self.made[number] = blocks.Operation(operation.kind, operation.sources, number)
        self.names[name] = number

    def _last_product(self, value: Expression) -> bool:
        """Return whether ``value`` is a product that one instruction adds to something."""
        while isinstance(value, Parentheses):
            value = value.operand
        return isinstance(value, Operation) and value.operator == "*" and not is_integer(value.computed)

    def _combined(self, operator: str, computed: ElementType, own: int | None, value: Expression) -> int:
        """Return the operation of a compound assignment, a multiply-add where its value is a product."""
        if operator in "+-" and self._last_product(value):
            while isinstance(value, Parentheses):
                value = value.operand
            assert isinstance(value, Operation)
            sources = [self._value(value.left), self._value(value.right), own]
        else:
            sources = [self._value(value), own]
        return self._add(_operator_kind(operator, computed), *(s for s in sources if s is not None))

    def _value(self, value: Expression) -> int | None:
        while isinstance(value, Parentheses):
            value = value.operand
        if isinstance(value, Variable):
            return self.names.get(value.name)
        if isinstance(value, Literal):
            return None
        if value not in self.values:
            self.values[value] = self._computed(value)
        return self.values[value]

    def _computed(self, value: Expression) -> int | None:
        """Return the operation that makes ``value``; the call of a macro is a load from its buffer."""
        if isinstance(value, Operation) and value.operator in _SUMS:
            for multiplied, other in ((value.left, value.right), (value.right, value.left)):
                if self._last_product(multiplied):
                    own = self._value(other)
                    return self._combined(value.operator, value.computed, own, multiplied)
        kind = _kind(value)
        if kind is Kind.LOAD:
            return self._add(kind)
        sources = [s for s in map(self._value, value.children) if s is not None]
        if kind is None:
            return sources[0] if sources else None
        return self._add(kind, *sources)

    def _add(self, kind: Kind, *sources: int) -> int:
        self.made.append(blocks.Operation(kind, tuple(sources)))
        return len(self.made) - 1


def _kind(value: Expression) -> Kind | None:
    """Return what ``value`` needs of the core beside its operands, None for nothing."""
    if isinstance(value, Operation):
        return _operator_kind(value.operator, value.computed)
    if isinstance(value, Call):
        if value.function.startswith(LANE):
            return Kind.SHUFFLE
        name = value.function.removesuffix("f")
        return Kind.DIVIDE if name == ROOT else Kind.COMPARE if name in _CHOSEN else Kind.LOAD
    if isinstance(value, Unary):
        return _operator_kind(value.operator, value.type)
    if not isinstance(value, Conditional):
        return None
    return _whole_kind(value.type) if is_integer(value.type) else Kind.COMPARE


def _whole_kind(computed: ElementType) -> Kind:
    """Return what an operation on integers, or on a vector of them, needs of the core."""
    return Kind.VECTOR if computed.size > _LONGEST else Kind.INTEGER


def _operator_kind(operator: str, computed: ElementType) -> Kind:
    """Return what an operation on numbers of the type ``computed`` needs of the core."""
    if is_integer(computed):
        return Kind.MULTIPLY if operator == "*" else _whole_kind(computed)
    return Kind.DIVIDE if operator == _DIVISION else _KINDS.get(operator, Kind.COMPARE)
