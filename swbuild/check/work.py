"""How much a region does at given sizes: instances of statements, launches, CPEs that get work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import islpy as isl

from swbuild.codegen.unit import RegionUnit
from swbuild.mapping.busy import Busy, busy_cpes
from swbuild.polyhedral.islutil import bounded_effort, ran_out
from swbuild.polyhedral.points import Points, TooMany

__all__ = ["Work"]

#: How often innermost loops may start.
_LIMIT = 4_000_000

_EFFORT = 5_000_000


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
        sizes = self._region.scop.completed(sizes)
        try:
            return sum(points.count(sizes, rows) for points in self._statements)
        except TooMany:
            return None

    def busy(self, sizes: Mapping[str, int]) -> dict[str, Busy]:
        """Return what is known of each kernel at ``sizes``."""
        sizes = self._region.scop.completed(sizes)
        found = {grid.kernel: busy_cpes(grid, sizes) for grid in self._region.grids}
        return {name: busy for name, busy in found.items() if busy is not None}
