"""The loops of a placed kernel at given sizes: those of its levels and statements, behind the host's."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from swbuild.classes import dataclass
from swbuild.memory.levels import Level
from swbuild.planning.counting import Bounds, at_sizes, bounds_of
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import loop_values, maps_of

__all__ = ["Loops", "Nest", "loops_of"]

_PARAM, _SET, _IN = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops around a statement; ``step`` is the iterator that the innermost one counts."""

    bounds: Bounds
    step: int | None


@dataclass(frozen=True, slots=True)
class Loops:
    """A kernel's loops; ``hosts`` are the names of the host's, the leading dimensions of all bounds.

    ``levels`` are those above each level of the plan (None: never reached), ``nests`` those around each
    statement; ``mapped`` loops behind the host's are shared out in tiles of ``sizes``.
    """

    hosts: tuple[str, ...]
    mapped: int
    sizes: tuple[int, ...]
    levels: dict[int, Bounds | None]
    nests: dict[str, Nest]

    @property
    def top(self) -> Bounds | None:
        """The loops over tiles that are shared out, None in a kernel that has nothing to do."""
        return self.levels[0]


def loops_of(placed: Placed, sizes: Mapping[str, int]) -> Loops:
    """Return the loops of ``placed`` at ``sizes``."""
    tiled, hosts = placed.tiled, placed.tiled.kernel.host_loops
    levels = {level.number: _of_level(level, hosts, sizes) for level in placed.plan.top.walk()}
    nests = {}
    for values in maps_of(loop_values(tiled.schedule)):
        bounds = _bounds(values.range(), hosts, sizes)
        if bounds is not None:
            nests[str(values.get_tuple_name(_IN))] = Nest(bounds, _innermost(values))
    return Loops(hosts, len(tiled.mapping.threads), tiled.sizes, levels, nests)


def _of_level(level: Level, hosts: tuple[str, ...], sizes: Mapping[str, int]) -> Bounds | None:
    first, *others = [piece.range() for piece in maps_of(level.prefix)]
    for other in others:
        first = first.union(other)
    return _bounds(first, hosts, sizes)


def _bounds(values: isl.Set, hosts: tuple[str, ...], sizes: Mapping[str, int]) -> Bounds | None:
    """Return the bounds of ``values`` with the host's loops in front."""
    for name in reversed(hosts):
        position = values.find_dim_by_name(_PARAM, name)
        if position < 0:
            values = values.insert_dims(_SET, 0, 1)
        else:
            values = values.move_dims(_SET, 0, _PARAM, position, 1)
    return bounds_of(at_sizes(values, sizes))


def _innermost(values: isl.Map) -> int | None:
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
