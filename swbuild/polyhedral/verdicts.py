"""For every loop of the source: parallel, parallel under some condition, or sequential, and why."""

from __future__ import annotations

from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Iterator, Scop
from swbuild.polyhedral.dataflow import Dependences, analyse, relations
from swbuild.polyhedral.described import Described, all_described, described
from swbuild.polyhedral.islutil import bounded_effort, maps_of
from swbuild.polyhedral.privatise import find_private
from swbuild.polyhedral.reductions import Operator, Reduction, find_reductions, relaxed

__all__ = ["LoopVerdict", "RegionAnalysis", "Verdict", "analyse_region", "carried_by_loops"]

#: isl steps to find what one loop carries
MAX_OPERATIONS = 1_000_000


class Verdict(Enum):
    """Whether the iterations of a loop may run at the same time."""

    PARALLEL = "parallel"
    PRIVATE = "parallel after privatisation"
    REDUCTION = "parallel as a reduction"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """A loop of the source.

    ``private`` are the variables of which each iteration needs its own copy, ``reductions`` those that
    it accumulates into, ``because`` the dependences that keep it sequential.
    """

    loop: Iterator
    depth: int
    statements: tuple[str, ...]
    verdict: Verdict
    private: tuple[str, ...]
    reductions: tuple[tuple[str, Operator], ...]
    because: tuple[Described, ...]


@dataclass(frozen=True, slots=True)
class RegionAnalysis:
    """The dependences of a region as it stands in the source, and what they mean for its loops."""

    dependences: tuple[Described, ...]
    loops: tuple[LoopVerdict, ...]


def analyse_region(scop: Scop) -> RegionAnalysis:
    """Return the dependences of ``scop`` and a verdict on each of its loops, in the order of the text."""
    plain = analyse(relations(scop), scop.schedule)
    private = find_private(scop)
    expanded = analyse(relations(scop, private.expansions), scop.schedule)
    reductions = tuple(r for r in find_reductions(scop) if r.array not in private.names)
    kept = relaxed(scop, private.expansions, reductions) if reductions else expanded.all
    found = []
    for loop, depth in _loops(scop, frozenset(s.name for s in scop.statements)).items():
        inside = tuple(s.name for s in scop.statements if loop in s.iterators)
        shared = _carried(scop, plain, None, depth, inside)
        ordered = _carried(scop, expanded, None, depth, inside)
        because = _carried(scop, expanded, kept, depth, inside)
        copied = tuple(sorted({d.array for d in shared} & private.names))
        summed = tuple((r.array, r.operator) for r in reductions if any(_within(r, d) for d in ordered))
        verdict = _verdict(bool(shared), bool(ordered), bool(because))
        found.append(LoopVerdict(loop, depth, inside, verdict, copied, summed, because))
    return RegionAnalysis(all_described(scop, plain), tuple(found))


def _within(reduction: Reduction, item: Described) -> bool:
    ends = {item.source.name, item.sink.name}
    return item.array == reduction.array and ends <= reduction.statements


def _verdict(shared: bool, ordered: bool, because: bool) -> Verdict:
    if because:
        return Verdict.SEQUENTIAL
    if ordered:
        return Verdict.REDUCTION
    return Verdict.PRIVATE if shared else Verdict.PARALLEL


def carried_by_loops(
    scop: Scop, dependences: Dependences, statements: frozenset[str]
) -> dict[Iterator, tuple[Described, ...] | None]:
    """Return the loops around ``statements``, outer ones first, each with the dependences that it carries.

    None where they are too complicated to tell.
    """
    found: dict[Iterator, tuple[Described, ...] | None] = {}
    for loop, depth in _loops(scop, statements).items():
        inside = tuple(s.name for s in scop.statements if loop in s.iterators)
        try:
            with bounded_effort(MAX_OPERATIONS):
                found[loop] = _carried(scop, dependences, None, depth, inside)
        except isl.Error:
            found[loop] = None
    return found


def _loops(scop: Scop, statements: frozenset[str]) -> dict[Iterator, int]:
    """Return the loops around ``statements`` with their depths."""
    loops: dict[Iterator, int] = {}
    for statement in scop.statements:
        if statement.name in statements:
            for depth, loop in enumerate(statement.iterators):
                loops.setdefault(loop, depth)
    return loops


def _carried(
    scop: Scop, dependences: Dependences, pairs: isl.UnionMap | None, depth: int, inside: tuple[str, ...]
) -> tuple[Described, ...]:
    """Return what goes from one iteration of a loop to a later one, by statements and kind.

    Of ``dependences``, only ``pairs`` count if given.  What is data flow is not named as an order as well.
    """
    found: list[Described] = []
    flows: dict[tuple[str, str], isl.Map] = {}
    for is_flow, some in ((True, dependences.flow), (False, dependences.order)):
        for piece in maps_of(some if pairs is None else some.intersect(pairs)):
            ends = (str(piece.get_tuple_name(isl.dim_type.in_)), str(piece.get_tuple_name(isl.dim_type.out)))
            if not set(ends) <= set(inside):
                continue
            carried = _between(piece, depth)
            if is_flow:
                flows[ends] = carried
            elif ends in flows:
                carried = _without(carried, flows[ends])
            if not carried.is_empty():
                found.append(described(scop, carried, is_flow))
    return tuple(found)


def _between(pairs: isl.Map, depth: int) -> isl.Map:
    """Return the pairs that agree on the ``depth`` outer loops and differ in the next one."""
    source, sink = isl.dim_type.in_, isl.dim_type.out
    for k in range(depth):
        pairs = pairs.equate(source, k, sink, k)
    return pairs.order_lt(source, depth, sink, depth).union(pairs.order_gt(source, depth, sink, depth))


def _without(pairs: isl.Map, others: isl.Map) -> isl.Map:
    """Return ``pairs`` less ``others``, or all of them where that is hard to tell."""
    try:
        with bounded_effort(MAX_OPERATIONS // 10):
            return pairs.subtract(others)
    except isl.Error:
        return pairs
