"""Which addresses a function hands on: those of its own variables, and those that pointers hold."""

from __future__ import annotations

from dataclasses import field, replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.ctype import ArrayType, CType, FunctionType, Pointer, Scalar, StructType
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol

__all__ = ["Escapes", "escapes_of"]

#: Where a pointer is kept: a variable or an array of pointers, or a member of that name.
_Name = Symbol | str


@dataclass(slots=True)
class Escapes:
    """What other pointers may lead to; what only reads or sets a number hands nothing on."""

    #: Variables whose address, or that of a part of them, is taken.
    variables: set[Symbol] = field(default_factory=set)
    #: Pointers (and arrays of them) of which the value, or an address reached through it, is taken.
    pointers: set[Symbol] = field(default_factory=set)
    #: The same for pointers that are members of structures, by their names.
    members: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Spot:
    """What an expression names; ``kind`` is its type, None where it is not known.

    It may lie in the variable ``inside``, or where one of the pointers ``homes`` leads.  ``name`` is the
    member or variable that it is, or an element of.
    """

    kind: CType | None = None
    inside: Symbol | None = None
    homes: frozenset[_Name] = frozenset()
    name: _Name | None = None

    @property
    def target(self) -> _Spot:
        """What the value points to, or the elements of the array."""
        if isinstance(self.kind, ArrayType):
            return replace(self, kind=self.kind.target)
        home = frozenset[_Name]() if self.name is None else frozenset([self.name])
        if isinstance(self.kind, Pointer):
            return _Spot(self.kind.target, None, home, self.name)
        return _Spot(None, self.inside, self.homes | home, self.name)

    def member(self, name: str) -> _Spot:
        """The member ``name`` of the structure."""
        kind = self.kind.fields.get(name) if isinstance(self.kind, StructType) else None
        return replace(self, kind=kind, name=name)


def escapes_of(function: c_ast.FuncDef, bindings: Bindings) -> Escapes:
    """Return what the body of ``function``, whose names are bound, hands on.

    In doubt everything that an expression passes on its way is handed on.
    """
    walk = _Walk(bindings)
    walk.value(function.body)
    return walk.found


class _Walk:
    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self.found = Escapes()

    def value(self, node: c_ast.Node) -> None:
        """Note what is handed on where the value of ``node`` is used (or set)."""
        if isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof"):
            return
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            self._take_address(self._spot(node.expr))
            self._parts(node.expr)
        elif _is_place(node):
            self._read(self._spot(node))
            self._parts(node)
        else:
            for child in node:
                self.value(child)

    def _parts(self, node: c_ast.Node) -> None:
        """Go through the subscripts of a place, and through what it starts from."""
        while _is_place(node) and not isinstance(node, c_ast.ID):
            if isinstance(node, c_ast.ArrayRef):
                self.value(node.subscript)
            node = _base(node)
        if not isinstance(node, c_ast.ID):
            self.value(node)

    def _read(self, spot: _Spot) -> None:
        if isinstance(spot.kind, (Pointer, FunctionType)):
            self._hand_on(spot.name)
        elif not isinstance(spot.kind, (Scalar, StructType)):
            self._take_address(spot)  # an array, or there is no telling
        self._hand_on_members(spot.kind)

    def _take_address(self, spot: _Spot) -> None:
        if spot.inside is not None:
            self.found.variables.add(spot.inside)
        for name in (*spot.homes, spot.name):
            self._hand_on(name)
        self._hand_on_members(spot.kind)

    def _hand_on(self, name: _Name | None) -> None:
        if isinstance(name, Symbol):
            self.found.pointers.add(name)
        elif name is not None:
            self.found.members.add(name)

    def _hand_on_members(self, kind: CType | None) -> None:
        """Note the pointers in structures of type ``kind``, and in those that can be reached from there."""
        pending, seen = [kind], set[int]()
        while pending:
            kind = pending.pop()
            if isinstance(kind, (ArrayType, Pointer)):
                pending.append(kind.target)
            elif isinstance(kind, StructType) and id(kind) not in seen:
                seen.add(id(kind))
                self.found.members |= {
                    name for name, member in kind.fields.items() if _holds_pointers(member)
                }
                pending += kind.fields.values()

    def _spot(self, node: c_ast.Node) -> _Spot:
        if isinstance(node, c_ast.ID):
            return self._variable(self._bindings.symbol(node))
        if isinstance(node, c_ast.StructRef):
            base = self._spot(node.name)
            return (base.target if node.type == "->" else base).member(node.field.name)
        if _is_place(node):
            return self._spot(_base(node)).target
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            left = self._spot(node.left)
            return left if isinstance(left.kind, (ArrayType, Pointer)) else self._spot(node.right)
        return _Spot()

    @staticmethod
    def _variable(symbol: Symbol | None) -> _Spot:
        if symbol is None:
            return _Spot()
        kind = symbol.type
        if symbol.storage is Storage.PARAMETER and isinstance(kind, ArrayType):
            kind = Pointer(kind.target, kind.restrict)
        return _Spot(kind, symbol, name=symbol)


def _is_place(node: c_ast.Node) -> bool:
    is_followed = isinstance(node, c_ast.UnaryOp) and node.op == "*"
    return is_followed or isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef))


def _base(node: c_ast.Node) -> c_ast.Node:
    """Return what a place is a part of, or the pointer to it."""
    return node.expr if isinstance(node, c_ast.UnaryOp) else node.name


def _holds_pointers(kind: CType) -> bool:
    while isinstance(kind, ArrayType):
        kind = kind.target
    return not isinstance(kind, (Scalar, StructType))
