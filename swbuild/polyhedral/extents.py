"""Extents of arrays as far as a region goes: where the source gives none, the end of what is accessed."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from swbuild.frontend.scop import Array, Scop
from swbuild.polyhedral.islutil import index_range

__all__ = ["extents_of"]


def extents_of(scop: Scop, array: Array) -> tuple[isl.PwAff | None, ...]:
    """Return extents of ``array`` that no access of the region leaves, None where isl sees no such end."""
    if array.is_scalar or array.extents[0] is not None:
        return array.extents
    return (_accessed_to(scop, array), *array.extents[1:])


def _accessed_to(scop: Scop, array: Array) -> isl.PwAff | None:
    """Return the outermost index of ``array`` after all that are accessed when the region runs.

    None where no single formula of the sizes says it, or where there are indices below zero.
    """
    accesses = [a for s in scop.statements for a in s.accesses if a.array == array.name]
    if not accesses:
        return None
    sizes = scop.context.intersect(scop.assumptions)
    touched = reduce(isl.Set.union, (access.relation.range() for access in accesses))
    inside = index_range(touched.intersect_params(sizes), 0)
    if not inside.dim_is_bounded(isl.dim_type.set, 0) or not inside.is_subset(isl.Set("{ [x] : x >= 0 }")):
        return None
    end = inside.dim_max(0).add_constant_val(isl.Val(1)).gist(inside.params()).coalesce()
    if end.n_piece() != 1:
        return None
    ((_, formula),) = end.get_pieces()
    return isl.PwAff.from_aff(formula)
