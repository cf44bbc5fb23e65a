"""The nodes of C's statements, as far as they are the body of one statement of a region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Call, Conditional, Operation, Variable
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import walk
from swbuild.expressions.types import ElementType

__all__ = [
    "identifiers",
    "is_unconditional",
    "sure_refs",
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
    """A statement: a node like all others, with what it holds as operands; this one holds nothing."""

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node: it holds nothing."""
        return self


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

    @property
    def children(self) -> tuple[Expression, ...]:
        """The expression."""
        return (self.expression,)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the evaluation of another expression."""
        return Evaluation(*children)


@dataclass(frozen=True, slots=True)
class Block(CStatement):
    """``{ … }``; without ``indented``, what it holds begins where its braces do."""

    items: tuple[Expression, ...]
    indented: bool = True

    @property
    def children(self) -> tuple[Expression, ...]:
        """The statements."""
        return self.items

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return a block of other statements."""
        return replace(self, items=children)


@dataclass(frozen=True, slots=True)
class If(CStatement):
    """``if (condition) then else otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression = Nothing()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and both branches."""
        return self.condition, self.then, self.otherwise

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the choice between other branches."""
        return If(*children)


@dataclass(frozen=True, slots=True)
class For(CStatement):
    """``for (first; condition; step) body``."""

    first: Expression
    condition: Expression
    step: Expression
    body: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """What is in the parentheses, and the body."""
        return self.first, self.condition, self.step, self.body

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return a loop of other parts."""
        return For(*children)


@dataclass(frozen=True, slots=True)
class While(CStatement):
    """``while (condition) body``."""

    condition: Expression
    body: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and the body."""
        return self.condition, self.body

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return a loop of other parts."""
        return While(*children)


@dataclass(frozen=True, slots=True)
class DoWhile(CStatement):
    """``do body while (condition);``."""

    body: Expression
    condition: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The body and the condition."""
        return self.body, self.condition

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return a loop of other parts."""
        return DoWhile(*children)


@dataclass(frozen=True, slots=True)
class Declarator(CStatement):
    """A variable in a declaration, an array where there are ``extents``, with its first value."""

    name: str
    extents: tuple[int, ...]
    value: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The first value."""
        return (self.value,)

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the variable with another first value."""
        (value,) = children
        return replace(self, value=value)


@dataclass(frozen=True, slots=True)
class Declaration(CStatement):
    """``type declarator, …;``."""

    type: ElementType
    declarators: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The variables."""
        return self.declarators

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the declaration of other variables."""
        return replace(self, declarators=children)


def is_unconditional(body: Expression) -> bool:
    """Return whether ``body``, a statement, evaluates all of its operands whatever the data are.

    That is not looked for in statements of several, nor in functions that are called.
    """
    nodes = list(walk(body))
    if any(isinstance(n, CStatement) and not isinstance(n, Evaluation) for n in nodes):
        return False
    if any(isinstance(n, (Conditional, Call)) for n in nodes):
        return False
    return not any(isinstance(n, Operation) and n.operator in ("&&", "||") for n in nodes)


def sure_refs(body: Expression) -> Iterator[int]:
    """Yield the numbers of the accesses that ``body``, a statement, makes whatever the data are.

    That is not looked for in statements of several, nor among the arguments of calls, as macros may leave
    some out; functions that are called have no side effects, and so return.
    """
    if isinstance(body, AccessRef):
        yield body.ref
    whole = not isinstance(body, CStatement) or isinstance(body, (Evaluation, If))
    operands = body.children if whole and not isinstance(body, Call) else ()
    choice = isinstance(body, (Conditional, If)) or (
        isinstance(body, Operation) and body.operator in ("&&", "||")
    )
    for operand in operands[:1] if choice else operands:
        yield from sure_refs(operand)


def identifiers(body: Expression) -> frozenset[str]:
    """Return the names of C that ``body`` uses or declares: of variables and functions."""
    found = set()
    for node in walk(body):
        if isinstance(node, (Declarator, Variable)):
            found.add(node.name)
        elif isinstance(node, Call):
            found.add(node.function)
    return frozenset(found)
