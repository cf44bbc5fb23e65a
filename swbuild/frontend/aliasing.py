"""Which objects of a region may share memory, for all that declarations say.

The model takes every object for memory of its own, and pointers and sizes for what they are before the
region.  Wherever two of them may lie in one place and one is written,
the generated host code has to test that they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeGuard

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.ctype import ArrayType, CType, Pointer, StructType
from swbuild.frontend.drafts import Object
from swbuild.frontend.layout import element_types
from swbuild.frontend.liveness import Liveness
from swbuild.frontend.places import Place
from swbuild.frontend.scop import Held, Storage
from swbuild.frontend.symbols import Symbol, walk

__all__ = ["POINTER_BYTES", "Aliasing", "is_anywhere"]

_ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc", "alloca", "polybench_alloc_data", "_mm_malloc",
                         "__builtin_alloca", "libc_aligned_malloc"})  # fmt: skip
POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class _Memory:
    """Something in memory: ``element`` is the type of its numbers, None for a pointer.

    ``fields`` lead to it from ``symbol``; the first ``block`` of them end in the last pointer that is
    followed (None: there is none), and the others name a member of what that points to.
    ``restrict``: that pointer is so declared.  ``mixed``: between its elements lie others of other types.
    """

    symbol: Symbol
    fields: tuple[str, ...]
    storage: Storage
    block: int | None
    restrict: bool
    element: ElementType | None
    mixed: bool = False

    @property
    def owner(self) -> tuple[str, ...] | None:
        """The way to the pointer that leads to it, None for a variable or a part of one."""
        return None if self.block is None else self.fields[: self.block]

    @property
    def member(self) -> tuple[str, ...]:
        return self.fields if self.block is None else self.fields[self.block :]


class Aliasing:
    """Compares the objects of one region; ``written`` are the names of those that it writes.

    Those in ``unsure`` are arrays without a known end that are written under conditions which only the run
    knows: a kernel moves boxes of them, and puts back what lies behind their end.  Of those that are
    ``boundless`` nobody can test at run time where they end.
    """

    def __init__(
        self,
        builder: RegionBuilder,
        liveness: Liveness,
        objects: Iterable[Object],
        written: frozenset[str],
        unsure: frozenset[str],
        boundless: frozenset[str],
    ) -> None:
        self._builder, self._liveness, self._written = builder, liveness, written
        self._unsure, self._boundless = unsure, boundless
        self._objects = {thing: _of_place(thing.place, thing.storage) for thing in objects}
        self._fresh: dict[Symbol, bool] = {}

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the names of each two objects, one of them written, that may overlap."""
        things = list(self._objects.items())
        return tuple(
            (first.name, second.name)
            for position, (first, memory) in enumerate(things)
            for second, other in things[position + 1 :]
            if ({first.name, second.name} & self._written and self._overlap(memory, other))
            or self._overrun(first, second)
        )

    def held(self) -> tuple[Held, ...]:
        """Return the sizes and pointers that writes may change."""
        found = []
        for name, place, _ in self._builder.state.parameters.values():
            found.append(self._held(name, place.path, _of_place(place, place.symbol.storage)))
        for path, memory in self._pointers().items():
            found.append(self._held(f"{'_'.join((memory.symbol.name, *memory.fields))}_", path, memory))
        return tuple(held for held in found if held.apart_from)

    def _held(self, name: str, path: str, memory: _Memory) -> Held:
        size = POINTER_BYTES if memory.element is None else memory.element.size
        others = (
            thing.name
            for thing, other in self._objects.items()
            if thing.name in self._written and self._overlap(memory, other)
        )
        return Held(name, path, size, tuple(others))

    def _pointers(self) -> dict[str, _Memory]:
        """Return the pointers that are followed on the way to the region's objects and sizes."""
        places = [thing.place for thing in self._objects]
        places += [place for _, place, _ in self._builder.state.parameters.values()]
        return {path: memory for place in places for path, memory in _followed(place)}

    def _overrun(self, first: Object, second: Object) -> bool:
        """Whether a box of one of them may reach into the other one, which the region changes meanwhile."""
        names = {first.name, second.name}
        if not (names & self._unsure and names <= self._written) or names & self._boundless:
            return False
        memory, other = self._objects[first], self._objects[second]
        if memory.symbol is other.symbol and memory.owner == other.owner:
            return False
        return _has_place(first, memory) and _has_place(second, other)

    # -- two places -----------------------------------------------------------------------------

    def _overlap(self, first: _Memory, second: _Memory) -> bool:
        """Whether two things may share memory."""
        if not (first.mixed or second.mixed) and not _compatible(first.element, second.element):
            return False
        if first.symbol is second.symbol and first.owner == second.owner:
            return _is_within(first.member, second.member)  # members of one object
        if self._is_alone(first, second) or self._is_alone(second, first):
            return False
        if self._points_anywhere(first):
            return self._points_anywhere(second) or self._reachable(second)
        return self._points_anywhere(second) and self._reachable(first)

    def _is_alone(self, thing: _Memory, other: _Memory) -> bool:
        """Whether ``restrict`` says that only one pointer, to which nothing else leads, reaches ``thing``."""
        if not thing.restrict or thing.owner is None or self._may_be_one(thing, other):
            return False
        return not self._leaks(thing.symbol, thing.owner)

    def _may_be_one(self, thing: _Memory, other: _Memory) -> bool:
        """Whether one pointer may lead to both.

        Members of structures are told apart by their names.  An element of an array of pointers is another
        one than those beside it, but may be what another such array, or a pointer to a variable, leads to.
        """
        if not thing.owner:
            numbered = bool(other.owner) and _is_numbered(other)
            return thing.symbol is other.symbol or (numbered and self._is_known_outside(thing.symbol))
        if not other.owner:
            return other.owner is not None and _is_numbered(thing) and self._is_known_outside(other.symbol)
        if not _is_numbered(thing) and not _is_numbered(other):
            return thing.owner[-1] == other.owner[-1]
        beside = thing.symbol is other.symbol and thing.owner[:-1] == other.owner[:-1]
        return thing.owner[-1] == other.owner[-1] or not beside

    def _is_known_outside(self, symbol: Symbol) -> bool:
        """Whether there may be a pointer to the variable itself."""
        return symbol.storage is Storage.GLOBAL or symbol.is_static or self._has_address(symbol)

    def _leaks(self, symbol: Symbol, fields: tuple[str, ...]) -> bool:
        """Whether the pointer that ``fields`` lead to, or one beside it in an array, was copied."""
        names = [name for name in fields if not name.isdigit()]
        return self._liveness.leaks_member(names[-1]) if names else self._liveness.leaks(symbol)

    def _points_anywhere(self, thing: _Memory) -> bool:
        """Whether it lies where some pointer says (not in a variable or fresh memory of its own)."""
        if thing.storage is Storage.REGION or thing.block is None:
            return False
        return bool(thing.block) or not self._is_fresh(thing.symbol)

    def _reachable(self, thing: _Memory) -> bool:
        """Whether a pointer from elsewhere may lead into it."""
        if thing.storage is Storage.REGION:
            return False
        if thing.block is not None or thing.storage is Storage.GLOBAL or thing.symbol.is_static:
            return True
        return self._liveness.escapes(thing.symbol) or self._has_address(thing.symbol)

    def _is_fresh(self, symbol: Symbol) -> bool:
        """Whether a local pointer only ever holds the result of its own allocation."""
        if symbol.storage is not Storage.LOCAL or symbol.is_static:
            return False
        if symbol not in self._fresh:
            values = self._assigned(symbol)
            alone = len(values) == 1 and not self._has_address(symbol)
            self._fresh[symbol] = alone and self._is_allocation(values[0])
        return self._fresh[symbol]

    def _is_allocation(self, node: c_ast.Node) -> bool:
        """Whether ``node`` calls an allocator, not a function or pointer of the file that bears its name."""
        while isinstance(node, c_ast.Cast):
            node = node.expr
        called = node.name if isinstance(node, c_ast.FuncCall) else None
        if not isinstance(called, c_ast.ID) or called.name not in _ALLOCATORS:
            return False
        around = self._builder.around
        return around.facts.bindings.symbol(called) is None and not around.scope.is_defined(called.name)

    def _assigned(self, symbol: Symbol) -> list[c_ast.Node]:
        facts = self._builder.around.facts
        found = []
        if isinstance(symbol.node, c_ast.Decl) and symbol.node.init is not None:
            found.append(symbol.node.init)
        for node in walk(facts.function.body):
            target = node.lvalue if isinstance(node, c_ast.Assignment) else None
            if isinstance(target, c_ast.ID) and facts.bindings.symbol(target) is symbol:
                found.append(node.rvalue)
        return found

    def _has_address(self, symbol: Symbol) -> bool:
        """Whether the function takes the address of a variable itself."""
        return symbol in self._addressed

    @cached_property
    def _addressed(self) -> frozenset[Symbol | None]:
        facts = self._builder.around.facts
        taken = (n.expr for n in walk(facts.function.body) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
        return frozenset(facts.bindings.symbol(n) for n in taken if isinstance(n, c_ast.ID))


def _is_numbered(memory: _Memory) -> bool:
    """Whether the pointer that leads to it is an element of an array."""
    return bool(memory.owner) and memory.owner is not None and memory.owner[-1].isdigit()


def _has_place(thing: Object, memory: _Memory) -> bool:
    """Whether it lies in memory that other things may lie beside: scalars of a function lie anywhere."""
    if memory.storage is Storage.REGION:
        return False
    return bool(thing.rank) or memory.block is not None or memory.storage is Storage.GLOBAL


def _of_place(place: Place, storage: Storage) -> _Memory:
    mixed = place.record is not None and len(element_types(_innermost(place.record))) > 1
    block, restrict = _last_pointer(place, len(place.fields) + 1)
    return _Memory(place.symbol, place.fields, storage, block, restrict, place.element.element, mixed)


def _followed(place: Place) -> Iterator[tuple[str, _Memory]]:
    """Yield the pointers in memory on the way to ``place``, each with its C expression."""
    path = place.symbol.name
    for position, kind in enumerate(_kinds(place)):
        if _follows(kind, place, position):
            before = _last_pointer(place, position)
            fields = place.fields[:position]
            yield path, _Memory(place.symbol, fields, place.symbol.storage, *before, None)
        if position < len(place.fields):
            field = place.fields[position]
            arrow = "->" if isinstance(kind, (Pointer, ArrayType)) else "."
            path += f"[{field}]" if field.isdigit() else f"{arrow}{field}"


def _last_pointer(place: Place, end: int) -> tuple[int | None, bool]:
    """Return the number of fields before the last pointer followed before ``end``, and its ``restrict``."""
    block: int | None = None
    restrict = False
    for position, kind in enumerate(_kinds(place)[:end]):
        if _follows(kind, place, position):
            block, restrict = position, kind.restrict
    return block, restrict


def _kinds(place: Place) -> list[CType]:
    """Return the types met on the way to ``place``: the symbol's, then one for each field."""
    kinds = [place.symbol.type]
    for field in place.fields:
        kinds.append(_step(kinds[-1], field))
    return kinds


def _follows(kind: CType, place: Place, position: int) -> TypeGuard[Pointer | ArrayType]:
    """Whether the way to ``place`` goes on through a pointer of type ``kind`` behind ``position`` fields."""
    if position == len(place.fields) and not place.subscripts:
        return False
    is_parameter = place.symbol.storage is Storage.PARAMETER and not position
    return isinstance(kind, Pointer) or (isinstance(kind, ArrayType) and is_parameter)


def _step(kind: CType, field: str) -> CType:
    """Return the type of a member, or of an element where ``field`` is its number."""
    if field.isdigit():
        assert isinstance(kind, (Pointer, ArrayType))
        return kind.target
    while isinstance(kind, (Pointer, ArrayType)):
        kind = kind.target
    assert isinstance(kind, StructType)
    return kind.fields[field]


def _innermost(kind: CType) -> CType:
    while isinstance(kind, (ArrayType, Pointer)):
        kind = kind.target
    return kind


def _is_within(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one member is the other or a part of it."""
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]


def is_anywhere(element: ElementType) -> bool:
    """Whether C's rules let numbers of this type lie in objects of any other one."""
    return "char" in element.name


def _compatible(first: ElementType | None, second: ElementType | None) -> bool:
    """Whether C's rules let objects of these types share memory (None: pointers)."""
    if any(kind is not None and is_anywhere(kind) for kind in (first, second)):
        return True
    if first is None or second is None:
        return first is second
    return first.size == second.size and (first.kind is TypeKind.FLOAT) == (second.kind is TypeKind.FLOAT)
