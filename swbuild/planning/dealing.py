"""How the tiles of a kernel's mapped loops are dealt out to threads, by its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

from swbuild.planning.shape import Loop, joint_share

__all__ = ["Dealing"]

#: How often a loop of any length is short, for all that is known.
_SHORT = 0.05


class Dealing:
    """Tiles of ``tile`` iterations of mapped ``loops``, dealt out to ``threads`` in the direction of each.

    ``joint``: all threads, the first number, share the tiles of all of them.
    """

    def __init__(
        self, loops: Sequence[Loop], threads: tuple[int, ...], tile: tuple[int, ...], *, joint: bool
    ) -> None:
        self.mapped = tuple(zip(threads, loops, tile, strict=False))
        self.threads = prod(threads)
        self.joint = joint

    @cached_property
    def share(self) -> float:
        """The part of all work that the busiest CPE does."""
        if self.joint:
            loops, tiles = [loop for _, loop, _ in self.mapped], [size for _, _, size in self.mapped]
            return joint_share(loops, tiles, self.threads)
        return prod(loop.share(size, count) for count, loop, size in self.mapped)

    @cached_property
    def busy(self) -> float:
        """How many CPEs have work."""
        return self._busy()

    def _busy(self, short: int | None = None) -> float:
        """Return how many CPEs have work; the loop at ``short`` is taken to have a single tile."""
        mapped = [each for k, each in enumerate(self.mapped) if k != short]
        if self.joint:
            return min(float(self.threads), prod(loop.runs(size) for _, loop, size in mapped))
        return float(prod(min(count, loop.tiles(size)) for count, loop, size in mapped))

    @cached_property
    def mean(self) -> float:
        """The share of the busiest CPE's work that a CPE does on average."""
        return min(1.0, 1.0 / (self.share * self.busy)) if self.share else 1.0

    @cached_property
    def rows(self) -> float:
        """How many rows of tiles every CPE walks to find its own."""
        return prod(loop.runs(size) for _, loop, size in self.mapped[:-1]) if self.joint else 0.0

    @cached_property
    def risk(self) -> float:
        """How much longer the kernel takes on average, as some loops may be shorter than assumed.

        Of those whose length nothing limits, each is taken to have a single tile once in a while.
        """
        found = 1.0
        for k, (_, loop, _) in enumerate(self.mapped):
            if not loop.certain and len(self.mapped) > 1:
                found *= (self.busy / self._busy(k)) ** _SHORT
        return found
