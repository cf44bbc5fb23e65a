"""Scalars that are computed for one element of an array, which may hold the value itself meanwhile.

``w = a[i][j]; for (…) w -= …; a[i][j] = w / d;``: what ``w`` holds in an iteration goes into the element that
the last of its users writes.  If nothing else accesses this element from the first user to the last, all of
them may work in the element, and the loops inside are bound to no scalar: parts of the sum may be computed at
other times.  The scalar and the element are of one type, so that nothing is rounded in another way.
"""

from __future__ import annotations

from collections.abc import Sequence as Some
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, Assignment
from swbuild.expressions.statements import Evaluation
from swbuild.frontend.scop import AccessKind, Array, Scop, Statement, Storage
from swbuild.polyhedral.dataflow import instance_prefix
from swbuild.polyhedral.islutil import bounded_effort, ran_out, union_maps, union_sets
from swbuild.polyhedral.looptree import Leaf, Loop, Tree, loop_tree, plain

__all__ = ["in_elements"]

#: isl steps for one region.
_EFFORT = 500_000

_OUT = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class _Accumulator:
    """A scalar, the array it goes into, and instance -> the element, for some of its ``users``."""

    scalar: str
    array: str
    users: frozenset[str]
    element: isl.UnionMap


def in_elements(scop: Scop) -> Scop | None:
    """Return ``scop`` with scalars replaced by the elements that they go into, None where there are none."""
    try:
        with bounded_effort(_EFFORT):
            found = scop
            for array in scop.arrays:
                for accumulator in _accumulators(found, array):
                    found = _replaced(found, accumulator)
            return None if found is scop else found
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def _accumulators(scop: Scop, scalar: Array) -> list[_Accumulator]:
    """Return where ``scalar`` goes, by turns; nothing if it does not go into one element from first to last.

    Its users are then parted, in the order of the text, after each one that only reads it.  No value goes
    from one part to another: in each iteration, a part begins with a write.
    """
    dies = scalar.is_scalar and scalar.storage in (Storage.REGION, Storage.LOCAL) and not scalar.live_out
    users = [s for s in scop.statements if _uses(s, scalar.name)]
    kinds = {a.kind for s in users for a in s.accesses if a.array == scalar.name}
    if not (dies and kinds == {AccessKind.READ, AccessKind.MUST_WRITE}):
        return []
    found = []
    while users:
        ends = [k for k, s in enumerate(users) if not _instances(s, scalar.name, AccessKind.MUST_WRITE)]
        part = users[: ends[0] + 1] if ends else users
        accumulator = _accumulator(scop, scalar, part) if ends else None
        if accumulator is None:
            return []
        found.append(accumulator)
        users = users[len(part) :]
    return found


def _accumulator(scop: Scop, scalar: Array, users: Some[Statement]) -> _Accumulator | None:
    """Return where ``scalar`` goes whose last of the ``users`` only reads it; None if that is no element."""
    last = users[-1]
    stores = [a for a in last.accesses if a.kind is not AccessKind.READ]
    if len(stores) != 1 or not stores[0].affine or stores[0].kind is not AccessKind.MUST_WRITE:
        return None
    array = scop.array(stores[0].array)
    if array.is_scalar or array.element != scalar.element or not _share_loops(users, last):
        return None
    depth = len(last.iterators)
    iteration = union_maps(instance_prefix(s, depth).intersect_domain(s.domain) for s in users)
    iteration = iteration.intersect_params(scop.context)
    storing = instance_prefix(last, depth).intersect_domain(last.domain).to_union_map()
    target = storing.reverse().apply_range(stores[0].relation.intersect_domain(last.domain).to_union_map())
    names = frozenset(user.name for user in users)
    found = _Accumulator(scalar.name, array.name, names, iteration.apply_range(target))
    complete = iteration.domain().is_subset(found.element.domain())
    return found if complete and _is_alone(scop, found, users, last, iteration) else None


def _share_loops(users: Some[Statement], last: Statement) -> bool:
    """Return whether all ``users`` are in the loops around ``last``."""
    depth = len(last.iterators)
    return all(user.iterators[:depth] == last.iterators for user in users)


def _instances(statement: Statement, array: str, kind: AccessKind) -> list[isl.Set]:
    accesses = (a for a in statement.accesses if a.array == array and a.kind is kind)
    return [a.relation.intersect_domain(statement.domain).domain() for a in accesses]


def _is_alone(
    scop: Scop, found: _Accumulator, users: Some[Statement], last: Statement, iteration: isl.UnionMap
) -> bool:
    """Return whether in each iteration a write of the scalar is first, ``last`` last, and the element idle.

    Between these two nothing else accesses the element, which the first may have read for itself.
    """
    order = scop.schedule.get_map()  # instance -> time
    times = iteration.reverse().apply_range(order)  # [iteration] -> times of its users
    first = times.lexmin().apply_range(order.reverse()).intersect(iteration.reverse())
    storing = iteration.intersect_domain(last.domain.to_union_set()).reverse()  # [iteration] -> the last user
    reading = isl.UnionSet("{ }")
    for user in users:
        for part in _instances(user, found.scalar, AccessKind.READ):
            reading = reading.union(part.to_union_set())
    if not first.range().intersect(reading).is_empty():
        return False
    later = order.lex_gt_union_map(order)  # instance -> earlier ones
    same = order.domain().identity()
    if not iteration.reverse().is_subset(storing.apply_range(later.union(same))):
        return False
    of_element = storing.apply_range(found.element)  # [iteration] -> element
    for kind in AccessKind:
        access = _accesses(scop, found.array, kind).reverse()  # element -> instance
        touching = of_element.apply_range(access)
        before = first.apply_range(later.union(same) if kind is AccessKind.READ else later)
        after = storing.apply_range(
            later.reverse() if kind is AccessKind.READ else later.reverse().union(same)
        )
        if not touching.is_subset(before.union(after)):
            return False
    others = [s for s in scop.statements if s.name not in found.users and _uses(s, found.scalar)]
    anywhere = isl.UnionMap.from_domain_and_range(storing.domain(), union_sets(s.domain for s in others))
    apart = first.apply_range(later).union(storing.apply_range(later.reverse()))
    return bool(anywhere.is_subset(apart))


def _uses(statement: Statement, array: str) -> bool:
    return any(access.array == array for access in statement.accesses)


def _accesses(scop: Scop, array: str, kind: AccessKind) -> isl.UnionMap:
    """Return instance -> element."""
    return union_maps(
        a.relation.intersect_domain(s.domain)
        for s in scop.statements
        for a in s.accesses
        if a.array == array and a.kind is kind
    )


def _replaced(scop: Scop, found: _Accumulator) -> Scop:
    """Return ``scop`` with the element in the place of the scalar, without copies of it to itself."""
    statements = tuple(_with_element(statement, found) for statement in scop.statements)
    idle = {s.name for s in statements if _copies_to_itself(s, found.array)}
    tree = _without(loop_tree(scop), idle)
    assert tree is not None, "the last user stays"
    rest = any(_uses(s, found.scalar) for s in statements)
    return replace(
        scop,
        arrays=tuple(a for a in scop.arrays if rest or a.name != found.scalar),
        statements=tuple(s for s in statements if s.name not in idle),
        schedule=plain(tree),
    )


def _with_element(statement: Statement, found: _Accumulator) -> Statement:
    if statement.name not in found.users:
        return statement
    domain = statement.domain.to_union_set()
    (relation,) = _maps(found.element.intersect_domain(domain))
    accesses = tuple(
        replace(a, array=found.array, relation=relation) if a.array == found.scalar else a
        for a in statement.accesses
    )
    return replace(statement, accesses=accesses)


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    pieces = union.get_map_list()
    return [pieces.get_at(k).coalesce() for k in range(pieces.n_map())]


def _copies_to_itself(statement: Statement, array: str) -> bool:
    """Return whether ``statement`` stores an element of ``array`` where it has it from, as it is."""
    body = statement.body
    if not (isinstance(body, Evaluation) and isinstance(body.expression, Assignment)):
        return False
    target, value = body.expression.target, body.expression.value
    if body.expression.operator != "=" or not isinstance(value, AccessRef):
        return False
    if not isinstance(target, AccessRef) or target.type != value.type or len(statement.accesses) != 2:
        return False
    one, other = statement.accesses
    return one.array == other.array == array and bool(one.relation.is_equal(other.relation))


def _without(tree: Tree, names: set[str]) -> Tree | None:
    """Return ``tree`` without the statements ``names``, and without loops around nothing."""
    if isinstance(tree, Leaf):
        return None if tree.statement in names else tree
    if isinstance(tree, Loop):
        body = _without(tree.body, names)
        return None if body is None else replace(tree, body=body)
    parts = tuple(part for each in tree.parts if (part := _without(each, names)) is not None)
    return replace(tree, parts=parts) if len(parts) > 1 else parts[0] if parts else None
