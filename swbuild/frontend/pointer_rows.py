"""Short loops over the elements of arrays of pointers, written out: each iteration names its own pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from swbuild.expressions.types import promoted
from swbuild.frontend.changes import changed_symbols
from swbuild.frontend.constants import Constant
from swbuild.frontend.copies import copied_apart, with_values
from swbuild.frontend.countdowns import only_counts
from swbuild.frontend.ctype import CType, Pointer, Scalar
from swbuild.frontend.steps import Counted, constant_at, counted
from swbuild.frontend.symbols import Bindings, FileScope, identifiers, walk
from swbuild.frontend.syntax import breaks, change_children, continues

__all__ = ["with_pointers_named"]

#: Iterations that are written out at most, those of loops inside each other taken together.
_MOST = 16
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Return)

#: The type of an expression that names an object, None where it is not followed.
TypeOf = Callable[[c_ast.Node], CType | None]


def with_pointers_named(
    items: Sequence[c_ast.Node],
    function: c_ast.FuncDef,
    bindings: Bindings,
    scope: FileScope,
    type_of: TypeOf,
) -> list[c_ast.Node]:
    """Return ``items`` of ``function`` with loops over arrays of pointers written out, in place below.

    They are loops from one constant to another, whose counters are in subscripts that say which pointer is
    meant (``u[v][i]`` for ``double *u[5]``).
    """
    return _WrittenOut(function, bindings, scope, type_of).items(items)


class _WrittenOut:
    def __init__(
        self, function: c_ast.FuncDef, bindings: Bindings, scope: FileScope, type_of: TypeOf
    ) -> None:
        self._function, self._bindings, self._scope, self._type_of = function, bindings, scope, type_of

    def items(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [self._changed(item, _MOST) for item in items]

    def _changed(self, node: c_ast.Node, most: int) -> c_ast.Node:
        """Return what stands for ``node``, with at most so many iterations of loops in it written out."""
        head = counted(node, self._bindings, self._scope) if isinstance(node, c_ast.For) else None
        numbers = None if head is None else self._numbers(head, most)
        if head is not None and numbers is not None:
            return c_ast.Compound(
                [self._changed(self._at(head, n), most // len(numbers)) for n in numbers], node.coord
            )
        change_children(node, lambda child: self._changed(child, most))
        return node

    def _numbers(self, head: Counted, most: int) -> range | None:
        """Return the values of the counter of a loop that is to be written out, None for all others."""
        first, end = self._scope.integer(head.first), self._scope.integer(head.end)
        if first is None or end is None or not 0 <= first < end <= first + most:
            return None
        kind, body = head.counter.type, head.loop.stmt
        if not isinstance(kind, Scalar) or promoted(kind.element) != kind.element or kind.volatile:
            return None
        own = isinstance(head.loop.init, c_ast.DeclList)
        if not own and not only_counts(head.counter, [self._function.body], self._bindings):
            return None
        jumps = any(isinstance(n, _JUMPS) for n in walk(body))
        if jumps or breaks(body) or continues(body) or head.counter in changed_symbols(body, self._bindings):
            return None
        chosen = (name for n in walk(body) for name in self._choosing(n))
        return range(first, end) if any(self._bindings.symbol(n) is head.counter for n in chosen) else None

    def _choosing(self, node: c_ast.Node) -> Iterator[c_ast.ID]:
        """Yield the names that say which pointer ``node`` is, where it is one in memory."""
        if not _is_part(node) or not isinstance(self._type_of(node), Pointer):
            return
        while _is_part(node):
            if isinstance(node, c_ast.ArrayRef):
                yield from identifiers(node.subscript)
            node = node.name

    def _at(self, head: Counted, number: int) -> c_ast.Node:
        """Return the iteration of a loop in which its counter is ``number``."""
        assert isinstance(head.counter.type, Scalar)
        value = constant_at(Constant(number, head.counter.type.element), head.loop)
        twin = copied_apart(head.loop.stmt, self._bindings)
        return with_values(twin, {head.counter: value}, self._bindings)


def _is_part(node: c_ast.Node) -> bool:
    return isinstance(node, (c_ast.ArrayRef, c_ast.StructRef))
