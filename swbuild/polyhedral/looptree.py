"""A schedule as a tree of named loops: what a reader of the source sees, and what transformations change.

An isl schedule tree holds the same, but its bands have no names and share members; here every loop
is a node of its own.  :func:`loop_tree` reads the original order of a region, :func:`banded` turns a
tree into an isl schedule whose bands are as large, and marked as parallel, as the dependences allow.
"""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Iterator, Scop
from swbuild.polyhedral.islutil import sets_of

__all__ = [
    "Leaf",
    "Loop",
    "Sequence",
    "Tree",
    "banded",
    "domain_below",
    "leaves",
    "loop_tree",
    "loops",
    "parts_of",
    "plain",
]

_NODE = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class Leaf:
    """All instances of one statement."""

    statement: str
    domain: isl.Set


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that run one after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: ``value`` gives its counter for every instance below; it runs from small to large values.

    ``line`` is where the source has it, 0 for a loop that a transformation made.
    """

    name: str
    line: int
    value: isl.UnionPwAff
    body: Tree


Tree = Leaf | Sequence | Loop


def loop_tree(scop: Scop) -> Tree:
    """Return the original order of ``scop``, under its context."""
    iterators = {s.name: s.iterators for s in scop.statements}
    domain = scop.schedule.get_domain().intersect_params(scop.context)
    tree = _tree(scop.schedule.get_root().child(0), domain, 0, iterators)
    return Sequence(()) if tree is None else tree


def _tree(
    node: isl.ScheduleNode, domain: isl.UnionSet, depth: int, iterators: dict[str, tuple[Iterator, ...]]
) -> Tree | None:
    """Return the tree at ``node`` for ``domain``, which lies in ``depth`` loops; None if it is empty."""
    kind = node.get_type()
    if kind in (_NODE.sequence, _NODE.set):
        children = [node.child(k) for k in range(node.n_children())]
        inner = [(c.child(0), domain.intersect(c.filter_get_filter())) for c in children]
        parts = [_tree(child, inside, depth, iterators) for child, inside in inner]
        return _sequence(tuple(part for part in parts if part is not None))
    if kind == _NODE.leaf:
        return _sequence(tuple(Leaf(str(piece.get_tuple_name()), piece) for piece in sets_of(domain)))
    if kind != _NODE.band:
        return _tree(node.child(0), domain, depth, iterators)
    members = node.band_n_member()
    body = _tree(node.child(0), domain, depth + members, iterators)
    if body is None:
        return None
    loop = iterators[leaves(body)[0].statement]
    partial = node.band_get_partial_schedule().intersect_domain(domain)
    for k in reversed(range(members)):
        source = loop[depth + k]
        body = Loop(source.name, source.span.line, partial.get_at(k), body)
    return body


def _sequence(parts: tuple[Tree, ...]) -> Tree | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return Sequence(parts)


def leaves(tree: Tree) -> list[Leaf]:
    """Return the leaves of ``tree`` in the order of the text."""
    if isinstance(tree, Leaf):
        return [tree]
    if isinstance(tree, Loop):
        return leaves(tree.body)
    return [leaf for part in tree.parts for leaf in leaves(part)]


def loops(tree: Tree) -> list[Loop]:
    """Return the loops of ``tree``, an outer one before those inside it, in the order of the text."""
    if isinstance(tree, Leaf):
        return []
    if isinstance(tree, Loop):
        return [tree, *loops(tree.body)]
    return [loop for part in tree.parts for loop in loops(part)]


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """Return what runs one after the other in ``tree``."""
    return tree.parts if isinstance(tree, Sequence) else (tree,)


def domain_below(tree: Tree) -> isl.UnionSet:
    """Return all instances below ``tree``."""
    domain = isl.UnionSet("{ }")
    for leaf in leaves(tree):
        domain = domain.union(leaf.domain.to_union_set())
    return domain


def plain(tree: Tree) -> isl.Schedule:
    """Return ``tree`` as an isl schedule, one band per loop, nothing marked."""
    return _schedule(tree, isl.UnionMap("{ }"), grow=False)


def banded(tree: Tree, dependences: isl.UnionMap) -> isl.Schedule:
    """Return ``tree`` as an isl schedule with its parallel loops marked.

    Requires that ``tree`` keeps ``dependences`` (instance -> later instance).  Loops that may be
    interchanged share a band, unless that would hide a loop that is parallel only inside another.
    """
    return _schedule(tree, dependences, grow=True)


def _schedule(tree: Tree, pending: isl.UnionMap, grow: bool) -> isl.Schedule:
    """Return the schedule of ``tree``; ``pending`` are the dependences that nothing above has satisfied."""
    if isinstance(tree, Leaf):
        return isl.Schedule.from_domain(tree.domain)
    if isinstance(tree, Sequence):
        schedule = _schedule(tree.parts[0], _inside(tree.parts[0], pending), grow)
        for part in tree.parts[1:]:
            schedule = schedule.sequence(_schedule(part, _inside(part, pending), grow))
        return schedule
    band, body, left = _band(tree, pending, grow)
    members = isl.MultiUnionPwAff.from_union_pw_aff(band[0].value)
    for loop in band[1:]:
        members = members.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(loop.value))
    inside = domain_below(body)
    schedule = _schedule(body, left, grow).insert_partial_schedule(members.intersect_domain(inside))
    node = schedule.get_root().child(0)
    if grow:
        node = node.band_set_permutable(1)
        for k, loop in enumerate(band):
            node = node.band_member_set_coincident(k, int(_keeps_apart(loop, pending)))
    return node.get_schedule()


def _inside(tree: Tree, pairs: isl.UnionMap) -> isl.UnionMap:
    domain = domain_below(tree)
    return pairs.intersect_domain(domain).intersect_range(domain)


def _band(top: Loop, pending: isl.UnionMap, grow: bool) -> tuple[list[Loop], Tree, isl.UnionMap]:
    """Return the loops of the band at ``top``, what is below it, and the dependences left for that."""
    band, body = [top], top.body
    left = pending.intersect(_same(top))
    while grow and isinstance(body, Loop) and _may_join(band, body, pending, left):
        band.append(body)
        left = left.intersect(_same(body))
        body = body.body
    return band, body, left


def _may_join(band: list[Loop], loop: Loop, pending: isl.UnionMap, left: isl.UnionMap) -> bool:
    """Return whether ``loop`` may and should be a member of ``band``.

    It may if none of the pairs that the band begins with goes down in it: then all members are permutable.
    It should unless it is parallel only for the pairs that the other members leave.
    """
    if not pending.is_subset(_ordered(loop)):
        return False
    return _keeps_apart(loop, pending) or _keeps_apart(band[0], pending) or not _keeps_apart(loop, left)


def _keeps_apart(loop: Loop, pending: isl.UnionMap) -> bool:
    """Return whether none of ``pending`` goes between different iterations of ``loop``: it is parallel."""
    return bool(pending.is_subset(_same(loop)))


def _same(loop: Loop) -> isl.UnionMap:
    value = isl.UnionMap.from_union_pw_aff(loop.value)
    return value.apply_range(value.reverse())


def _ordered(loop: Loop) -> isl.UnionMap:
    value = isl.UnionMap.from_union_pw_aff(loop.value)
    return value.apply_range(isl.UnionMap("{ [x] -> [y] : y >= x }")).apply_range(value.reverse())
