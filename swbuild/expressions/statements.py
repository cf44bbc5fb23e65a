"""The nodes of C's statements, as far as they are the body of one statement of a region."""

from __future__ import annotations

from swbuild.classes import dataclass
from swbuild.expressions.c import Call, Variable
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import walk
from swbuild.expressions.types import ElementType

__all__ = [
    "identifiers",
    "Block",
    "CStatement",
    "Declaration",
    "Declarator",
    "DoWhile",
    "Evaluation",
    "For",
    "If",
    "Jump",
    "Nothing",
    "While",
]


@dataclass(frozen=True, slots=True)
class CStatement(Expression):
    """A statement: a node like all others, with what it holds as operands."""


@dataclass(frozen=True, slots=True)
class Nothing(CStatement):
    """An empty statement, and what stands for an ``else``, a condition or a first value that is not there."""


@dataclass(frozen=True, slots=True)
class Jump(CStatement):
    """``break`` or ``continue``."""

    word: str


@dataclass(frozen=True, slots=True)
class Evaluation(CStatement):
    """``expression;``."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Block(CStatement):
    """``{ … }``; without ``indented``, what it holds begins where its braces do."""

    items: tuple[Expression, ...]
    indented: bool = True


@dataclass(frozen=True, slots=True)
class If(CStatement):
    """``if (condition) then else otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression = Nothing()


@dataclass(frozen=True, slots=True)
class For(CStatement):
    """``for (first; condition; step) body``."""

    first: Expression
    condition: Expression
    step: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class While(CStatement):
    """``while (condition) body``."""

    condition: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class DoWhile(CStatement):
    """``do body while (condition);``."""

    body: Expression
    condition: Expression


@dataclass(frozen=True, slots=True)
class Declarator(CStatement):
    """A variable in a declaration, an array where there are ``extents``, with its first value."""

    name: str
    extents: tuple[int, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class Declaration(CStatement):
    """``type declarator, …;``."""

    type: ElementType
    declarators: tuple[Expression, ...]


def identifiers(body: Expression) -> frozenset[str]:
    """Return the names of C that ``body`` uses or declares: of variables and functions."""
    found = set()
    for node in walk(body):
        if isinstance(node, (Declarator, Variable)):
            found.add(node.name)
        elif isinstance(node, Call):
            found.add(node.function)
    return frozenset(found)
