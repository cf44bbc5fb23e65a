"""Perfect nests of point loops: what they access, and which of their loops are free of dependences.

A loop is *free* if instances that differ in its iterator touch no common element, or only read it: some
subscript is the same function of that iterator alone, among the nest's, in all accesses to an array that the
nest writes, or of two of them one is always less than the other by the bounds of the nest.  Free loops may
go anywhere in the nest, and their iterations run side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product

from swbuild.classes import dataclass
from swbuild.expressions.c import Assignment, Call, Operation
from swbuild.expressions.linear import distance
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Name
from swbuild.expressions.trees import mentions, names_in, substituted, walk
from swbuild.expressions.types import is_integer
from swbuild.kernelir.lanewise import as_assignment
from swbuild.kernelir.nodes import Block, Compute, Loop, Node, in_turn
from swbuild.kernelir.origin import Role

__all__ = [
    "Nest",
    "accesses",
    "assignment",
    "lie_together",
    "most_trips",
    "nest_of",
    "plus",
    "shifted",
    "stride",
    "strides",
]


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops, outermost first, around computations that assign to elements of LDM buffers."""

    loops: tuple[Loop, ...]
    computes: tuple[Compute, ...]
    buffers: frozenset[str]

    @property
    def targets(self) -> tuple[Call, ...]:
        """What each computation assigns to."""
        return tuple(target for target, _ in map(_parts, self.computes))

    @property
    def reads(self) -> tuple[Call, ...]:
        """The elements that are read; those that are changed by a compound assignment are targets."""
        return tuple(
            found for _, value in map(_parts, self.computes) for found in accesses(value, self.buffers)
        )

    def is_free(self, iterator: str) -> bool:
        """Return whether the loop over ``iterator`` is free."""
        others = {loop.iterator for loop in self.loops} - {iterator}
        return all(_told_apart(*pair, iterator, others) or self._keeps_apart(*pair) for pair in self._pairs())

    @property
    def is_slanted(self) -> bool:
        """Whether there is one loop, of which no iterations meet, with one computation, and it is not free.

        It goes along a diagonal, say: from one iteration to the next, several subscripts change.  Or it is
        free, and computes with numbers that are not whole: what waits for a result, or divides, takes so long
        that several at a time pay.
        """
        if len(self.loops) > 1 or len(self.computes) > 1:
            return False
        if self.is_free(self.loops[0].iterator) and not any(map(_rounds, walk(self.computes[0].body))):
            return False
        along = self.loops[0].iterator
        return all(_never_meet(*pair, along) or self._keeps_apart(*pair) for pair in self._pairs())

    @property
    def is_apart(self) -> bool:
        """Whether what is assigned to is accessed as such alone: no other access meets it."""
        return all(one == other or self._keeps_apart(one, other) for one, other in self._pairs())

    def _keeps_apart(self, one: Call, other: Call) -> bool:
        """Return whether two accesses to one buffer never meet: one has a subscript beyond the other's."""
        pairs = list(zip(one.arguments, other.arguments, strict=True))
        return any(self._is_beyond(a, b) or self._is_beyond(b, a) for a, b in pairs)

    def _is_beyond(self, subscript: Expression, fixed: Expression) -> bool:
        """Return whether ``subscript`` is always less, or always more, than ``fixed``, which stays."""
        iterators = {loop.iterator for loop in self.loops}
        changing = [loop for loop in self.loops if mentions(subscript, loop.iterator)]
        if len(changing) != 1 or names_in(fixed) & iterators:
            return False
        (loop,) = changing
        step = stride(subscript, loop.iterator)
        if not step:
            return False
        for ends, sign in ((_firsts(loop), step), (_lasts(loop), -step)):
            values = (substituted(subscript, {loop.iterator: end}) for end in ends)
            least = [distance(fixed, value) for value in values]
            if any(d is not None and (d > 0 if sign > 0 else d < 0) for d in least):
                return True
        return False

    def _pairs(self) -> Iterator[tuple[Call, Call]]:
        """Yield what is assigned to with every access to its buffer."""
        found = product(self.targets, (*self.targets, *self.reads))
        return (pair for pair in found if pair[0].function == pair[1].function)


def nest_of(loop: Loop, buffers: frozenset[str]) -> Nest | None:
    """Return the perfect nest that begins with ``loop``; ``buffers`` are the macros for their elements."""
    loops: list[Loop] = []
    node: Node = loop
    while isinstance(node, Loop) and _is_counted(node):
        loops.append(node)
        node = node.body
        if isinstance(node, Block) and len(node.children) == 1:
            node = node.children[0]
    computes = in_turn(node)
    found = tuple(item for item in computes if isinstance(item, Compute))
    if not loops or not found or len(found) < len(computes):
        return None
    nest = Nest(tuple(loops), found, buffers)
    return nest if all(_is_plain(compute, buffers) for compute in found) else None


def _is_counted(loop: Loop) -> bool:
    condition = loop.condition
    return (
        (loop.origin.role is Role.POINT or (loop.origin.role is Role.TILE and loop.step == 1))
        and loop.first is not None
        and loop.step > 0
        and isinstance(condition, Binary)
        and condition.operator in (BinaryOperator.LT, BinaryOperator.LE)
        and condition.left == Name(loop.iterator)
        and not mentions(condition.right, loop.iterator)
    )


def _is_plain(compute: Compute, buffers: frozenset[str]) -> bool:
    """Return whether ``compute`` is one assignment to an element of a buffer, without further effects."""
    found = as_assignment(compute.body)
    if found is None or not isinstance(found.target, Call) or found.target.function not in buffers:
        return False
    return not any(isinstance(node, Assignment) for node in walk(found.value))


def _rounds(node: Expression) -> bool:
    """Return whether ``node`` is an operation on numbers that are not whole."""
    if isinstance(node, Assignment):
        return node.operator != "=" and not is_integer(node.computed)
    return isinstance(node, Operation) and not is_integer(node.computed)


def assignment(compute: Compute) -> Assignment:
    """Return the assignment that ``compute``, of a nest, is."""
    found = as_assignment(compute.body)
    assert found is not None
    return found


def _parts(compute: Compute) -> tuple[Call, Expression]:
    found = assignment(compute)
    assert isinstance(found.target, Call)
    return found.target, found.value


def accesses(value: Expression, buffers: frozenset[str]) -> Iterator[Call]:
    """Yield the elements of buffers that ``value`` reads."""
    return (node for node in walk(value) if isinstance(node, Call) and node.function in buffers)


def stride(subscript: Expression, iterator: str) -> int | None:
    """Return by how much ``subscript`` grows with each value of ``iterator``, None if that varies."""
    if not mentions(subscript, iterator):
        return 0
    return distance(subscript, _at(subscript, iterator, 1))


def strides(access: Call, iterator: str) -> list[int | None]:
    """Return by how much each subscript grows with each value of ``iterator``."""
    return [stride(subscript, iterator) for subscript in access.arguments]


def lie_together(access: Call, iterator: str) -> bool:
    """Return whether neighbours along ``iterator`` are one element, or lie side by side."""
    steps = strides(access, iterator)
    return all(step == 0 for step in steps[:-1]) and all(step in (0, 1) for step in steps[-1:])


def shifted(subscript: Expression, iterator: str, by: int) -> Expression:
    """Return ``subscript`` for the value of ``iterator`` that is ``by`` larger."""
    step = stride(subscript, iterator)
    return _at(subscript, iterator, by) if step is None else plus(subscript, step * by)


def _at(subscript: Expression, iterator: str, by: int) -> Expression:
    return substituted(subscript, {iterator: plus(Name(iterator), by)})


def plus(value: Expression, number: int) -> Expression:
    """Return ``value + number``, the numbers at the end of the sum taken together."""
    rest = value
    if isinstance(value, Binary) and isinstance(value.right, Constant):
        if value.operator is BinaryOperator.ADD:
            rest, number = value.left, number + value.right.value
        elif value.operator is BinaryOperator.SUB:
            rest, number = value.left, number - value.right.value
    if not number:
        return rest
    operator = BinaryOperator.ADD if number > 0 else BinaryOperator.SUB
    return Binary(operator, rest, Constant(abs(number)))


def _told_apart(one: Call, other: Call, iterator: str, others: Collection[str]) -> bool:
    """Return whether two accesses to one buffer meet only where ``iterator`` has one value for both."""
    return any(
        a == b and stride(a, iterator) and not names_in(a) & frozenset(others)
        for a, b in zip(one.arguments, other.arguments, strict=True)
    )


def _never_meet(one: Call, other: Call, iterator: str) -> bool:
    """Return whether two accesses to one buffer in different iterations meet in no element."""
    apart: set[int] = set()
    for a, b in zip(one.arguments, other.arguments, strict=True):
        step, between = stride(a, iterator), distance(a, b)
        if not step or between is None or step != stride(b, iterator):
            continue  # nothing is known from this subscript
        if between % step:
            return True
        apart.add(between // step)  # by how many iterations the first one is behind where they meet
    return bool(apart) and (len(apart) > 1 or apart == {0})


def _firsts(loop: Loop) -> tuple[Expression, ...]:
    """Return what the iterator of ``loop``, which is counted, is at least."""
    assert loop.first is not None
    return loop.first.operands if isinstance(loop.first, Max) else (loop.first,)


def _lasts(loop: Loop) -> tuple[Expression, ...]:
    """Return what the iterator of ``loop``, which is counted, is at most."""
    assert isinstance(loop.condition, Binary)
    end, less = loop.condition.right, loop.condition.operator is BinaryOperator.LT
    ends = end.operands if isinstance(end, Min) else (end,)
    return tuple(plus(each, -1) for each in ends) if less else ends


def most_trips(loop: Loop) -> int | None:
    """Return the most iterations that ``loop`` ever has, as far as constants tell."""
    lengths = [distance(first, last) for first, last in product(_firsts(loop), _lasts(loop))]
    known = [length + 1 for length in lengths if length is not None]
    return max(0, (min(known) + loop.step - 1) // loop.step) if known else None
