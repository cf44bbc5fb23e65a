"""Statements that accumulate: sums, products, minima and maxima whose terms may be taken in any order.

``s += e``, ``s = s + e``, ``s -= e``, ``s *= e``, ``if (e > m) m = e``, ``m = e > m ? e : m`` and
``m = fmax(m, e)`` are recognised, where ``e`` does not read the variable.  The pairs of instances of
such statements that meet only in the variable need no order, as far as real numbers go.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import islpy as isl
from pycparser import c_ast, c_generator, c_parser

from swbuild.expressions.types import TypeKind
from swbuild.frontend.scop import (
    Access,
    AccessKind,
    AccessRef,
    BodyPart,
    IteratorRef,
    ParameterRef,
    Scop,
    Statement,
)
from swbuild.polyhedral.dataflow import Expansions, analyse, relations
from swbuild.polyhedral.islutil import union_maps

__all__ = ["Operator", "Reduction", "accesses_to", "find_reductions", "relaxed", "without_accesses"]


class Operator(Enum):
    """What is accumulated; a difference is a sum."""

    SUM = "+"
    PRODUCT = "*"
    MIN = "min"
    MAX = "max"


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
    tree = _parsed(statement)
    names = frozenset(_placeholder(statement, a.ref) for a in own)
    operator = None if tree is None else _Reader(names).statement(tree)
    if operator is None or tree is None or not _is_exact(scop, statement, array, operator, tree):
        return None
    return array, operator


def _is_exact(scop: Scop, statement: Statement, array: str, operator: Operator, tree: c_ast.Node) -> bool:
    """Return whether conversions on the way into the accumulator do no more than round or wrap around.

    An integer that takes on fractions, or wider integers to compare with, loses what parts would keep.
    """
    element = scop.array(array).element
    if element.size not in (4, 8):
        return False
    if element.kind is TypeKind.FLOAT:
        return True
    others = [scop.array(a.array).element for a in statement.accesses]
    if operator in (Operator.MIN, Operator.MAX):
        return all(other.name == element.name for other in others) and _is_plain(tree)
    return all(other.kind is not TypeKind.FLOAT for other in others) and _is_plain(tree)


def _is_plain(node: c_ast.Node) -> bool:
    """Return whether an expression of integers has no part of another type."""
    if isinstance(node, (c_ast.FuncCall, c_ast.Cast)):
        return False
    if isinstance(node, c_ast.Constant) and node.type not in ("int", "char"):
        return False
    return all(_is_plain(child) for _, child in node.children())


def _one_element(own: list[Access]) -> bool:
    """Return whether all of ``own`` are certain to access the same element."""
    if len({a.ref for a in own}) == 1:
        return True
    first = own[0].relation
    return all(a.affine and bool(a.relation.is_equal(first)) for a in own)


def _placeholder(statement: Statement, ref: int) -> str:
    """Return an identifier for what ``ref`` accesses, the same for places that access the same element."""
    access = next(a for a in statement.accesses if a.ref == ref)
    for other in statement.accesses:
        same = other.array == access.array and other.affine and bool(other.relation.is_equal(access.relation))
        if other.ref == ref or same:
            return f"sw_ref_{other.ref}"
    raise AssertionError("a reference without an access")


def _parsed(statement: Statement) -> c_ast.Node | None:
    """Return the syntax tree of a statement's body, or None where it needs more than the body to parse."""
    text = "".join(_text(statement, part) for part in statement.body)
    try:
        unit: Any = c_parser.CParser().parse(f"void f(void) {{ {text} }}")
    except Exception:  # noqa: BLE001 - pycparser's own class of errors has moved between versions
        return None
    items = list(unit.ext[0].body.block_items or ())
    return items[0] if len(items) == 1 else None


def _text(statement: Statement, part: BodyPart) -> str:
    if isinstance(part, AccessRef):
        return _placeholder(statement, part.ref)
    if isinstance(part, IteratorRef):
        return f"sw_loop_{part.index}"
    return f"sw_size_{part.name}" if isinstance(part, ParameterRef) else part


_LARGER, _SMALLER = frozenset((">", ">=")), frozenset(("<", "<="))
_CALLS = {f"f{name}{end}": op for name, op in (("min", Operator.MIN), ("max", Operator.MAX)) for end in "fl"}
_CALLS |= {"fmin": Operator.MIN, "fmax": Operator.MAX}
_COMPOUND = {"+=": Operator.SUM, "-=": Operator.SUM, "*=": Operator.PRODUCT}


class _Reader:
    """Finds the operator in a statement's syntax; ``own`` are the placeholders of the accumulator."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own

    def statement(self, node: c_ast.Node) -> Operator | None:
        if isinstance(node, c_ast.Compound) and len(node.block_items or ()) == 1:
            return self.statement(node.block_items[0])
        if isinstance(node, c_ast.If) and node.iffalse is None:
            return self._guarded(node)
        if not isinstance(node, c_ast.Assignment) or not self._is_own(node.lvalue):
            return None
        if node.op in _COMPOUND:
            return _COMPOUND[node.op] if self._is_free(node.rvalue) else None
        return self._value(node.rvalue) if node.op == "=" else None

    def _guarded(self, node: c_ast.If) -> Operator | None:
        """``if (e > m) m = e``."""
        body = node.iftrue
        if isinstance(body, c_ast.Compound) and len(body.block_items or ()) == 1:
            body = body.block_items[0]
        if not isinstance(body, c_ast.Assignment) or body.op != "=" or not self._is_own(body.lvalue):
            return None
        return self._chosen(node.cond, body.rvalue)

    def _chosen(self, condition: c_ast.Node, value: c_ast.Node) -> Operator | None:
        """Return what taking ``value`` for the accumulator under ``condition`` amounts to."""
        if not isinstance(condition, c_ast.BinaryOp) or not self._is_free(value):
            return None
        if self._is_own(condition.right) and _same(condition.left, value):
            larger, smaller = _LARGER, _SMALLER
        elif self._is_own(condition.left) and _same(condition.right, value):
            larger, smaller = _SMALLER, _LARGER
        else:
            return None
        if condition.op in larger:
            return Operator.MAX
        return Operator.MIN if condition.op in smaller else None

    def _value(self, node: c_ast.Node) -> Operator | None:
        """The right side of ``s = …``."""
        if isinstance(node, c_ast.TernaryOp):
            return self._selected(node)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            arguments = node.args.exprs if node.args else []
            mine = [self._is_own(argument) for argument in arguments]
            others = [a for a, own in zip(arguments, mine, strict=True) if not own]
            fits = sorted(mine) == [False, True] and all(map(self._is_free, others))
            return _CALLS.get(node.name.name) if fits else None
        for operators, found in ((("+", "-"), Operator.SUM), (("*",), Operator.PRODUCT)):
            if isinstance(node, c_ast.BinaryOp) and node.op in operators and self._chain(node, operators):
                return found
        return None

    def _chain(self, node: c_ast.Node, operators: tuple[str, ...]) -> bool:
        """Return whether ``node`` is the accumulator and further terms, joined by ``operators`` only."""
        if self._is_own(node):
            return True
        if not isinstance(node, c_ast.BinaryOp) or node.op not in operators:
            return False
        if self._is_free(node.right):
            return self._chain(node.left, operators)
        return node.op in ("+", "*") and self._is_free(node.left) and self._chain(node.right, operators)

    def _selected(self, node: c_ast.TernaryOp) -> Operator | None:
        """``c ? e : m`` and ``c ? m : e``."""
        if self._is_own(node.iffalse):
            return self._chosen(node.cond, node.iftrue)
        if not self._is_own(node.iftrue):
            return None
        turned = self._chosen(node.cond, node.iffalse)
        return {Operator.MIN: Operator.MAX, Operator.MAX: Operator.MIN}.get(turned) if turned else None

    def _is_own(self, node: c_ast.Node) -> bool:
        return isinstance(node, c_ast.ID) and node.name in self.own

    def _is_free(self, node: c_ast.Node) -> bool:
        """Return whether ``node`` does not read the accumulator and changes nothing."""
        if self._is_own(node) or isinstance(node, c_ast.Assignment):
            return False
        if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
            return False
        return all(self._is_free(child) for _, child in node.children())


def _same(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Return whether two expressions have the same text."""
    return _canonical(a) == _canonical(b)


def _canonical(node: c_ast.Node) -> str:
    return str(c_generator.CGenerator().visit(node))
