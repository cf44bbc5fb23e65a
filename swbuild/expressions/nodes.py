"""The nodes of expressions.

All of them are values: equal trees are equal, a change makes a new tree.  What runs over trees asks
a node for its ``children`` and has it ``rebuilt`` with others.  Both follow from its fields, so that
a new kind of node is known to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, get_type_hints

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
    """A node of an expression, with all below it.

    Its operands are the fields that say so by their types: one ``Expression`` each, or the rest of them in a
    tuple, which no operand follows.
    """

    __slots__ = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands, in the order of the fields."""
        kind: Any = type(self)
        return _shape(kind).operands(self)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node with ``children`` as its operands, as many as it has."""
        if not children:
            return self
        kind: Any = type(self)
        rest = iter(children)
        made: Expression = kind(*(make(getattr(self, name), rest) for name, make in _shape(kind).makers))
        return made


class _Shape(NamedTuple):
    """What the fields of a class are: how its operands are read, and each field made of other operands."""

    operands: Callable[[Any], tuple[Expression, ...]]
    makers: tuple[tuple[str, Callable[[Any, Iterator[Expression]], Any]], ...]


@cache
def _shape(node: Any) -> _Shape:
    """Return the shape of a class of nodes, which is looked at once."""
    hints = get_type_hints(node)
    kinds = {item.name: hints[item.name] for item in fields(node)}
    single = [name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Expression)]
    several = [name for name, kind in kinds.items() if kind == tuple[Expression, ...]]
    operands = [name for name in kinds if name in (*single, *several)]
    assert several in ([], operands[-1:]), f"{node.__name__}: an operand after any number of them"
    makers = {name: _next if name in single else _rest if name in several else _same for name in kinds}
    return _Shape(_reader(single, several), tuple(makers.items()))


def _reader(single: list[str], several: list[str]) -> Callable[[Any], tuple[Expression, ...]]:
    """Return what reads these fields of a node, in C where they are a tuple already."""
    if (len(single), len(several)) == (0, 1) or (len(single) > 1 and not several):
        return attrgetter(*single, *several)
    return lambda node: (
        *(getattr(node, name) for name in single),
        *(operand for name in several for operand in getattr(node, name)),
    )


def _same(value: Any, rest: Iterator[Expression]) -> Any:
    return value


def _next(value: Any, rest: Iterator[Expression]) -> Expression:
    return next(rest)


def _rest(value: Any, rest: Iterator[Expression]) -> tuple[Expression, ...]:
    return tuple(rest)


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """An integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable: one of the source's, or one of ours with its marks (``swbuild.names``)."""

    name: str


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


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    """``-operand``."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Parenthesised(Expression):
    """``(operand)``: parentheses that stand also where they are not needed."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class FloorDivision(Expression):
    """The greatest integer that is at most ``left / right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Min(Expression):
    """The least of ``operands``, two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Max(Expression):
    """The greatest of ``operands``, two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression
