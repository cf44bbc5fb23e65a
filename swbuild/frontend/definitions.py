"""Variables of the function around a region that stand for a formula: ``const int plane = n * m;``.

What is computed of the sizes before the region, and never changes, says more as a formula than as one more
size: strides are recognised as products, and the model knows how they depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from swbuild.expressions.types import is_integer
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Symbol, identifiers, walk

__all__ = ["Definitions"]


class Definitions:
    """Finds the formulas of the variables that one region uses in subscripts and values only.

    ``visible`` are the names in sight where the region stands.
    """

    def __init__(self, facts: RegionFacts, visible: Mapping[str, Symbol]) -> None:
        self._facts, self._visible = facts, visible
        #: What is one more size: it bounds loops, decides conditions, or is the extent of an array.
        self.sizes: set[Symbol] = set()
        for node in walk(facts.function.body):
            if isinstance(node, c_ast.ArrayDecl) and node.dim is not None:
                self._add(node.dim)
        for item in facts.items:
            self._add_bounds(item)

    def _add(self, node: c_ast.Node) -> None:
        found = (self._facts.bindings.symbol(name) for name in identifiers(node))
        self.sizes.update(symbol for symbol in found if symbol is not None)

    def _add_bounds(self, item: c_ast.Node) -> None:
        for node in walk(item):
            if isinstance(node, c_ast.For):
                for part in (node.init, node.cond, node.next):
                    if part is not None:
                        self._add(part)
            elif isinstance(node, (c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.TernaryOp)):
                self._add(node.cond)
            elif isinstance(node, c_ast.FuncCall):
                self._add(node)
            elif isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ArrayRef):
                self._add(node.subscript)
                self._add(node.name.subscript)

    def formula(self, symbol: Symbol) -> c_ast.Node | None:
        """Return what ``symbol`` stands for all through the function, None if there is no formula for it."""
        node, facts = symbol.node, self._facts
        if symbol in facts.inside or symbol in self.sizes or symbol.storage is not Storage.LOCAL:
            return None
        init = node.init if isinstance(node, c_ast.Decl) and not symbol.is_static else None
        if init is None or not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            return None
        if symbol.type.volatile or not facts.is_unchanged(symbol) or not self._is_product(init):
            return None
        return init if any(True for _ in identifiers(init)) else None

    def _is_product(self, node: c_ast.Node) -> bool:
        """Whether an expression adds and multiplies numbers and variables that never change."""
        if isinstance(node, c_ast.BinaryOp):
            return node.op in ("+", "-", "*") and self._is_product(node.left) and self._is_product(node.right)
        if isinstance(node, c_ast.Cast):
            return self._is_product(node.expr)
        if isinstance(node, c_ast.Constant):
            return integer_constant(node) is not None
        symbol = self._facts.bindings.symbol(node) if isinstance(node, c_ast.ID) else None
        if symbol is None or not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            return False
        own = symbol.storage in (Storage.LOCAL, Storage.PARAMETER) and not symbol.is_static
        if self._visible.get(symbol.name) is not symbol:
            return False  # another variable of that name hides it where the region stands
        return own and not symbol.type.volatile and self._facts.is_unchanged(symbol)
