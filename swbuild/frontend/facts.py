"""What can be said of a region before it is walked: which variables it writes, and where."""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from swbuild.expressions.types import is_integer
from swbuild.frontend.changes import Changes, writes
from swbuild.frontend.constants import Constant, Evaluator, converted
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk

__all__ = ["RegionFacts"]


class RegionFacts:
    """Facts about the statements ``items`` of a function whose names are bound.

    ``scope`` is that of the file.
    """

    def __init__(
        self,
        items: Sequence[c_ast.Node],
        bindings: Bindings,
        function: c_ast.FuncDef,
        scope: FileScope,
    ) -> None:
        self.bindings, self.function = bindings, function
        self.items = items
        self.inside: set[Symbol] = {
            bindings.declared[id(n)] for item in items for n in walk(item) if id(n) in bindings.declared
        }
        self._written = {
            key for item in items for target, _, _ in writes(item) for key in [self._key(target)] if key
        }
        self._cache: dict[int, dict[Symbol, c_ast.Node]] = {}
        self._counters: dict[int, set[Symbol]] = {}
        self._kept: list[c_ast.Node] = []
        self._values: dict[int, c_ast.Node] = {}
        self._changes = Changes(function, bindings, scope)

    def keep(self, node: c_ast.Node) -> None:
        """Keep a node made by us alive, so that its identity stays its own."""
        self._kept.append(node)

    def is_written(self, symbol: Symbol, fields: tuple[str, ...]) -> bool:
        """Whether the region writes this variable or structure member."""
        return (symbol, fields) in self._written or symbol in self.inside

    def writes_into(self, symbol: Symbol) -> bool:
        """Whether the region writes this object or anything that is reached from it."""
        return any(written is symbol for written, _ in self._written)

    def jumps_to(self, label: str) -> bool:
        """Whether some ``goto`` of the function names ``label``."""
        return any(isinstance(n, c_ast.Goto) and n.name == label for n in walk(self.function.body))

    def constant(self, symbol: Symbol) -> int | None:
        """Return the value of a ``const`` integer with a constant initialiser."""
        kind, node = symbol.type, symbol.node
        if not isinstance(kind, Scalar) or not kind.const or kind.volatile or not is_integer(kind.element):
            return None
        init = node.init if isinstance(node, c_ast.Decl) else None
        known = Evaluator(self._enum_constant).value(init) if init is not None else None
        return None if known is None else converted(known.value, kind.element)

    def _enum_constant(self, node: c_ast.ID) -> Constant | None:
        symbol = self.bindings.symbol(node)
        return symbol.constant if symbol is not None else None

    def new_value(self, node: c_ast.Node, symbol: Symbol) -> c_ast.Node | None:
        """Return what ``node`` as a whole gives ``symbol``: ``k + n`` for ``k += n``.

        None unless ``node`` is such an assignment or step, and writes ``symbol`` nowhere else.
        """
        (target, op, value), *others = (*writes(node), (None, "", None))
        whole = node.lvalue if isinstance(node, c_ast.Assignment) else getattr(node, "expr", None)
        if target is None or target is not whole or not isinstance(target, c_ast.ID):
            return None
        again = (other for other, _, _ in others if isinstance(other, c_ast.ID))
        if self.bindings.symbol(target) is not symbol or symbol in map(self.bindings.symbol, again):
            return None
        return value if op == "=" else self._updated(node, target, op, value)

    def _updated(self, node: c_ast.Node, target: c_ast.ID, op: str, value: c_ast.Node | None) -> c_ast.Node:
        """Return the new value of ``target`` after ``target op value``, or after a step without value."""
        if id(node) not in self._values:
            by = c_ast.Constant("int", "1", node.coord) if value is None else value
            sign = op[-1] if value is None else op[:-1]
            self._values[id(node)] = c_ast.BinaryOp(sign, target, by, node.coord)
            self.keep(node)
        return self._values[id(node)]

    def symbols_written_in(self, node: c_ast.Node) -> dict[Symbol, c_ast.Node]:
        """Return the plain variables written below ``node``, with the first write of each."""
        if id(node) not in self._cache:
            found: dict[Symbol, c_ast.Node] = {}
            for target, _, _ in writes(node):
                symbol = self.bindings.symbol(target) if isinstance(target, c_ast.ID) else None
                if symbol is not None:
                    found.setdefault(symbol, target)
            self._cache[id(node)] = found
            self._kept.append(node)
        return self._cache[id(node)]

    def scalars_written_in(self, node: c_ast.Node) -> list[Symbol]:
        """Return the plain variables written below ``node`` (loop counters declared there excepted)."""
        return [s for s in self.symbols_written_in(node) if isinstance(s.type, Scalar)]

    def outer_counters(self, node: c_ast.Node) -> set[Symbol]:
        """Return the variables that loops below ``node`` count with but do not declare."""
        if id(node) not in self._counters:
            self._counters[id(node)] = self._find_counters(node)
            self._kept.append(node)
        return self._counters[id(node)]

    def _find_counters(self, node: c_ast.Node) -> set[Symbol]:
        found = set()
        for loop in walk(node):
            if (
                isinstance(loop, c_ast.For)
                and loop.next is not None
                and not isinstance(loop.init, c_ast.DeclList)
            ):
                found |= set(self.symbols_written_in(loop.next))
        return found

    def mentions(self, node: c_ast.Node, symbol: Symbol) -> bool:
        """Whether ``symbol`` is named below ``node``."""
        return any(self.bindings.symbol(n) is symbol for n in identifiers(node))

    def is_unchanged(self, symbol: Symbol) -> bool:
        """Whether the function never assigns ``symbol``."""
        return not self._changes.is_changed(symbol)

    def unchanged_since_declared(self, symbol: Symbol, array: Symbol, extent: c_ast.Node) -> bool:
        """Whether ``symbol`` still has the value that it had when ``extent`` of ``array`` was evaluated.

        That was in its declaration, or in the one of its type.
        """
        declared = self._changes.place(array.node)
        declared = min(declared, self._changes.place(extent, declared))
        return not self._changes.may_change_since(symbol, declared, extent)

    def _key(self, target: c_ast.Node) -> tuple[Symbol, tuple[str, ...]] | None:
        fields: list[str] = []
        node = target
        while not isinstance(node, c_ast.ID):
            if isinstance(node, c_ast.StructRef):
                fields.append(node.field.name)
                node = node.name
            elif isinstance(node, c_ast.ArrayRef):
                node = node.name
            elif isinstance(node, c_ast.UnaryOp):
                node = node.expr
            elif isinstance(node, c_ast.BinaryOp):
                node = node.left
            else:
                return None
        symbol = self.bindings.symbol(node)
        return (symbol, tuple(reversed(fields))) if symbol is not None else None
