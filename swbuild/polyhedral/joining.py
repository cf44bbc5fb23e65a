"""Statements of one text that no iteration has two of: they become one statement.

``for (j = 0; j < i; j++) for (k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];`` and, after it, ``for (j = i;
…) for (k = 0; k < i; k++)`` with the same text update a rectangle together.  Two statements have a triangle
of it each, with schedules of their own; one has one schedule, and whole tiles across the diagonal.

The order of the two in an iteration of the loops around both is then one of iterations like all others.  So
none may depend on the other there directly: the halves of a red-black sweep stay as they are, as their order
in an iteration is all that makes them parallel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from swbuild.expressions.c import AccessRef
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import transformed
from swbuild.frontend.scop import Access, Scop, Statement
from swbuild.polyhedral.dataflow import analyse, instance_prefix, relations
from swbuild.polyhedral.islutil import coalesced
from swbuild.polyhedral.looptree import Leaf, Tree, loop_tree, plain
from swbuild.polyhedral.looptree import Sequence as InOrder

__all__ = ["joined"]

_IN = isl.dim_type.in_


def joined(scop: Scop) -> Scop:
    """Return ``scop`` with statements of one text as one, which has the name and the lines of the first.

    What runs, and in which order, stays the same.
    """
    alike = [group for group in _alike(scop) if len(group) > 1]
    if not alike:
        return scop
    dependences = analyse(relations(scop), scop.schedule).all
    groups = [group for each in alike for group in _grouped(each, dependences) if len(group) > 1]
    if not groups:
        return scop
    names = {statement.name: group[0].name for group in groups for statement in group}
    whole = {group[0].name: reduce(_both, group) for group in groups}
    statements = (whole.get(s.name, s) for s in scop.statements if names.get(s.name, s.name) == s.name)
    return replace(scop, statements=tuple(statements), schedule=plain(_renamed(loop_tree(scop), names)))


def _alike(scop: Scop) -> Iterable[list[Statement]]:
    """Return the statements in groups of one text and one outermost loop."""
    found: dict[object, list[Statement]] = {}
    for statement in scop.statements:
        text = _text(statement)
        if text is not None:
            found.setdefault(text, []).append(statement)
    return found.values()


def _grouped(alike: Sequence[Statement], dependences: isl.UnionMap) -> list[list[Statement]]:
    """Return ``alike`` in groups that may become one statement, in the order of the source."""
    groups: list[list[Statement]] = []
    for statement in alike:
        for group in groups:
            if _is_one_piece([*group, statement]) and all(
                _is_apart(one, statement) and _independent(dependences, one, statement) for one in group
            ):
                group.append(statement)
                break
        else:
            groups.append([statement])
    return groups


def _text(statement: Statement) -> object:
    """Return what ``statement`` does, by its iterators, None where subscripts are not one formula each."""
    places = [_place(access) for access in statement.accesses]
    if not statement.iterators or None in places:
        return None
    numbers = {ref: k for k, ref in enumerate(dict.fromkeys(access.ref for access in statement.accesses))}

    def change(node: Expression) -> Expression:
        return replace(node, ref=numbers[node.ref]) if isinstance(node, AccessRef) else node

    kinds = [(access.array, access.kind, numbers[access.ref]) for access in statement.accesses]
    types = [iterator.type for iterator in statement.iterators]
    body = transformed(statement.body, change)
    return statement.iterators[0], tuple(types), tuple(kinds), tuple(places), body


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


def _is_one_piece(statements: Sequence[Statement]) -> bool:
    """Return whether the iterations of ``statements`` together are one convex set."""
    return reduce(_both, statements).domain.n_basic_set() == 1


def _independent(dependences: isl.UnionMap, one: Statement, other: Statement) -> bool:
    """Return whether neither depends on the other inside an iteration of the loops around both."""
    depth = 0
    for mine, its in zip(one.iterators, other.iterators, strict=True):
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


def _renamed(tree: Tree, names: Mapping[str, str]) -> Tree:
    """Return ``tree`` with the instances of the statements ``names`` called as these say."""
    if isinstance(tree, InOrder):
        return InOrder(tuple(_renamed(part, names) for part in tree.parts))
    if isinstance(tree, Leaf):
        name = names.get(tree.statement, tree.statement)
        return Leaf(name, tree.domain.set_tuple_name(name))
    value = isl.UnionPwAff("{ }")
    pieces = tree.value.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        domain = piece.domain()
        name = str(domain.get_tuple_name())
        space = domain.set_tuple_name(names.get(name, name))
        value = value.union_add(piece.set_tuple_id(_IN, space.get_tuple_id()).to_union_pw_aff())
    return replace(tree, value=value, body=_renamed(tree.body, names))
