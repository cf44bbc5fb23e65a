"""``memcpy`` and ``memset`` of numbers, written out as the loops over them that they stand for.

``memcpy(a, b, n * m * sizeof(double))`` becomes two loops over ``a[at0 * m + at1]``, linear subscripts
of rows.  Two numbers below zero would make a product above it: those sizes are left to the call itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import LONG, ElementType, TypeKind
from swbuild.frontend.changes import is_write
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.places import PlaceFinder
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk
from swbuild.names import own

__all__ = ["NOT_NEGATIVE", "BlockCopies"]

#: A call that stands for what its arguments have to be, so that loops are what they were written for.
NOT_NEGATIVE = own("not_negative")

_ARGUMENTS = 3


@dataclass(frozen=True, slots=True)
class _Block:
    """Numbers of type ``element`` from ``base[first]`` on; ``rows`` are the extents of what that is."""

    base: c_ast.Node
    first: c_ast.Node | None
    element: ElementType
    rows: tuple[c_ast.Node, ...]


class BlockCopies:
    """Writes calls in one region out; new nodes are entered into ``bindings``."""

    def __init__(self, scope: FileScope, bindings: Bindings, finder: PlaceFinder) -> None:
        self._scope, self._bindings, self._finder = scope, bindings, finder

    def written_out(self, call: c_ast.FuncCall) -> c_ast.Node | None:
        """Return the loop that the statement ``call`` stands for, None where it is no such call.

        Or where its numbers are of several types, or not counted in a way that tells their subscripts.
        """
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        arguments = list(call.args.exprs) if call.args is not None else []
        if name not in ("memcpy", "memset") or name in self._scope.functions or len(arguments) != _ARGUMENTS:
            return None
        if any(is_write(n) or isinstance(n, c_ast.FuncCall) for each in arguments for n in walk(each)):
            return None
        target = self._block(arguments[0])
        counts = None if target is None else self._counts(arguments[2], target)
        if target is None or counts is None:
            return None
        if name == "memset":
            if self._scope.integer(arguments[1]) != 0:
                return None
            return self._loops(call, target, counts, None)
        source = self._block(arguments[1])
        if source is None or source.element != target.element:
            return None
        if self._counts(arguments[2], source) is None or len(source.rows) != len(target.rows):
            return None
        return self._loops(call, target, counts, source)

    # -- what is copied ---------------------------------------------------------------------------

    def _block(self, node: c_ast.Node) -> _Block | None:
        """Return the numbers that the pointer ``node`` points to the first of."""
        if isinstance(node, c_ast.Cast) and _is_void_pointer(node.to_type):
            node = node.expr
        base, first = node, None
        if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
            base, first = node.expr.name, node.expr.subscript
        elif isinstance(node, c_ast.BinaryOp) and node.op == "+":
            base, first = node.left, node.right
        kind = self._finder.type_of(base)
        if not isinstance(kind, (Pointer, ArrayType)):
            return None
        inner = _in_rows(kind.target)
        if inner is None or (first is not None and not _stays(first)):
            return None
        return _Block(base, first, *inner)

    def _counts(self, size: c_ast.Node, block: _Block) -> list[c_ast.Node] | None:
        """Return how often each loop over ``block`` runs, where the call moves ``size`` bytes."""
        factors = _factors(size)
        sizes = [f for f in factors if isinstance(f, c_ast.UnaryOp) and f.op == "sizeof"]
        counts = [f for f in factors if f not in sizes]
        if len(sizes) > 1 or not (sizes or block.element.size == 1) or not all(map(_stays, counts)):
            return None
        for each in sizes:
            kind = self._sized(each.expr)
            inner = None if kind is None else _in_rows(kind)
            if inner is None or inner[0].size != block.element.size:
                return None
            varies = any(self._scope.integer(extent) is None for extent in inner[1])
            if varies and not self._is_as_now(each.expr, block):
                return None
            counts += inner[1]
        if block.rows:
            last = counts[len(counts) - len(block.rows) :]
            whole = len(counts) >= len(block.rows) and all(map(self._are_equal, last, block.rows))
            return [*self._joined(counts[: -len(block.rows)], size), *last] if whole else None
        varying = [count for count in counts if self._scope.integer(count) is None]
        if len(varying) <= 1:
            return self._joined(counts, size)
        return None if any(map(self._may_wrap, varying)) else counts

    def _is_as_now(self, node: c_ast.Node, block: _Block) -> bool:
        """Return whether the extents in ``sizeof node`` have the values that their names have now.

        Those of an array have what they had at its declaration; of ``block``, that is looked at elsewhere.
        """
        if isinstance(node, c_ast.Typename):
            return isinstance(node.type, c_ast.ArrayDecl)
        return self._finder.root(node) is self._finder.root(block.base)

    def _sized(self, node: c_ast.Node) -> CType | None:
        """Return the type whose size ``sizeof node`` is."""
        if isinstance(node, c_ast.Typename):
            return self._scope.types.resolve(node)
        return self._finder.type_of(node)

    def _joined(self, counts: Sequence[c_ast.Node], at: c_ast.Node) -> list[c_ast.Node]:
        """Return the product of ``counts`` as the only count."""
        if not counts:
            return [c_ast.Constant("int", "1", at.coord)]
        return [reduce(lambda one, other: c_ast.BinaryOp("*", one, other, at.coord), counts)]

    def _may_wrap(self, count: c_ast.Node) -> bool:
        """Return whether a product with ``count`` may wrap around before it is multiplied by a size."""
        symbols = (self._bindings.symbol(name) for name in identifiers(count))
        kinds = (s.type.element for s in symbols if s is not None and isinstance(s.type, Scalar))
        return any(kind.kind is TypeKind.UNSIGNED and kind.size < LONG.size for kind in kinds)

    def _are_equal(self, one: c_ast.Node, other: c_ast.Node) -> bool:
        return bool(expression_text(one, self._scope) == expression_text(other, self._scope))

    # -- the loops --------------------------------------------------------------------------------

    def _loops(
        self, call: c_ast.FuncCall, target: _Block, counts: Sequence[c_ast.Node], source: _Block | None
    ) -> c_ast.Node:
        zero, bindings = c_ast.Constant("int", "0", call.coord), self._bindings
        counters = [
            bindings.variable(own(f"at{depth}"), Scalar(LONG), bindings.copied(zero))
            for depth in range(len(counts))
        ]
        places = [symbol for symbol, _ in counters]
        value = zero if source is None else self._element(source, places, counts, call)
        body: c_ast.Node = c_ast.Assignment(
            "=", self._element(target, places, counts, call), value, call.coord
        )
        for (symbol, declared), count in reversed(list(zip(counters, counts, strict=True))):
            at, again = (self._bindings.named(symbol, call) for _ in range(2))
            test = c_ast.BinaryOp("<", at, self._bindings.copied(count), call.coord)
            step = c_ast.UnaryOp("p++", again, call.coord)
            body = c_ast.For(c_ast.DeclList([declared], call.coord), test, step, body, call.coord)
        varying = [count for count in counts if self._scope.integer(count) is None]
        if len(varying) > 1:
            asked = c_ast.ExprList([self._bindings.copied(count) for count in varying], call.coord)
            required = c_ast.FuncCall(c_ast.ID(NOT_NEGATIVE, call.coord), asked, call.coord)
            body = c_ast.Compound([required, body], call.coord)
        self._bindings.kept.append(body)
        return body

    def _element(
        self, block: _Block, counters: Sequence[Symbol], counts: Sequence[c_ast.Node], call: c_ast.FuncCall
    ) -> c_ast.Node:
        """Return the number of ``block`` that the loops of ``counters`` are at."""
        flat = len(counters) - len(block.rows)
        place: c_ast.Node = self._bindings.named(counters[0], call)
        for counter, count in list(zip(counters, counts, strict=True))[1:flat]:
            row = c_ast.BinaryOp("*", place, self._bindings.copied(count), call.coord)
            place = c_ast.BinaryOp("+", row, self._bindings.named(counter, call), call.coord)
        if block.first is not None:
            place = c_ast.BinaryOp("+", self._bindings.copied(block.first), place, call.coord)
        node = c_ast.ArrayRef(self._bindings.copied(block.base), place, call.coord)
        for counter in counters[flat:]:
            node = c_ast.ArrayRef(node, self._bindings.named(counter, call), call.coord)
        return node


def _is_void_pointer(node: c_ast.Typename) -> bool:
    inner = node.type.type if isinstance(node.type, c_ast.PtrDecl) else None
    names = getattr(getattr(inner, "type", None), "names", [])
    return names == ["void"]


def _in_rows(kind: CType) -> tuple[ElementType, tuple[c_ast.Node, ...]] | None:
    """Return the type of the numbers in ``kind``, and its extents; None for anything else."""
    rows: list[c_ast.Node] = []
    while isinstance(kind, ArrayType):
        if kind.extent is None:
            return None
        rows.append(kind.extent)
        kind = kind.target
    return (kind.element, tuple(rows)) if isinstance(kind, Scalar) and not kind.volatile else None


def _stays(node: c_ast.Node) -> bool:
    """Return whether ``node`` keeps its value while elements are set, as what is read of an array may not."""
    return not any(
        isinstance(n, c_ast.ArrayRef) or (isinstance(n, c_ast.UnaryOp) and n.op == "*") for n in walk(node)
    )


def _factors(node: c_ast.Node) -> list[c_ast.Node]:
    """Return what is multiplied in ``node``, in its order."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "*":
        return [*_factors(node.left), *_factors(node.right)]
    return [node]
