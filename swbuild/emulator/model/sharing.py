"""A server whose throughput its customers share equally (processor sharing).

Its state advances in *virtual* time: a customer leaves when the virtual clock has grown by the customer's
work, and the clock runs at ``rate / number of customers``.  So an arrival or a departure costs one heap
operation, whatever the number of customers.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

__all__ = ["SharedServer"]

Item = TypeVar("Item")


class SharedServer(Generic[Item]):
    """Processor sharing; subclasses may let the speed depend on who is being served."""

    def __init__(self) -> None:
        self._active: list[tuple[float, int, Item]] = []
        self._order = count()
        self._virtual = 0.0
        self._last = 0.0
        self._next: float | None = None
        self.busy = 0.0

    def rate(self) -> float:
        """Return the server's speed with the present customers; 1 is one unit of work per cycle."""
        return 1.0

    def entered(self, item: Item) -> None:
        """Take note of a new customer."""

    def left(self, item: Item) -> None:
        """Take note of a customer that has gone."""

    def add(self, now: float, work: float, item: Item) -> None:
        """Let ``item`` take its share from ``now`` on until it has got ``work``."""
        self._advance(now)
        heappush(self._active, (self._virtual + work, next(self._order), item))
        self.entered(item)
        self._foresee()

    def next_departure(self) -> float | None:
        """Return when the next customer will have been served if no other comes, or None when idle."""
        return self._next

    def depart(self, now: float) -> Item:
        """Take out the customer that has been served at ``now``, a value of ``next_departure``."""
        self._advance(now)
        finish, _, item = heappop(self._active)
        self._virtual = finish  # exactly: no rounding may be left to accumulate
        self.left(item)
        self._foresee()
        return item

    def _foresee(self) -> None:
        if self._active:
            left = max(0.0, self._active[0][0] - self._virtual)
            self._next = self._last + left * len(self._active) / self.rate()
        else:
            self._next = None

    def _advance(self, now: float) -> None:
        if self._active:
            self.busy += now - self._last
            self._virtual += (now - self._last) * self.rate() / len(self._active)
        self._last = now
