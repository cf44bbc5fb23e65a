"""From sets of parameters to instances of statements and the elements that they access.

While a region is walked, sizes and loop counters alike are isl parameters: a domain is a set of parameter
values, a subscript a function of them.  A finished statement has tuples, ``S0[i, j]``, one dimension for each
loop around it, over the sizes alone.  To move a counter from a parameter to a dimension is legal because each
has a name of its own (``i'3``), which no other loop of the region has, and because the domain of a statement
names no counters but those of the loops around it.  What stays a parameter is a size, and means the same in
every set of the region once all are aligned to one space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import islpy as isl

from swbuild.frontend.drafts import Loop
from swbuild.frontend.integers import constant
from swbuild.machine.reserved import is_reserved
from swbuild.names import plain

__all__ = ["aligned", "instances", "moved_in", "sets_of", "where_equal", "where_inside"]

_PARAM, _SET, _IN = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_

_Spaced = TypeVar("_Spaced", isl.Set, isl.Map)


def instances(points: isl.Set, loops: Sequence[Loop], name: str) -> isl.Set:
    """Return the parameter set ``points`` as a set of tuples ``name`` of the counters of ``loops``.

    ``{ : ... }`` over counters and sizes becomes ``{ name[counters] : ... }`` over sizes.  A counter that
    ``points`` does not constrain has no parameter there; its dimension is free.
    """
    result = isl.Set.from_params(points)
    for position, loop in enumerate(loops):
        found = result.find_dim_by_name(_PARAM, loop.variable)
        if found < 0:
            result = result.insert_dims(_SET, position, 1)
        else:
            result = result.move_dims(_SET, position, _PARAM, found, 1)
    result = result.set_tuple_name(name)
    for position, loop in enumerate(loops):
        result = result.set_dim_name(_SET, position, _label(loop))
    return result


def _label(loop: Loop) -> str:
    """Return the counter's name as isl can read it; that serves readers alone."""
    name = plain(loop.name)
    return f"{name}_" if is_reserved(name) else name


def moved_in(image: isl.Set, loops: Sequence[Loop], name: str) -> isl.Map:
    """Return the map from tuples ``name`` of the counters of ``loops`` to the elements that ``image``
    gives.

    ``{ A[e] : ... }`` over counters and sizes becomes ``{ name[counters] -> A[e] : ... }`` over sizes: what
    held for an element at some values of the counters now relates those values to the element.
    """
    relation = isl.Map.from_range(image)
    for position, loop in enumerate(loops):
        found = relation.find_dim_by_name(_PARAM, loop.variable)
        if found < 0:
            relation = relation.insert_dims(_IN, position, 1)
        else:
            relation = relation.move_dims(_IN, position, _PARAM, found, 1)
    relation = relation.set_tuple_name(_IN, name)
    for position, loop in enumerate(loops):
        relation = relation.set_dim_name(_IN, position, _label(loop))
    return relation


def where_equal(space: isl.Space, position: int, subscript: isl.PwAff) -> isl.Set:
    """Return the elements of ``space`` whose coordinate ``position`` is ``subscript``.

    The value of ``subscript``, a function of parameters, as a set of one dimension becomes the coordinate;
    where the function is not defined there is no element.
    """
    return _embedded(isl.Set.from_pw_aff(subscript), space, position)


def where_inside(space: isl.Space, position: int, extent: isl.PwAff | None) -> isl.Set:
    """Return the elements of ``space`` whose coordinate ``position`` is inside the extent.

    Without an extent only the start is known.  ``[e] -> [x]`` leads from the last coordinate, a function of
    sizes, to all up to it.
    """
    inside = isl.Set.universe(space).lower_bound_val(_SET, position, isl.Val(0))
    if extent is None:
        return inside
    last = isl.Set.from_pw_aff(extent.sub(constant(1)))
    return inside.intersect(_embedded(last.apply(isl.Map("{ [e] -> [x] : x <= e }")), space, position))


def _embedded(line: isl.Set, space: isl.Space, position: int) -> isl.Set:
    """Return the elements of ``space`` whose coordinate ``position`` lies in the one-dimensional ``line``."""
    after = space.dim(_SET) - position - 1
    return (
        line.insert_dims(_SET, 0, position).add_dims(_SET, after).set_tuple_name(space.get_tuple_name(_SET))
    )


def aligned(thing: _Spaced, space: isl.Space) -> _Spaced:
    """Return ``thing`` with exactly the parameters of ``space``; others must not be constrained any more.

    Such others are counters that the thing does not depend on, and sizes that the model does without: to
    project out a parameter that nothing constrains changes nothing.
    """
    for position in reversed(range(thing.dim(_PARAM))):
        if space.find_dim_by_name(_PARAM, str(thing.get_dim_name(_PARAM, position))) < 0:
            thing = thing.project_out(_PARAM, position, 1)
    return thing.align_params(space)


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """Return the sets of a union."""
    sets = union.get_set_list()
    return [sets.get_at(i) for i in range(sets.n_set())]
