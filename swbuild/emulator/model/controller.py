"""The memory controller of one core group: what it charges for a transfer, and who shares it.

The controller is one server whose throughput the active transfers share equally, so a short transfer
is not stuck behind a long one and 64 streams slow one another down.
"""

from __future__ import annotations

from dataclasses import dataclass

from swbuild.emulator.model.requests import Requests
from swbuild.emulator.model.sharing import SharedServer
from swbuild.machine import Memory

__all__ = ["Controller", "Transfer", "earliest_finish", "exposed", "work"]


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


def work(memory: Memory, is_put: bool, requests: Requests) -> float:
    """Return the cycles for which the controller is busy with the transfer when nothing else runs."""
    if is_put:
        return memory.put_open + memory.put_request * requests.full + memory.put_merge * requests.merges
    return memory.get_open + memory.get_request * requests.touched


def earliest_finish(memory: Memory, is_put: bool, requests: Requests) -> float:
    """Return how long the transfer takes at least, counted from its issue on an idle machine."""
    if is_put:
        return memory.put_latency + memory.put_stream * max(0, requests.touched - 1)
    ramp = min(requests.touched - 1, memory.get_ramp_requests)
    return memory.get_latency + memory.get_ramp * ramp + memory.get_stream * (requests.touched - 1 - ramp)


def exposed(memory: Memory, is_put: bool, requests: Requests) -> float:
    """Return what passes between the controller's last work for the transfer and its reply."""
    if not is_put:
        return memory.get_exposed
    if not requests.merges:
        return memory.put_exposed
    return memory.put_exposed + memory.merge_exposed + memory.merge_latency * (requests.doubled > 0)


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
