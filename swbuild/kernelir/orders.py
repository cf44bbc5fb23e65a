"""In which order the loops of a nest run around a register tile, and which of them it takes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from swbuild.classes import dataclass
from swbuild.expressions.c import Call
from swbuild.expressions.linear import distance
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Name
from swbuild.expressions.trees import mentions, names_in, substituted
from swbuild.kernelir.nests import Nest, accesses, assignment, lie_together, strides
from swbuild.kernelir.nodes import Deal, Guard, Loop

__all__ = ["Fact", "Order", "facts_of", "nonempty", "orders_of"]

#: what is known at some place: the first value is at most the second
Fact = tuple[Expression, Expression]


@dataclass(frozen=True, slots=True)
class Order:
    """The loops of a nest, outermost first: ``outer``, ``jammed``, ``along``, ``sums``.

    Of ``jammed`` loops several iterations run side by side, of ``along`` (None: no vectors) as many as a
    vector has lanes; over ``sums`` everything that is assigned to stays in registers.
    """

    outer: tuple[Loop, ...]
    jammed: tuple[Loop, ...]
    along: Loop | None
    sums: tuple[Loop, ...]

    @property
    def tiled(self) -> tuple[Loop, ...]:
        """The loops of which a tile takes several iterations."""
        return (*self.jammed, *((self.along,) if self.along else ()))

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All loops, outermost first."""
        return (*self.outer, *self.tiled, *self.sums)


def orders_of(nest: Nest, *, vectors: bool, gathers: bool = False) -> Iterator[Order]:
    """Yield orders that leave what depends on each other in its order, the better ones first.

    ``gathers``: vectors may be made of elements that lie apart, where jammed iterations share them.
    """
    free = frozenset(loop.iterator for loop in nest.loops if nest.is_free(loop.iterator))
    able = [loop for loop in nest.loops if vectors and loop.iterator in free and _is_along(nest, loop)]
    lines = [loop for loop in able if not _gathered(nest, loop)]
    for along in reversed(lines):
        yield from _orders(nest, free, along, keeps=True)
    apart = [loop for loop in able if gathers and loop not in lines]
    yield from _gathering(nest, free, apart, keeps=True)
    for along in reversed(lines):
        yield from _orders(nest, free, along, keeps=False)
    yield from _gathering(nest, free, apart, keeps=False)
    yield from _orders(nest, free, None, keeps=True)
    if nest.is_slanted:
        yield Order((), nest.loops, None, ())
    alone = Order((), (), None, nest.loops)
    if _stays(nest) and _is_sound(nest, alone, free):
        yield alone


def _gathering(nest: Nest, free: frozenset[str], loops: Sequence[Loop], *, keeps: bool) -> Iterator[Order]:
    """Yield orders in vectors along each of ``loops`` of which some are gathered, for several iterations."""
    for along in reversed(loops):
        orders = _orders(nest, free, along, keeps=keeps)
        yield from (order for order in orders if _is_shared(_gathered(nest, along), order))


def _is_shared(gathered: Sequence[Call], order: Order) -> bool:
    """Return whether each vector that is gathered serves several iterations of the jammed loops."""
    jammed = {loop.iterator for loop in order.jammed}
    return bool(jammed) and not any(names_in(s) & jammed for read in gathered for s in read.arguments)


def _orders(nest: Nest, free: frozenset[str], along: Loop | None, *, keeps: bool) -> Iterator[Order]:
    rest = [loop for loop in nest.loops if loop is not along]
    sums = _sums(nest, rest) if keeps else ()
    if keeps and not sums:
        return
    outer = [loop for loop in rest if loop not in sums]
    jams = _jams(nest, [loop for loop in outer if loop.iterator in free and (sums or _shared(nest, loop))])
    for jammed in jams:
        if len(jammed) > 1 and along is not None:
            continue
        left = tuple(loop for loop in outer if loop not in jammed)
        order = Order(left, jammed, along, sums)
        if (jammed or along) and _is_sound(nest, order, free):
            yield order


def _is_along(nest: Nest, loop: Loop) -> bool:
    """Return whether vectors can run along ``loop``: neighbours are stored side by side, and loaded."""
    if loop.step != 1:
        return False
    stored = [strides(target, loop.iterator) for target in nest.targets]
    rows = all(row[-1:] == [1] and all(step == 0 for step in row[:-1]) for row in stored)
    return rows and not any(None in strides(read, loop.iterator) for read in nest.reads)


def _gathered(nest: Nest, loop: Loop) -> list[Call]:
    """Return what is read of which the neighbours along ``loop`` lie apart."""
    return [read for read in nest.reads if not lie_together(read, loop.iterator)]


def _sums(nest: Nest, loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return the loops over which every target is one element that only its own statement accesses."""
    found = tuple(
        loop
        for loop in loops
        if not any(mentions(s, loop.iterator) for t in nest.targets for s in t.arguments)
    )
    written = {target.function: target for target in nest.targets}
    alone = all(written.get(a.function, a) == a for a in (*nest.targets, *nest.reads))
    return found if alone and _read_first(nest) else ()


def _stays(nest: Nest) -> bool:
    """Return whether all that ``nest`` assigns to is the same in all iterations, and nothing else meets it.

    In their own order, its loops may then leave it in registers.
    """
    return (
        bool(nest.loops)
        and not any(
            mentions(s, loop.iterator) for loop in nest.loops for t in nest.targets for s in t.arguments
        )
        and nest.is_apart
        and _read_first(nest)
    )


def _read_first(nest: Nest) -> bool:
    """Return whether each target holds something before it is assigned to."""
    return all(
        assignment(c).operator != "=" or target in accesses(assignment(c).value, nest.buffers)
        for c, target in zip(nest.computes, nest.targets, strict=True)
    )


def _jams(nest: Nest, loops: Sequence[Loop]) -> list[tuple[Loop, ...]]:
    """Return which loops may be jammed, those first whose iterations share most of what they read."""

    ranked = sorted(loops, key=lambda loop: (_shared(nest, loop), loops.index(loop)), reverse=True)
    pairs = [(one, other) for k, one in enumerate(ranked) for other in ranked[k + 1 :]]
    return [*pairs, *((loop,) for loop in ranked), ()]


def _shared(nest: Nest, loop: Loop) -> int:
    """Return how many elements all iterations of ``loop`` read alike."""
    return sum(not any(mentions(s, loop.iterator) for s in read.arguments) for read in nest.reads)


def _is_sound(nest: Nest, order: Order, free: frozenset[str]) -> bool:
    """Return whether all bounds are known where they are needed, and what is not free keeps its order."""
    loops = order.loops
    names = {loop.iterator for loop in loops}
    for k, loop in enumerate(loops):
        if _bounds_in(loop) & names - {outer.iterator for outer in loops[:k]}:
            return False
    inside = {loop.iterator for loop in loops[len(order.outer) :]}
    if any(_bounds_in(loop) & inside for loop in loops[len(order.outer) :]):
        return False
    bound = [loop for loop in loops if loop.iterator not in free]
    return bound == [loop for loop in nest.loops if loop.iterator not in free]


def _bounds_in(loop: Loop) -> frozenset[str]:
    """Return the names that the bounds of ``loop`` are made of."""
    assert loop.first is not None and loop.condition is not None
    return names_in(loop.first) | (names_in(loop.condition) - {loop.iterator})


def facts_of(node: Loop | Guard | Deal) -> list[Fact]:
    """Return what holds inside ``node``."""
    if isinstance(node, Guard):
        return _compared(node.condition)
    if isinstance(node, Deal):
        number = Name(node.iterator)
        ends = ((node.first, number), (number, node.last))
        return [fact for end in ends for fact in _compared(Binary(BinaryOperator.LE, *end))]
    found = [] if node.condition is None else _compared(node.condition)
    if node.first is not None:
        firsts = node.first.operands if isinstance(node.first, Max) else (node.first,)
        found += [(first, Name(node.iterator)) for first in firsts]
    return found


_LESS = {BinaryOperator.LE: 0, BinaryOperator.LT: 1}
_MORE = {BinaryOperator.GE: 0, BinaryOperator.GT: 1}


def _compared(condition: Expression) -> list[Fact]:
    if not isinstance(condition, Binary):
        return []
    left, right = condition.left, condition.right
    if condition.operator is BinaryOperator.AND:
        return [*_compared(left), *_compared(right)]
    if condition.operator in _MORE:
        left, right = right, left
    less = (_LESS | _MORE).get(condition.operator)
    if less is None:
        return []
    lows = left.operands if isinstance(left, Max) else (left,)
    highs = right.operands if isinstance(right, Min) else (right,)
    return [(low, Binary(BinaryOperator.SUB, high, Constant(less))) for low, high in product(lows, highs)]


def nonempty(loops: Sequence[Loop], facts: Sequence[Fact]) -> list[Expression]:
    """Return what is not known of: each of ``loops`` has an iteration."""
    found = []
    for loop in loops:
        assert loop.first is not None and loop.condition is not None
        wanted = substituted(loop.condition, {loop.iterator: loop.first})
        if not all(_is_known(fact, facts) for fact in _compared(wanted)):
            found.append(wanted)
    return found


def _is_known(wanted: Fact, facts: Sequence[Fact]) -> bool:
    low, high = wanted
    if _at_least(low, high, 0):
        return True
    return any(
        (distance(low, a) or 0) + (distance(b, high) or 0) >= 0
        for a, b in facts
        if distance(low, a) is not None and distance(b, high) is not None
    )


def _at_least(low: Expression, high: Expression, least: int) -> bool:
    length = distance(low, high)
    return length is not None and length >= least
