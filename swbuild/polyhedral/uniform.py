"""Dependences between neighbours: what they demand of an order does not depend on how large arrays are."""

from __future__ import annotations

import islpy as isl

from swbuild.polyhedral.islutil import maps_of, union_maps

__all__ = ["without_far_bounds"]

#: Neighbours are at most so far apart.  Bounds up to here stay: they tell the first iterations from others.
NEAR = 16


def without_far_bounds(dependences: isl.UnionMap) -> isl.UnionMap:
    """Return ``dependences``, those between neighbours also beyond the sizes of arrays.

    An order that keeps more than is asked keeps that, too.  Bounds like 120 let isl's scheduler look among
    orders that hold for arrays of 120 elements only, and compute with numbers without end.
    """
    return union_maps(_widened(piece) for piece in maps_of(dependences))


def _widened(piece: isl.Map) -> isl.Map:
    found = isl.Map.empty(piece.get_space())
    for part in piece.get_basic_maps():
        near = _near_bounds(part)
        found = found.union((near if _joins_neighbours(near) else part).to_map())
    return found


def _near_bounds(part: isl.BasicMap) -> isl.BasicMap:
    """Return ``part`` without the bounds that are far from 0."""
    if part.dim(isl.dim_type.div):
        return part
    kept = isl.BasicMap.universe(part.get_space())
    for constraint in part.get_constraints():
        if constraint.is_equality() or constraint.get_constant_val().abs().le(isl.Val(NEAR)):
            kept = kept.add_constraint(constraint)
    return kept


def _joins_neighbours(part: isl.BasicMap) -> bool:
    if part.dim(isl.dim_type.in_) != part.dim(isl.dim_type.out):
        return False
    plain = part.to_map().reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    distances = plain.deltas()
    rank = distances.dim(isl.dim_type.set)
    ends = [end(k) for end in (distances.dim_min_val, distances.dim_max_val) for k in range(rank)]
    return all(end.is_int() and end.abs().le(isl.Val(NEAR)) for end in ends)
