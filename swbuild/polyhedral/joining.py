"""Statements of one text that no iteration has two of: they become one statement.

``for (j = 0; j < i; j++) for (k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];`` and, after it, ``for (j = i;
…) for (k = 0; k < i; k++)`` with the same text update a rectangle together.  Two statements have a triangle
of it each, with schedules of their own; one has one schedule, and whole tiles across the diagonal.

So is what has a loop less, and the text that the other has where two of its iterators are equal: in
Cholesky's factorisation, ``for (k = 0; k < i; k++) a[i][i] -= a[i][k] * a[i][k];`` does what
``a[i][j] -= a[i][k] * a[j][k]`` does for ``j = i``.

The order of the two in an iteration of the loops around both is then one of iterations like all others.  So
none may depend on the other there directly: the halves of a red-black sweep stay as they are, as their order
in an iteration is all that makes them parallel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, IteratorRef
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import transformed, walk
from swbuild.frontend.scop import Access, Scop, Statement
from swbuild.polyhedral.dataflow import analyse, instance_prefix, relations
from swbuild.polyhedral.islutil import coalesced, union_sets
from swbuild.polyhedral.looptree import Leaf, Tree, loop_tree, plain
from swbuild.polyhedral.looptree import Sequence as InOrder

__all__ = ["joined"]

_IN = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class _Member:
    """A statement of a group in the space of the others: ``inside`` leads there from that of ``original``."""

    statement: Statement
    original: Statement
    inside: isl.Map | None = None


def joined(scop: Scop, *, convex: bool = True) -> Scop:
    """Return ``scop`` with statements of one text as one, which has the name and the lines of the first.

    What runs, and in which order, stays the same.  Unless they are to be ``convex``, the iterations of parts
    of one statement of the source need not be one piece: ``i < k`` and ``i > k`` are ``i != k``.
    """
    alike = [group for group in _alike(scop) if len(group) > 1]
    if not alike:
        return scop
    dependences = analyse(relations(scop), scop.schedule).all
    groups: list[list[_Member]] = []
    for each in alike:
        taken = {member.original.name for group in groups for member in group}
        free = [member for member in each if member.original.name not in taken]
        found = (group for group in _grouped(free, dependences, convex) if len(group) > 1)
        groups += [group for group in found if _is_convex(group) or _is_whole(group, scop)]
    if not groups:
        return scop
    spaces = {
        member.original.name: _Space(group[0].statement.name, member.inside)
        for group in groups
        for member in group
    }
    whole = {
        group[0].statement.name: reduce(_both, (member.statement for member in group)) for group in groups
    }
    kept = (s for s in scop.statements if s.name not in spaces or spaces[s.name].name == s.name)
    statements = tuple(whole.get(s.name, s) for s in kept)
    schedule = plain(_renamed(loop_tree(scop), spaces))
    due = union_sets(s.domain.intersect_params(scop.context) for s in statements)
    assert due.is_subset(schedule.get_map().domain()), "instances without a place in the order"
    return replace(scop, statements=statements, schedule=schedule)


def _alike(scop: Scop) -> Iterable[list[_Member]]:
    """Return the statements in groups of one text and outermost loop; those with most loops come first.

    One that may be instances of another is in the group of that, too.
    """
    found: dict[object, list[_Member]] = {}
    for statement in sorted(scop.statements, key=lambda s: -len(s.iterators)):
        text = _text(statement)
        if text is None:
            continue
        for group in found.values():
            member = _inside(group[0].statement, statement)
            if member is not None:
                group.append(member)
        found.setdefault(text, []).append(_Member(statement, statement))
    return found.values()


def _inside(head: Statement, statement: Statement) -> _Member | None:
    """Return ``statement`` as instances of ``head``, which has more loops; None where it is none of them.

    An instance of one is that of the other which accesses the same.
    """
    if len(statement.iterators) >= len(head.iterators) or statement.iterators[0] != head.iterators[0]:
        return None
    if _accessed(statement) != _accessed(head) or _computed(statement) != _computed(head):
        return None
    if any(isinstance(node, IteratorRef) for node in walk(head.body)):
        return None  # what it computes depends on where it is
    mine, its = _functions(statement), _functions(head)
    inside = mine.apply_range(its.reverse()).intersect_domain(statement.domain)
    if not (inside.is_single_valued() and inside.is_injective()):
        return None
    if not statement.domain.is_subset(inside.domain()) or not _keeps_outermost(inside):
        return None
    domain = statement.domain.apply(inside)
    accesses = tuple(
        replace(other, ref=access.ref, relation=_function(access).intersect_domain(domain))
        for access, other in zip(head.accesses, statement.accesses, strict=True)
    )
    there = replace(statement, domain=domain, iterators=head.iterators, accesses=accesses, body=head.body)
    return _Member(there, statement, inside)


def _accessed(statement: Statement) -> object:
    """Return which arrays ``statement`` accesses in turn, and how."""
    numbers = _numbers(statement)
    return tuple((access.array, access.kind, numbers[access.ref]) for access in statement.accesses)


def _numbers(statement: Statement) -> Mapping[int, int]:
    """Return the numbers of the references of ``statement`` in their order."""
    return {ref: k for k, ref in enumerate(dict.fromkeys(access.ref for access in statement.accesses))}


def _computed(statement: Statement) -> Expression:
    """Return what ``statement`` computes, with references by their numbers."""
    numbers = _numbers(statement)

    def change(node: Expression) -> Expression:
        return replace(node, ref=numbers[node.ref]) if isinstance(node, AccessRef) else node

    return transformed(statement.body, change)


def _function(access: Access) -> isl.Map:
    """Return the subscripts of ``access`` by its formula, for all instances."""
    formula = isl.PwMultiAff.from_map(access.relation).gist(access.relation.domain())
    return isl.Map.from_pw_multi_aff(formula)


def _functions(statement: Statement) -> isl.Map:
    """Return all subscripts of ``statement``, one after the other, by instances."""
    maps = (_function(access).reset_tuple_id(isl.dim_type.out) for access in statement.accesses)
    return reduce(isl.Map.flat_range_product, maps)


def _keeps_outermost(inside: isl.Map) -> bool:
    """Return whether ``inside`` leads to instances of the same iteration of the outermost loop."""
    same = inside.equate(_IN, 0, isl.dim_type.out, 0)
    return bool(inside.is_subset(same))


def _grouped(alike: Sequence[_Member], dependences: isl.UnionMap, convex: bool) -> list[list[_Member]]:
    """Return ``alike`` in groups that may become one statement, on a ``convex`` set or one of the source."""
    groups: list[list[_Member]] = []
    for member in alike:
        for group in groups:
            more = [*group, member]
            if (_is_convex(more) or (not convex and _is_of_one(more))) and all(
                _is_apart(one.statement, member.statement)
                and _independent(dependences, one.original, member.original)
                for one in group
            ):
                group.append(member)
                break
        else:
            if member.inside is None:  # instances of another one are no statement of that kind
                groups.append([member])
    return groups


def _text(statement: Statement) -> object:
    """Return what ``statement`` does, by its iterators, None where subscripts are not one formula each."""
    places = [_place(access) for access in statement.accesses]
    if not statement.iterators or None in places:
        return None
    types = tuple(iterator.type for iterator in statement.iterators)
    return statement.iterators[0], types, tuple(places), _accessed(statement), _computed(statement)


def _place(access: Access) -> str | None:
    """Return the subscripts of ``access``, None where they are not one formula for all instances."""
    if not access.affine:
        return None
    relation = access.relation.set_tuple_name(_IN, "S")
    for k in range(relation.dim(_IN)):
        relation = relation.set_dim_name(_IN, k, f"i{k}")
    function = isl.PwMultiAff.from_map(relation).gist(relation.domain())
    return str(function) if function.n_piece() == 1 else None


def _is_apart(one: Statement, other: Statement) -> bool:
    """Return whether no iteration has both."""
    return bool(one.domain.is_disjoint(other.domain.set_tuple_name(one.name)))


def _is_convex(members: Sequence[_Member]) -> bool:
    """Return whether the iterations of ``members`` together are one convex set."""
    return reduce(_both, (member.statement for member in members)).domain.n_basic_set() == 1


def _is_of_one(members: Sequence[_Member]) -> bool:
    """Return whether ``members`` are parts of one statement of the source."""
    return len({member.original.span for member in members}) == 1


def _is_whole(members: Sequence[_Member], scop: Scop) -> bool:
    """Return whether ``members`` are all parts of one statement of the source."""
    parts = {s.name for s in scop.statements if s.span == members[0].original.span}
    return parts == {member.original.name for member in members}


def _independent(dependences: isl.UnionMap, one: Statement, other: Statement) -> bool:
    """Return whether neither depends on the other inside an iteration of the loops around both."""
    depth = 0
    for mine, its in zip(one.iterators, other.iterators, strict=False):
        if mine != its:
            break
        depth += 1
    prefixes = [instance_prefix(each, depth).to_union_map() for each in (one, other)]
    # instance of one -> instance of the other in the same iteration
    together = prefixes[0].apply_range(prefixes[1].reverse())
    return all(dependences.is_disjoint(pairs) for pairs in (together, together.reverse()))


def _both(one: Statement, other: Statement) -> Statement:
    """Return a statement for the instances of both, which have one text."""
    accesses = tuple(
        replace(mine, relation=coalesced(mine.relation.union(its.relation.set_tuple_name(_IN, one.name))))
        for mine, its in zip(one.accesses, other.accesses, strict=True)
    )
    domain = one.domain.union(other.domain.set_tuple_name(one.name)).coalesce()
    return replace(one, domain=domain, accesses=accesses, also=(*one.also, other.span))


@dataclass(frozen=True, slots=True)
class _Space:
    """What instances of a statement become: those of the statement ``name``, by ``inside`` or as they are."""

    name: str
    inside: isl.Map | None

    def of(self, domain: isl.Set) -> isl.Set:
        """Return ``domain``, of the statement before."""
        there = domain if self.inside is None else domain.apply(self.inside)
        return there.set_tuple_name(self.name)

    def value(self, value: isl.PwAff) -> isl.PwAff:
        """Return ``value``, of instances of the statement before."""
        there = value
        if self.inside is not None:
            there = value.pullback_pw_multi_aff(isl.PwMultiAff.from_map(self.inside.reverse()))
        return there.set_tuple_id(_IN, self.of(value.domain()).get_tuple_id())


def _renamed(tree: Tree, spaces: Mapping[str, _Space]) -> Tree:
    """Return ``tree`` with the instances of statements in their new ``spaces``."""
    if isinstance(tree, InOrder):
        return InOrder(tuple(_renamed(part, spaces) for part in tree.parts))
    if isinstance(tree, Leaf):
        space = spaces.get(tree.statement, _Space(tree.statement, None))
        return Leaf(space.name, space.of(tree.domain))
    value = isl.UnionPwAff("{ }")
    pieces = tree.value.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        name = str(piece.domain().get_tuple_name())
        value = value.union_add(spaces.get(name, _Space(name, None)).value(piece).to_union_pw_aff())
    return replace(tree, value=value, body=_renamed(tree.body, spaces))
