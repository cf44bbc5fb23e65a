"""What a kernel's loops run over: the iterations that tiles and threads share out, as sets over the sizes."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.mapping.regiontree import multi_union
from swbuild.mapping.tiling import TiledKernel
from swbuild.options import Distribution
from swbuild.polyhedral.islutil import sets_of

__all__ = ["Grid", "TiledLoop", "grid_of"]


@dataclass(frozen=True, slots=True)
class TiledLoop:
    """One tiled loop: its name in the source, the tile's size, and the threads that share its tiles.

    ``values`` is the set ``[h0, …, v]`` of its iterations, ``h0, …`` the host's loops around the launch;
    they are counted such that tiles begin at multiples of their size.
    """

    name: str
    tile: int
    threads: int
    values: isl.Set


@dataclass(frozen=True, slots=True)
class Grid:
    """The loops of one kernel: ``mapped`` are shared out, each CPE runs ``inner`` for itself.

    ``points`` is the set ``[h0, …, v0, …]`` of all iterations of the mapped loops together, ``hosts``
    the number of the host's loops in front.
    """

    kernel: str
    statements: tuple[str, ...]
    hosts: int
    mapped: tuple[TiledLoop, ...]
    inner: tuple[TiledLoop, ...]
    distribution: Distribution
    points: isl.Set

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads per mapped loop."""
        return tuple(loop.threads for loop in self.mapped)


def grid_of(scop: Scop, tiled: TiledKernel) -> Grid:
    """Return the loops of ``tiled``."""
    threads = tiled.mapping.threads
    shared = (*threads, *(1 for _ in tiled.loops[len(threads) :]))
    loops = tuple(
        TiledLoop(_name(scop, value), size, threads_of, _values(tiled, [counted]))
        for value, counted, size, threads_of in zip(
            tiled.loops, tiled.counted, tiled.sizes, shared, strict=True
        )
    )
    kernel, mapped = tiled.kernel, list(tiled.counted[: len(threads)])
    return Grid(
        kernel.name,
        kernel.statements,
        len(kernel.host_loops),
        loops[: len(threads)],
        loops[len(threads) :],
        tiled.mapping.distribution,
        _values(tiled, mapped),
    )


def _values(tiled: TiledKernel, loops: Sequence[isl.UnionPwAff]) -> isl.Set:
    """Return what ``loops`` take together, the host's loops in front."""
    domain = tiled.kernel.domain
    # instance -> [values]; the host's loops are parameters of it, and become leading dimensions of the result
    taken = multi_union([loop.intersect_domain(domain) for loop in loops])
    pieces = sets_of(isl.UnionMap.from_multi_union_pw_aff(taken).range())
    hosts = tiled.kernel.host_loops
    result = pieces[0] if pieces else isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(loops)))
    for k, name in reversed(tuple(enumerate(hosts))):
        position = result.find_dim_by_name(isl.dim_type.param, name)
        if position < 0:
            result = result.insert_dims(isl.dim_type.set, 0, 1)
        else:
            result = result.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
        result = result.set_dim_name(isl.dim_type.set, 0, f"h{k}")
    return result.coalesce()


def _name(scop: Scop, value: isl.UnionPwAff) -> str:
    """Return the source's names of the counters that ``value`` is made of."""
    pieces = value.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        iterators = scop.statement(str(piece.domain().get_tuple_name())).iterators
        formulas = [formula for _, formula in piece.get_pieces()]
        used = [it.name for i, it in enumerate(iterators) if any(_uses(f, i) for f in formulas)]
        if used:
            return " and ".join(dict.fromkeys(used))
    return "?"


def _uses(formula: isl.Aff, position: int) -> bool:
    return bool(formula.involves_dims(isl.dim_type.in_, position, 1))
