"""Values of parameters that are in a set, and close to others."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from swbuild.islnumbers import int_of

__all__ = ["nearest"]

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


def nearest(within: isl.Set, near: Mapping[str, int]) -> dict[str, int] | None:
    """Return values of parameters in ``within``, each as close to that of ``near`` as those before it allow.

    None where ``within``, whose parameters without a value may be anything, is empty.
    """
    names = list(near)
    left = isl.Set.from_params(within.params())
    for position, name in enumerate(names):
        left = _with_dimension(left, name, position)
    if left.is_empty():
        return None
    found: dict[str, int] = {}
    for position, name in enumerate(names):
        value = _closest(left, position, near[name])
        if value is None:
            return None
        found[name] = value
        left = left.fix_val(_SET, position, isl.Val(value))
    return found


def _with_dimension(values: isl.Set, name: str, position: int) -> isl.Set:
    """Return ``values`` with its parameter of this name as the dimension at ``position``."""
    parameter = values.find_dim_by_name(_PARAM, name)
    if parameter < 0:
        return values.insert_dims(_SET, position, 1)
    return values.move_dims(_SET, position, _PARAM, parameter, 1)


def _closest(values: isl.Set, position: int, wanted: int) -> int | None:
    """Return the value nearest to ``wanted`` that the dimension takes in ``values``."""
    if not values.fix_val(_SET, position, isl.Val(wanted)).is_empty():
        return wanted
    below = values.upper_bound_val(_SET, position, isl.Val(wanted))
    above = values.lower_bound_val(_SET, position, isl.Val(wanted))
    found = [] if below.is_empty() else [below.dim_max_val(position)]
    found += [] if above.is_empty() else [above.dim_min_val(position)]
    numbers = [int_of(value) for value in found if value.is_int()]
    return min(numbers, key=lambda number: abs(number - wanted), default=None)
