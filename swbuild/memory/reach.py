"""How far an array certainly reaches: what a transfer may touch of it beside what the region accesses."""

from __future__ import annotations

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.polyhedral.dataflow import access_relation
from swbuild.polyhedral.islutil import sets_of, union_sets

__all__ = ["certain_part"]


def certain_part(scop: Scop, name: str, box: isl.Map) -> isl.Map | None:
    """Return the part of ``box`` (visit -> element of array ``name``) that certainly exists, None for all.

    A box is made of rows, all equally long.  Where rows were read out of linearised subscripts and the source
    does not say how long the array is, its memory may end with the furthest element that the region accesses
    (``a[2*j + 2] = a[2*j + 1]`` seen as rows of two: nothing follows the last ``a[2*n]``).
    """
    array = scop.array(name)
    if not array.linear or array.extents[0] is not None:
        return None
    accesses = ((s, a) for s in scop.statements for a in s.accesses if a.array == name)
    # all elements that the region accesses, in order of their addresses the order of their subscripts
    accessed = union_sets(access_relation(scop, s, a, {}).range() for s, a in accesses)
    (elements,) = sets_of(accessed)
    furthest = elements.lexmax()
    # element -> the furthest one, for all that come no later in memory; one set, as ``box`` is of one array
    before = box.range().lex_le_set(furthest)
    part = box.intersect_range(before.domain())
    return None if box.is_subset(part) else part.coalesce()
