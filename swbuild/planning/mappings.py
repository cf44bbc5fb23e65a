"""The choice of threads and tiles for one kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import islpy as isl

from swbuild.machine import load
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.tiling import Mapping, TiledKernel
from swbuild.memory.partials import Inseparable
from swbuild.memory.plan import Overflow
from swbuild.options import Distribution, KernelOptions, Preset
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import has_unit_steps
from swbuild.polyhedral.privatise import NotPrivate

__all__ = [
    "SMALLEST_TILE",
    "first_fitting",
    "first_mapping",
    "grids",
    "joint_mappings",
    "may_choose",
    "sequential_loops",
    "unit_tile_variants",
]

#: Iterations per tile and loop, as in the published algorithm.
DEFAULT_TILE = 32
#: So many loops are dealt out together, at most.
MOST_JOINT = 4
#: Below this nothing can be shrunk.
SMALLEST_TILE = 1

Outcome = Placed | Overflow | NotPrivate | Inseparable


def first_mapping(kernel: Kernel, options: KernelOptions) -> Mapping:
    """Return the mapping to try first: the user's choices, else two parallel loops on the full grid.

    A grid of one row is for the second of two parallel loops; the published algorithm gives it to the first.
    Loops over tiles, the user's or those of wavefronts, are dealt out one tile at a time, and the order
    below them stays as it is, as it does where a kernel keeps its order.  A kernel of a single CPE keeps it,
    to begin with.
    """
    free = options.preset is not Preset.CLASSIC
    threads, distribution = _shared(kernel, options)
    if kernel.pieces is not None:
        threads = (prod(threads), 1)  # one of them for each number of a diamond
    if kernel.in_front:
        apart = free and kernel.pieces is None
        first = Mapping(threads, (SMALLEST_TILE,), distribution, restructure=False, apart=apart)
        ways = joint_mappings(first, kernel, options) if apart else ()
        return ways[-1] if ways else first  # tiles of a front lie on a diagonal: few rows of a grid meet it
    tiles = [_counts_tiles(loop) for loop in _mapped(kernel, len(threads))]
    tile = options.tile or (*(SMALLEST_TILE if over else DEFAULT_TILE for over in tiles), DEFAULT_TILE)
    restructure = free and not (kernel.single or any(tiles))
    return Mapping(
        threads, tile, distribution, restructure, not (options.transform or kernel.keeps_order), free
    )


def _shared(kernel: Kernel, options: KernelOptions) -> tuple[tuple[int, ...], Distribution]:
    """Return the threads per mapped loop, and how these get their tiles."""
    if kernel.single:
        return (1,), Distribution.CYCLIC
    rows, columns = options.grid
    distribution = options.distribution or Distribution.CYCLIC
    if distribution is Distribution.JOINT:
        loops = min(kernel.parallel, MOST_JOINT)
        return (
            rows * columns,
            *(1 for _ in range(1, loops)),
        ), distribution if loops > 1 else Distribution.CYCLIC
    two = kernel.parallel >= 2 and (rows > 1 or options.preset is not Preset.CLASSIC)
    return (rows, columns) if two else (rows * columns,), distribution


def may_choose(kernel: Kernel, options: KernelOptions) -> bool:
    """Return whether tiles and threads are for the planner to choose.

    They are not where the user gives tiles, where loops count tiles or go in other steps than 1, which
    few tiles fit, and in the published algorithm.
    """
    if options.tile or options.preset is Preset.CLASSIC or kernel.in_front:
        return False
    if not has_unit_steps(kernel.schedule):
        return False
    return not any(_counts_tiles(loop) for loop in _mapped(kernel, min(2, kernel.parallel)))


def joint_mappings(mapping: Mapping, kernel: Kernel, options: KernelOptions) -> tuple[Mapping, ...]:
    """Return ``mapping`` with the tiles of two loops or more shared by all threads, if it may be so."""
    if options.distribution not in (None, Distribution.JOINT) or (options.shaped and not mapping.is_joint):
        return ()
    threads = prod(options.grid)
    return tuple(
        replace(mapping, threads=(threads, *(1 for _ in range(1, loops))), distribution=Distribution.JOINT)
        for loops in range(2, min(kernel.parallel, MOST_JOINT) + 1)
    )


def grids(kernel: Kernel, options: KernelOptions) -> tuple[tuple[int, ...], ...]:
    """Return the threads per mapped loop to choose from: the user's, else all shapes of the whole mesh."""
    first = first_mapping(kernel, options)
    if first.is_joint:
        return ()
    if options.shaped or len(first.threads) == 1:
        return (first.threads,)
    return load(options.machine).thread_shapes


def _mapped(kernel: Kernel, count: int) -> list[isl.UnionPwAff]:
    """Return the first ``count`` loops of the kernel."""
    members = kernel.schedule.get_root().child(0).band_get_partial_schedule()
    return [members.get_at(k) for k in range(count)]


def _counts_tiles(loop: isl.UnionPwAff) -> bool:
    pieces = loop.get_pw_aff_list()
    formulas = [aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces()]
    return any(aff.dim(isl.dim_type.div) for aff in formulas)


def first_fitting(mapping: Mapping, fixed: bool, attempt: Callable[[Mapping], Outcome]) -> Outcome:
    """Return what ``attempt`` makes of ``mapping``, or of the largest of smaller tiles that fit.

    All tile sizes are halved together until one fits; with ``fixed`` only the given ones are tried.
    """
    while True:
        result = attempt(mapping)
        smaller = tuple(max(SMALLEST_TILE, size // 2) for size in mapping.tile)
        if not isinstance(result, Overflow) or fixed or smaller == mapping.tile:
            return result
        mapping = replace(mapping, tile=smaller)


def unit_tile_variants(tiled: TiledKernel) -> list[Mapping]:
    """Return the mappings of ``tiled`` with one of its sequential loops not tiled (steps of 1).

    Where a tile reads what it also writes elsewhere, a single iteration often does not.
    """
    sizes = tiled.sizes
    return [
        replace(tiled.mapping, tile=(*sizes[:k], SMALLEST_TILE, *sizes[k + 1 :]))
        for k in sequential_loops(tiled)
    ]


def sequential_loops(tiled: TiledKernel) -> list[int]:
    """Return the tiled loops of ``tiled`` that each CPE runs for itself."""
    mapped, sizes = len(tiled.mapping.threads), tiled.sizes
    return [k for k in range(mapped, len(sizes)) if sizes[k] != SMALLEST_TILE]
