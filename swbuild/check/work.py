"""How much a region does at given sizes: instances of statements, launches, CPEs that get work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
import numpy as np

from swbuild.codegen.unit import RegionUnit
from swbuild.mapping.grid import Grid
from swbuild.options import Distribution
from swbuild.polyhedral.islutil import bounded_effort, ran_out
from swbuild.polyhedral.points import Numbers, Points, TooMany

__all__ = ["Busy", "Work", "busy_cpes"]

#: Counters of outer loops, and tiles, that are looked at one by one.
_LIMIT = 4_000_000

_EFFORT = 5_000_000


@dataclass(frozen=True, slots=True)
class Busy:
    """A kernel at some sizes: how often it is launched, and how many CPEs have work then, on average."""

    launches: int
    cpes: float


class Work:
    """The work of one region, counted; ``None`` where it is too much to be counted."""

    def __init__(self, region: RegionUnit) -> None:
        self._region = region

    @cached_property
    def _statements(self) -> list[Points] | None:
        try:
            with bounded_effort(_EFFORT):
                return [Points(statement.domain) for statement in self._region.scop.statements]
        except isl.Error as error:
            if not ran_out(error):
                raise
            return None

    def instances(self, sizes: Mapping[str, int], rows: int = _LIMIT) -> int | None:
        """Return how many instances of statements run at ``sizes``.

        ``rows`` limits the effort: how often innermost loops may start.
        """
        if self._statements is None:
            return None
        try:
            return sum(points.count(sizes, rows) for points in self._statements)
        except TooMany:
            return None

    def busy(self, sizes: Mapping[str, int]) -> dict[str, Busy]:
        """Return what is known of each kernel at ``sizes``."""
        found = {grid.kernel: busy_cpes(grid, sizes) for grid in self._region.grids}
        return {name: busy for name, busy in found.items() if busy is not None}


def busy_cpes(grid: Grid, sizes: Mapping[str, int]) -> Busy | None:
    """Return how busy ``grid`` is at ``sizes``, ``None`` if that takes too long to tell."""
    hosts = [f"h{k}" for k in range(grid.hosts)]
    values = [f"v{k}" for k in range(len(grid.mapped))]
    tiles = [f"floor({value}/{loop.tile})" for value, loop in zip(values, grid.mapped, strict=True)]
    tiled = isl.Map(f"{{ [{', '.join((*hosts, *values))}] -> [{', '.join((*hosts, *tiles))}] }}")
    try:
        with bounded_effort(_EFFORT):
            points = _at(isl.Set(str(grid.points)), sizes).apply(tiled).coalesce()
            rows = Points(points).all({}, _LIMIT)
    except TooMany:
        return None
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None
    return _shared(grid, rows)


def _at(values: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """Return ``values`` with numbers for its parameters."""
    for name, value in sizes.items():
        position = values.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            values = values.fix_val(isl.dim_type.param, position, isl.Val(value))
    return values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))


def _shared(grid: Grid, rows: Numbers) -> Busy:
    """Return who gets the tiles in ``rows``: a launch per value of the first columns."""
    if not len(rows):
        return Busy(0, 0.0)
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
