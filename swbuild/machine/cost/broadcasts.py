"""How long it takes to hand boxes on in a round to which all CPEs come: by RMA, or in messages."""

from __future__ import annotations

from collections.abc import Iterable

from swbuild.classes import dataclass
from swbuild.machine.model import MachineModel

__all__ = ["HandedOn", "round_cycles"]

#: CPEs per side of a cluster of the mesh.
_CLUSTER = 2

#: Cycles of a turn of the loop that sends or receives messages, but for the message itself: the model of
#: compiled code takes 6.6 for both on the SW26010.
_TURN = 6

#: Bytes of a double.
_DOUBLE = 8


@dataclass(frozen=True, slots=True)
class HandedOn:
    """``times`` boxes of ``bytes`` that are handed on in one round, by different CPEs.

    An ``element`` of theirs has so many bytes.  ``everywhere``: to all CPEs, not to a row or a column.
    """

    times: float
    bytes: float
    element: int = 8
    everywhere: bool = False


def round_cycles(boxes: Iterable[HandedOn], machine: MachineModel) -> float:
    """Return how long a round takes in which ``boxes`` are handed on, once the last CPE has come to it.

    A broadcast passes the network, which all share, once.  Messages pass from register to register: each CPE
    sends or receives those of its row, and of its column, and stores them.
    """
    if not machine.dialect.broadcasts.row:
        return sum(_messages_cycles(box, machine) for box in boxes if box.times)
    rma = machine.rma
    carried = sum(
        box.times * max(box.bytes / rma.bytes_per_cycle, rma.minimum_cycles) for box in boxes if box.times
    )
    if not carried:
        return 0.0
    way = (max(machine.mesh) // _CLUSTER - 1) * max(rma.row_hop, rma.column_hop)
    return machine.control.sync_cycles + carried + rma.remote_latency + way


def _messages_cycles(box: HandedOn, machine: MachineModel) -> float:
    """Return how long it takes to hand ``box`` on in messages of one vector each.

    What is for all takes two steps; its owner sends each message along its row and along its column.
    """
    register = machine.register
    lanes = machine.simd.float_lanes if box.element < _DOUBLE else machine.simd.double_lanes
    messages = box.bytes / (lanes * box.element)
    steps = 1 + box.everywhere
    longest = max(steps * register.send_cycles, register.receive_cycles)
    return steps * register.latency + messages * (_TURN + longest)
