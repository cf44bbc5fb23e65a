"""Why a source loop is not parallel: the dependence that it carries, in the source's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import islpy as isl

from swbuild.frontend.scop import Access, AccessKind, Iterator, Scop, Statement
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.islutil import maps_of

__all__ = ["CarriedDependence", "LoopReason", "loop_reasons"]


@dataclass(frozen=True, slots=True)
class CarriedDependence:
    """One dependence from an earlier to a later iteration of a loop, by source lines."""

    kind: str  # "flow", "anti" or "output"
    array: str
    source_line: int
    sink_line: int

    def __str__(self) -> str:
        first, second = _VERBS[self.kind]
        what = f"line {self.source_line} {first} {self.array}"
        return f"{what}, which line {self.sink_line} {second} in a later iteration"


_VERBS = {"flow": ("writes", "reads"), "anti": ("reads", "writes"), "output": ("writes", "writes again")}


@dataclass(frozen=True, slots=True)
class LoopReason:
    """A loop of the source and what keeps its iterations in order (nothing: it is parallel)."""

    name: str
    line: int
    carried: tuple[CarriedDependence, ...]


def loop_reasons(scop: Scop, dependences: Dependences, statements: Iterable[str]) -> tuple[LoopReason, ...]:
    """Return the loops around ``statements``, outermost first, each with the dependences that it carries."""
    wanted = set(statements)
    loops: dict[Iterator, int] = {}
    for statement in scop.statements:
        if statement.name in wanted:
            for depth, loop in enumerate(statement.iterators):
                loops.setdefault(loop, depth)
    return tuple(
        LoopReason(loop.name, loop.span.line, _carried(scop, dependences, loop, depth))
        for loop, depth in loops.items()
    )


def _carried(
    scop: Scop, dependences: Dependences, loop: Iterator, depth: int
) -> tuple[CarriedDependence, ...]:
    """Return one dependence per pair of statements that go from one iteration of ``loop`` to a later one."""
    inside = {s.name: s for s in scop.statements if loop in s.iterators}
    found: dict[CarriedDependence, None] = {}
    for kind, pairs in (("flow", dependences.flow), ("order", dependences.order)):
        for piece in maps_of(pairs):
            source, sink = (str(piece.get_tuple_name(side)) for side in (isl.dim_type.in_, isl.dim_type.out))
            if source in inside and sink in inside and not _between(piece, depth).is_empty():
                found[_described(inside[source], inside[sink], kind, _between(piece, depth))] = None
    return tuple(found)


def _between(pairs: isl.Map, depth: int) -> isl.Map:
    """Return the pairs that agree on the ``depth`` outer loops and differ in the next one."""
    for k in range(depth):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    same = pairs.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)
    return pairs.subtract(same)


def _described(source: Statement, sink: Statement, kind: str, pairs: isl.Map) -> CarriedDependence:
    for first in source.accesses:
        for second in sink.accesses:
            named = _kind(first, second)
            if first.array == second.array and named is not None and (named == "flow") == (kind == "flow"):
                conflict = first.relation.apply_range(second.relation.reverse())
                if not conflict.intersect(pairs).is_empty():
                    return CarriedDependence(named, first.array, source.span.line, sink.span.line)
    return CarriedDependence("flow", "a private variable", source.span.line, sink.span.line)


def _kind(first: Access, second: Access) -> str | None:
    writes = (first.kind is not AccessKind.READ, second.kind is not AccessKind.READ)
    return {(True, False): "flow", (False, True): "anti", (True, True): "output"}.get(writes)
