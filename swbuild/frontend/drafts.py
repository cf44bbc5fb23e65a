"""What the walk over a region finds: loops, statements and accesses that are still to be finished.

All of these are values: none changes once it is made, so a list of them is kept or dropped as a whole.
Only a :class:`Record` grows, while the text of one statement is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import islpy as isl
from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.c import Typed
from swbuild.expressions.statements import CStatement
from swbuild.expressions.types import ElementType
from swbuild.frontend.places import Place
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.scop import AccessKind, Storage
from swbuild.frontend.symbols import Symbol

__all__ = ["Block", "Draft", "Key", "Loop", "Object", "RawAccess", "Record", "Subscript", "Tree", "drafts_in"]

Subscript = isl.PwAff | Polynomial | None

#: What tells objects and sizes apart: a variable, and the members passed on the way.
Key = tuple[Symbol, tuple[str, ...]]


@dataclass(frozen=True, eq=False, slots=True)
class Object:
    """An array or scalar of the region (``key`` tells objects apart); ``rank`` counts its subscripts."""

    name: str
    key: Key
    place: Place
    storage: Storage
    depth: int

    @property
    def symbol(self) -> Symbol:
        return self.key[0]

    @property
    def rank(self) -> int:
        return len(self.place.subscripts)


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """A loop around statements: ``variable`` is the parameter that stands for its counter."""

    variable: str
    name: str
    type: ElementType
    ascending: bool
    node: c_ast.Node
    symbol: Symbol | None


@dataclass(frozen=True, eq=False, slots=True)
class RawAccess:
    """An access as seen in the text: where it happens (``domain``) and with which subscripts.

    ``conditional`` says that it happens under a condition the model does not see.
    ``trees`` are the subscripts as they are written, present where one of them is not affine.
    """

    object: Object
    kind: AccessKind
    subscripts: tuple[Subscript, ...]
    ref: int
    domain: isl.Set
    conditional: bool
    node: c_ast.Node
    trees: tuple[Typed, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Draft:
    """A statement to be: the instances ``domain`` of ``body``, inside ``loops``."""

    domain: isl.Set
    loops: tuple[Loop, ...]
    node: c_ast.Node
    accesses: tuple[RawAccess, ...]
    body: CStatement


@dataclass(eq=False, slots=True)
class Record:
    """What one statement is found to do while its body is made."""

    accesses: list[RawAccess] = field(default_factory=list)
    refs: int = 0

    def new_ref(self) -> int:
        """Return the next free reference number."""
        self.refs += 1
        return self.refs - 1

    def copy(self) -> Record:
        """Return a record that goes on from here on its own."""
        return Record(list(self.accesses), self.refs)


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Statements and blocks in textual order, repeated by ``loop`` if there is one."""

    loop: Loop | None
    items: tuple[Tree, ...]


Tree = Block | Draft


def drafts_in(block: Block) -> Iterator[Draft]:
    """Yield the statements in ``block``, in textual order."""
    for item in block.items:
        if isinstance(item, Block):
            yield from drafts_in(item)
        else:
            yield item
