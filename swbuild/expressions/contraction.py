"""Products and sums contracted to multiply-adds, which round once.

A sum or a difference of type float or double becomes one multiply-add where one of its operands is a product
that is computed in that very type; so does what ``+=`` and ``-=`` assign.  Of two products the left one goes
into the multiply-add, and the other one is rounded.  Parentheses play no part.  What is converted, negated,
chosen, passed to a function or held in a variable on its way from the product to the sum is rounded there.
"""

from __future__ import annotations

from collections.abc import Callable

from swbuild.classes import dataclass
from swbuild.expressions.c import Assignment, Call, Cast, Operation, Parentheses, Typed, Unary, Unrounded
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import DOUBLE, FLOAT, ElementType

__all__ = ["MultiplyAdd", "called", "contracted", "multiply_add", "spelled"]

_SUMS, _ASSIGNED = ("+", "-"), ("+=", "-=")
_BUILTIN = {DOUBLE: "__builtin_fma", FLOAT: "__builtin_fmaf"}


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """``left * right + addend``, all of it in one type and rounded once.

    ``negated``: less the product instead; ``subtracted``: less the addend.
    """

    type: ElementType
    left: Expression
    right: Expression
    addend: Expression
    negated: bool = False
    subtracted: bool = False


def contracted(tree: Expression) -> Expression:
    """Return ``tree`` with the products that its sums take unrounded marked as such."""
    return transformed(tree, _marked)


def _marked(node: Expression) -> Expression:
    if isinstance(node, Operation) and node.operator in _SUMS and node.computed in _BUILTIN:
        if _is_product(node.left, node.computed):
            return node.rebuilt((_unrounded(node.left), node.right))
        if _is_product(node.right, node.computed):
            return node.rebuilt((node.left, _unrounded(node.right)))
    if not isinstance(node, Assignment) or node.operator not in _ASSIGNED or node.computed not in _BUILTIN:
        return node
    if _is_product(node.value, node.computed):
        return node.rebuilt((node.target, _unrounded(node.value)))
    return node


def _is_product(node: Expression, kind: ElementType) -> bool:
    node = _bare(node)
    return isinstance(node, Operation) and node.operator == "*" and node.computed == kind


def _unrounded(node: Expression) -> Expression:
    node = _bare(node)
    assert isinstance(node, Operation)
    return Unrounded(node.type, node)


def _bare(node: Expression) -> Expression:
    while isinstance(node, Parentheses):
        node = node.operand
    return node


def multiply_add(node: Expression) -> MultiplyAdd | None:
    """Return what ``node``, a sum or an assignment with a marked product, computes, None for all else."""
    if isinstance(node, Operation):
        left, right = node.left, node.right
        if isinstance(left, Unrounded):
            return _made(left, right, negated=False, subtracted=node.operator == "-")
        if isinstance(right, Unrounded):
            return _made(right, left, negated=node.operator == "-", subtracted=False)
    elif isinstance(node, Assignment) and isinstance(node.value, Unrounded):
        return _made(node.value, node.target, negated=node.operator == "-=", subtracted=False)
    return None


def _made(marked: Unrounded, addend: Expression, *, negated: bool, subtracted: bool) -> MultiplyAdd:
    product = _bare(marked)
    assert isinstance(product, Operation)
    return MultiplyAdd(product.type, product.left, product.right, addend, negated, subtracted)


def called(found: MultiplyAdd, function: str = "") -> Call:
    """Return ``found`` as a call of ``function``, by default the compiler's own for numbers of its type.

    That takes two factors and what to add, and the signs of what is subtracted are changed.
    """
    left, addend = found.left, found.addend
    left = _negative(left, found.type) if found.negated else left
    addend = _negative(addend, found.type) if found.subtracted else addend
    return Call(found.type, function or _BUILTIN[found.type], (left, found.right, addend))


def _negative(value: Expression, kind: ElementType) -> Expression:
    """Return ``value`` as a number of type ``kind`` with its sign changed."""
    own = isinstance(value, Typed) and value.type == kind
    return Unary(kind, value if own else Cast(kind, value), "-")


def spelled(tree: Expression, spell: Callable[[MultiplyAdd], Expression]) -> Expression:
    """Return ``tree`` with its multiply-adds as ``spell`` has them, and assignments of them plain ones."""

    def change(node: Expression) -> Expression:
        found = multiply_add(node)
        if found is None:
            return node
        if isinstance(node, Assignment):
            return Assignment(node.type, "=", node.type, node.target, spell(found))
        return spell(found)

    return transformed(tree, change)
