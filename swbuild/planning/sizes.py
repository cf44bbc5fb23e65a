"""Sizes to plan for where none are known: what the arrays and what is known of the parameters allow."""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions
from swbuild.polyhedral.islutil import bounded_effort, constant_of, ran_out

__all__ = ["ASSUMED_INSTANCES", "Sizes", "assumed_sizes"]

#: Where nothing limits a size, it is such that the deepest nest has about so many instances.
ASSUMED_INSTANCES = 10_000_000

#: The smallest of such sizes.
_LEAST = 64

#: The largest of them.
_MOST = 4_000_000

#: A bound that is no more than the range of a type.
_UNLIMITED = 1 << 28

#: isl steps to find what the arrays allow.
_EFFORT = 200_000

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Sizes:
    """A value for every parameter: ``known``, or, of ``limits``, the largest that the arrays allow."""

    values: dict[str, int]
    known: frozenset[str]
    limits: frozenset[str]


def assumed_sizes(scop: Scop, options: KernelOptions) -> Sizes:
    """Return a value for every parameter of ``scop``: the one that is known, else the largest allowed.

    What allows them are constant extents of arrays and what is known of the sizes.  A size without limit is
    as large as the largest of the others; without others, nests have about :data:`ASSUMED_INSTANCES`
    instances.
    """
    allowed = scop.context
    try:
        with bounded_effort(_EFFORT):
            allowed = _inside_arrays(scop)
    except isl.Error as error:
        if not ran_out(error):
            raise
    found: dict[str, int] = {}
    known: set[str] = set()
    limits: set[str] = set()
    for parameter in scop.parameters:
        name, position = parameter.name, allowed.find_dim_by_name(_PARAM, parameter.name)
        stated = options.params.get(parameter.expression)
        largest = stated or (_limit(allowed, position) if position >= 0 else None)
        if largest is None:
            continue
        found[name] = largest
        (known if stated else limits).add(name)
        fixed = allowed.fix_val(_PARAM, position, isl.Val(largest)) if position >= 0 else allowed
        allowed = allowed if fixed.is_empty() else fixed
    default = max(found.values(), default=_default_size(scop))
    values = {parameter.name: found.get(parameter.name, default) for parameter in scop.parameters}
    return Sizes(values, frozenset(known), frozenset(limits))


def _limit(allowed: isl.Set, position: int) -> int | None:
    """Return the largest value of the parameter at ``position``, None where nothing limits it."""
    moved = allowed.params().insert_dims(isl.dim_type.set, 0, 0)
    values = moved.move_dims(isl.dim_type.set, 0, _PARAM, position, 1)
    largest = values.project_out(_PARAM, 0, values.dim(_PARAM)).dim_max_val(0)
    value = int(largest.to_python()) if largest.is_int() else _UNLIMITED
    return value if value < _UNLIMITED else None


def _inside_arrays(scop: Scop) -> isl.Set:
    """Return the sizes for which all loops run and subscripts stay inside the constant extents of arrays."""
    allowed = scop.context
    for access in (a for statement in scop.statements for a in statement.accesses if a.affine):
        for position, extent in enumerate(scop.array(access.array).extents):
            count = None if extent is None else constant_of(extent)
            if count is not None:
                last = access.relation.range().dim_max(position)
                within = allowed.intersect(_at_most(last, count - 1))
                allowed = allowed if within.is_empty() else within
    return allowed


def _at_most(value: isl.PwAff, most: int) -> isl.Set:
    """Return where ``value`` is defined and not more than ``most``."""
    return value.le_set(isl.PwAff.val_on_domain(value.domain(), isl.Val(most)))


def _default_size(scop: Scop) -> int:
    """Return the size for which the deepest nest has the instances that are assumed."""
    depth = max((len(statement.iterators) for statement in scop.statements), default=1)
    size: float = ASSUMED_INSTANCES ** (1 / max(1, depth))
    return min(_MOST, max(_LEAST, round(size)))
