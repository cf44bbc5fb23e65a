"""Dependences in the source's terms: which access, of which array, how many iterations apart."""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.frontend.scop import Access, AccessKind, Iterator, Scop, Statement
from swbuild.islnumbers import int_of
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.islutil import maps_of

__all__ = ["Described", "all_described", "described", "shared_loops"]

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Described:
    """A dependence between two statements: ``kind`` is "flow", "anti" or "output".

    ``loops`` are the loops around both; ``distance`` says per loop how many iterations the second
    access comes after the first: a number where it is always the same, else ``+`` or ``-`` for its
    sign, ``0+`` and ``0-`` with zero among the values, ``*`` for any.
    """

    kind: str
    array: str
    source: Statement
    sink: Statement
    source_span: Span
    sink_span: Span
    loops: tuple[Iterator, ...]
    distance: tuple[str, ...]

    @property
    def verbs(self) -> str:
        """``line 3 writes A, which line 4 reads``."""
        first, second = _VERBS[self.kind]
        lines = self.source_span.line, self.sink_span.line
        return f"line {lines[0]} {first} {self.array}, which line {lines[1]} {second}"


_VERBS = {"flow": ("writes", "reads"), "anti": ("reads", "writes"), "output": ("writes", "writes again")}


def all_described(scop: Scop, dependences: Dependences) -> tuple[Described, ...]:
    """Return every dependence of ``scop``, flow first, one per pair of accesses and distance."""
    found: list[Described] = []
    for is_flow, pairs in ((True, dependences.flow), (False, dependences.order)):
        for piece in maps_of(pairs):
            found += _by_access(scop, piece, is_flow)
    return tuple(found)


def described(scop: Scop, pairs: isl.Map, is_flow: bool) -> Described:
    """Return the first dependence that ``pairs`` (earlier instance -> later instance) stand for.

    ``is_flow``: they come from the data flow, else from the order of anti and output dependences.
    """
    found = _by_access(scop, pairs, is_flow) or _by_access(scop, pairs, not is_flow)
    if found:
        return found[0]
    source, sink = _ends(scop, pairs)
    return _described("flow", "a private variable", source, sink, source.span, sink.span, pairs)


def _ends(scop: Scop, pairs: isl.Map) -> tuple[Statement, Statement]:
    return scop.statement(pairs.get_tuple_name(_IN)), scop.statement(pairs.get_tuple_name(_OUT))


def _by_access(scop: Scop, pairs: isl.Map, is_flow: bool) -> list[Described]:
    source, sink = _ends(scop, pairs)
    found: dict[tuple[str, str, tuple[str, ...]], Described] = {}
    for first in source.accesses:
        for second in sink.accesses:
            kind = _kind(first, second)
            if first.array != second.array or kind is None or (kind == "flow") != is_flow:
                continue
            conflict = first.relation.apply_range(second.relation.reverse()).intersect(pairs)
            if not conflict.is_empty():
                item = _described(kind, first.array, source, sink, first.span, second.span, conflict)
                found.setdefault((kind, first.array, item.distance), item)
    return list(found.values())


def _kind(first: Access, second: Access) -> str | None:
    writes = (first.kind is not AccessKind.READ, second.kind is not AccessKind.READ)
    return {(True, False): "flow", (False, True): "anti", (True, True): "output"}.get(writes)


def _described(
    kind: str, array: str, source: Statement, sink: Statement, first: Span, second: Span, pairs: isl.Map
) -> Described:
    loops = shared_loops(source, sink)
    distance = tuple(_distance(pairs, k) for k in range(len(loops)))
    return Described(kind, array, source, sink, first, second, loops, distance)


def shared_loops(source: Statement, sink: Statement) -> tuple[Iterator, ...]:
    """Return the loops around both statements, outermost first."""
    shared = []
    for a, b in zip(source.iterators, sink.iterators, strict=False):
        if a != b:
            break
        shared.append(a)
    return tuple(shared)


def _distance(pairs: isl.Map, depth: int) -> str:
    """Return the distance of ``pairs`` in the loop ``depth``, as a number or a sign."""
    plain = pairs.reset_tuple_id(_IN).reset_tuple_id(_OUT)
    for side in (_IN, _OUT):
        plain = plain.project_out(side, depth + 1, plain.dim(side) - depth - 1)
        plain = plain.project_out(side, 0, depth)
    values = plain.deltas()
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    if low.is_int() and low.eq(high):
        return str(int_of(low))
    if low.is_int() and low.is_nonneg():
        return "0+" if low.is_zero() else "+"
    if high.is_int() and high.is_nonpos():
        return "0-" if high.is_zero() else "-"
    return "*"
