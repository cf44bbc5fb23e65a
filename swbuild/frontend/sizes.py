"""Sets and functions over a region's parameters: which of them are sizes, and what types say of them.

While a region is walked, sizes and counters alike are isl parameters: all sets here are parameter sets.
"""

from __future__ import annotations

import islpy as isl

from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend.counters import is_counter
from swbuild.frontend.integers import constant, parameter, universe
from swbuild.frontend.loops import without

__all__ = ["plain_sizes", "sizes_only", "type_range"]

_LARGEST_UNION = 6
_PARAM = isl.dim_type.param


def sizes_only(points: isl.Set) -> isl.Set:
    """Return the sizes for which there is a point, counters projected out."""
    counters = [i for i in range(points.dim(_PARAM)) if is_counter(points.space, i)]
    return without(points, [str(points.get_dim_name(_PARAM, i)) for i in counters])


def plain_sizes(points: isl.Set) -> isl.Set:
    """Return the sizes of ``points``, or more where they are complicated (their complement is tested)."""
    exact = sizes_only(points).compute_divs().coalesce()
    return exact if exact.n_basic_set() <= _LARGEST_UNION else exact.remove_divs().coalesce()


def type_range(name: str, element: ElementType) -> isl.Set:
    """Return the values that a parameter of this type can have, as far as 32 bits show it."""
    if element.name == "_Bool":
        return parameter(name).nonneg_set().intersect(parameter(name).le_set(constant(1)))
    bits = 8 * element.size
    unsigned = element.kind is TypeKind.UNSIGNED
    if bits > 32:
        return parameter(name).nonneg_set() if unsigned else universe()
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return parameter(name).ge_set(constant(low)).intersect(parameter(name).le_set(constant(high)))
