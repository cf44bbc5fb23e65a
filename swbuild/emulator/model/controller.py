"""The memory controller of one core group: what it charges for a transfer, and who shares it.

The controller is one server whose throughput the active transfers share equally, so a short transfer
is not stuck behind a long one and 64 streams slow one another down.
"""

from __future__ import annotations

from dataclasses import dataclass

from swbuild.emulator.model.sharing import SharedServer
from swbuild.machine import Memory
from swbuild.machine.cost.requests import Requests
from swbuild.machine.cost.transfers import work

__all__ = ["Controller", "Transfer"]


@dataclass(slots=True, eq=False)
class Transfer:
    """One descriptor on its way: who waits for it, what it costs, and when it was issued."""

    order: int
    cpe: int
    receivers: tuple[int, ...]
    reply: int
    site: int
    is_put: bool
    requests: Requests
    length: int
    issued: float
    cluster: int = 0


class Controller(SharedServer[Transfer]):
    """The shared server with the controller's speed: slower with many puts, and with one cluster alone."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self._puts = 0.0
        self._merging = 0
        self._clusters: dict[int, int] = {}

    def accept(self, now: float, transfer: Transfer) -> None:
        """Let ``transfer`` take its share from ``now`` on."""
        self.add(now, work(self._memory, transfer.is_put, transfer.requests), transfer)

    def rate(self) -> float:
        """Return the share of its throughput that the controller reaches with what is active."""
        rate = 1.0 / (1.0 + self._memory.put_interleave * self._puts)
        alone = len(self._clusters) == 1 and not self._merging
        return rate * self._memory.cluster_share if alone else rate

    def _writing(self, transfer: Transfer) -> float:
        """Return the part of a put's work that is plain writing, which the streams of others disturb."""
        if not transfer.is_put or not transfer.requests.full:
            return 0.0
        plain = self._memory.put_request * transfer.requests.full
        return plain / (plain + self._memory.put_merge * transfer.requests.merges)

    def entered(self, item: Transfer) -> None:
        self._puts += self._writing(item)
        self._merging += item.is_put and item.requests.merges > 0
        self._clusters[item.cluster] = self._clusters.get(item.cluster, 0) + 1

    def left(self, item: Transfer) -> None:
        self._puts -= self._writing(item)
        self._merging -= item.is_put and item.requests.merges > 0
        remaining = self._clusters[item.cluster] - 1
        if remaining:
            self._clusters[item.cluster] = remaining
        else:
            del self._clusters[item.cluster]
