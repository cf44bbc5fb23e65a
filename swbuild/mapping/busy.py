"""How many CPEs a kernel gives work to: its tiles at given sizes, dealt out to the threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of, val_of
from swbuild.mapping.grid import Grid
from swbuild.options import Distribution
from swbuild.polyhedral.islutil import bounded_effort, ran_out

if TYPE_CHECKING:
    from swbuild.polyhedral.points import Numbers

__all__ = ["Busy", "busy_cpes", "constant_busy_cpes"]

#: Tiles that are looked at one by one.
_LIMIT = 4_000_000

_EFFORT = 5_000_000

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Busy:
    """A kernel at some sizes: how often it is launched, and how many CPEs have work then, on average."""

    launches: int
    cpes: float


def busy_cpes(grid: Grid, sizes: Mapping[str, int]) -> Busy | None:
    """Return how busy ``grid`` is at ``sizes``, ``None`` if that takes too long to tell."""
    hosts = [f"h{k}" for k in range(grid.hosts)]
    values = [f"v{k}" for k in range(len(grid.mapped))]
    tiles = [f"floor({value}/{loop.tile})" for value, loop in zip(values, grid.mapped, strict=True)]
    tiled = isl.Map(f"{{ [{', '.join((*hosts, *values))}] -> [{', '.join((*hosts, *tiles))}] }}")
    try:
        with bounded_effort(_EFFORT):
            points = _at(isl.Set(str(grid.points)), sizes).apply(tiled).coalesce()
            return _of_box(grid, points) if not hosts and points.is_box() else _one_by_one(grid, points)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def constant_busy_cpes(grid: Grid, context: isl.Set) -> float | None:
    """Return how many CPEs get work at most in a launch, ``None`` if that depends on sizes in ``context``."""
    known = isl.Set(str(context.params()))
    values = isl.Set(str(grid.points)).project_out(isl.dim_type.set, 0, grid.hosts).intersect_params(known)
    values = values.gist_params(values.params())
    if values.involves_dims(_PARAM, 0, values.dim(_PARAM)):
        return None
    found = busy_cpes(replace(grid, hosts=0, points=values), {})
    return None if found is None else found.cpes


def _at(values: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """Return ``values`` with numbers for its parameters."""
    for name, value in sizes.items():
        position = values.find_dim_by_name(_PARAM, name)
        if position >= 0:
            values = values.fix_val(_PARAM, position, val_of(value))
    return values.project_out(_PARAM, 0, values.dim(_PARAM))


def _of_box(grid: Grid, tiles: isl.Set) -> Busy | None:
    """Return who gets ``tiles``, all those of a single launch between two corners."""
    sides = [_length(tiles, k) for k in range(len(grid.mapped))]
    if prod(sides) > _LIMIT:
        return None
    if grid.distribution is Distribution.JOINT:
        return Busy(1, float(min(prod(sides), prod(grid.threads))))
    if grid.distribution is Distribution.BLOCK:
        chunks = [-(-side // threads) for side, threads in zip(sides, grid.threads, strict=True)]
        return Busy(1, float(prod(-(-side // chunk) for side, chunk in zip(sides, chunks, strict=True))))
    return Busy(1, float(prod(map(min, sides, grid.threads))))


def _length(tiles: isl.Set, position: int) -> int:
    return int_of(tiles.dim_max_val(position).sub(tiles.dim_min_val(position))) + 1


def _one_by_one(grid: Grid, tiles: isl.Set) -> Busy | None:
    """Return who gets ``tiles``; ``None`` for too many of them."""
    from swbuild.polyhedral.points import Points, TooMany  # numpy: a quarter of a small file's time

    try:
        return _shared(grid, Points(tiles).all({}, _LIMIT))
    except TooMany:
        return None


def _shared(grid: Grid, rows: Numbers) -> Busy:
    """Return who gets the tiles in ``rows``: a launch per value of the first columns."""
    import numpy as np

    if not len(rows):
        return Busy(0, 0.0)
    if grid.distribution is Distribution.JOINT:
        _, tiles = np.unique(rows[:, : grid.hosts], axis=0, return_counts=True)
        return Busy(len(tiles), float(np.minimum(tiles, prod(grid.threads)).mean()))
    owners = rows.copy()
    for k, threads in enumerate(grid.threads):
        column = owners[:, grid.hosts + k]
        if grid.distribution is Distribution.BLOCK:
            chunk = -(-(int(column.max()) - int(column.min()) + 1) // threads)
            owners[:, grid.hosts + k] = (column - int(column.min())) // chunk
        else:
            owners[:, grid.hosts + k] = column % threads
    pairs = len(np.unique(owners, axis=0))
    launches = len(np.unique(owners[:, : grid.hosts], axis=0)) if grid.hosts else 1
    return Busy(launches, pairs / launches)
