"""The arrays of a finished region: extents, declarations, aliasing, and what is used afterwards."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from pycparser import c_ast, c_generator

from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar, StructType
from swbuild.frontend.drafts import Object
from swbuild.frontend.layout import element_types
from swbuild.frontend.liveness import Liveness
from swbuild.frontend.places import Place
from swbuild.frontend.scop import Array, ElementType, Statement, Storage, TypeKind
from swbuild.frontend.shapes import Shape
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.state import RegionState
from swbuild.frontend.symbols import FileScope, Symbol, walk

__all__ = ["ArrayMaker", "declared"]

_ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc", "alloca", "polybench_alloc_data", "_mm_malloc",
                         "__builtin_alloca", "libc_aligned_malloc"})  # fmt: skip


class ArrayMaker:
    """Makes the :class:`Array` values of one region."""

    def __init__(
        self,
        builder: RegionState,
        liveness: Liveness,
        shapes: Mapping[Object, Shape],
        statements: tuple[Statement, ...],
        space: isl.Space,
    ) -> None:
        self._builder, self._liveness, self._shapes, self._space = builder, liveness, shapes, space
        accesses = [a for s in statements for a in s.accesses]
        used = {a.array for a in accesses}
        self._written = {a.array for a in accesses if a.kind.value != "read"}
        self._fresh: dict[Object, bool] = {}
        self._objects = [thing for thing in builder.objects.values() if thing.name in used]

    def overwritten_parameters(self) -> list[tuple[str, str]]:
        """Return (parameter, object) for each size or counter that a write may change through a pointer."""
        found = []
        places = [place for _, place, _ in self._builder.parameters.values()]
        for symbol in self._builder.counters:
            if isinstance(symbol.type, Scalar) and symbol.storage is not Storage.REGION:
                places.append(Place(symbol, symbol.name, (), symbol.type, (), symbol.type, False))
        for place in places:
            parameter = Object(place.path, (place.symbol, place.fields), place, place.symbol.storage, 0)
            found += [
                (place.path, thing.place.path)
                for thing in self._objects
                if thing.name in self._written and self._overlap(parameter, thing)
            ]
        return found

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays in the order in which the region first names them."""
        return tuple(self._array(thing) for thing in self._objects)

    def _array(self, thing: Object) -> Array:
        place = thing.place
        shape = self._shapes[thing]
        extents = tuple(e.align_params(self._space) if e is not None else None for e in shape.extents)
        return Array(
            thing.name,
            place.element.element,
            extents,
            thing.storage,
            self._declaration(thing),
            self._pointer(thing),
            self._may_alias(thing),
            self._live_out(thing),
            self._builder.problems.locator.span(thing.symbol.node),
            thing.depth,
            place.element.const,
        )

    @staticmethod
    def _pointer(thing: Object) -> str:
        path = thing.name if thing.storage is Storage.REGION else thing.place.path
        if thing.place.record is not None and thing.storage is not Storage.REGION:
            const = "const " if thing.place.element.const else ""
            return f"({const}{thing.place.element.element.name} *)&{path}{'[0]' * (thing.rank - 1)}"
        if not thing.rank:
            return f"&{path}"
        if thing.rank == 1 and isinstance(thing.place.kind, Pointer) and not thing.place.fields:
            return path
        return f"&{path}{'[0]' * thing.rank}"

    def _declaration(self, thing: Object) -> str:
        node = thing.symbol.node
        if not isinstance(node, c_ast.Decl):
            return f"{thing.place.element.element.name} {thing.name}"
        if thing.place.record is not None and thing.storage is not Storage.REGION:
            return _spelled(thing.place.record, thing.name, self._builder.scope)
        if thing.storage is Storage.REGION or thing.place.fields:
            return _spelled(thing.place.kind, thing.name, self._builder.scope)
        return _spelled(thing.symbol.type, thing.symbol.name, self._builder.scope)

    def _live_out(self, thing: Object) -> bool:
        if thing.storage is Storage.REGION:
            return False
        if thing.place.through_pointer or isinstance(thing.symbol.type, Pointer):
            return True
        if thing.storage is Storage.PARAMETER and isinstance(thing.symbol.type, ArrayType):
            return True
        return self._liveness.live_after(thing.symbol)

    # -- aliasing -------------------------------------------------------------------------------

    def _may_alias(self, thing: Object) -> bool:
        return any(self._overlap(thing, other) for other in self._objects if other is not thing)

    def _overlap(self, first: Object, second: Object) -> bool:
        """Whether two objects may share memory, one of them being written."""
        if not {first.name, second.name} & self._written:
            return False
        mixed = any(_is_mixed(thing) for thing in (first, second))
        if not mixed and not _compatible(first.place.element.element, second.place.element.element):
            return False
        if first.symbol is second.symbol and not (_is_loaded(first) or _is_loaded(second)):
            return False  # members of one object
        if any(self._is_restrict(t) and not self._liveness.leaks(t.symbol) for t in (first, second)):
            return False
        first_points, second_points = self._points_anywhere(first), self._points_anywhere(second)
        if first_points and second_points:
            return True
        return (first_points and self._reachable(second)) or (second_points and self._reachable(first))

    @staticmethod
    def _is_restrict(thing: Object) -> bool:
        kind = thing.place.kind
        if isinstance(kind, Pointer) or not thing.place.fields:
            return isinstance(kind, (Pointer, ArrayType)) and kind.restrict
        return isinstance(thing.symbol.type, Pointer) and thing.symbol.type.restrict

    def _points_anywhere(self, thing: Object) -> bool:
        """Whether the object lies where some pointer says (not in a variable or fresh memory of its own)."""
        if thing.storage is Storage.REGION:
            return False
        if thing.storage is Storage.PARAMETER and isinstance(thing.symbol.type, (ArrayType, Pointer)):
            return bool(thing.rank) or bool(thing.place.fields)
        if thing.place.through_pointer:
            return not self._is_fresh(thing)
        return False

    def _is_fresh(self, thing: Object) -> bool:
        """Whether a local pointer only ever holds the result of its own allocation."""
        symbol = thing.symbol
        if thing.place.fields or symbol.storage is not Storage.LOCAL or symbol.is_static:
            return False
        if thing not in self._fresh:
            values = self._assigned(thing)
            self._fresh[thing] = len(values) == 1 and _is_allocation(values[0])
        return self._fresh[thing]

    def _assigned(self, thing: Object) -> list[c_ast.Node]:
        facts = self._builder.facts
        found = []
        if isinstance(thing.symbol.node, c_ast.Decl) and thing.symbol.node.init is not None:
            found.append(thing.symbol.node.init)
        for node in walk(facts.function.body):
            target = node.lvalue if isinstance(node, c_ast.Assignment) else None
            if isinstance(target, c_ast.ID) and facts.bindings.symbol(target) is thing.symbol:
                found.append(node.rvalue)
        return found

    def _reachable(self, thing: Object) -> bool:
        """Whether a pointer from elsewhere may lead into this object."""
        if thing.storage is Storage.REGION:
            return False
        if thing.storage is Storage.GLOBAL or thing.symbol.is_static:
            return True
        if thing.place.through_pointer:
            return True
        return self._liveness.escapes(thing.symbol)


def _innermost(kind: CType) -> StructType:
    while isinstance(kind, (ArrayType, Pointer)):
        kind = kind.target
    assert isinstance(kind, StructType)
    return kind


def _is_mixed(thing: Object) -> bool:
    """Whether what lies between the elements of ``thing`` has other types."""
    record = thing.place.record
    return record is not None and len(element_types(_innermost(record))) > 1


def _is_loaded(thing: Object) -> bool:
    return bool(thing.place.fields) and isinstance(thing.place.kind, Pointer)


def _is_allocation(node: c_ast.Node) -> bool:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return (
        isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in _ALLOCATORS
    )


def _compatible(first: ElementType, second: ElementType) -> bool:
    """Whether C's rules let objects of these types share memory."""
    if "char" in first.name or "char" in second.name:
        return True
    return first.size == second.size and (first.kind is TypeKind.FLOAT) == (second.kind is TypeKind.FLOAT)


def _extent_text(node: c_ast.Node, scope: FileScope) -> str:
    known = scope.integer(node)
    return expression_text(node, scope) if known is None else str(known)


def declared(symbol: Symbol, scope: FileScope) -> str:
    """Return a declaration of a variable under its own name, typedefs resolved."""
    return _spelled(symbol.type, symbol.name, scope)


def _spelled(kind: CType, declarator: str, scope: FileScope) -> str:
    """Return the declaration of ``declarator`` with type ``kind``, typedefs resolved."""
    if isinstance(kind, ArrayType):
        extent = _extent_text(kind.extent, scope) if kind.extent is not None else ""
        return _spelled(kind.target, f"{declarator}[{extent}]", scope)
    if isinstance(kind, Pointer):
        star = f"*{'restrict ' if kind.restrict else ''}{declarator}"
        return _spelled(kind.target, f"({star})" if isinstance(kind.target, ArrayType) else star, scope)
    if isinstance(kind, Scalar):
        return f"{'const ' if kind.const else ''}{kind.element.name} {declarator}"
    if isinstance(kind, StructType):
        spelled = f"{kind.keyword} {kind.name}" if kind.name is not None else kind.alias
        if spelled is None:  # without any name: the same structure again
            spelled = c_generator.CGenerator().visit(kind.node)
        return f"{spelled} {declarator}"
    return f"void {declarator}"
