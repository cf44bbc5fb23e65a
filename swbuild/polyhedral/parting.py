"""A region with statements in parts: each has some of the instances, and is a statement of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import islpy as isl

from swbuild.frontend.scop import Scop, Statement
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.islutil import union_maps

__all__ = ["in_parts", "renamed", "renamed_dependences", "renaming"]

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

#: The parts of statements, by their names: sets in the space of the statement that make up its domain.
Parts = Mapping[str, Sequence[isl.Set]]


def renaming(scop: Scop, parts: Parts) -> isl.UnionMap:
    """Return instance -> the same instance as :func:`in_parts` calls it."""
    pieces = chain.from_iterable(_named(s, parts) for s in scop.statements)
    return union_maps(_called(domain, name) for name, domain in pieces)


def in_parts(scop: Scop, parts: Parts) -> Scop:
    """Return ``scop`` with the statements in ``parts``, the order of their instances being the same."""
    backwards = isl.UnionPwMultiAff.from_union_map(renaming(scop, parts).reverse())
    statements = (_part(s, name, domain) for s in scop.statements for name, domain in _named(s, parts))
    schedule = scop.schedule.pullback_union_pw_multi_aff(backwards)
    return replace(scop, statements=tuple(statements), schedule=schedule)


def renamed(pairs: isl.UnionMap, names: isl.UnionMap) -> isl.UnionMap:
    """Return ``pairs`` (instance -> instance) of instances that are called as ``names`` says."""
    return pairs.apply_domain(names).apply_range(names)


def renamed_dependences(found: Dependences, names: isl.UnionMap) -> Dependences:
    """Return ``found`` with instances called as ``names`` says."""
    elements = found.sourced.range().unwrap().range().identity()  # element -> element
    return replace(
        found,
        flow=renamed(found.flow, names),
        order=renamed(found.order, names),
        live_in=found.live_in.apply_domain(names),
        sourced=found.sourced.apply_domain(names).apply_range(names.product(elements)),
        all=renamed(found.all, names),
    )


def _named(statement: Statement, parts: Parts) -> list[tuple[str, isl.Set]]:
    """Return the parts of ``statement``, each with its name; the whole if it has none."""
    found = parts.get(statement.name, ())
    if not found:
        return [(statement.name, statement.domain)]
    return [(f"{statement.name}_{k}", domain) for k, domain in enumerate(found)]


def _called(domain: isl.Set, name: str) -> isl.Map:
    """Return instance of ``domain`` -> the same one of the statement ``name``."""
    same = isl.Map.identity(domain.get_space().map_from_set())
    return same.intersect_domain(domain).set_tuple_name(_OUT, name)


def _part(statement: Statement, name: str, domain: isl.Set) -> Statement:
    if name == statement.name:
        return statement
    accesses = tuple(
        replace(a, relation=a.relation.intersect_domain(domain).set_tuple_name(_IN, name))
        for a in statement.accesses
    )
    return replace(statement, name=name, domain=domain.set_tuple_name(name), accesses=accesses)
