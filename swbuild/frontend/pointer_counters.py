"""``for (p = a; p < a + n; p++)`` as a loop that counts elements, of which ``p`` is the first.

Two places in one array are compared by how far they are from its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import LONG, TypeKind
from swbuild.frontend.changes import changed_symbols
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.countdowns import only_counts
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar, StructType
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children, continues, head_parts
from swbuild.names import distinct

__all__ = ["without_pointer_counters"]

#: Comparisons, and what they are with their sides exchanged.
_EXCHANGED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "==": "=="}
#: Those by which a loop goes on that goes up.
_UPWARD = ("<", "<=", "!=")


def without_pointer_counters(
    items: Sequence[c_ast.Node], function: c_ast.FuncDef, bindings: Bindings
) -> list[c_ast.Node]:
    """Return ``items`` of ``function`` with loops that step a pointer upward rewritten; in place below.

    Both ends have to be seen to be places in one array.  The pointer may only be followed, or compared with
    such places, and nothing may look at where the loop leaves it.
    """
    if not any(_head(loop, bindings) for item in items for loop in walk(item) if isinstance(loop, c_ast.For)):
        return list(items)
    places = _Places([function.body, *items], bindings)
    return [_rewritten(item, places, bindings) for item in items]


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a loop from ``start`` on, ``by`` elements at a time, while ``pointer`` is before ``end``.

    It declares or sets ``others`` besides, and ``steps`` others.
    """

    pointer: Symbol
    name: c_ast.ID
    start: c_ast.Node
    comparison: str
    end: c_ast.Node
    by: int
    others: tuple[c_ast.Node, ...]
    steps: tuple[c_ast.Node, ...]


def _head(loop: c_ast.For, bindings: Bindings) -> _Head | None:
    """Return the head of a loop that steps a pointer upward, None for others."""
    test = loop.cond
    if not isinstance(test, c_ast.BinaryOp) or test.op not in _EXCHANGED:
        return None
    for name, comparison, end in (
        (test.left, test.op, test.right),
        (test.right, _EXCHANGED[test.op], test.left),
    ):
        pointer = bindings.symbol(name) if isinstance(name, c_ast.ID) else None
        if pointer is None or comparison not in _UPWARD or not isinstance(pointer.type, Pointer):
            continue
        starts = [(part, _start(part, pointer, bindings)) for part in head_parts(loop.init)]
        steps = [(part, _by(part, pointer, bindings)) for part in head_parts(loop.next)]
        found = [start for _, start in starts if start is not None]
        bys = [by for _, by in steps if by]
        if len(found) == len(bys) == 1 and bys[0] > 0:
            others = tuple(part for part, start in starts if start is None)
            after = tuple(part for part, by in steps if not by)
            return _Head(pointer, name, found[0], comparison, end, bys[0], others, after)
    return None


def _start(node: c_ast.Node, pointer: Symbol, bindings: Bindings) -> c_ast.Node | None:
    """Return what ``node`` sets ``pointer`` to, None where it does not."""
    if isinstance(node, c_ast.Decl):
        return node.init if bindings.declared.get(id(node)) is pointer else None
    plain = isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID)
    return node.rvalue if plain and bindings.symbol(node.lvalue) is pointer else None


def _by(node: c_ast.Node, pointer: Symbol, bindings: Bindings) -> int:
    """Return by how many elements ``node`` steps ``pointer``, 0 where it does not."""
    if isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "++") and isinstance(node.expr, c_ast.ID):
        return 1 if bindings.symbol(node.expr) is pointer else 0
    plain = isinstance(node, c_ast.Assignment) and node.op == "+=" and isinstance(node.lvalue, c_ast.ID)
    if not plain or bindings.symbol(node.lvalue) is not pointer:
        return 0
    known = integer_constant(node.rvalue) if isinstance(node.rvalue, c_ast.Constant) else None
    return 0 if known is None else known.value


class _Places:
    """Places in arrays, told by names of arrays and distances from them."""

    def __init__(self, parts: Sequence[c_ast.Node], bindings: Bindings) -> None:
        self.parts = parts
        self._bindings = bindings
        self._changed = {symbol for part in parts for symbol in changed_symbols(part, bindings)}

    def distance(self, start: c_ast.Node, end: c_ast.Node) -> c_ast.Node | None:
        """Return how many elements ``end`` comes after ``start``, None where that is not seen."""
        for one in self._spellings(start):
            for other in self._spellings(end):
                (base, far), (its, further) = self._parted(one), self._parted(other)
                if self._is_pointer(base) and self._same(base, its):
                    return self._difference(further, far, end)
        return None

    def in_order(self, node: c_ast.Node) -> c_ast.Node:
        """Return a place with the array first, ``a + 3`` for ``3 + a``."""
        base, far = self._parted(node)
        sum_ = isinstance(node, c_ast.BinaryOp) and far is not None
        return c_ast.BinaryOp("+", base, far, node.coord) if sum_ else node

    def holds(self, node: c_ast.Node, pointer: Symbol) -> bool:
        """Whether what ``node`` is a place in has elements of the type that ``pointer`` points to."""
        kind = self.type_of(self._parted(node)[0])
        target = kind.target if isinstance(kind, ArrayType | Pointer) else None
        return isinstance(pointer.type, Pointer) and self._are_alike(target, pointer.type.target)

    def _are_alike(self, one: CType | None, other: CType | None) -> bool:
        """Whether elements of two types lie at the same distances in arrays."""
        if isinstance(one, Scalar) and isinstance(other, Scalar):
            return one.element == other.element
        if isinstance(one, StructType) and isinstance(other, StructType):
            return one is other or (one.node is other.node and one.name == other.name is not None)
        if not isinstance(one, ArrayType) or not isinstance(other, ArrayType):
            return False
        if one.extent is None or other.extent is None or not self._same(one.extent, other.extent):
            return False
        return self._are_alike(one.target, other.target)

    def counter(self, pointer: Symbol) -> str:
        """Return the name of the number that counts in the place of ``pointer``."""
        names = {name.name for part in self.parts for name in identifiers(part)}
        return distinct(f"{pointer.name}_at", names.__contains__)

    def _spellings(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return ``node``, and with what a pointer in it was set to for good, in the place of that."""
        base, far = self._parted(node)
        symbol = self._bindings.symbol(base) if isinstance(base, c_ast.ID) else None
        value = None if symbol is None or symbol in self._changed else getattr(symbol.node, "init", None)
        local = symbol is not None and symbol.storage is Storage.LOCAL and not symbol.is_static
        if value is None or not local or not self._is_fixed(value):
            return [node]
        whole = value if far is None else c_ast.BinaryOp("+", value, far, node.coord)
        return [node, *self._spellings(whole)]

    def _is_fixed(self, value: c_ast.Node) -> bool:
        """Whether an expression has the same value all over the function."""
        symbols = [self._bindings.symbol(name) for name in identifiers(value)]
        simple = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.ArrayRef)
        return all(isinstance(node, simple) for node in walk(value)) and all(
            symbol is not None
            and symbol not in self._changed
            and (isinstance(symbol.type, ArrayType) or symbol.storage is not Storage.GLOBAL)
            and not symbol.is_static
            for symbol in symbols
        )

    def _parted(self, node: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node | None]:
        """Return an array, or a pointer, and how many elements after its beginning ``node`` points to."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
            return node.expr.name, node.expr.subscript
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("+", "-"):
            return node, None
        sides = [node.left, node.right]
        if node.op == "+" and not self._is_pointer(self._parted(node.left)[0]):
            sides.reverse()
        base, far = self._parted(sides[0])
        if far is None and node.op == "+":
            return base, sides[1]
        return base, self._sum(node.op, far or _zero(node), sides[1])

    def _sum(self, sign: str, left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
        """Return a sum or difference of distances, which does not wrap around as unsigned numbers would."""
        return c_ast.BinaryOp(sign, self._signed(left), self._signed(right), left.coord)

    def _signed(self, node: c_ast.Node) -> c_ast.Node:
        kinds = [self.type_of(name) for name in identifiers(node)]
        simple = all(
            isinstance(n, (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp)) for n in walk(node)
        )
        known = all(isinstance(k, Scalar) and k.element.kind is TypeKind.SIGNED for k in kinds)
        plain = all(n.value.isdigit() for n in walk(node) if isinstance(n, c_ast.Constant))
        if simple and known and plain:
            return node
        inner = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["long"]))
        return c_ast.Cast(c_ast.Typename(None, [], None, inner), node, node.coord)

    def _is_pointer(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is an array or a pointer."""
        return isinstance(self.type_of(node), ArrayType | Pointer)

    def type_of(self, node: c_ast.Node) -> CType | None:
        """Return the type of a variable, an element or a member."""
        if isinstance(node, c_ast.ID):
            symbol = self._bindings.symbol(node)
            return None if symbol is None else symbol.type
        followed = isinstance(node, c_ast.UnaryOp) and node.op == "*"
        if not followed and not isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            return None
        kind = self.type_of(node.expr if followed else node.name)
        if not isinstance(node, c_ast.StructRef) or node.type == "->":
            kind = kind.target if isinstance(kind, ArrayType | Pointer) else None
        if not isinstance(node, c_ast.StructRef):
            return kind
        return kind.fields.get(node.field.name) if isinstance(kind, StructType) else None

    def _same(self, one: c_ast.Node, other: c_ast.Node) -> bool:
        """Whether two expressions are written alike, of the same variables."""
        pairs = list(zip(walk(one), walk(other), strict=False))
        return len(list(walk(one))) == len(list(walk(other))) and all(
            type(a) is type(b)
            and all(getattr(a, slot, None) == getattr(b, slot, None) for slot in a.attr_names)
            and (not isinstance(a, c_ast.ID) or self._bindings.symbol(a) is self._bindings.symbol(b))
            for a, b in pairs
        )

    def _difference(self, left: c_ast.Node | None, right: c_ast.Node | None, at: c_ast.Node) -> c_ast.Node:
        first = _zero(at) if left is None else self._bindings.copied(left)
        if right is None or (isinstance(right, c_ast.Constant) and right.value == "0"):
            return first
        return self._sum("-", first, self._bindings.copied(right))


def _zero(at: c_ast.Node) -> c_ast.Constant:
    return c_ast.Constant("int", "0", at.coord)


def _rewritten(node: c_ast.Node, places: _Places, bindings: Bindings) -> c_ast.Node:
    """Return what stands for ``node``, which is changed in place below."""
    change_children(node, lambda child: _rewritten(child, places, bindings))
    head = _head(node, bindings) if isinstance(node, c_ast.For) else None
    if head is None:
        return node
    rounds = places.distance(head.start, head.end)
    used = _Uses(head, places, bindings)
    if rounds is None or not places.holds(head.start, head.pointer) or not used.are_places(node):
        return node
    return used.counted(node, rounds)


class _Uses:
    """What a loop does with the pointer that it steps."""

    def __init__(self, head: _Head, places: _Places, bindings: Bindings) -> None:
        self._head, self._places, self._bindings = head, places, bindings

    def are_places(self, loop: c_ast.For) -> bool:
        """Whether the pointer is only followed in the loop, and elsewhere not before it is set again."""
        head = self._head
        declared = isinstance(loop.init, c_ast.DeclList)
        if not declared and not only_counts(head.pointer, self._places.parts, self._bindings):
            return False
        if head.steps and continues(loop.stmt):
            return False
        outside = (head.start, head.end, *head.others, *head.steps)
        if any(self._names(part) for part in outside) or not self._is_steady(loop):
            return False
        return self._only_follows(loop.stmt)

    def _is_steady(self, loop: c_ast.For) -> bool:
        """Whether nothing in the loop changes what its ends are made of."""
        ends = (*identifiers(self._head.start), *identifiers(self._head.end))
        return not {*changed_symbols(loop, self._bindings)} & {self._bindings.symbol(name) for name in ends}

    def _names(self, node: c_ast.Node) -> bool:
        return any(self._is_named(name) for name in identifiers(node))

    def _is_named(self, node: c_ast.Node) -> bool:
        return isinstance(node, c_ast.ID) and self._bindings.symbol(node) is self._head.pointer

    def _only_follows(self, node: c_ast.Node) -> bool:
        """Whether the pointer is only used at and below ``node`` to get to elements."""
        if self._is_named(node):
            return False
        followed = self._followed(node)
        if followed is not None:
            parts = [*followed, *([node.subscript] if isinstance(node, c_ast.ArrayRef) else [])]
            return not any(self._names(part) for part in parts)
        if self._from_start(node) is not None:
            return True
        return all(self._only_follows(child) for child in node)

    def _followed(self, node: c_ast.Node) -> list[c_ast.Node] | None:
        """Return what is added to the pointer where ``node`` follows it; None where it does not."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            place = node.expr
        elif isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.StructRef) and node.type == "->"):
            place = node.name
        else:
            return None
        if self._is_named(place):
            return []
        added = isinstance(place, c_ast.BinaryOp) and place.op in ("+", "-") and self._is_named(place.left)
        if not added:
            return None
        minus = place.op == "-"
        return [c_ast.UnaryOp("-", place.right, place.coord) if minus else place.right]

    def _from_start(self, node: c_ast.Node) -> tuple[str, c_ast.Node] | None:
        """Return the operator of a comparison or difference of the pointer and a place, and the place.

        That is told by its distance from where the loop starts; None for other expressions.
        """
        if not isinstance(node, c_ast.BinaryOp):
            return None
        sign, place = node.op, node.right
        if self._is_named(place) and sign in _EXCHANGED:
            sign, place = _EXCHANGED[sign], node.left
        elif not self._is_named(node.left) or sign not in (*_EXCHANGED, "-"):
            return None
        distance = None if self._names(place) else self._places.distance(self._head.start, place)
        return None if distance is None else (sign, distance)

    def counted(self, loop: c_ast.For, rounds: c_ast.Node) -> c_ast.Node:
        """Return the loop with a number that counts elements, in a block where the pointer stays."""
        head, bindings, at = self._head, self._bindings, loop.coord
        counter, counts = bindings.variable(self._places.counter(head.pointer), Scalar(LONG), _zero(loop))
        there, declared = self._staying()
        loop.stmt = self._changed(loop.stmt, counter, there)
        step = c_ast.UnaryOp("p++", bindings.named(counter, loop), at)
        if head.by != 1:
            by = c_ast.Constant("int", str(head.by), at)
            step = c_ast.Assignment("+=", bindings.named(counter, loop), by, at)
        loop.init = c_ast.DeclList([counts], at)
        # that passes its end without meeting it would go on beyond the array
        comparison = "<" if head.comparison == "!=" else head.comparison
        loop.cond = c_ast.BinaryOp(comparison, bindings.named(counter, loop), rounds, at)
        loop.next = step
        if head.steps:
            loop.stmt = c_ast.Compound([loop.stmt, *head.steps], at)
        return c_ast.Compound([*head.others, declared, loop], at)

    def _staying(self) -> tuple[Symbol, c_ast.Decl]:
        """Return a pointer that stays where the loop's starts, and its declaration."""
        pointer = self._head.pointer
        declared = self._bindings.copied(pointer.node)
        declared.init = self._places.in_order(self._head.start)
        there = replace(pointer, node=declared, storage=Storage.LOCAL)
        self._bindings.declared[id(declared)] = there
        return there, declared

    def _changed(self, node: c_ast.Node, counter: Symbol, there: Symbol) -> c_ast.Node:
        """Return ``node`` with elements at the distance ``counter`` from ``there`` for those followed to."""
        followed = self._followed(node)
        here = self._bindings.named(counter, node)
        if followed is not None:
            far: c_ast.Node = here
            for more in [*followed, *([node.subscript] if isinstance(node, c_ast.ArrayRef) else [])]:
                further = self._changed(more, counter, there)
                far = c_ast.BinaryOp("+", far, further, node.coord)
            element = c_ast.ArrayRef(self._bindings.named(there, node), far, node.coord)
            whole = not isinstance(node, c_ast.StructRef)
            return element if whole else c_ast.StructRef(element, ".", node.field, node.coord)
        told = self._from_start(node)
        if told is not None:
            return c_ast.BinaryOp(told[0], here, told[1], node.coord)
        change_children(node, lambda child: self._changed(child, counter, there))
        return node
