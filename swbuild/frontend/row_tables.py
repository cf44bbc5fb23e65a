"""Tables of pointers to rows (``double **A``), seen as arrays of rows that are evenly spaced.

Pointers may lead anywhere.  Where the rows that a region uses lie in order at equal distances, as programs
allocate them, ``A[i][j]`` is an element of an array whose rows are ``A_pitch`` elements apart.  The host
looks at the pointers when it comes to the region, and runs the loops as they are where that is not so.
"""

from __future__ import annotations

import re  # takes the expressions for tables apart
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import islpy as isl
from pycparser import c_ast
from pycparser.c_generator import CGenerator

from swbuild.classes import dataclass
from swbuild.expressions.types import LONG
from swbuild.frontend.aliasing import POINTER_BYTES, is_anywhere
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.changes import changed_symbols, writes
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.finish import Finished
from swbuild.frontend.places import Place
from swbuild.frontend.scop import AccessKind, Array, Held, RowTable, Storage
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, walk
from swbuild.frontend.syntax import change_children
from swbuild.names import distinct

__all__ = ["RowTables", "Rows", "held_tables", "tables_of"]


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a table leads to, as an array of its own.

    ``place`` is that of the first element by way of the table, ``array`` what stands for the table in
    subscripts; its rows are ``pitch`` elements long.
    """

    place: Place
    array: Symbol
    pitch: Symbol


class RowTables:
    """Puts arrays in the place of tables of pointers in a region of a function whose names are bound.

    ``visible`` are the names in sight where the region stands.
    """

    def __init__(
        self,
        bindings: Bindings,
        scope: FileScope,
        type_of: Callable[[c_ast.Node], CType | None],
        visible: Mapping[str, Symbol],
    ) -> None:
        self._bindings, self._scope, self._type_of, self._visible = bindings, scope, type_of, visible
        #: Whether characters in memory are set.
        self._anywhere = False
        #: The arrays made, by the C expressions of their tables.
        self.found: dict[str, Rows] = {}

    def items(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """Return ``items`` with subscripts of arrays for those of tables, in place below.

        Of a table, the rows are numbered by something else than constants somewhere.  Nothing in ``items``
        may set pointers in memory.  Characters may lie anywhere: the host tests that they are not in tables.
        """
        targets = [t for item in items for t, _, _ in writes(item) if not isinstance(t, c_ast.ID)]
        kinds = [self._type_of(target) for target in targets]
        if not all(isinstance(kind, Scalar) for kind in kinds):
            return list(items)
        self._anywhere = any(isinstance(kind, Scalar) and is_anywhere(kind.element) for kind in kinds)
        own = {self._bindings.declared.get(id(n)) for item in items for n in walk(item)}
        own.update(symbol for item in items for symbol in changed_symbols(item, self._bindings))
        for item in items:
            for node in walk(item):
                table, row = self._parts(node)
                if table is not None and self._scope.integer(row) is None:
                    self._add(table, own)
        return [self._changed(item) for item in items]

    def _parts(self, node: c_ast.Node) -> tuple[c_ast.Node | None, c_ast.Node | None]:
        """Return the two expressions of ``table[row]`` or ``*(table + row)``, else two times None."""
        if isinstance(node, c_ast.ArrayRef):
            return node.name, node.subscript
        inner = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "*" else None
        if isinstance(inner, c_ast.BinaryOp) and inner.op == "+" and self._type_of(inner.left) is not None:
            return inner.left, inner.right
        return None, None

    def _add(self, table: c_ast.Node, own: Collection[Symbol | None]) -> None:
        """Make an array for the rows of ``table``, if it is a table outside of the region."""
        kind, root, text = self._type_of(table), self._root(table), _text(table)
        if not isinstance(kind, (Pointer, ArrayType)) or not isinstance(kind.target, Pointer):
            return
        element = kind.target.target
        if not isinstance(element, Scalar) or element.volatile:
            return
        if text in self.found or root is None or root in own or self._visible.get(root.name) is not root:
            return
        if self._anywhere and (not isinstance(table, c_ast.ID) or root.storage is Storage.GLOBAL):
            return
        zero = c_ast.Constant("int", "0", table.coord)
        place = Place(root, text, (), kind, (zero, zero), element, True)
        name = distinct("_".join([*_WORD.findall(text), "pitch"]), self._scope.words.__contains__)
        pitch = Symbol(name, Scalar(LONG), Storage.PARAMETER, self._declaration(name, table))
        rows = Pointer(ArrayType(element, self._bindings.named(pitch, table)))
        array = Symbol(text, rows, Storage.PARAMETER, self._declaration(text, table), pitch=pitch)
        self.found[text] = Rows(place, array, pitch)

    def _root(self, node: c_ast.Node) -> Symbol | None:
        """Return the variable that leads to one table for certain, None for other expressions."""
        while not isinstance(node, c_ast.ID):
            known = isinstance(node, c_ast.ArrayRef) and self._scope.integer(node.subscript) is not None
            if not (known or isinstance(node, c_ast.StructRef)):
                return None
            node = node.name
        return self._bindings.symbol(node)

    def _declaration(self, name: str, node: c_ast.Node) -> c_ast.Decl:
        kind = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["long"]), node.coord)
        declaration = c_ast.Decl(name, [], [], [], [], kind, None, None, node.coord)
        self._bindings.kept.append(declaration)
        return declaration

    def _changed(self, node: c_ast.Node) -> c_ast.Node:
        table, row = self._parts(node)
        rows = None if table is None else self.found.get(_text(table))
        if rows is not None and self._root(table) is rows.place.symbol:
            node = c_ast.ArrayRef(self._bindings.named(rows.array, table), row, node.coord)
            self._bindings.kept.append(node)
        change_children(node, self._changed)
        return node


def tables_of(found: Collection[Rows], builder: RegionBuilder, made: Finished) -> Iterator[RowTable]:
    """Yield the tables of those rows ``found`` that a finished region knows; add what it must not do.

    Which rows it accesses has to follow from the sizes, and of rows that it writes, where they end.
    """
    state, problems = builder.state, builder.around.problems
    sizes = {
        name for (symbol, _), (name, _, _) in state.parameters.items() if symbol in {r.pitch for r in found}
    }
    unknown = (*sizes, *(quotient.name for quotient in state.quotients))
    for rows in found:
        thing, size = state.objects.get((rows.array, ())), state.parameters.get((rows.pitch, ()))
        if thing is None or size is None:
            continue
        touched = _touched(thing.name, made, unknown)
        lines, columns = (
            touched.project_out(isl.dim_type.set, 1, 1),
            touched.project_out(isl.dim_type.set, 0, 1),
        )
        bounded = lines.dim_is_bounded(isl.dim_type.set, 0), columns.dim_is_bounded(isl.dim_type.set, 0)
        if not touched.is_empty() and not (bounded[0] and (bounded[1] or not _is_written(thing.name, made))):
            problems.add(
                problems.make(
                    "SW218",
                    f"'{thing.name}' is an array of pointers, and the elements used of its rows are data",
                    thing.symbol.node,
                    "number them by counters and sizes, or use one block of memory: double (*A)[m]",
                )
            )
        width = (
            columns.dim_max(0).add_constant_val(isl.Val(1)) if bounded[1] and not touched.is_empty() else None
        )
        yield RowTable(thing.name, size.name, rows.place.path, lines, width)


def _touched(name: str, made: Finished, unknown: Iterable[str]) -> isl.Set:
    """Return the elements of the array ``name`` that are accessed for any values of ``unknown``."""
    touched = isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 2))
    for statement in made.statements:
        for access in statement.accesses:
            if access.array == name:
                here = access.relation.intersect_domain(statement.domain).range()
                touched = touched.union(here.reset_tuple_id())
    touched = touched.intersect_params(made.context)
    for parameter in unknown:
        position = touched.find_dim_by_name(isl.dim_type.param, parameter)
        touched = touched if position < 0 else touched.project_out(isl.dim_type.param, position, 1)
    return touched


def held_tables(tables: Iterable[RowTable], arrays: Sequence[Array], made: Finished) -> Iterator[Held]:
    """Yield the pointers of ``tables``, apart from those of ``arrays`` that may be written where they lie."""
    found = [a.name for a in arrays if a.storage is not Storage.REGION and is_anywhere(a.element)]
    apart = tuple(name for name in found if _is_written(name, made))
    for table in tables if apart else ():
        yield Held(f"{table.array}_table", f"*{table.expression}", POINTER_BYTES, apart, table.rows)


def _is_written(name: str, made: Finished) -> bool:
    accesses = (access for statement in made.statements for access in statement.accesses)
    return any(access.array == name and access.kind is not AccessKind.READ for access in accesses)


def _text(node: c_ast.Node) -> str:
    return str(CGenerator().visit(node))
