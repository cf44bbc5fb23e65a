"""Which nests of a region may be one pass over the rows of an array that several of their statements use.

A row is all that has the same first index.  Each statement of the nests has a loop that counts rows, such
that no dependence leads from one row to another, but for those of sums that may be added up in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.types import TypeKind
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.polyhedral.dataflow import Expansions
from swbuild.polyhedral.islutil import maps_of
from swbuild.polyhedral.looptree import Tree, leaves, loop_tree, parts_of
from swbuild.polyhedral.reductions import Operator, Reduction, find_reductions, relaxed

__all__ = ["RowPass", "best_pass"]

#: Statements in the nests that become one.
_MOST_STATEMENTS = 8

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class RowPass:
    """The nests ``begin`` to ``end`` (not included) of a region in one pass.

    ``rows`` are, by statements in the order of the source, the loops whose counter is the row; ``columns``,
    for some of them, those whose counter is the second index of all shared arrays.  ``sums`` is what is added
    to in each row; ``shared`` counts the statements that find a row in the LDM.
    """

    begin: int
    end: int
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    sums: tuple[Reduction, ...]
    kept: isl.UnionMap
    shared: int


def best_pass(scop: Scop, expansions: Expansions) -> RowPass | None:
    """Return the pass in which most statements find their row in the LDM; of several the shortest.

    ``expansions`` are those of private variables, as in :func:`swbuild.polyhedral.reductions.relaxed`.
    """
    parts = parts_of(loop_tree(scop))
    ranges = combinations(range(len(parts) + 1), 2)
    found = [each for begin, end in ranges for each in _passes(scop, expansions, parts, begin, end)]
    return max(found, key=lambda each: (each.shared, each.begin - each.end), default=None)


def _passes(
    scop: Scop, expansions: Expansions, parts: Sequence[Tree], begin: int, end: int
) -> Iterator[RowPass]:
    """Yield the best pass over the nests ``begin`` to ``end`` of ``parts``, if there is one."""
    names = [leaf.statement for part in parts[begin:end] for leaf in leaves(part)]
    statements = [scop.statement(name) for name in names]
    many = len(names) > _MOST_STATEMENTS or len(set(names)) < len(names)
    if many or not all(s.iterators for s in statements) or not _share(scop, statements):
        return
    sums = _separable(scop, statements)
    if not sums:
        return
    kept = relaxed(scop, expansions, sums)
    pairs = [p for p in maps_of(kept) if {p.get_tuple_name(_IN), p.get_tuple_name(_OUT)} <= {*names}]
    best: tuple[int, dict[str, int]] | None = None
    for rows in _rows(statements, pairs):
        shared = _shared(scop, statements, rows)
        if shared and (best is None or shared > best[0]):
            best = shared, rows
    if best is None:
        return
    needed = tuple(r for r in sums if not _stays_in_a_row(scop, r, best[1]))
    if needed:
        kept = relaxed(scop, expansions, needed)
        columns = _columns(scop, statements, best[1])
        yield RowPass(begin, end, best[1], columns, needed, kept, best[0])


def _columns(scop: Scop, statements: Sequence[Statement], rows: Mapping[str, int]) -> dict[str, int]:
    """Return the loops whose counter is the second index of all accesses to arrays by ``rows``."""
    found: dict[str, int] = {}
    for statement in statements:
        matrices = [a.relation for a in statement.accesses if len(scop.array(a.array).extents) > 1]
        for loop in range(len(statement.iterators) if matrices else 0):
            if loop != rows[statement.name] and all(_leads(relation, loop, 1) for relation in matrices):
                found[statement.name] = loop
    return found


def _leads(relation: isl.Map, loop: int, position: int) -> bool:
    """Return whether the counter of ``loop`` is the index at ``position`` of what is accessed."""
    return bool(relation.is_subset(relation.equate(_IN, loop, _OUT, position)))


def _share(scop: Scop, statements: Sequence[Statement]) -> bool:
    """Return whether two of ``statements`` read one array of rows."""
    read = [{a.array for a in s.accesses if len(scop.array(a.array).extents) > 1} for s in statements]
    return sum(map(len, read)) > len(set[str]().union(*read))


def _separable(scop: Scop, statements: Sequence[Statement]) -> tuple[Reduction, ...]:
    """Return the sums into arrays of which ``statements`` make no other use."""
    names = frozenset(s.name for s in statements)
    found = []
    for reduction in find_reductions(scop):
        array, here = scop.array(reduction.array), reduction.statements & names
        users = {s.name for s in statements for a in s.accesses if a.array == array.name}
        sums = reduction.operator is Operator.SUM and array.element.kind is TypeKind.FLOAT
        plain_ones = all(
            a.affine and a.kind is not AccessKind.MAY_WRITE for n in here for a in _to(scop, n, array.name)
        )
        if here and users == here and sums and plain_ones and not array.is_scalar:
            found.append(replace(reduction, statements=here))
    return tuple(found)


def _to(scop: Scop, statement: str, array: str) -> list[Access]:
    return [a for a in scop.statement(statement).accesses if a.array == array]


def _rows(statements: Sequence[Statement], pairs: Sequence[isl.Map]) -> Iterator[dict[str, int]]:
    """Yield the loops, one of each of ``statements``, of which no pair leads to another iteration."""

    def more(found: dict[str, int], rest: Sequence[Statement]) -> Iterator[dict[str, int]]:
        if not rest:
            yield found
            return
        for loop in range(len(rest[0].iterators)):
            wider = {**found, rest[0].name: loop}
            new = (p for p in pairs if rest[0].name in _ends(p) and _ends(p) <= wider.keys())
            if all(_stays(pair, wider) for pair in new):
                yield from more(wider, rest[1:])

    yield from more({}, statements)


def _ends(pair: isl.Map) -> set[str]:
    return {pair.get_tuple_name(_IN), pair.get_tuple_name(_OUT)}


def _stays(pair: isl.Map, rows: Mapping[str, int]) -> bool:
    """Return whether ``pair`` (instance -> instance) leads to the same row only."""
    one, two = rows[pair.get_tuple_name(_IN)], rows[pair.get_tuple_name(_OUT)]
    return bool(pair.is_subset(pair.equate(_IN, one, _OUT, two)))


def _shared(scop: Scop, statements: Sequence[Statement], rows: Mapping[str, int]) -> int:
    """Return how many of ``statements`` find a row of an array that another one has used.

    The row is the array's first index, and that of all accesses to it.
    """
    users: dict[str, set[str]] = {}
    others: set[str] = set()
    for statement in statements:
        for access in statement.accesses:
            if len(scop.array(access.array).extents) > 1:
                users.setdefault(access.array, set()).add(statement.name)
                if not _leads(access.relation, rows[statement.name], 0):
                    others.add(access.array)
    return sum(len(names) - 1 for array, names in users.items() if array not in others)


def _stays_in_a_row(scop: Scop, reduction: Reduction, rows: Mapping[str, int]) -> bool:
    """Return whether each element of ``reduction`` is added to in one row only."""
    accesses = [(n, a.relation) for n in reduction.statements for a in _to(scop, n, reduction.array)]
    return all(_stays(a.apply_range(b.reverse()), rows) for _, a in accesses for _, b in accesses)
