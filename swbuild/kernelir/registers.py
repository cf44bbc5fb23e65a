"""What a register tile does: copies of a nest's body over variables that are held in registers.

A copy stands for the values of the iterators plus offsets.  Where there is an iterator ``along``, variables
are vectors, and it stands for the first of as many values as these have lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    Assignment,
    Call,
    Cast,
    Conditional,
    Literal,
    Operation,
    Parentheses,
    Typed,
    Unary,
    Unrounded,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.trees import mentions, names_in, walk
from swbuild.expressions.types import ElementType, is_integer
from swbuild.kernelir.lanewise import GREATER, LESSER, bare, has_lanes, is_lanewise
from swbuild.kernelir.nests import Nest, accesses, assignment, lie_together, shifted, strides
from swbuild.kernelir.nodes import Compute, Fetch, Keep, Node, Register
from swbuild.kernelir.partial import Lanes, Part
from swbuild.kernelir.quotients import Quotients, is_quotient
from swbuild.names import own, plain_name

__all__ = ["Body", "Fills", "element_of", "is_vectorisable"]

Offsets = Mapping[str, int]

#: Bytes of an element that a register is loaded with as it is.
_SMALLEST = 4

_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/="))


def element_of(nest: Nest) -> ElementType | None:
    """Return the type of all that ``nest`` computes, None where there is no such."""
    element = nest.targets[0].type
    if element.size < _SMALLEST:
        return None
    for compute in nest.computes:
        found = assignment(compute)
        right = found.operator in _ASSIGNMENTS and found.target == _call(found.target, element)
        if not right or (found.operator != "=" and found.computed != element):
            return None
        if not is_lanewise(found.value, element, nest.buffers):
            return None
    return element


def _call(target: Expression, element: ElementType) -> Expression | None:
    return target if isinstance(target, Call) and target.type == element else None


def is_vectorisable(nest: Nest) -> bool:
    """Return whether vectors can compute ``nest``: all its operations, and numbers that are the same there.

    What is computed of no element has to be the same in all iterations.
    """
    iterators = {loop.iterator for loop in nest.loops}
    values = [assignment(compute).value for compute in nest.computes]
    if not all(has_lanes(part, nest.buffers) for value in values for part in walk(value)):
        return False
    return not any(names_in(part) & iterators for c in nest.computes for part in _scalars(nest, c))


def _scalars(nest: Nest, compute: Compute) -> list[Expression]:
    return _leaves(assignment(compute).value, nest.buffers)


def _leaves(value: Expression, buffers: frozenset[str]) -> list[Expression]:
    """Return the largest parts of ``value`` without elements of buffers."""
    if isinstance(value, Call) and value.function in buffers:
        return []
    if not isinstance(value, Unrounded) and not any(True for _ in accesses(value, buffers)):
        return [value]
    return [leaf for child in value.children for leaf in _leaves(child, buffers)]


def _as_quotient(found: Assignment) -> Assignment:
    """Return ``x /= y`` as ``x = x / y``, anything else as it is."""
    if found.operator != "/=":
        return found
    quotient = Operation(found.computed, "/", found.computed, found.target, found.value)
    return replace(found, operator="=", value=quotient)


@dataclass(slots=True)
class Fills:
    """Vectors with one number in all lanes, set ahead of the nest number ``nest``."""

    nest: int
    found: dict[Expression, Register] = field(default_factory=dict)

    def of(self, value: Expression, element: ElementType, vector: ElementType) -> Variable:
        """Return the vector with ``value`` in all lanes."""
        while isinstance(value, Parentheses):
            value = value.operand
        if value not in self.found:
            plain = isinstance(value, Variable)
            name = own(f"{value.name}_v" if isinstance(value, Variable) else "number_v", self._kind(plain))
            same = isinstance(value, Typed) and value.type == element
            self.found[value] = Register(name, vector, value if same else Cast(element, value), fill=True)
        return Variable(vector, self.found[value].name)

    def _kind(self, plain: bool) -> str:
        return f"fill{self.nest}" if plain else f"fill{self.nest}_{len(self.found)}"


@dataclass(slots=True)
class Body:
    """Makes the nodes of the copies of the body of ``nest``, at ``offsets`` from its iterators.

    ``sums`` are the iterators, outermost first, over which targets stay in registers.
    """

    nest: Nest
    element: ElementType
    type: ElementType
    along: str | None
    offsets: Sequence[Offsets]
    sums: tuple[str, ...]
    fills: Fills
    #: those of the innermost sum that a turn of its loop does, from its iterator
    turns: Sequence[Offsets] = ({},)
    #: the vectors in which numbers that are computed one by one are divided, where there are such
    divides: ElementType | None = None
    #: the lanes in which vectors begin and are stored, None: in all
    part: Part | None = None
    #: what is done ahead of the loops over ``sums``, and at the beginning of the body of each
    levels: list[list[Node]] = field(default_factory=list)
    held: dict[Call, Variable] = field(default_factory=dict)
    last: list[Node] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def made(self) -> Body:
        """Return the body with its nodes made."""
        self.levels = [[] for _ in range(len(self.sums) + 1)]
        if self.sums:
            self._accumulated()
        else:
            for compute in self.nest.computes:
                self._at_once(compute)
        return self

    @property
    def registers(self) -> int:
        """How many registers are taken at once, at most."""
        return sum(self.numbers.values()) + len(self.fills.found)

    def _accumulated(self) -> None:
        """Hold all targets over the loops ``sums``."""
        lanes = None if self.part is None else Lanes(self.part, self.element, self.type)
        if lanes is not None:
            self.levels[0] += lanes.bounds()
        for compute, target in zip(self.nest.computes, self.nest.targets, strict=True):
            for copy, offsets in enumerate(self.offsets):
                place = _moved(target, offsets)
                if place in self.held:
                    continue
                if lanes is None:
                    self.held[place] = self._fetched(place, 0)
                    self.last.append(self._stored(compute, place))
                else:
                    name = self._named(place)
                    self.held[place] = Variable(self.type, name)
                    self.levels[0] += lanes.begun(name, place, copy)
                    self.last += lanes.stored(compute.statement, name, place, copy)
        for ahead in self.turns:
            for compute in self.nest.computes:
                for offsets in self.offsets:
                    self.levels[-1].append(self._assigned(compute, {**offsets, **ahead}))

    def _at_once(self, compute: Compute) -> None:
        """Fetch what all copies of ``compute`` need, compute, and store."""
        found = assignment(compute)
        computed: list[Node] = []
        stores: list[Node] = []
        quotients = self._quotients(_as_quotient(found))
        found = found if quotients is None else _as_quotient(found)
        assert isinstance(found.target, Call)
        for offsets in self.offsets:
            place = _moved(found.target, offsets)
            if found.operator == "=":
                value = self._value(found.value, offsets)
                self.held[place] = Variable(self.type, self._named(place))
                if quotients is None:
                    computed.append(Register(self.held[place].name, self.type, value))
                else:
                    self.levels[-1] += quotients.operands(self.held[place].name, value)
            else:
                self._read(place)
                computed.append(self._assigned(compute, offsets))
            stores.append(self._stored(compute, place))
        divided = [] if quotients is None else quotients.divided()
        self.levels[-1] += [*divided, *computed, *stores]
        written = {target.function for target in self.nest.targets}
        self.held = {place: held for place, held in self.held.items() if place.function not in written}

    def _quotients(self, assigned: Assignment) -> Quotients | None:
        """Return what divides the values that are ``assigned`` in vectors, None where nothing is.

        What reads no elements is the same everywhere, and may be of another type.
        """
        vector, several = self.divides, len(self.offsets) > 1
        if vector is None or assigned.operator != "=" or not several:
            return None
        reads = any(True for _ in accesses(assigned.value, self.nest.buffers))
        if not reads or not is_quotient(assigned.value, self.element):
            return None
        return Quotients(self.element, vector, lambda value: self.fills.of(value, self.element, vector))

    def _assigned(self, compute: Compute, offsets: Offsets) -> Compute:
        found = assignment(compute)
        assert isinstance(found.target, Call)
        target, value = self.held[_moved(found.target, offsets)], self._value(found.value, offsets)
        operator = found.operator
        body = Evaluation(Assignment(self.type, operator, self.type, target, value))
        return Compute(compute.statement, body, _at(compute.iterators, offsets))

    def _value(self, value: Expression, offsets: Offsets) -> Expression:
        if isinstance(value, Call) and value.function in self.nest.buffers:
            return self._read(_moved(value, offsets))
        if isinstance(value, Unrounded):
            return self._factors(value, offsets)
        if not any(True for _ in accesses(value, self.nest.buffers)):
            return self._scalar(value, offsets)
        if isinstance(value, Conditional):
            values = self._value(value.then, offsets), self._value(value.otherwise, offsets)
            return self._chosen(value.condition, *values, offsets)
        children = tuple(self._value(child, offsets) for child in value.children)
        if isinstance(value, Operation):
            return Operation(self.type, value.operator, self.type, *children)
        if isinstance(value, Unary):
            return self._negative(*children)
        if isinstance(value, Call):
            return self._called(value.function, children)
        return Parentheses(self.type, *children)

    def _negative(self, value: Expression) -> Expression:
        """Return ``value`` with its sign changed: no zero has another than by a change of its sign."""
        if self.along is None:
            return Unary(self.type, value, "-")
        literal = "0" if is_integer(self.element) else "-0.0"
        zero = self.fills.of(Literal(self.element, literal), self.element, self.type)
        return Operation(self.type, "-", self.type, zero, value)

    def _called(self, function: str, values: tuple[Expression, ...]) -> Expression:
        """Return the value of a function of C's library; vectors compare for the larger or smaller number."""
        if self.along is None:
            return Call(self.type, function, values)
        name = function.removesuffix("f")
        if name not in (GREATER, LESSER):
            return Call(self.type, name, values)
        one, other = map(self._held_value, values)
        pair = (one, other) if name == GREATER else (other, one)
        number = Conditional(
            self.type, self._compared("==", one, one), one, other
        )  # the other one, if it is none
        return Conditional(self.type, self._compared("<", *pair), other, Parentheses(self.type, number))

    def _held_value(self, value: Expression) -> Expression:
        """Return a register that holds ``value``."""
        value = bare(value)
        if isinstance(value, Variable):
            return value
        number = self.numbers.get("value", 0)
        self.numbers["value"] = number + 1
        name = own(f"value{number}", "register_of_a_value")
        self.levels[-1].append(Register(name, self.type, value))
        return Variable(self.type, name)

    def _chosen(
        self, condition: Expression, then: Expression, otherwise: Expression, offsets: Offsets
    ) -> Expression:
        """Return one of two values by ``condition``; vectors know no more than comparisons of three kinds."""
        condition = bare(condition)
        if isinstance(condition, Unary):
            return self._chosen(condition.operand, otherwise, then, offsets)
        assert isinstance(condition, Operation)
        if condition.operator == "&&":
            inner = Parentheses(self.type, self._chosen(condition.right, then, otherwise, offsets))
            return self._chosen(condition.left, inner, otherwise, offsets)
        if condition.operator == "||":
            inner = Parentheses(self.type, self._chosen(condition.right, then, otherwise, offsets))
            return self._chosen(condition.left, then, inner, offsets)
        operands = self._value(condition.left, offsets), self._value(condition.right, offsets)
        if self.along is None:
            return Conditional(
                self.type, replace(condition, left=operands[0], right=operands[1]), then, otherwise
            )
        if condition.operator == "!=":
            return Conditional(self.type, self._compared("==", *operands), otherwise, then)
        return Conditional(self.type, self._compared(condition.operator, *operands), then, otherwise)

    def _compared(self, operator: str, left: Expression, right: Expression) -> Expression:
        """Return a vector that is zero where a comparison does not hold."""
        if operator in (">", ">="):
            operator, left, right = operator.replace(">", "<"), right, left
        return Operation(self.type, operator, self.type, left, right)

    def _factors(self, value: Unrounded, offsets: Offsets) -> Unrounded:
        """Return a product that nobody rounds, of whatever its factors are."""
        product = value.operand
        assert isinstance(product, Operation)
        factors = (self._value(product.left, offsets), self._value(product.right, offsets))
        return Unrounded(self.type, Operation(self.type, product.operator, self.type, *factors))

    def _scalar(self, value: Expression, offsets: Offsets) -> Expression:
        if self.along is not None:
            return self.fills.of(value, self.element, self.type)
        for iterator, by in offsets.items():
            value = shifted(value, iterator, by) if mentions(value, iterator) else value
        return value

    def _read(self, place: Call) -> Variable:
        if place not in self.held:
            used = frozenset[str]().union(*map(names_in, place.arguments))
            depth = max((k + 1 for k, name in enumerate(self.sums) if name in used), default=0)
            self.held[place] = self._fetched(place, depth)
        return self.held[place]

    def _named(self, place: Call) -> str:
        stem = plain_name(place.function).removeprefix("LDM_")
        number = self.numbers.get(stem, 0)
        self.numbers[stem] = number + 1
        return own(f"{stem}{number}", f"register_of_{stem}")  # A1 and 0 is another one than A and 10

    def _fetched(self, place: Call, depth: int) -> Variable:
        name = self._named(place)
        fetch: Node = Register(name, self.type, place)
        if self.along is not None and lie_together(place, self.along):
            fetch = Fetch(name, self.type, place, spread=not any(strides(place, self.along)))
        elif self.along is not None:
            lanes = range(1, self.type.size // self.element.size)
            further = tuple(_moved(place, {self.along: lane}) for lane in lanes)
            fetch = Fetch(name, self.type, place, further=further)
        self.levels[depth].append(fetch)
        return Variable(self.type, name)

    def _stored(self, compute: Compute, place: Call) -> Keep:
        return Keep(compute.statement, self.held[place].name, place, vector=self.along is not None)


def _at(values: tuple[Expression, ...], offsets: Offsets) -> tuple[Expression, ...]:
    found = []
    for value in values:
        for iterator, by in offsets.items():
            value = shifted(value, iterator, by)
        found.append(value)
    return tuple(found)


def _moved(place: Call, offsets: Offsets) -> Call:
    """Return the element that the copy at ``offsets`` accesses where the first accesses ``place``."""
    return Call(place.type, place.function, _at(place.arguments, offsets))
