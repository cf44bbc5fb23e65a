"""Statements that accumulate: sums, products, minima and maxima whose terms may be taken in any order.

``s += e``, ``s = s + e``, ``s -= e``, ``s *= e``, ``s++``, ``if (c) s += e``, ``if (e > m) m = e``,
``m = e > m ? e : m`` and ``m = fmax(m, e)`` are recognised, where ``e`` and ``c`` do not read the variable.
The pairs of instances of such statements that meet only in the variable need no order, as far as real
numbers go.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Cast,
    Conditional,
    Literal,
    Operation,
    Parentheses,
    Step,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import Block, Evaluation, If, Nothing
from swbuild.expressions.trees import transformed, walk
from swbuild.expressions.types import TypeKind, is_integer
from swbuild.frontend.scop import (
    Access,
    AccessKind,
    Scop,
    Statement,
)
from swbuild.polyhedral.dataflow import Expansions, analyse, relations
from swbuild.polyhedral.islutil import union_maps

__all__ = [
    "EXTREMES",
    "Operator",
    "Reduction",
    "accesses_to",
    "find_reductions",
    "is_same_value",
    "operator_of",
    "relaxed",
    "without_accesses",
]


class Operator(Enum):
    """What is accumulated; a difference is a sum.

    C's ``fmin`` and ``fmax`` take any number for a NaN, comparisons do not.
    """

    SUM = "+"
    PRODUCT = "*"
    MIN = "min"
    MAX = "max"
    FMIN = "fmin"
    FMAX = "fmax"


EXTREMES = frozenset((Operator.MIN, Operator.MAX, Operator.FMIN, Operator.FMAX))


@dataclass(frozen=True, slots=True)
class Reduction:
    """The statements that accumulate into ``array`` with one operator."""

    array: str
    operator: Operator
    statements: frozenset[str]


def find_reductions(scop: Scop) -> tuple[Reduction, ...]:
    """Return the reductions of ``scop``, by array and operator."""
    found: dict[tuple[str, Operator], set[str]] = {}
    for statement in scop.statements:
        key = _reduction(scop, statement)
        if key is not None:
            found.setdefault(key, set()).add(statement.name)
    return tuple(Reduction(array, op, frozenset(names)) for (array, op), names in found.items())


def relaxed(scop: Scop, expansions: Expansions, reductions: tuple[Reduction, ...]) -> isl.UnionMap:
    """Return the pairs (instance -> later instance) that an order has to keep if ``reductions`` may be split.

    ``expansions`` expands privatised variables as in :func:`relations`; no reduction may be on one of them.
    Every access to a reduction's array that is not the reduction's own stays ordered with all that are.
    """
    other = without_accesses(scop, {(n, r.array) for r in reductions for n in r.statements})
    kept = analyse(relations(other, expansions), scop.schedule).all
    order = scop.schedule.get_map()
    earlier = order.lex_lt_union_map(order)
    for reduction in reductions:
        own = accesses_to(scop, reduction.array, reduction.statements)
        rest = accesses_to(scop, reduction.array, None).subtract(own)
        # own instance -> element -> another access; pairs of own instances alone are what is left out
        conflicts = own.apply_range(rest.reverse())
        kept = kept.union(conflicts.union(conflicts.reverse()).intersect(earlier))
    return kept.coalesce()


def without_accesses(scop: Scop, dropped: Set[tuple[str, str]]) -> Scop:
    """Return ``scop`` without the accesses of some statements to some arrays, (statement, array)."""
    statements = tuple(
        replace(s, accesses=tuple(a for a in s.accesses if (s.name, a.array) not in dropped))
        for s in scop.statements
    )
    return replace(scop, statements=statements)


def accesses_to(scop: Scop, array: str, statements: frozenset[str] | None) -> isl.UnionMap:
    """Return instance -> element of the accesses to ``array``, in ``statements`` or in all."""
    return union_maps(
        access.relation.intersect_domain(statement.domain).intersect_params(scop.context)
        for statement in scop.statements
        if statements is None or statement.name in statements
        for access in statement.accesses
        if access.array == array
    )


def _reduction(scop: Scop, statement: Statement) -> tuple[str, Operator] | None:
    """Return the array and the operator of ``statement`` if it accumulates."""
    written = {a.array for a in statement.accesses if a.kind is not AccessKind.READ}
    if len(written) != 1:
        return None
    (array,) = written
    own = [a for a in statement.accesses if a.array == array]
    if not _one_element(own):
        return None
    operator = operator_of(statement, frozenset(a.ref for a in own))
    if operator is None or not _is_exact(scop, statement, array, operator):
        return None
    return array, operator


def _is_exact(scop: Scop, statement: Statement, array: str, operator: Operator) -> bool:
    """Return whether conversions on the way into the accumulator do no more than round or wrap around.

    An integer that takes on fractions, or wider integers to compare with, loses what parts would keep.
    """
    element = scop.array(array).element
    if element.size not in (4, 8):
        return False
    if element.kind is TypeKind.FLOAT:
        return True
    if operator in EXTREMES:
        others = [scop.array(a.array).element for a in statement.accesses]
        return all(other.name == element.name for other in others) and _is_plain(statement.body)
    added = [node.value for node in walk(statement.body) if isinstance(node, Assignment)]
    refs = {node.ref for value in added for node in walk(value) if isinstance(node, AccessRef)}
    others = [scop.array(a.array).element for a in statement.accesses if a.ref in refs]
    return all(other.kind is not TypeKind.FLOAT for other in others) and all(map(_is_plain, added))


def _is_plain(tree: Expression) -> bool:
    """Return whether an expression of integers has no part of another type."""
    return not any(
        isinstance(node, (Call, Cast)) or (isinstance(node, Literal) and _has_suffix(node))
        for node in walk(tree)
    )


def _has_suffix(literal: Literal) -> bool:
    """Return whether a constant is spelt as one that is no int."""
    is_character = literal.text.startswith("'")
    return not is_integer(literal.type) or (not is_character and not {*"uUlL"}.isdisjoint(literal.text))


def operator_of(statement: Statement, own: frozenset[int]) -> Operator | None:
    """Return what ``statement`` does to the one element that its references ``own`` lead to.

    None where that is no accumulation.  What is accumulated does not read ``own``.
    """
    return _Reader(statement, own).statement(statement.body)


def _one_element(own: list[Access]) -> bool:
    """Return whether all of ``own`` are certain to access the same element."""
    if len({a.ref for a in own}) == 1:
        return True
    first = own[0].relation
    return all(a.affine and bool(a.relation.is_equal(first)) for a in own)


def is_same_value(statement: Statement, a: Expression, b: Expression) -> bool:
    """Return whether two expressions of ``statement`` are the same, of the same elements."""

    def change(node: Expression) -> Expression:
        if isinstance(node, AccessRef):
            return AccessRef(node.type, _first_ref(statement, node.ref))
        return _bare(node)

    return transformed(a, change) == transformed(b, change)


def _first_ref(statement: Statement, ref: int) -> int:
    """Return the first reference that is certain to access the same element as ``ref``."""
    access = next(a for a in statement.accesses if a.ref == ref)
    for other in statement.accesses:
        same = other.array == access.array and other.affine and bool(other.relation.is_equal(access.relation))
        if other.ref == ref or same:
            return other.ref
    raise AssertionError("a reference without an access")


_LARGER, _SMALLER = frozenset((">", ">=")), frozenset(("<", "<="))
_CALLS = {f"{op.value}{end}": op for op in (Operator.FMIN, Operator.FMAX) for end in ("", "f", "l")}
_COMPOUND = {"+=": Operator.SUM, "-=": Operator.SUM, "*=": Operator.PRODUCT}


class _Reader:
    """Finds the operator in a statement's body; ``own`` are the references to the accumulator."""

    def __init__(self, statement: Statement, own: frozenset[int]) -> None:
        self._statement, self._own = statement, own

    def statement(self, node: Expression) -> Operator | None:
        """Return the operator of a whole statement."""
        if isinstance(node, Block) and len(node.items) == 1:
            return self.statement(node.items[0])
        if isinstance(node, If):
            return self._guarded(node) or self._accumulated(node)
        found = node.expression if isinstance(node, Evaluation) else node
        if isinstance(found, Step):
            return Operator.SUM if self._is_own(found.operand) else None
        if not isinstance(found, Assignment) or not self._is_own(found.target):
            return None
        if found.operator in _COMPOUND:
            return _COMPOUND[found.operator] if self._is_free(found.value) else None
        return self._value(_bare(found.value)) if found.operator == "=" else None

    def _guarded(self, node: If) -> Operator | None:
        """``if (e > m) m = e``."""
        if not isinstance(node.otherwise, Nothing):
            return None
        body = node.then
        if isinstance(body, Block) and len(body.items) == 1:
            body = body.items[0]
        found = body.expression if isinstance(body, Evaluation) else body
        if not isinstance(found, Assignment) or found.operator != "=" or not self._is_own(found.target):
            return None
        return self._chosen(node.condition, found.value)

    def _accumulated(self, node: If) -> Operator | None:
        """``if (c) s += e; else s -= f``: what is done is one operator's, and ``c`` does not read ``s``."""
        if not self._is_free(node.condition):
            return None
        branches = [part for part in (node.then, node.otherwise) if not isinstance(part, Nothing)]
        found = {self.statement(branch) for branch in branches}
        return found.pop() if len(found) == 1 else None

    def _chosen(self, condition: Expression, value: Expression) -> Operator | None:
        """Return what taking ``value`` for the accumulator under ``condition`` amounts to."""
        condition = _bare(condition)
        if not isinstance(condition, Operation) or not self._is_free(value):
            return None
        if self._is_own(condition.right) and is_same_value(self._statement, condition.left, value):
            larger, smaller = _LARGER, _SMALLER
        elif self._is_own(condition.left) and is_same_value(self._statement, condition.right, value):
            larger, smaller = _SMALLER, _LARGER
        else:
            return None
        if condition.operator in larger:
            return Operator.MAX
        return Operator.MIN if condition.operator in smaller else None

    def _value(self, node: Expression) -> Operator | None:
        """The right side of ``s = …``."""
        if isinstance(node, Conditional):
            return self._selected(node)
        if isinstance(node, Call):
            return self._called(node)
        for operators, found in ((("+", "-"), Operator.SUM), (("*",), Operator.PRODUCT)):
            if isinstance(node, Operation) and node.operator in operators and self._chain(node, operators):
                return found
        return None

    def _called(self, node: Call) -> Operator | None:
        """``fmax(m, e)`` and the like; a double ``m`` that ``fmaxf`` rounds at each step has no parts."""
        mine = [_bare(argument) for argument in node.arguments if self._is_own(argument)]
        others = [argument for argument in node.arguments if not self._is_own(argument)]
        if len(mine) != 1 or len(others) != 1 or not self._is_free(others[0]):
            return None
        kept = isinstance(mine[0], AccessRef) and mine[0].type.size <= node.type.size
        return _CALLS.get(node.function) if kept else None

    def _chain(self, node: Expression, operators: tuple[str, ...]) -> bool:
        """Return whether ``node`` is the accumulator and further terms, joined by ``operators`` only."""
        node = _bare(node)
        if self._is_own(node):
            return True
        if not isinstance(node, Operation) or node.operator not in operators:
            return False
        if self._is_free(node.right):
            return self._chain(node.left, operators)
        return node.operator in ("+", "*") and self._is_free(node.left) and self._chain(node.right, operators)

    def _selected(self, node: Conditional) -> Operator | None:
        """``c ? e : m`` and ``c ? m : e``."""
        if self._is_own(node.otherwise):
            return self._chosen(node.condition, node.then)
        if not self._is_own(node.then):
            return None
        turned = self._chosen(node.condition, node.otherwise)
        return {Operator.MIN: Operator.MAX, Operator.MAX: Operator.MIN}.get(turned) if turned else None

    def _is_own(self, node: Expression) -> bool:
        node = _bare(node)
        return isinstance(node, AccessRef) and node.ref in self._own

    def _is_free(self, tree: Expression) -> bool:
        """Return whether ``tree`` does not read the accumulator and changes nothing."""
        return not any(isinstance(node, (Assignment, Step)) or self._is_own(node) for node in walk(tree))


def _bare(node: Expression) -> Expression:
    """Return what is in parentheses."""
    while isinstance(node, Parentheses):
        node = node.operand
    return node
