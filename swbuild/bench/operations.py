"""How many operations the statements of a region have to do: counted from their trees, instance by instance.

Additions, subtractions, multiplications, divisions and calls of functions on floating values count one each,
so that a multiply-add counts two; in a region of integers alone, theirs and comparisons.  What a statement
computes twice counts once, and what depends on some of its loops only, through operands that the region never
writes, counts once for each of their iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Assignment, Call, IteratorRef, Operation, Parentheses
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import transformed, walk
from swbuild.expressions.types import TypeKind
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.islnumbers import int_of
from swbuild.polyhedral.points import Points, TooMany

__all__ = ["operations"]

#: How often innermost loops may start where points are counted one by one.
_LIMIT = 12_000_000

_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})

_PARAM, _SET, _IN = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_

_Counts = Callable[[Expression], bool]


@dataclass(frozen=True, slots=True)
class _Place(Expression):
    """The element that an access means, by array and relation: the same one wherever it stands.

    ``loops`` are those that decide on its value.
    """

    array: str
    relation: str
    loops: frozenset[int]

    def rebuilt(self, children: tuple[Expression, ...]) -> Expression:
        """Return the node: it has no operands."""
        return self


def operations(scop: Scop, sizes: Mapping[str, int]) -> int | None:
    """Return the operations of the region at ``sizes``, None where its instances are too many to count."""
    nodes = (node for statement in scop.statements for node in walk(statement.body))
    counts = _is_float_operation if any(map(_is_float_operation, nodes)) else _is_integer_operation
    point = scop.at(sizes)
    written = {a.array for s in scop.statements for a in s.accesses if a.kind is not AccessKind.READ}
    try:
        return sum(_of_statement(statement, counts, point, written) for statement in scop.statements)
    except TooMany:
        return None


def _is_float_operation(node: Expression) -> bool:
    if isinstance(node, Operation):
        return node.operator in _ARITHMETIC and node.computed.kind is TypeKind.FLOAT
    if isinstance(node, Assignment):
        return node.operator != "=" and node.computed.kind is TypeKind.FLOAT
    return isinstance(node, Call) and node.type.kind is TypeKind.FLOAT


def _is_integer_operation(node: Expression) -> bool:
    if isinstance(node, Operation):
        return node.operator in _ARITHMETIC | _RELATIONS
    return isinstance(node, Call) or (isinstance(node, Assignment) and node.operator != "=")


def _of_statement(statement: Statement, counts: _Counts, point: isl.Set, written: set[str]) -> int:
    """Return the operations of all instances of a statement."""
    domain = isl.Set(str(statement.domain)).intersect_params(point)
    domain = domain.project_out(_PARAM, 0, domain.dim(_PARAM))
    everywhere = frozenset(range(domain.dim(_SET)))
    places = dict(_places(statement, everywhere, written))
    body = transformed(statement.body, partial(_named, places))
    found = [_loops(node, everywhere) for node in set(walk(body)) if counts(node)]
    return sum(found.count(loops) * _instances(domain, loops) for loops in set(found))


def _places(
    statement: Statement, everywhere: frozenset[int], written: set[str]
) -> Iterator[tuple[int, _Place]]:
    """Yield what each reference of the body means, and which loops decide on its value."""
    for access in statement.accesses:
        varies = access.array in written or not access.affine
        loops = everywhere if varies else _involved(access, everywhere)
        yield access.ref, _Place(access.array, str(access.relation), loops)


def _involved(access: Access, everywhere: frozenset[int]) -> frozenset[int]:
    """Return the loops that the element accessed depends on."""
    relation = isl.Map(str(access.relation))
    relation = relation.gist_domain(relation.domain())
    return frozenset(loop for loop in everywhere if relation.involves_dims(_IN, loop, 1))


def _named(places: Mapping[int, _Place], node: Expression) -> Expression:
    """Return a reference as its place, and what parentheses hold without them."""
    if isinstance(node, Parentheses):
        return node.operand
    return places.get(node.ref, node) if isinstance(node, AccessRef) else node


def _loops(node: Expression, everywhere: frozenset[int]) -> frozenset[int]:
    """Return the loops that an operation has to be done in."""
    if isinstance(node, Assignment):
        return everywhere
    found: frozenset[int] = frozenset()
    for inner in walk(node):
        if isinstance(inner, _Place):
            found |= inner.loops
        elif isinstance(inner, IteratorRef):
            found |= {inner.index}
    return found


def _instances(domain: isl.Set, loops: frozenset[int]) -> int:
    """Return how many values the counters of ``loops`` take together in ``domain``, whose sizes are fixed."""
    for loop in reversed(range(domain.dim(_SET))):
        if loop not in loops:
            domain = domain.project_out(_SET, loop, 1)
    if domain.is_empty():
        return 0
    if domain.is_box():
        extents = (int_of(domain.dim_max_val(k).sub(domain.dim_min_val(k))) for k in range(len(loops)))
        total = 1
        for extent in extents:
            total *= int(extent) + 1
        return total
    return Points(domain).count({}, _LIMIT)
