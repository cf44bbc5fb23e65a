"""What an order of the statements has to keep, and what it need not keep, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from swbuild.classes import dataclass
from swbuild.dump.text import indented, map_lines, union_map_lines
from swbuild.frontend.scop import AccessKind, Scop, Statement
from swbuild.planning.ordering import Order
from swbuild.polyhedral.dataflow import Dependences, Expansions, access_relation, analyse, relations
from swbuild.polyhedral.islutil import maps_of, union_maps

__all__ = ["dependence_lines"]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of instances of one kind that meet in ``array`` ("" where the accesses do not tell)."""

    kind: str
    array: str
    pairs: isl.Map


def dependence_lines(scop: Scop, order: Order) -> Iterator[str]:
    """Yield the dependences of ``scop`` that ``order`` keeps, and those that it drops, with the reasons."""
    scheduled = order.scheduled
    expansions = scheduled.private.expansions
    yield f"found by {scheduled.dependences.precision.value}"
    for item in _named(scop, scheduled.dependences, expansions):
        if kept := _kept(item, scheduled.kept):
            yield from _lines("", kept)
    for line in union_map_lines(scheduled.dependences.live_in):
        yield f"reads from before the region {line}"
    for name in sorted(scheduled.private.names):
        yield from _private(scop, name)
    for reduction in order.split:
        reason = f"dropped, {reduction.array} is reduced by {reduction.operator.value}: "
        for item in _named(scop, scheduled.dependences, expansions):
            if item.array == reduction.array and (lost := _lost(item, scheduled.kept)):
                yield from _lines(reason, lost)


def _private(scop: Scop, name: str) -> Iterator[str]:
    """Yield the dependences that would be there if the variable ``name`` had no copies."""
    for item in _named(scop, analyse(relations(scop), scop.schedule), {}):
        if item.array == name:
            yield from _lines(f"dropped, {name} is private: ", item)


def _lines(reason: str, item: _Pairs) -> Iterator[str]:
    ends = " -> ".join(item.pairs.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
    yield f"{reason}{item.kind} {ends} by {item.array or 'accesses that were not told apart'}"
    yield from indented(map_lines(item.pairs.coalesce()))


def _kept(item: _Pairs, kept: isl.UnionMap) -> _Pairs | None:
    return _found(item, item.pairs.to_union_map().intersect(kept))


def _lost(item: _Pairs, kept: isl.UnionMap) -> _Pairs | None:
    return _found(item, item.pairs.to_union_map().subtract(kept))


def _found(item: _Pairs, pairs: isl.UnionMap) -> _Pairs | None:
    pieces = [piece for piece in maps_of(pairs) if not piece.is_empty()]
    return _Pairs(item.kind, item.array, pieces[0]) if pieces else None


def _named(scop: Scop, dependences: Dependences, expansions: Expansions) -> Iterator[_Pairs]:
    """Yield the dependences by kind, statements and array."""
    kinds: tuple[tuple[isl.UnionMap, tuple[str, ...]], ...] = (
        (dependences.flow, ("flow",)),
        (dependences.order, ("anti", "output")),
    )
    for pairs, names in kinds:
        for piece in maps_of(pairs):
            yield from _by_array(scop, piece, names, expansions)


def _by_array(scop: Scop, pairs: isl.Map, kinds: tuple[str, ...], expansions: Expansions) -> Iterator[_Pairs]:
    """Yield ``pairs`` by the conflicts that they stand for; a pair may stand for several."""
    source, sink = (
        scop.statement(pairs.get_tuple_name(side)) for side in (isl.dim_type.in_, isl.dim_type.out)
    )
    rest = pairs
    for kind in kinds:
        first, second = _ENDS[kind]
        for array in sorted({a.array for a in source.accesses} & {a.array for a in sink.accesses}):
            ends = (
                _accesses(scop, source, array, first, expansions),
                _accesses(scop, sink, array, second, expansions),
            )
            found = [m for m in maps_of(ends[0].apply_range(ends[1].reverse())) if not m.is_empty()]
            conflict = found[0].intersect(pairs) if found else None
            if conflict is not None and not conflict.is_empty():
                rest = rest.subtract(conflict)
                yield _Pairs(kind, array, conflict)
    if not rest.is_empty():
        yield _Pairs(" or ".join(kinds), "", rest)


def _writes(kind: AccessKind) -> bool:
    return kind is not AccessKind.READ


def _reads(kind: AccessKind) -> bool:
    return kind is AccessKind.READ


_Choice = Callable[[AccessKind], bool]

_ENDS: dict[str, tuple[_Choice, _Choice]] = {
    "flow": (_writes, _reads),
    "anti": (_reads, _writes),
    "output": (_writes, _writes),
}


def _accesses(
    scop: Scop, statement: Statement, array: str, wanted: _Choice, expansions: Expansions
) -> isl.UnionMap:
    return union_maps(
        access_relation(scop, statement, access, expansions)
        for access in statement.accesses
        if access.array == array and wanted(access.kind)
    )
