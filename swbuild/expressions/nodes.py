"""The nodes of expressions.

All of them are values: equal trees are equal, a change makes a new tree.  What runs over trees asks
a node for its ``children`` and has it ``rebuilt`` with others, so that a new kind of node is known to
all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum

from swbuild.classes import dataclass

__all__ = [
    "Binary",
    "BinaryOperator",
    "Constant",
    "Expression",
    "FloorDivision",
    "Max",
    "Min",
    "Name",
    "Negation",
    "Parenthesised",
    "Select",
]


class Expression:
    """A node of an expression, with all below it."""

    __slots__ = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands, in the order of C."""
        return ()

    @abstractmethod
    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node with ``children`` as its operands, as many as it has."""


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """An integer."""

    value: int

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node: it has no operands."""
        return self


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable: one of the source's, or one of ours with its marks (``swbuild.names``)."""

    name: str

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node: it has no operands."""
        return self


class BinaryOperator(Enum):
    """Operators of C with two operands, by their signs; ``DIV`` and ``MOD`` round towards zero."""

    OR = "||"
    AND = "&&"
    EQ = "=="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    MOD = "%"


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """``left operator right``."""

    operator: BinaryOperator
    left: Expression
    right: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Both operands."""
        return self.left, self.right

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the operation on two other operands."""
        left, right = children
        return Binary(self.operator, left, right)


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    """``-operand``."""

    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.operand,)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the negation of another operand."""
        return Negation(*children)


@dataclass(frozen=True, slots=True)
class Parenthesised(Expression):
    """``(operand)``: parentheses that stand also where they are not needed."""

    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.operand,)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return another operand in parentheses."""
        return Parenthesised(*children)


@dataclass(frozen=True, slots=True)
class FloorDivision(Expression):
    """The greatest integer that is at most ``left / right``."""

    left: Expression
    right: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Dividend and divisor."""
        return self.left, self.right

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the quotient of two other operands."""
        return FloorDivision(*children)


@dataclass(frozen=True, slots=True)
class Min(Expression):
    """The least of ``operands``, two or more."""

    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the least of other operands."""
        return Min(children)


@dataclass(frozen=True, slots=True)
class Max(Expression):
    """The greatest of ``operands``, two or more."""

    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the greatest of other operands."""
        return Max(children)


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and both values."""
        return self.condition, self.then, self.otherwise

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the choice between two other values by another condition."""
        return Select(*children)
