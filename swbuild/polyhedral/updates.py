"""Updates that may come in any order without any change of the result: minima and maxima of integers.

``best[i][j] = best[i][j] > e ? best[i][j] : e`` leaves the largest of all ``e``, in whatever order they come,
as long as nothing else looks at the element meanwhile.  Unlike a reduction (:mod:`.reductions`), ``e`` may
read other elements of the same array, and nothing is rounded.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import Assignment, Conditional, Operation
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.types import is_integer
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.polyhedral.dataflow import Expansions, analyse, relations
from swbuild.polyhedral.islutil import union_maps
from swbuild.polyhedral.reductions import Operator, operator_of

__all__ = ["Updates", "find_updates", "free_pairs", "update_pairs"]


@dataclass(frozen=True, slots=True)
class Updates:
    """The statements that update elements of ``array`` with one operator.

    ``refs`` are, by statement, the references to the element that is updated.
    """

    array: str
    operator: Operator
    refs: tuple[tuple[str, frozenset[int]], ...]

    @property
    def statements(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.refs)


def find_updates(scop: Scop) -> tuple[Updates, ...]:
    """Return the updates of ``scop`` that may come in any order, by array and operator."""
    found: dict[tuple[str, Operator], dict[str, frozenset[int]]] = {}
    for statement in scop.statements:
        update = _update(scop, statement)
        if update is not None:
            array, operator, refs = update
            found.setdefault((array, operator), {})[statement.name] = refs
    return tuple(Updates(array, op, tuple(refs.items())) for (array, op), refs in found.items())


def free_pairs(scop: Scop, expansions: Expansions, updates: Updates) -> isl.UnionMap:
    """Return the pairs (instance -> later one) to keep where ``updates`` of an element may change places.

    Every other access to an element stays ordered with all updates of it.
    """
    others = tuple(_without(statement, updates) for statement in scop.statements)
    kept = analyse(relations(replace(scop, statements=others), expansions), scop.schedule).all
    own, rest = _accesses(scop, updates, own=True), _accesses(scop, updates, own=False)
    conflicts = own.apply_range(rest.reverse())
    return kept.union(conflicts.union(conflicts.reverse()).intersect(_earlier(scop)))


def update_pairs(scop: Scop, updates: Updates) -> isl.UnionMap:
    """Return the pairs (instance -> later instance) of ``updates`` of one element, in the original order."""
    own = _accesses(scop, updates, own=True)
    return own.apply_range(own.reverse()).intersect(_earlier(scop))


def _earlier(scop: Scop) -> isl.UnionMap:
    order = scop.schedule.get_map()
    return order.lex_lt_union_map(order)


def _update(scop: Scop, statement: Statement) -> tuple[str, Operator, frozenset[int]] | None:
    """Return the array, the operator and the references of an update, None where ``statement`` is none."""
    writes = [access for access in statement.accesses if access.kind is not AccessKind.READ]
    if len(writes) != 1 or writes[0].kind is not AccessKind.MUST_WRITE or not writes[0].affine:
        return None
    (write,) = writes
    refs = frozenset(a.ref for a in statement.accesses if _is_same(a, write))
    operator = operator_of(statement, refs)
    if operator not in (Operator.MIN, Operator.MAX) or not _is_exact(scop, statement, write.array):
        return None
    return write.array, operator, refs


def _is_same(access: Access, write: Access) -> bool:
    """Return whether ``access`` is certain to be of the element of ``write``."""
    same = access.array == write.array and access.affine
    return same and bool(access.relation.is_equal(write.relation))


def _is_exact(scop: Scop, statement: Statement, array: str) -> bool:
    """Return whether ``statement`` chooses between two values of the type of ``array``, an integer's."""
    element = scop.array(array).element
    body = statement.body.expression if isinstance(statement.body, Evaluation) else statement.body
    if not (isinstance(body, Assignment) and isinstance(body.value, Conditional)):
        return False
    condition = body.value.condition
    if not isinstance(condition, Operation) or not is_integer(element):
        return False
    return condition.computed == element and body.value.type == element


def _without(statement: Statement, updates: Updates) -> Statement:
    """Return ``statement`` without its accesses to the element that it updates."""
    own = dict(updates.refs).get(statement.name, frozenset())
    return replace(statement, accesses=tuple(a for a in statement.accesses if a.ref not in own))


def _accesses(scop: Scop, updates: Updates, *, own: bool) -> isl.UnionMap:
    """Return instance -> element of the array: the updates' accesses to what they update, or all others."""
    refs = dict(updates.refs)
    return union_maps(
        access.relation.intersect_domain(statement.domain).intersect_params(scop.context)
        for statement in scop.statements
        for access in statement.accesses
        if access.array == updates.array and (access.ref in refs.get(statement.name, frozenset())) is own
    )
