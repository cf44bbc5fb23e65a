"""Numbers for the symbolic sizes of a scop: extents, domains and conditions at given parameter values."""

from __future__ import annotations

from typing import TypeVar

import islpy as isl

from swbuild.frontend.scop import Array, Scop
from swbuild.islnumbers import int_of

__all__ = ["Shape", "array_shape", "holds", "instances", "runs_nothing"]

_Isl = TypeVar("_Isl", isl.Set, isl.Map, isl.PwAff)

#: The extents of an array, outermost first; empty for a scalar.
Shape = tuple[int, ...]


def holds(condition: isl.Set, point: isl.Set) -> bool:
    """Return whether a parameter set contains ``point``."""
    return not _plain(condition.params()).intersect(point).is_empty()


def array_shape(scop: Scop, array: Array, point: isl.Set) -> Shape | None:
    """Return the extents of ``array`` at ``point``.

    An outermost extent that the source does not show is what the region accesses; ``None`` when
    that is not bounded either (a subscript that is data) or reaches below the array's start.
    """
    known = [None if extent is None else _value(extent, point) for extent in array.extents]
    if None not in known:
        return tuple(max(extent, 0) for extent in known if extent is not None)
    reach = _accessed(scop, array.name, point)
    if reach is None or reach.is_empty():
        return tuple(1 if extent is None else extent for extent in known)
    shape: list[int] = []
    for axis, extent in enumerate(known):
        upper = extent if extent is not None else _upper(reach, axis)
        if upper is None:
            return None
        shape.append(upper)
    return tuple(shape)


def instances(scop: Scop, point: isl.Set) -> frozenset[str]:
    """Return the names of the statements that run at least once at ``point``."""
    return frozenset(
        statement.name
        for statement in scop.statements
        if not _plain(statement.domain).intersect_params(point).is_empty()
    )


def runs_nothing(scop: Scop, point: isl.Set) -> bool:
    """Return whether the region has no statement instance at ``point``."""
    return not instances(scop, point)


def _plain(value: _Isl) -> _Isl:
    """Return the same value with parameters that are identified by their names alone.

    isl tells two parameters of one name apart when one of them carries a user's pointer, as those
    made with ``isl.Id`` do; here it is the name that counts.
    """
    return type(value)(str(value))


def _value(extent: isl.PwAff, point: isl.Set) -> int:
    # By way of a set, because isl's maximum refuses quotients, even where they come out even.
    values = isl.Set.from_pw_aff(_plain(extent)).intersect_params(point)
    return int_of(values.dim_max_val(0))


def _accessed(scop: Scop, name: str, point: isl.Set) -> isl.Set | None:
    """Return every element of the array that the region accesses for all the model says."""
    accesses = (access for statement in scop.statements for access in statement.accesses)
    relations = [_plain(access.relation) for access in accesses if access.array == name]
    ranges = [relation.intersect_params(point).range() for relation in relations]
    if not ranges:
        return None
    reach = ranges[0]
    for other in ranges[1:]:
        reach = reach.union(other)
    return reach


def _upper(reach: isl.Set, axis: int) -> int | None:
    """Return one more than the largest subscript on ``axis``, ``None`` if that is not a size."""
    low, high = reach.dim_min_val(axis), reach.dim_max_val(axis)
    if not low.is_int() or not high.is_int() or low.is_neg():
        return None
    return int_of(high) + 1
