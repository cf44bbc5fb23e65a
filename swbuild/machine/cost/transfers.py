"""What one transfer costs: the controller's work for it, and how long its CPE waits at least."""

from __future__ import annotations

from swbuild.machine.cost.requests import Requests
from swbuild.machine.model import Memory

__all__ = ["earliest_finish", "exposed", "work"]


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
