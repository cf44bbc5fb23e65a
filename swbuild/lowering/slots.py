"""Which buffers of a kernel have a second slot, so that their boxes are got one iteration ahead."""

from __future__ import annotations

from dataclasses import replace

from swbuild.frontend.scop import Scop
from swbuild.kernelir.nodes import Node
from swbuild.kernelir.prefetching import prefetched
from swbuild.memory.plan import Buffer, Store
from swbuild.planning.tilings import Placed

__all__ = ["with_slots"]


def with_slots(scop: Scop, place: Placed, body: Node) -> tuple[Node, Placed]:
    """Return ``body``, the code of the kernel ``place``, with gets one iteration ahead, and its plan.

    Buffers are filled early that the kernel only reads, if nothing in it writes their arrays, as long as the
    LDM has room for second slots.  All CPEs are done with the kernel before another writes what they hold.
    """
    room = _Room(scop, place)
    found = prefetched(body, room.take)
    buffers = tuple(_doubled(b) if b.name in found.buffers else b for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=place.plan.bytes + room.taken)
    return found.tree, replace(place, plan=plan)


class _Room:
    """What is left of the LDM for second slots."""

    def __init__(self, scop: Scop, place: Placed) -> None:
        self._written = scop.written_by(set(place.tiled.kernel.statements))
        self._buffers = {buffer.name: buffer for buffer in place.plan.buffers}
        self._left = place.budget - place.plan.bytes - sum(partial.bytes for partial in place.partials)
        self.taken = 0

    def take(self, name: str) -> bool:
        """Return whether the buffer may have a second slot, and take the room for it."""
        buffer = self._buffers[name]
        further = _doubled(buffer).total - buffer.total
        if (
            buffer.store is not Store.NONE
            or buffer.array in self._written
            or self.taken + further > self._left
        ):
            return False
        self.taken += further
        return True


def _doubled(buffer: Buffer) -> Buffer:
    """Return ``buffer`` with two slots, each of them aligned."""
    padded = -(-buffer.bytes // buffer.alignment) * buffer.alignment
    return replace(buffer, slots=2, bytes=padded)
