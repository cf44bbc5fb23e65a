"""Small helpers over islpy that several stages share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import islpy as isl

__all__ = ["bounded_effort", "constant_of", "maps_of", "sets_of", "union_maps", "union_sets"]


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """Return the maps of ``union``, sorted by the names of their tuples (a stable order)."""
    found = union.get_map_list()
    maps = [found.get_at(i) for i in range(found.n_map())]
    return sorted(maps, key=lambda m: (_name(m, isl.dim_type.in_), _name(m, isl.dim_type.out)))


def _name(piece: isl.Map, side: isl.dim_type) -> str:
    return str(piece.get_tuple_name(side)) if piece.has_tuple_id(side) else ""


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """Return the sets of ``union``, sorted by their tuple's name (a stable order)."""
    found = union.get_set_list()
    sets = [found.get_at(i) for i in range(found.n_set())]
    return sorted(sets, key=lambda s: str(s.get_tuple_name()) if s.has_tuple_id() else "")


def union_sets(sets: Iterable[isl.Set]) -> isl.UnionSet:
    """Return the union of ``sets``."""
    result = isl.UnionSet("{ }")
    for piece in sets:
        result = result.union(piece.to_union_set())
    return result


def union_maps(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """Return the union of ``maps``."""
    result = isl.UnionMap("{ }")
    for piece in maps:
        result = result.union(piece.to_union_map())
    return result


@contextmanager
def bounded_effort(operations: int) -> Iterator[None]:
    """Let isl do at most ``operations`` steps inside; then it raises ``isl.Error``."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def constant_of(value: isl.PwAff) -> int | None:
    """Return the integer that ``value`` is everywhere on its domain, or None (also for no domain at all)."""
    if not value.is_cst():  # one constant per piece, perhaps not the same
        return None
    found = value.max_val()
    return int(found.to_python()) if found.is_int() and value.min_val() == found else None
