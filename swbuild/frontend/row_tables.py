"""Tables of pointers to rows (``double **A``), or of such tables, seen as arrays of rows evenly spaced.

Pointers may lead anywhere.  Where the rows that a region uses lie in order at equal distances, as programs
allocate them, ``A[i][j]`` is an element of an array whose rows are ``A_pitch`` elements apart.  The host
looks at the pointers when it comes to the region, and runs the loops as they are where that is not so.
In three dimensions (``double ***u``), planes are ``u_lines`` such rows apart.
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


_HINT = "number rows by counters and sizes, or use one block of memory: double (*A)[m] or A[i*m + j]"
#: By how many rows more planes may be used than others.
_HALO = 8
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a table leads to, as an array of its own.

    ``place`` is that of the first element by way of the table, ``array`` what stands for the table in
    subscripts; ``extents`` are those of its dimensions but the first.
    """

    place: Place
    array: Symbol
    extents: tuple[Symbol, ...]


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
        inner = [text for text in self.found if any(text.startswith(f"{other}[") for other in self.found)]
        self.found = {text: rows for text, rows in self.found.items() if text not in inner}
        return [self._changed(item) for item in items] if self.found else list(items)

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
        kind = self._type_of(table)
        element, dimensions = _led_to(kind)
        if kind is None or element is None or dimensions not in (2, 3):
            return
        root, text = self._root(table), _text(table)
        if text in self.found or root is None or root in own or self._visible.get(root.name) is not root:
            return
        simple = isinstance(table, c_ast.ID) and root.storage is not Storage.GLOBAL and dimensions == 2
        if self._anywhere and not simple:
            return
        zero = c_ast.Constant("int", "0", table.coord)
        place = Place(root, text, (), kind, (zero,) * dimensions, element, True)
        extents = tuple(
            self._extent(f"{text}_{what}", table) for what in ("lines", "pitch")[-dimensions + 1 :]
        )
        rows: CType = element
        for extent in reversed(extents):
            rows = ArrayType(rows, self._bindings.named(extent, table))
        passed = isinstance(table, c_ast.ID) and root.storage is Storage.PARAMETER
        count = kind.extent if isinstance(kind, ArrayType) and not passed else None
        made = self._declaration(text, table)
        array = Symbol(text, Pointer(rows), Storage.PARAMETER, made, is_made=True, count=count)
        self.found[text] = Rows(place, array, extents)

    def _extent(self, wish: str, at: c_ast.Node) -> Symbol:
        name = distinct("_".join(_WORD.findall(wish)), self._scope.words.__contains__)
        return Symbol(name, Scalar(LONG), Storage.PARAMETER, self._declaration(name, at))

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


def _led_to(kind: CType | None) -> tuple[Scalar | None, int]:
    """Return the numbers at the end of pointers to pointers, None for others, and how many there are."""
    if not isinstance(kind, (Pointer, ArrayType)):
        return None, 0
    target, dimensions = kind.target, 1
    while isinstance(target, Pointer):
        target, dimensions = target.target, dimensions + 1
    return (target if isinstance(target, Scalar) and not target.volatile else None), dimensions


def tables_of(found: Collection[Rows], builder: RegionBuilder, made: Finished) -> Iterator[RowTable]:
    """Yield the tables of those rows ``found`` that a finished region uses.

    Rows that the host cannot look for are added to the region's problems.
    """
    state, problems = builder.state, builder.around.problems
    extents = {extent for rows in found for extent in rows.extents}
    sizes = {size.name for (symbol, _), size in state.parameters.items() if symbol in extents}
    unknown = (*sizes, *(quotient.name for quotient in state.quotients))
    for rows in found:
        thing, last = state.objects.get((rows.array, ())), len(rows.extents)
        known = [state.parameters.get((extent, ())) for extent in rows.extents]
        names = tuple(size.name for size in known if size is not None)
        if thing is None or len(names) < last:
            continue
        places = _touched(thing.name, made, unknown)
        touched, around = (_together(sets, last + 1) for sets in (places, map(_simple, places)))
        lines, columns = (around.project_out(isl.dim_type.set, *part) for part in ((last, 1), (0, last)))
        width = None
        if places and not _is_bounded(around):
            why = "the elements used of its rows are data"
        elif places and not _are_there(lines, touched.project_out(isl.dim_type.set, last, 1)):
            why = "its planes are not all used alike"
        else:
            why = ""
            width = columns.dim_max(0).add_constant_val(isl.Val(1)) if places else None
        if why:
            what = f"'{thing.name}' is an array of pointers, and {why}"
            problems.add(problems.make("SW218", what, thing.symbol.node, _HINT))
        yield RowTable(thing.name, names, rows.place.path, lines, width)


def _are_there(lines: isl.Set, used: isl.Set) -> bool:
    """Return whether all pointers from those to the first to those to the last of ``lines`` may be looked at.

    They may within a table.  Of tables, each has to be ``used`` from one end to the other, but for few rows:
    one that is not may not be there, or be shorter.
    """
    if lines.dim(isl.dim_type.set) == 1:
        return True
    up, down = isl.Map("{ [x] -> [y] : y >= x }"), isl.Map("{ [x] -> [y] : y <= x }")
    sides = [lines.project_out(isl.dim_type.set, k, 1) for k in (1, 0)]
    first, second = (side.apply(up).intersect(side.apply(down)) for side in sides)
    near = used.apply(isl.Map(f"{{ [x, y] -> [x, z] : y - {_HALO} <= z <= y + {_HALO} }}"))
    return bool(first.flat_product(second).is_subset(near))


def _simple(points: isl.Set) -> isl.Set:
    """Return a set around ``points`` whose ends are easily said."""
    simple = points.remove_divs()
    around = isl.Set.from_basic_set(simple.simple_hull())
    return around if _is_bounded(around) else simple


def _together(sets: Iterable[isl.Set], dimensions: int) -> isl.Set:
    """Return the union of ``sets`` of so many ``dimensions``."""
    found = isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, dimensions))
    for each in sets:
        found = found.union(each)
    return found.coalesce()


def _is_bounded(points: isl.Set) -> bool:
    """Return whether the sizes bound ``points`` in all dimensions."""
    return all(points.dim_is_bounded(isl.dim_type.set, k) for k in range(points.dim(isl.dim_type.set)))


def _touched(name: str, made: Finished, unknown: Iterable[str]) -> list[isl.Set]:
    """Return the elements of the array ``name`` that each access leads to, for any values of ``unknown``."""
    found = []
    for statement in made.statements:
        for access in statement.accesses:
            if access.array == name:
                here = access.relation.intersect_domain(statement.domain).range().reset_tuple_id()
                here = here.intersect_params(made.context)
                for parameter in unknown:
                    position = here.find_dim_by_name(isl.dim_type.param, parameter)
                    here = here if position < 0 else here.project_out(isl.dim_type.param, position, 1)
                found += [] if here.is_empty() else [here]
    return found


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
