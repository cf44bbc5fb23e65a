"""What the walk over a region leaves behind: loops, statements and accesses that are still to be finished."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import ElementType
from swbuild.frontend.places import Place
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.scop import AccessKind, BodyPart, Storage
from swbuild.frontend.symbols import Symbol

__all__ = ["Block", "Draft", "Loop", "Object", "RawAccess", "Subscript", "Tree"]

Subscript = isl.PwAff | Polynomial | None


@dataclass(eq=False, slots=True)
class Object:
    """An array or scalar of the region (``key`` tells objects apart); ``rank`` counts its subscripts."""

    name: str
    key: tuple[Symbol, tuple[str, ...]]
    place: Place
    storage: Storage
    depth: int
    loops: tuple[Loop, ...] = ()

    @property
    def symbol(self) -> Symbol:
        return self.key[0]

    @property
    def rank(self) -> int:
        return len(self.place.subscripts)


@dataclass(eq=False, slots=True)
class Loop:
    """A loop around statements: ``variable`` is the parameter that stands for its counter."""

    variable: str
    name: str
    type: ElementType
    ascending: bool
    node: c_ast.Node
    symbol: Symbol | None


@dataclass(eq=False, slots=True)
class RawAccess:
    """An access as seen in the text: where it happens (``domain``) and with which subscripts.

    ``conditional`` says that it happens under a condition the model does not see.
    ``parts`` are the subscripts as bodies, present where one of them is not affine.
    """

    object: Object
    kind: AccessKind
    subscripts: tuple[Subscript, ...]
    ref: int
    domain: isl.Set
    conditional: bool
    node: c_ast.Node
    parts: tuple[tuple[BodyPart, ...], ...] = ()


@dataclass(eq=False, slots=True)
class Draft:
    """A statement to be."""

    domain: isl.Set
    loops: tuple[Loop, ...]
    node: c_ast.Node
    accesses: list[RawAccess] = field(default_factory=list)
    body: list[BodyPart] = field(default_factory=list)
    flops: dict[str, int] = field(default_factory=dict)
    calls: dict[str, None] = field(default_factory=dict)
    refs: int = 0

    def new_ref(self) -> int:
        """Return the next free reference number."""
        self.refs += 1
        return self.refs - 1


@dataclass(eq=False, slots=True)
class Block:
    """Statements and blocks in textual order, repeated by ``loop`` if there is one."""

    loop: Loop | None
    items: list[Tree] = field(default_factory=list)


Tree = Block | Draft
