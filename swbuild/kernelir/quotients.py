"""Quotients of a register tile in vectors: a division takes as long for all lanes as for one.

What is divided is computed number by number, put together in a vector, and taken from that again.  Each lane
is rounded as a quotient by itself is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from swbuild.classes import dataclass
from swbuild.expressions.c import Call, Literal, Operation, Variable
from swbuild.expressions.nodes import Expression
from swbuild.expressions.types import ElementType
from swbuild.kernelir.lanewise import LANE, bare
from swbuild.kernelir.nodes import Fetch, Node, Register
from swbuild.names import own, plain_name

__all__ = ["Quotients", "is_quotient"]

_DIVIDEND, _DIVISOR = "dividend", "divisor"


def is_quotient(value: Expression, element: ElementType) -> bool:
    """Return whether ``value`` divides numbers of the type ``element``."""
    value = bare(value)
    return isinstance(value, Operation) and value.operator == "/" and value.computed == element


@dataclass(slots=True)
class Quotients:
    """Sets variables of type ``element`` to quotients that are computed in a ``vector``, or in several.

    ``fill`` gives a vector with a number in all lanes.
    """

    element: ElementType
    vector: ElementType
    fill: Callable[[Expression], Variable]
    names: list[str] = field(default_factory=list)
    divisors: list[Expression] = field(default_factory=list)

    def operands(self, name: str, quotient: Expression) -> Iterator[Node]:
        """Yield what computes the operands of the ``quotient`` that the variable ``name`` is set to."""
        whole = bare(quotient)
        assert isinstance(whole, Operation)
        self.names.append(name)
        self.divisors.append(bare(whole.right))
        yield Register(_named(_DIVIDEND, name), self.element, whole.left)
        if not isinstance(self.divisors[-1], Literal):
            yield Register(_named(_DIVISOR, name), self.element, whole.right)

    def divided(self) -> Iterator[Node]:
        """Yield what sets all variables, after that."""
        lanes = self.vector.size // self.element.size
        for first in range(0, len(self.names), lanes):
            yield from self._at_once(self.names[first : first + lanes])

    def _at_once(self, names: Sequence[str]) -> Iterator[Node]:
        """Yield what sets the variables ``names``, no more than a vector has lanes."""
        above = self._together(_DIVIDEND, names)
        literal = isinstance(self.divisors[0], Literal)
        below = None if literal else self._together(_DIVISOR, names)
        divisor = self.fill(self.divisors[0]) if below is None else Variable(self.vector, below.name)
        dividend = Variable(self.vector, above.name)
        whole = Variable(self.vector, _named("quotients", names[0]))
        yield from (above,) if below is None else (above, below)
        yield Register(whole.name, self.vector, Operation(self.vector, "/", self.vector, dividend, divisor))
        for lane, name in enumerate(names):
            yield Register(name, self.element, Call(self.element, f"{LANE}{lane}", (whole,)))

    def _together(self, what: str, names: Sequence[str]) -> Fetch:
        """Return the vector of ``what`` belongs to ``names``; in lanes that are left, the last one's."""
        left = self.vector.size // self.element.size - len(names)
        values = [Variable(self.element, _named(what, name)) for name in names]
        first, *rest = [*values, *values[-1:] * left]
        return Fetch(_named(f"{what}s", names[0]), self.vector, first, further=tuple(rest))


def _named(what: str, name: str) -> str:
    """Return the name for ``what`` belongs to the variable ``name``, or to several from it on."""
    return own(f"{what}_{plain_name(name)}", what)
