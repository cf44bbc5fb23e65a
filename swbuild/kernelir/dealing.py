"""Loops over the tiles of several mapped loops, dealt to the threads in turn as if they were one loop.

The numbers of the tiles are nested loops, which every thread runs but for the innermost.  Of that, it runs
the numbers that are its own; a counter says how many others come before the next one, so that threads take
turns from row to row, however long the rows are.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Name
from swbuild.kernelir.astwalk import TooComplicated
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Counter, Deal, Loop, Node
from swbuild.kernelir.origin import Origin, Role
from swbuild.mapping.regiontree import multi_union
from swbuild.mapping.tiling import TiledKernel, thread_parameters
from swbuild.names import own

__all__ = ["Numbers", "dealt", "numbers_of"]

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set

_UNBOUNDED = "how many tiles there are cannot be told"

_TURN, _THREAD = own("sw_turn"), own("sw_rid")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of the tiles of one mapped loop: from the least of ``low`` to the largest of ``high``.

    They are formulas over parameters and the numbers in the mapped loops before, per convex part of what the
    loops count; each is the largest, or the least, of some.  ``certain`` says where the numbers are, as far
    as the loop over them vouches for that.
    """

    low: tuple[tuple[isl.Aff, ...], ...]
    high: tuple[tuple[isl.Aff, ...], ...]
    certain: isl.Set


def numbers_of(tiled: TiledKernel) -> tuple[Numbers, ...]:
    """Return the numbers of the tiles of each mapped loop, outermost first; some may be of empty tiles."""
    names = thread_parameters(tiled.mapping)
    indices = [tiled.coordinates.get_at(k).scale_down_val(isl.Val(tiled.sizes[k])) for k in range(len(names))]
    tiles = isl.Set.from_union_set(isl.UnionMap.from_multi_union_pw_aff(multi_union(indices)).range())
    return tuple(_numbers(tiles, k, names) for k in range(len(names)))


def _numbers(tiles: isl.Set, position: int, names: tuple[str, ...]) -> Numbers:
    """Return the numbers at ``position`` of ``tiles``, those before being parameters ``names``."""
    here = tiles.project_out(_SET, position + 1, tiles.dim(_SET) - position - 1)
    for name in names[:position]:
        place = here.dim(_PARAM)
        here = here.move_dims(_PARAM, place, _SET, 0, 1).set_dim_name(_PARAM, place, name)
    parts = [part.remove_redundancies() for part in here.remove_divs().coalesce().get_basic_sets()]
    ends = [_ends(part) for part in parts]
    if not all(low and high for low, high in ends):
        raise TooComplicated(_UNBOUNDED)
    place = here.dim(_PARAM)
    certain = isl.Set.universe(here.get_space().params())
    if len(parts) == 1:  # of several, any may be empty, and says nothing then
        moved = isl.Set.from_basic_set(_bounded(parts[0])).move_dims(_PARAM, place, _SET, 0, 1)
        certain = moved.set_dim_name(_PARAM, place, names[position]).params()
    return Numbers(tuple(low for low, _ in ends), tuple(high for _, high in ends), certain)


def _bounded(part: isl.BasicSet) -> isl.BasicSet:
    """Return what the constraints of ``part`` say that involve its only dimension."""
    found = isl.BasicSet.universe(part.get_space())
    for constraint in part.get_constraints():
        if constraint.involves_dims(_SET, 0, 1):
            found = found.add_constraint(constraint)
    return found


def _ends(part: isl.BasicSet) -> tuple[tuple[isl.Aff, ...], tuple[isl.Aff, ...]]:
    """Return the lower and the upper bounds of the only dimension of ``part``."""
    low, high = [], []
    for constraint in part.get_constraints():
        if constraint.involves_dims(_SET, 0, 1):
            bound = constraint.get_bound(_SET, 0).project_domain_on_params()
            if constraint.is_equality() or constraint.is_lower_bound(_SET, 0):
                low.append(bound.ceil())
            if constraint.is_equality() or constraint.is_upper_bound(_SET, 0):
                high.append(bound.floor())
    return tuple(low), tuple(high)


def dealt(tiled: TiledKernel, numbers: tuple[Numbers, ...], context: isl.Set, body: Node) -> Node:
    """Return the loops around ``body``, which runs one tile; ``context``: what is known of parameters."""
    names = thread_parameters(tiled.mapping)
    contexts = [context]
    for each in numbers:
        contexts.append(contexts[-1].intersect(each.certain))
    for k in reversed(range(len(names))):
        low, high = _bounds(numbers[k], contexts[k])
        origin = Origin(Role.DEALT, None, k, coincident=True)
        if k == len(names) - 1:
            end = _end(numbers[k], low, high, contexts[k])
            body = Deal(names[k], _TURN, low, high, end, prod(tiled.mapping.threads), body, origin)
        else:
            body = Loop(names[k], low, Binary(BinaryOperator.LE, Name(names[k]), high), 1, body, origin)
    return Counter(_TURN, Name(_THREAD), body)


def _bounds(numbers: Numbers, context: isl.Set) -> tuple[Expression, Expression]:
    """Return the first and the last of ``numbers``."""
    build = isl.AstBuild.from_context(context)
    low, high = (
        [[value_in(build, isl.PwAff.from_aff(bound)) for bound in part] for part in side]
        for side in (numbers.low, numbers.high)
    )
    return _one(Min, [_one(Max, part) for part in low]), _one(Max, [_one(Min, part) for part in high])


def _end(numbers: Numbers, low: Expression, high: Expression, context: isl.Set) -> Expression:
    """Return the number behind the last of ``numbers``, the first one where there are none."""
    behind = Binary(BinaryOperator.ADD, high, Constant(1))
    if len(numbers.low) == 1 and all(
        context.is_subset(isl.PwAff.from_aff(last.add_constant_val(isl.Val(1)).sub(first)).nonneg_set())
        for first in numbers.low[0]
        for last in numbers.high[0]
    ):
        return behind
    return Max((behind, low))


def _one(kind: type[Min] | type[Max], values: list[Expression]) -> Expression:
    return values[0] if len(values) == 1 else kind(tuple(values))
