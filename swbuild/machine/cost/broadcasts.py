"""How long it takes to hand boxes on by broadcasts of RMA, in a round to which all CPEs come."""

from __future__ import annotations

from collections.abc import Iterable

from swbuild.classes import dataclass
from swbuild.machine.model import MachineModel

__all__ = ["HandedOn", "round_cycles"]

#: CPEs per side of a cluster of the mesh.
_CLUSTER = 2


@dataclass(frozen=True, slots=True)
class HandedOn:
    """``times`` boxes of ``bytes`` that are handed on in one round, by different CPEs."""

    times: float
    bytes: float


def round_cycles(boxes: Iterable[HandedOn], machine: MachineModel) -> float:
    """Return how long a round takes in which ``boxes`` are handed on, once the last CPE has come to it.

    A broadcast passes the network, which all share, once.
    """
    rma = machine.rma
    carried = sum(
        box.times * max(box.bytes / rma.bytes_per_cycle, rma.minimum_cycles) for box in boxes if box.times
    )
    if not carried:
        return 0.0
    way = (max(machine.mesh) // _CLUSTER - 1) * max(rma.row_hop, rma.column_hop)
    return machine.control.sync_cycles + carried + rma.remote_latency + way
