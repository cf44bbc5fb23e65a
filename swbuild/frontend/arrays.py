"""The arrays of a finished region: extents, declarations, and what is used afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from pycparser import c_ast, c_generator

from swbuild.frontend.aliasing import Aliasing
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar, StructType
from swbuild.frontend.drafts import Object
from swbuild.frontend.liveness import Liveness
from swbuild.frontend.scop import AccessKind, Address, Array, Statement, Storage
from swbuild.frontend.shapes import Shape
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.symbols import FileScope
from swbuild.frontend.whole_rows import whole_rows

__all__ = ["ArrayMaker"]


def _is_register(node: c_ast.Node | None) -> bool:
    return "register" in getattr(node, "storage", ())


class ArrayMaker:
    """Makes the :class:`Array` values of one region."""

    def __init__(
        self,
        builder: RegionBuilder,
        liveness: Liveness,
        shapes: Mapping[Object, Shape],
        statements: tuple[Statement, ...],
        space: isl.Space,
    ) -> None:
        self._builder, self._liveness, self._shapes, self._space = builder, liveness, shapes, space
        self._statements = statements
        accesses = [a for s in statements for a in s.accesses]
        used = {a.array for a in accesses}
        written = frozenset(a.array for a in accesses if a.kind is not AccessKind.READ)
        self._objects = [thing for thing in builder.state.objects.values() if thing.name in used]
        endless = [t.name for t in self._objects if any(e is None for e in shapes[t].extents[:1])]
        boundless = frozenset(name for name in endless if not _is_bounded(name, statements))
        unsure = frozenset(name for name in endless if _is_unsure(name, statements))
        self.aliasing = Aliasing(builder, liveness, self._objects, written, unsure, boundless)

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
            self._address(thing),
            self._live_out(thing),
            self._builder.around.problems.locator.span(thing.symbol.node),
            thing.depth,
            place.element.const,
            isinstance(thing.symbol.type, Scalar | StructType) and _is_register(thing.symbol.node),
            shape.real or shape.stated,
            self._whole_rows(thing, extents),
        )

    def _whole_rows(self, thing: Object, extents: Sequence[isl.PwAff | None]) -> isl.Set | None:
        """Return the rows of an array of unknown length that are there for certain, None for none."""
        if not extents or extents[0] is not None or thing.symbol.is_made:
            return None  # what lies between rows that pointers lead to may be anything
        in_rows = len(extents) == 1 or not self._shapes[thing].split
        return whole_rows(thing.name, extents, self._statements, in_rows=in_rows)

    @staticmethod
    def _address(thing: Object) -> Address:
        path = thing.name if thing.storage is Storage.REGION else thing.place.path
        if thing.place.record is not None and thing.storage is not Storage.REGION:
            const = "const " if thing.place.element.const else ""
            return Address(path, thing.rank - 1, f"{const}{thing.place.element.element.name}")
        leads = thing.rank == 1 and isinstance(thing.place.kind, Pointer) and not thing.place.fields
        return Address(path, thing.rank, is_value=leads)

    def _declaration(self, thing: Object) -> str:
        node = thing.symbol.node
        if not isinstance(node, c_ast.Decl):
            return f"{thing.place.element.element.name} {thing.name}"
        if thing.place.record is not None and thing.storage is not Storage.REGION:
            return _spelled(thing.place.record, thing.name, self._builder.around.scope)
        if thing.storage is Storage.REGION or thing.place.fields:
            return _spelled(thing.place.kind, thing.name, self._builder.around.scope)
        return _spelled(thing.symbol.type, thing.symbol.name, self._builder.around.scope)

    def _live_out(self, thing: Object) -> bool:
        if thing.storage is Storage.REGION:
            return False
        if thing.place.through_pointer or isinstance(thing.symbol.type, Pointer):
            return True
        if thing.storage is Storage.PARAMETER and isinstance(thing.symbol.type, ArrayType):
            return True
        return self._liveness.live_after(thing.symbol)


def _extent_text(node: c_ast.Node, scope: FileScope) -> str:
    known = scope.integer(node)
    return expression_text(node, scope) if known is None else str(known)


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


def _is_bounded(name: str, statements: Sequence[Statement]) -> bool:
    """Whether the sizes bound which elements of an array the region accesses."""
    ranges = (
        access.relation.intersect_domain(statement.domain).range()
        for statement in statements
        for access in statement.accesses
        if access.array == name
    )
    return all(found.is_empty() or found.dim_is_bounded(isl.dim_type.set, 0) for found in ranges)


def _is_unsure(name: str, statements: Sequence[Statement]) -> bool:
    """Whether the region may write elements of an array besides those that it is certain to write.

    False where their indices have no bounds: such elements are not moved in boxes.
    """
    written: dict[AccessKind, isl.Set] = {}
    for statement in statements:
        for access in statement.accesses:
            if access.array == name:
                here = access.relation.intersect_domain(statement.domain).range()
                written[access.kind] = written[access.kind].union(here) if access.kind in written else here
    perhaps, surely = written.get(AccessKind.MAY_WRITE), written.get(AccessKind.MUST_WRITE)
    if perhaps is None or not perhaps.dim_is_bounded(isl.dim_type.set, 0):
        return False
    return surely is None or not perhaps.is_subset(surely)
