"""The nodes of C's expressions.  Each knows its type; conversions that C makes by itself are no nodes.

An operation on two operands says in which type it is done: both operands are converted to it first.
"""

from __future__ import annotations

from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Expression
from swbuild.expressions.types import ElementType

__all__ = [
    "AccessRef",
    "Assignment",
    "Call",
    "Cast",
    "Comma",
    "Conditional",
    "Element",
    "InitialList",
    "IteratorRef",
    "Literal",
    "Operation",
    "ParameterRef",
    "Parentheses",
    "Step",
    "Typed",
    "Unary",
    "Unrounded",
    "Variable",
]


@dataclass(frozen=True, slots=True)
class Typed(Expression):
    """A node with a type; this one has no operands."""

    type: ElementType

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node: it has no operands."""
        return self


@dataclass(frozen=True, slots=True)
class Literal(Typed):
    """A constant as it is spelt."""

    text: str


@dataclass(frozen=True, slots=True)
class AccessRef(Typed):
    """The l-value of the accesses of a statement that have the number ``ref``."""

    ref: int


@dataclass(frozen=True, slots=True)
class IteratorRef(Typed):
    """The value of the loop ``index`` around a statement (0: outermost)."""

    index: int


@dataclass(frozen=True, slots=True)
class ParameterRef(Typed):
    """The value of the parameter of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable(Typed):
    """A variable, or an array of this element type, by its name in C."""

    name: str


@dataclass(frozen=True, slots=True)
class Element(Typed):
    """``array[subscript]…``."""

    array: Expression
    subscripts: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The array, then its subscripts."""
        return self.array, *self.subscripts

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the element of another array, or at other subscripts."""
        return Element(self.type, children[0], children[1:])


@dataclass(frozen=True, slots=True)
class _OnOne(Typed):
    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.operand,)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the same of another operand."""
        (operand,) = children
        return replace(self, operand=operand)


@dataclass(frozen=True, slots=True)
class Unary(_OnOne):
    """``-``, ``+``, ``!``, ``~``, ``*`` in front of an operand, or ``!!``, which makes a number 0 or 1."""

    operator: str


@dataclass(frozen=True, slots=True)
class Step(_OnOne):
    """``++`` or ``--``, behind the l-value ``operand`` or in front of it."""

    operator: str
    behind: bool


@dataclass(frozen=True, slots=True)
class Cast(_OnOne):
    """A conversion that is written out."""


@dataclass(frozen=True, slots=True)
class Parentheses(_OnOne):
    """Parentheses that stand also where they are not needed."""


@dataclass(frozen=True, slots=True)
class Unrounded(Parentheses):
    """A product that the sum, or the assignment, around it takes as it is: both are rounded together."""


@dataclass(frozen=True, slots=True)
class Operation(Typed):
    """``left operator right``, done in the type ``computed``."""

    operator: str
    computed: ElementType
    left: Expression
    right: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Both operands."""
        return self.left, self.right

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the operation on two other operands."""
        return Operation(self.type, self.operator, self.computed, *children)


@dataclass(frozen=True, slots=True)
class Assignment(Typed):
    """``target operator value``; a compound one is done in the type ``computed``."""

    operator: str
    computed: ElementType
    target: Expression
    value: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The target and the value."""
        return self.target, self.value

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the assignment of another value to another target."""
        return Assignment(self.type, self.operator, self.computed, *children)


@dataclass(frozen=True, slots=True)
class Conditional(Typed):
    """``condition ? then : otherwise``; the value is converted to the type that both have together."""

    condition: Expression
    then: Expression
    otherwise: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and both values."""
        return self.condition, self.then, self.otherwise

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the choice between two other values by another condition."""
        return Conditional(self.type, *children)


@dataclass(frozen=True, slots=True)
class Call(Typed):
    """``function(argument, …)``: a function without side effects, or a macro."""

    function: str
    arguments: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the call with other arguments."""
        return replace(self, arguments=children)


@dataclass(frozen=True, slots=True)
class _Items(Typed):
    items: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The items."""
        return self.items

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the same of other items."""
        return replace(self, items=children)


@dataclass(frozen=True, slots=True)
class Comma(_Items):
    """``item, item``: the value is that of the last one."""


@dataclass(frozen=True, slots=True)
class InitialList(_Items):
    """``{item, item}``: the first values of an array."""
