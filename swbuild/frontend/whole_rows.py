"""Which rows of an array of unknown length are in memory for certain: those between what a region touches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from swbuild.expressions.statements import sure_refs
from swbuild.frontend.scop import AccessKind, Statement

__all__ = ["whole_rows"]

_SET = isl.dim_type.set


def whole_rows(
    name: str,
    extents: Sequence[isl.PwAff | None],
    statements: Sequence[Statement],
    *,
    in_rows: bool,
) -> isl.Set | None:
    """Return the outermost indices of the array ``name`` at which all elements are in memory, None for none.

    An array is one piece of memory, so all lies there that is between two elements that the ``statements``
    are certain to touch.  ``in_rows``: rows are arrays in C, and so are there as a whole where one element
    is; otherwise they are what linear subscripts were taken apart into.
    """
    touched = _touched(name, statements)
    if touched is None:
        return None
    outermost = _outermost(touched)
    begins, ends = (outermost, outermost) if in_rows else _corners(touched, extents)
    after = outermost.apply(_RELATED["<"]).union(begins)
    before = outermost.apply(_RELATED[">"]).union(ends)
    rows = after.intersect(before).coalesce()
    return None if rows.is_empty() else rows


#: From an index to those that come after it, and to those that come before it.
_RELATED = {sign: isl.Map(f"{{ [a] -> [x] : a {sign} x }}") for sign in "<>"}


def _touched(name: str, statements: Sequence[Statement]) -> isl.Set | None:
    """Return the elements that ``statements`` touch whatever the data are, None for none."""
    found = []
    for statement in statements:
        accesses = [a for a in statement.accesses if a.array == name and a.affine]
        sure = frozenset(sure_refs(statement.body)) if accesses else frozenset()
        found += [
            access.relation.intersect_domain(statement.domain).range()
            for access in accesses
            if access.ref in sure and access.kind is not AccessKind.MAY_WRITE
        ]
    return reduce(isl.Set.union, found).coalesce() if found else None


def _outermost(elements: isl.Set) -> isl.Set:
    plain = elements.reset_tuple_id()
    return plain.project_out(_SET, 1, plain.dim(_SET) - 1)


def _corners(touched: isl.Set, extents: Sequence[isl.PwAff | None]) -> tuple[isl.Set, isl.Set]:
    """Return the rows whose first element is ``touched``, and those whose last one is."""
    first = last = touched.reset_tuple_id()
    space = first.get_space()
    for position, extent in list(enumerate(extents))[1:]:
        assert extent is not None, "only the outermost extent may be unknown"
        index = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, position))
        end = extent.add_constant_val(isl.Val(-1)).insert_domain(space)
        first, last = first.fix_val(_SET, position, isl.Val(0)), last.intersect(index.eq_set(end))
    return _outermost(first), _outermost(last)
