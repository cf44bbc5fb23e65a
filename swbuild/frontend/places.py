"""L-values: which object an expression names, and with which subscripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import INT
from swbuild.frontend.ctype import ArrayType, CType, OtherType, Pointer, Scalar, StructType
from swbuild.frontend.layout import offset_of, size_of
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol

__all__ = ["Place", "PlaceFinder"]

_ORDINARY = "use float, double or an integer type of up to 64 bits"
_ZERO = c_ast.Constant("int", "0")


@dataclass(frozen=True, slots=True)
class Place:
    """An element of an object.

    ``path`` is the C expression of the object without its subscripts (``A``, ``s->a``, ``u[1]`` of an
    array of pointers), ``fields`` the members passed on the way, and the numbers of elements that are;
    ``kind`` is the object's type, ``subscripts`` one expression per dimension; ``element`` is the type of
    what is named.  ``through_pointer`` says that a pointer leads to it.

    For a member of an array of structures, ``kind`` is that array seen as rows of ``element``, whose
    last subscript says where in the structure the member lies; ``record`` is the array's real type.
    """

    symbol: Symbol
    path: str
    fields: tuple[str, ...]
    kind: CType
    subscripts: tuple[c_ast.Node, ...]
    element: Scalar
    through_pointer: bool
    record: CType | None = None
    #: Members on the way from a structure to the element, and where they begin (in bytes).
    layout: tuple[tuple[str, int], ...] = ()


class PlaceFinder:
    """Finds the :class:`Place` of an l-value expression in a function whose names are bound."""

    def __init__(
        self, bindings: Bindings, problems: Problems, extent: Callable[[c_ast.Node], int | None]
    ) -> None:
        self._bindings, self._problems = bindings, problems
        self._extent = extent
        #: All places found so far, one for each object and member.
        self.found: dict[tuple[str, tuple[tuple[str, int], ...]], Place] = {}

    def find(self, node: c_ast.Node) -> Place:
        """Return the place that ``node`` names; raise NotModelledError for what arrays cannot describe."""
        steps: list[c_ast.Node | tuple[str, bool]] = []
        root = self._unwind(node, steps)
        symbol = self._bindings.symbol(root)
        if symbol is None:
            raise self._problems.refuse(
                "SW227",
                f"'{root.name}' is not declared here as an object",
                root,
                "declare it before the region",
            )
        place = self._walk(node, symbol, list(reversed(steps)))
        self.found[place.path, place.layout] = place
        return place

    def type_of(self, node: c_ast.Node) -> CType | None:
        """Return the type of an l-value, or of a pointer moved on, None where it is not followed."""
        if isinstance(node, c_ast.ID):
            symbol = self._bindings.symbol(node)
            if symbol is None:
                return None
            decays = symbol.storage is Storage.PARAMETER and isinstance(symbol.type, ArrayType)
            return (
                Pointer(symbol.type.target) if decays and isinstance(symbol.type, ArrayType) else symbol.type
            )
        if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
            inner = self.type_of(node.name if isinstance(node, c_ast.ArrayRef) else node.expr)
            return inner.target if isinstance(inner, (ArrayType, Pointer)) else None
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            ends = map(self.type_of, (node.left, node.right))
            moved = next((kind for kind in ends if isinstance(kind, (ArrayType, Pointer))), None)
            return None if moved is None else Pointer(moved.target)
        if isinstance(node, c_ast.StructRef):
            base = self.type_of(node.name)
            base = base.target if node.type == "->" and isinstance(base, (ArrayType, Pointer)) else base
            return base.fields.get(node.field.name) if isinstance(base, StructType) else None
        return None

    def root(self, node: c_ast.Node) -> Symbol | None:
        """Return the variable that an l-value starts from, or None where there is none."""
        while not isinstance(node, c_ast.ID):
            if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
                node = node.name
            elif isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&"):
                node = node.expr
            elif isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
                node = node.left
            else:
                return None
        return self._bindings.symbol(node)

    def _unwind(self, node: c_ast.Node, steps: list[c_ast.Node | tuple[str, bool]]) -> c_ast.ID:
        """Collect the steps from outermost to innermost; return the identifier at the root."""
        while not isinstance(node, c_ast.ID):
            if isinstance(node, c_ast.ArrayRef):
                node = self._indexed(node.name, node.subscript, steps)
            elif isinstance(node, c_ast.UnaryOp) and node.op == "*":
                node = self._indexed(node.expr, None, steps)
            elif isinstance(node, c_ast.StructRef) and isinstance(node.name, c_ast.BinaryOp):
                steps.append((node.field.name, False))  # (p + i)->x is p[i].x
                node = self._indexed(node.name, None, steps)
            elif isinstance(node, c_ast.StructRef):
                steps.append((node.field.name, node.type == "->"))
                node = node.name
            elif isinstance(node, c_ast.UnaryOp) and node.op == "&" and steps and self._undoes(steps):
                node = node.expr
            else:
                raise self._problems.refuse(
                    "SW216",
                    "this expression names no array element or variable that can be followed",
                    node,
                    "use a variable, an array with subscripts or a structure member",
                )
        return node

    @staticmethod
    def _undoes(steps: list[c_ast.Node | tuple[str, bool]]) -> bool:
        """Whether the last step dereferences with zero, so that an ``&`` below cancels it (it is removed)."""
        last = steps[-1]
        if isinstance(last, tuple):
            steps[-1] = (last[0], False)
            return bool(last[1])
        if last is _ZERO or (isinstance(last, c_ast.Constant) and last.value == "0"):
            steps.pop()
            return True
        return False

    def _indexed(
        self, base: c_ast.Node, subscript: c_ast.Node | None, steps: list[c_ast.Node | tuple[str, bool]]
    ) -> c_ast.Node:
        """Record one subscript of ``base``, folding ``(p + i)[j]`` and ``*(p + i)`` into it."""
        while isinstance(base, c_ast.BinaryOp) and base.op in ("+", "-"):
            pointer, offset = base.left, base.right
            if base.op == "+" and self.root(pointer) is None:
                pointer, offset = offset, pointer
            if not self._is_pointer(pointer):
                pointer, offset = base.right, base.left
            if base.op == "-":
                negated = c_ast.UnaryOp("-", offset, base.coord)
                subscript = (
                    negated if subscript is None else c_ast.BinaryOp("-", subscript, offset, base.coord)
                )
            else:
                subscript = (
                    offset if subscript is None else c_ast.BinaryOp("+", offset, subscript, base.coord)
                )
            base = pointer
        if isinstance(base, c_ast.UnaryOp) and base.op == "&" and isinstance(base.expr, c_ast.ArrayRef):
            # (&A[i])[j] is A[i + j].
            first = base.expr.subscript
            whole = first if subscript is None else c_ast.BinaryOp("+", first, subscript, base.coord)
            return self._indexed(base.expr.name, whole, steps)
        steps.append(_ZERO if subscript is None else subscript)
        return base

    def _is_pointer(self, node: c_ast.Node) -> bool:
        if isinstance(node, c_ast.BinaryOp):
            return self._is_pointer(node.left) or self._is_pointer(node.right)
        symbol = self._bindings.symbol(node) if isinstance(node, c_ast.ID) else None
        return symbol is None or isinstance(symbol.type, (ArrayType, Pointer))

    def _walk(self, node: c_ast.Node, symbol: Symbol, steps: list[c_ast.Node | tuple[str, bool]]) -> Place:
        kind: CType = symbol.type
        base, path = kind, symbol.name
        fields: tuple[str, ...] = ()
        subscripts: list[c_ast.Node] = []
        through = False
        for position, step in enumerate(steps):
            if isinstance(step, tuple):
                if len(subscripts) == 1 and subscripts[0] is _ZERO and not fields:
                    path, subscripts = f"(*{path})", []
                numbers = self._numbers(subscripts) if _leads_on(kind, steps[position:]) else None
                if numbers:
                    path, fields, subscripts = _numbered(path, numbers), (*fields, *numbers), []
                    through = through or isinstance(base, Pointer)
                if subscripts:
                    through = through or isinstance(base, Pointer)
                    record = Place(symbol, path, fields, base, tuple(subscripts), Scalar(INT), through)
                    return self._record_member(node, record, kind, steps[position:])
                kind, path, through = self._member(node, kind, path, step, through)
                base, fields = kind, (*fields, step[0])
                continue
            if isinstance(kind, OtherType):
                raise self._unfit(node, path, kind)
            if not isinstance(kind, (ArrayType, Pointer)):
                raise self._problems.refuse(
                    "SW216",
                    f"'{path}' is subscripted more often than it has dimensions",
                    node,
                    "remove a subscript",
                )
            if isinstance(kind, Pointer) and subscripts:
                numbers = self._numbers(subscripts)
                if numbers is None:
                    raise self._problems.refuse(
                        "SW218",
                        f"'{path}' is an array of pointers, whose rows may lie anywhere",
                        node,
                        "use one block of memory, double (*A)[m] or A[i*m + j], or constants: A[2][j]",
                    )
                path, fields = _numbered(path, numbers), (*fields, *numbers)
                base, subscripts = kind, []
            through = through or isinstance(kind, Pointer)
            subscripts.append(step)
            kind = kind.target
        return self._finish(node, symbol, path, fields, base, subscripts, kind, through)

    def _numbers(self, subscripts: list[c_ast.Node]) -> tuple[str, ...] | None:
        """Return constant subscripts as fields, None where they say at run time which pointer is meant."""
        found = [self._extent(subscript) for subscript in subscripts]
        return None if any(n is None or n < 0 for n in found) else tuple(map(str, found))

    def _record_member(
        self, node: c_ast.Node, record: Place, kind: CType, steps: list[c_ast.Node | tuple[str, bool]]
    ) -> Place:
        """Return the place of a member of an array of structures: an element of rows of its type."""
        whole = size_of(kind, self._extent)
        offset, terms, member = 0, list[tuple[c_ast.Node, int]](), ""
        layout: list[tuple[str, int]] = []
        for step in steps:
            inner: CType
            if isinstance(step, tuple):
                if step[1] and isinstance(kind, (Pointer, ArrayType)):
                    raise self._no_record(node, record, "holds pointers", "give all members in place")
                inner = self._member(node, kind, record.path, (step[0], False), False)[0]
                begin = offset_of(kind, step[0], self._extent) if isinstance(kind, StructType) else None
                offset += begin or 0
                member += f".{step[0]}" if member else step[0]
                whole = None if begin is None else whole
            elif isinstance(kind, ArrayType):
                inner = kind.target
                terms.append((step, size_of(inner, self._extent) or 0))
                layout.append((f"{member}[1]", offset + terms[-1][1]))
                member += "[0]"
            else:
                raise self._no_record(node, record, "holds pointers", "give all members in place")
            kind = inner
        if not isinstance(kind, Scalar) or kind.volatile:
            self._finish(node, record.symbol, record.path, (), kind, [], kind, False)
            raise self._no_record(node, record, "has volatile members", "copy them before the region")
        size = kind.element.size
        if whole is None or whole % size or offset % size or any(stride % size for _, stride in terms):
            what = "is laid out in memory in a way that is not known here (packed, aligned, with bit-fields)"
            raise self._no_record(node, record, what, "keep each member in an array of its own")
        subscript: c_ast.Node = self._number(offset // size, node)
        for index, stride in terms:
            scaled = c_ast.BinaryOp("*", index, self._number(stride // size, node), node.coord)
            subscript = c_ast.BinaryOp("+", subscript, scaled, node.coord)
        self._bindings.kept.append(subscript)
        layout.insert(0, (member, offset))
        rows = _as_rows(record.kind, ArrayType(kind, self._number(whole // size, node)))
        return replace(
            record, kind=rows, subscripts=(*record.subscripts, subscript), element=kind,
            record=record.kind, layout=tuple(layout),
        )  # fmt: skip

    def _number(self, value: int, node: c_ast.Node) -> c_ast.Constant:
        constant = c_ast.Constant("int", str(value), node.coord)
        self._bindings.kept.append(constant)
        return constant

    def _no_record(self, node: c_ast.Node, record: Place, what: str, hint: str) -> NotModelledError:
        message = f"'{record.path}' is an array of structures that {what}"
        return self._problems.refuse("SW218", message, node, hint)

    def _unfit(self, node: c_ast.Node, path: str, kind: OtherType) -> NotModelledError:
        message = f"'{path}' has type {kind.name}, which kernels cannot hold"
        return self._problems.refuse("SW218", message, node, _ORDINARY)

    def _member(
        self, node: c_ast.Node, kind: CType, path: str, step: tuple[str, bool], through: bool
    ) -> tuple[CType, str, bool]:
        name, arrow = step
        if arrow and isinstance(kind, (Pointer, ArrayType)):
            kind, through = kind.target, True
        if isinstance(kind, OtherType):
            raise self._unfit(node, path, kind)
        if not isinstance(kind, StructType) or name not in kind.fields:
            raise self._problems.refuse(
                "SW218",
                f"the structure of '{path}' is not known to have '{name}'",
                node,
                "include the header that defines it",
            )
        if kind.unfit:
            raise self._problems.refuse(
                "SW218",
                f"'{name}' belongs to a structure with the attribute {kind.unfit}, so it may lie anywhere",
                node,
                "copy it to a variable before the region",
            )
        if name in kind.bitfields or kind.keyword == "union":
            what = "a bit-field" if name in kind.bitfields else "a member of a union"
            raise self._problems.refuse(
                "SW218",
                f"'{name}' is {what}, which has no array to itself",
                node,
                "copy it to a variable before the region",
            )
        return kind.fields[name], f"{path}{'->' if arrow else '.'}{name}", through

    def _finish(
        self,
        node: c_ast.Node,
        symbol: Symbol,
        path: str,
        fields: tuple[str, ...],
        base: CType,
        subscripts: list[c_ast.Node],
        kind: CType,
        through: bool,
    ) -> Place:
        if isinstance(kind, (ArrayType, Pointer)):
            raise self._problems.refuse(
                "SW216",
                f"'{path}' is used here as a pointer",
                node,
                "give all subscripts; move pointer computations out of the region",
            )
        if isinstance(kind, StructType):
            raise self._problems.refuse(
                "SW218", f"'{path}' is a whole structure here", node, "copy it member by member"
            )
        if not isinstance(kind, Scalar):
            raise self._unfit(node, path, kind if isinstance(kind, OtherType) else OtherType("a function"))
        if kind.volatile:
            raise self._problems.refuse(
                "SW217", f"'{path}' is volatile", node, "copy it to an ordinary variable before the region"
            )
        return Place(symbol, path, fields, base, tuple(subscripts), kind, through)


def _leads_on(kind: CType, steps: list[c_ast.Node | tuple[str, bool]]) -> bool:
    """Return whether ``steps`` from something of type ``kind`` follow a pointer."""
    for step in steps:
        if isinstance(kind, Pointer):
            return True
        if isinstance(step, tuple):
            kind = kind.fields.get(step[0], kind) if isinstance(kind, StructType) else kind
        elif isinstance(kind, ArrayType):
            kind = kind.target
    return False


def _numbered(path: str, numbers: tuple[str, ...]) -> str:
    """Return the C expression of the element ``numbers`` of an array of pointers."""
    return path + "".join(f"[{number}]" for number in numbers)


def _as_rows(kind: CType, row: ArrayType) -> CType:
    """Return the type of an array of structures with each structure replaced by ``row``."""
    if isinstance(kind, (ArrayType, Pointer)):
        return replace(kind, target=_as_rows(kind.target, row))
    return row
