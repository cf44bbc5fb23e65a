"""Rows of what is written: all indices of an element but the last are fixed, the last is a range."""

from __future__ import annotations

import islpy as isl

from swbuild.frontend.scop import Scop

__all__ = ["Interval", "filled_rows", "is_rowwise", "rows_within", "whole_rows"]

#: The first and the last of some indices, functions of the parameters.
Interval = tuple[isl.PwAff, isl.PwAff]


def is_rowwise(written: isl.Map) -> bool:
    """Return whether every row (all indices but the last fixed) of the footprint is one interval.

    It is where no more than one of its elements has no next one.
    """
    last = written.dim(isl.dim_type.out) - 1
    rows = (written if last == 0 else _by_row(written)).reset_tuple_id(isl.dim_type.out)
    ends = rows.subtract(rows.apply_range(isl.Map("{ [x] -> [x - 1] }")))
    return bool(ends.is_single_valued())


def _by_row(written: isl.Map) -> isl.Map:
    """Return ``[prefix, outer indices] -> [last index]``."""
    inner = written.dim(isl.dim_type.out) - 1
    plain = written.reset_tuple_id(isl.dim_type.out)
    depth = plain.dim(isl.dim_type.in_)
    return plain.move_dims(isl.dim_type.in_, depth, isl.dim_type.out, 0, inner)


def _hull(rows: isl.Map) -> isl.Map:
    """Return the map to all integers between the least and the greatest value of ``rows``."""
    low = isl.Map.from_pw_aff(rows.dim_min(0)).apply_range(isl.Map("{ [x] -> [y] : y >= x }"))
    high = isl.Map.from_pw_aff(rows.dim_max(0)).apply_range(isl.Map("{ [x] -> [y] : y <= x }"))
    plain = low.intersect(high)
    if rows.has_tuple_id(isl.dim_type.out):
        plain = plain.set_tuple_id(isl.dim_type.out, rows.get_tuple_id(isl.dim_type.out))
    return plain


def filled_rows(written: isl.Map) -> isl.Map:
    """Return ``written``, prefix -> element, with all of each row that lies between elements written there.

    Those are elements of the array as well.
    """
    inner = written.dim(isl.dim_type.out) - 1
    if not inner:
        return _hull(written)
    rows, depth = _hull(_by_row(written)), written.dim(isl.dim_type.in_)
    whole = rows.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, depth, inner)
    return whole.set_tuple_name(isl.dim_type.out, written.get_tuple_name(isl.dim_type.out))


def whole_rows(scop: Scop, name: str, here: isl.Set) -> Interval | None:
    """Return the first and the last row of an array that are all in memory, as all between them are.

    That is for the parameters in ``here``; None where the source does not show them, or they have no simple
    formulas.
    """
    rows, here = scop.array(name).whole_rows, here.intersect(scop.context).intersect(scop.assumptions)
    if rows is None or len(scop.array(name).extents) < 2:
        return None
    rows = rows.intersect_params(here).coalesce()
    low, high = (end.gist(here).coalesce() for end in (rows.dim_min(0), rows.dim_max(0)))
    above = isl.Set.from_pw_aff(low).apply(isl.Map("{ [a] -> [x] : x >= a }"))
    between = above.intersect(isl.Set.from_pw_aff(high).apply(isl.Map("{ [a] -> [x] : x <= a }")))
    simple = low.n_piece() == high.n_piece() == 1
    return (low, high) if simple and between.intersect_params(here).is_subset(rows) else None


def rows_within(box: isl.Map, rows: Interval) -> isl.Map:
    """Return all of ``box``, prefix -> element, whose outermost index lies in ``rows``."""
    space, (low, high) = box.get_space().range(), rows
    index = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, 0))
    above, below = index.ge_set(low.insert_domain(space)), index.le_set(high.insert_domain(space))
    return box.intersect_range(above.intersect(below))
