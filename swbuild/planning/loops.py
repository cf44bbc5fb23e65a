"""The loops of a placed kernel: those of its levels and statements, behind sizes and the host's loops."""

from __future__ import annotations

from collections.abc import Collection

import islpy as isl

from swbuild.classes import dataclass
from swbuild.memory.levels import Level
from swbuild.planning.counting import Bounds, bounds_of
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import loop_values, maps_of

__all__ = ["Loops", "Nest", "innermost", "loops_of"]

_IN = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops around a statement; ``step`` is the iterator that the innermost one counts."""

    bounds: Bounds
    step: int | None


@dataclass(frozen=True, slots=True)
class Loops:
    """A kernel's loops; the leading dimensions of all bounds are sizes, then the host's loops.

    ``outer`` are their names, sizes first.  ``top`` are the loops over tiles that are shared out, ``visits``
    those for which each buffer holds something, by its name, ``nests`` those around each statement;
    ``mapped`` loops behind the outer ones are shared out in ``tiles``.
    """

    sizes: tuple[str, ...]
    outer: tuple[str, ...]
    mapped: int
    tiles: tuple[int, ...]
    top: Bounds
    visits: dict[str, Bounds]
    nests: dict[str, Nest]


def loops_of(placed: Placed, sizes: Collection[str]) -> Loops:
    """Return the loops of ``placed`` over the parameters ``sizes``."""
    tiled = placed.tiled
    outer = (*sizes, *tiled.kernel.host_loops)
    visits = {buffer.name: bounds_of(buffer.box.visits, outer) for buffer in placed.plan.buffers}
    nests = {
        str(values.get_tuple_name(_IN)): Nest(bounds_of(values.range(), outer), innermost(values))
        for values in maps_of(loop_values(tiled.schedule))
    }
    top = _of_level(placed.plan.top, outer)
    return Loops(tuple(sizes), outer, len(tiled.mapping.threads), tiled.sizes, top, visits, nests)


def _of_level(level: Level, outer: tuple[str, ...]) -> Bounds:
    first, *others = [piece.range() for piece in maps_of(level.prefix)]
    for other in others:
        first = first.union(other)
    return bounds_of(first, outer)


def innermost(values: isl.Map) -> int | None:
    """Return the iterator that the innermost loop counts while all others stand still.

    ``values`` maps instances to the values of the loops around them.
    """
    known: set[int] = set()
    last: set[int] = set()
    for value in (pw for pw in _formulas(values) if not _is_tile(pw)):
        used = {k for k in range(value.dim(_IN)) if value.involves_dims(_IN, k, 1)} - known
        if used:
            known, last = (known | used if len(used) == 1 else known), used
    return max(last, default=None)


def _formulas(values: isl.Map) -> list[isl.PwAff]:
    loops = isl.PwMultiAff.from_map(values).gist(values.domain())
    return [loops.get_pw_aff(k) for k in range(loops.dim(isl.dim_type.out))]


def _is_tile(value: isl.PwAff) -> bool:
    return any(aff.dim(isl.dim_type.div) for _, aff in value.get_pieces())
