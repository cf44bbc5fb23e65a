"""Loop counters among the parameters of isl's sets: how they are named there, and told from sizes."""

from __future__ import annotations

import islpy as isl

__all__ = ["counter_dimension", "is_counter", "is_symbolic", "previous_dimension"]

#: no identifier of C has it, so no size is taken for a counter
_MARK = "'"

_PARAM = isl.dim_type.param


def counter_dimension(name: str, number: int) -> str:
    """Return the dimension of the counter ``name`` of a loop; ``number`` tells it from all others."""
    return f"{name}{_MARK}{number}"


def previous_dimension(dimension: str) -> str:
    """Return the dimension of another value of the same counter."""
    return dimension + _MARK


def is_counter(space: isl.Space, position: int) -> bool:
    """Return whether the parameter at ``position`` of ``space`` is a counter, not a size."""
    return _MARK in str(space.get_dim_name(_PARAM, position))


def is_symbolic(pa: isl.PwAff) -> bool:
    """Return whether a function depends on sizes only, not on counters."""
    return not any(is_counter(pa.space, i) and pa.involves_dims(_PARAM, i, 1) for i in range(pa.dim(_PARAM)))
