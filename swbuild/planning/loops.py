"""The loops of a placed kernel: those of its levels and statements, behind sizes and the host's loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field
from itertools import pairwise

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of
from swbuild.mapping.tiling import values_of_loops
from swbuild.memory.levels import Level
from swbuild.planning.counting import Bounds, bounds_of
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import maps_of

__all__ = ["Inner", "Loops", "Nest", "Vector", "factors_of", "innermost", "loops_of", "row_of"]

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

Vector = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inner:
    """The innermost loop around a statement: the ``iterator`` that it counts, ``upwards`` or down."""

    iterator: int
    upwards: bool = True


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops around a statement, and the innermost of them."""

    bounds: Bounds
    inner: Inner | None

    def trips(self, count: int, outer: tuple[int, ...]) -> list[float]:
        """Return how many iterations a run of each of the ``count`` innermost loops has on average."""
        depth = self.bounds.dimensions
        points = [sum(s.weight for s in self.bounds.sample(d, outer)) for d in range(depth - count, depth)]
        points.append(self.bounds.count(outer))
        return [inner / before if before else 0.0 for before, inner in pairwise(points)]


@dataclass(frozen=True, slots=True)
class Loops:
    """A kernel's loops; the leading dimensions of all bounds are sizes, then the host's loops.

    ``outer`` are their names, sizes first.  ``top`` are the loops over tiles that are shared out, ``visits``
    those for which each buffer holds something, by its name, ``exchanges`` those in which a resident one gets
    (False) or puts (True) the part of a number, ``nests`` those around each statement;
    ``mapped`` loops behind the outer ones are shared out in ``tiles``,
    the last of them to ``threads`` (0: no loop counts the tiles of a CPE).
    """

    sizes: tuple[str, ...]
    outer: tuple[str, ...]
    mapped: int
    tiles: tuple[int, ...]
    threads: int
    top: Bounds
    visits: dict[str, Bounds]
    nests: dict[str, Nest]
    exchanges: dict[tuple[str, bool, int], Bounds] = field(default_factory=dict)


def loops_of(placed: Placed, sizes: Collection[str]) -> Loops:
    """Return the loops of ``placed`` over the parameters ``sizes``."""
    tiled = placed.tiled
    outer = (*sizes, *tiled.kernel.host_loops)
    visits = {buffer.name: bounds_of(buffer.box.visits, outer) for buffer in placed.plan.buffers}
    nests = {
        str(values.get_tuple_name(_IN)): Nest(bounds_of(values.range(), outer), innermost(values))
        for values in maps_of(values_of_loops(tiled))
    }
    top = _of_level(placed.plan.top, outer)
    mapping = tiled.mapping
    threads = 0 if mapping.is_joint else mapping.threads[-1]
    exchanges = {key: bounds_of(visited, outer) for key, visited in _exchanges(placed)}
    return Loops(
        tuple(sizes), outer, len(mapping.threads), tiled.sizes, threads, top, visits, nests, exchanges
    )


def _exchanges(placed: Placed) -> Iterator[tuple[tuple[str, bool, int], isl.Set]]:
    """Yield the visits in which resident buffers, by their names, get (False) or put (True) each part."""
    for buffer in placed.plan.buffers:
        ways = (buffer.residency.fresh, buffer.residency.wanted) if buffer.residency else ()
        for is_put, parts in enumerate(ways):
            for number, part in enumerate(parts):
                yield (buffer.name, bool(is_put), number), part.moved.domain()


def _of_level(level: Level, outer: tuple[str, ...]) -> Bounds:
    first, *others = [piece.range() for piece in maps_of(level.prefix)]
    for other in others:
        first = first.union(other)
    return bounds_of(first, outer)


def innermost(values: isl.Map) -> Inner | None:
    """Return the innermost loop, which counts an iterator while all others stand still.

    ``values`` maps instances to the values of the loops around them.
    """
    known: set[int] = set()
    last: Inner | None = None
    for value in (pw for pw in _formulas(values) if not _is_tile(pw)):
        used = {k for k in range(value.dim(_IN)) if value.involves_dims(_IN, k, 1)} - known
        if used:
            known = known | used if len(used) == 1 else known
            last = Inner(max(used), _grows(value, max(used)))
    return last


def _grows(value: isl.PwAff, iterator: int) -> bool:
    """Return whether ``value`` grows with the ``iterator``, taken for so where it is of several pieces."""
    pieces = value.get_pieces()
    return len(pieces) != 1 or not pieces[0][1].get_coefficient_val(_IN, iterator).is_neg()


def _formulas(values: isl.Map) -> Iterator[isl.PwAff]:
    """Yield what the loops count, one by one: of all together, isl may tell hundreds of cases apart."""
    where, count = values.domain(), values.dim(_OUT)
    for k in range(count):
        one = values.project_out(_OUT, k + 1, count - k - 1).project_out(_OUT, 0, k)
        yield isl.PwMultiAff.from_map(one).get_pw_aff(0).gist(where)


def _is_tile(value: isl.PwAff) -> bool:
    return any(aff.dim(isl.dim_type.div) for _, aff in value.get_pieces())


def row_of(loop: isl.UnionPwAff, name: str, count: int) -> Vector | None:
    """Return the factors of a statement's iterators in ``loop``, None where it is none of their sums."""
    pieces = loop.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        value = pieces.get_at(k)
        if str(value.domain().get_tuple_name()) == name:
            return factors_of(value, count)
    return None


def factors_of(value: isl.PwAff, count: int) -> Vector | None:
    found = value.gist(value.domain()).get_pieces()
    if len(found) != 1 or found[0][1].dim(isl.dim_type.div):
        return None
    aff = found[0][1]
    factors = [aff.get_coefficient_val(_IN, k) for k in range(count)]
    return tuple(int_of(f) for f in factors) if all(f.is_int() for f in factors) else None
