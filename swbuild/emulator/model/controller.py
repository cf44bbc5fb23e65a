"""The memory controller of one core group: what it charges for a transfer, and who shares it.

The controller is one server whose throughput the active transfers share equally (processor
sharing), so a short transfer is not stuck behind a long one and 64 streams slow one another down.
Its state advances in *virtual* time: each transfer leaves when the virtual clock has grown by the
transfer's work, and the clock runs at ``rate / active``.  That costs one heap operation per transfer.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from swbuild.emulator.model.requests import Requests
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
    return memory.put_exposed + memory.merge_exposed + memory.merge_latency * (requests.merges - 1)


class Controller:
    """Processor sharing among the transfers in progress."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._active: list[tuple[float, int, Transfer]] = []
        self._virtual = 0.0
        self._last = 0.0
        self._puts = 0
        self._clusters: dict[int, int] = {}
        self.busy = 0.0

    def add(self, now: float, transfer: Transfer) -> None:
        """Let ``transfer`` take its share from ``now`` on."""
        self._advance(now)
        charge = work(self._memory, transfer.is_put, transfer.requests)
        heappush(self._active, (self._virtual + charge, transfer.order, transfer))
        self._puts += transfer.is_put
        self._clusters[transfer.cluster] = self._clusters.get(transfer.cluster, 0) + 1

    def next_departure(self) -> float | None:
        """Return when the next transfer will have been served if no other comes, or None when idle."""
        if not self._active:
            return None
        return self._last + max(0.0, self._active[0][0] - self._virtual) * len(self._active) / self._rate()

    def depart(self, now: float) -> Transfer:
        """Take out the transfer that has been served at ``now`` (a value of ``next_departure``)."""
        self._advance(now)
        finish, _, transfer = heappop(self._active)
        self._virtual = finish  # exactly: no rounding may be left to accumulate
        self._puts -= transfer.is_put
        left = self._clusters[transfer.cluster] - 1
        if left:
            self._clusters[transfer.cluster] = left
        else:
            del self._clusters[transfer.cluster]
        return transfer

    def _advance(self, now: float) -> None:
        if self._active:
            self.busy += now - self._last
            self._virtual += (now - self._last) * self._rate() / len(self._active)
        self._last = now

    def _rate(self) -> float:
        """Return the share of its throughput that the controller reaches with what is active."""
        rate = 1.0 / (1.0 + self._memory.put_interleave * self._puts)
        return rate * self._memory.cluster_share if len(self._clusters) == 1 else rate
