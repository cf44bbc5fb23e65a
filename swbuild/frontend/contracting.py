"""The text of a region with multiply-adds in the place of its sums and products, for the serial reference.

What is a sum of a product is read off the syntax here, by the rule of ``swbuild.expressions.contraction``.
Which of these are of floating-point numbers, and of which type, says the compiler: nothing is of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycparser import c_ast, c_generator

from swbuild.frontend.calls import Calls
from swbuild.frontend.symbols import FileScope, walk

__all__ = ["PRELUDE", "contracted_text"]

#: ``p`` times ``q`` and ``s``, each evaluated once.
PRELUDE = """\
#define swchk_is(x, type) __builtin_types_compatible_p(__typeof__(x), type)
#define swchk_both(x, y, type) \\
    (__builtin_types_compatible_p(__typeof__(x), type) && __builtin_types_compatible_p(__typeof__(y), type))
#define swchk_number(x) __builtin_choose_expr(__builtin_classify_type(x) == 5, 0, x)
#define swchk_once(whole, less_p, less_s) \\
    __builtin_choose_expr(swchk_both(swchk_p * swchk_q, whole, double), \\
        __builtin_fma(less_p (double)swchk_p, swchk_q, less_s (double)swchk_number(swchk_s)), \\
    __builtin_choose_expr(swchk_both(swchk_p * swchk_q, whole, float), \\
        __builtin_fmaf(less_p (float)swchk_p, swchk_q, less_s (float)swchk_number(swchk_s)), whole))
#define swchk_with(p, q, s, whole, less_p, less_s) \\
    __extension__({ const __auto_type swchk_p = (p); const __auto_type swchk_q = (q); \\
        const __auto_type swchk_s = (s); swchk_once(whole, less_p, less_s); })
#define swchk_add(p, q, s) swchk_with(p, q, s, (swchk_p * swchk_q + swchk_s), , )
#define swchk_less(p, q, s) swchk_with(p, q, s, (swchk_p * swchk_q - swchk_s), , -)
#define swchk_from(p, q, s) swchk_with(p, q, s, (swchk_s - swchk_p * swchk_q), -, )
"""

_MACROS = {("+", True): "swchk_add", ("-", True): "swchk_less", ("+", False): "swchk_add"}
_MACROS |= {("-", False): "swchk_from"}


def contracted_text(items: Sequence[c_ast.Node], scope: FileScope, calls: Calls) -> str:
    """Return the statements ``items`` with :data:`PRELUDE`'s multiply-adds, "" where that is not to be had.

    It is not where they call functions whose bodies the model takes into the region, and where what ``+=``
    adds to is found by side effects.
    """
    nodes = [node for item in items for node in walk(item)]
    if any(_is_taken_in(node, scope, calls) or _moves_target(node) for node in nodes):
        return ""
    return str(_Contracting().visit(c_ast.Compound(list(items))))


def _is_taken_in(node: c_ast.Node, scope: FileScope, calls: Calls) -> bool:
    if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
        return False
    return node.name.name in scope.functions and not calls.is_pure(node.name.name)


def _moves_target(node: c_ast.Node) -> bool:
    if not isinstance(node, c_ast.Assignment) or node.op == "=":
        return False
    return any(isinstance(n, (c_ast.Assignment, c_ast.FuncCall)) or _steps(n) for n in walk(node.lvalue))


def _steps(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--", "++", "--")


def _is_product(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.BinaryOp) and node.op == "*"


class _Contracting(c_generator.CGenerator):  # type: ignore[misc]
    """Prints sums of products as calls of the macros."""

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> str:  # noqa: N802 - pycparser's name for it
        if node.op in ("+", "-"):
            if _is_product(node.left):
                return self._once(_MACROS[node.op, True], node.left, node.right)
            if _is_product(node.right):
                return self._once(_MACROS[node.op, False], node.right, node.left)
        return str(super().visit_BinaryOp(node))

    def visit_Assignment(self, node: c_ast.Assignment) -> str:  # noqa: N802
        if node.op in ("+=", "-=") and _is_product(node.rvalue):
            target = self._plain(node.lvalue)
            value = self._once(_MACROS[node.op[0], False], node.rvalue, node.lvalue)
            return f"{target} = {value}"
        return str(super().visit_Assignment(node))

    def _generate_type(self, *what: Any, **how: Any) -> str:  # the extents of arrays stay constants
        return str(c_generator.CGenerator()._generate_type(*what, **how))

    def _once(self, macro: str, product: c_ast.BinaryOp, other: c_ast.Node) -> str:
        parts = (product.left, product.right, other)
        return f"{macro}({', '.join(map(self._plain, parts))})"

    def _plain(self, node: c_ast.Node) -> str:
        return f"({self.visit(node)})"
