"""Which buffers of a kernel have a second slot: for transfers meanwhile, or to hand boxes on from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

from swbuild.frontend.scop import Scop
from swbuild.kernelir.deferring import deferred
from swbuild.kernelir.nodes import Node
from swbuild.kernelir.prefetching import prefetched
from swbuild.kernelir.program import Program
from swbuild.kernelir.sharing import Grid, shared
from swbuild.machine import MachineModel
from swbuild.mapping.tiling import telling_names
from swbuild.memory.plan import Buffer, Store
from swbuild.options import Distribution
from swbuild.planning.tilings import Placed

__all__ = ["with_shared_boxes", "with_slots"]


def with_slots(scop: Scop, place: Placed, program: Program) -> tuple[Program, Placed]:
    """Return ``program``, the code of the kernel ``place``, with gets ahead and puts late, and its plan.

    Buffers are filled early that the kernel only reads, if nothing in it writes their arrays; then those are
    stored late whose arrays it only writes; as long as the LDM has room for second slots.  All CPEs are done
    with the kernel before another kernel writes what they hold, or reads what they have stored.
    """
    room = _Room(scop, place)
    early = prefetched(program.result, room.take_for_gets)
    late = deferred(early.tree, room.take_for_puts)
    doubled = early.buffers | late.buffers
    buffers = tuple(_doubled(b) if b.name in doubled else b for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=place.plan.bytes + room.taken)
    program = program.after("get ahead", early.tree).after("put late", late.tree)
    return program, replace(place, plan=plan)


def with_shared_boxes(scop: Scop, place: Placed, body: Node, machine: MachineModel) -> tuple[Node, Placed]:
    """Return ``body``, the code of the kernel ``place``, with boxes handed on by who gets them, and its plan.

    So are boxes that all CPEs of a row, of a column or of the core group read alike, and that nothing in the
    kernel writes, as long as the LDM has room for second slots, from which they are handed on.
    """
    mapping = place.tiled.mapping
    whole = prod(mapping.threads) == machine.cpes
    if not whole or mapping.distribution is not Distribution.CYCLIC or not machine.dialect.broadcasts.row:
        return body, place
    room = _Room(scop, place)
    size = {b.name: scop.array(b.array).element.size for b in place.plan.buffers}
    may = frozenset(
        b.name
        for b in place.plan.buffers
        if size[b.name] % machine.rma.alignment == 0 and room.take_to_hand_on(b.name)
    )
    grid = Grid(telling_names(mapping), machine.mesh[0], mapping.threads == machine.mesh)
    found = shared(body, grid, may)
    buffers = tuple(
        _doubled(b) if b.name in found.buffers and b.slots == 1 else b for b in place.plan.buffers
    )
    taken = sum(b.total for b in buffers) - sum(b.total for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=place.plan.bytes + taken)
    return found.tree, replace(place, plan=plan)


class _Room:
    """What is left of the LDM for second slots."""

    def __init__(self, scop: Scop, place: Placed) -> None:
        self._written = scop.written_by(set(place.tiled.kernel.statements))
        self._buffers = {buffer.name: buffer for buffer in place.plan.buffers}
        used = (*(b.array for b in place.plan.buffers), *(d.array for d in place.plan.direct))
        self._users = Counter(used)
        self._left = place.budget - place.plan.bytes - sum(partial.bytes for partial in place.partials)
        self.taken = 0

    def take_for_gets(self, name: str) -> bool:
        """Return whether the buffer may be filled early, and take the room for its second slot."""
        buffer = self._buffers[name]
        return buffer.store is Store.NONE and buffer.array not in self._written and self._fits(buffer)

    def take_to_hand_on(self, name: str) -> bool:
        """Return whether the buffer may be handed on, and take room for a second slot if it has none."""
        buffer = self._buffers[name]
        if buffer.store is not Store.NONE or buffer.array in self._written:
            return False
        return buffer.slots > 1 or self._fits(buffer)

    def take_for_puts(self, name: str) -> bool:
        """Return whether the buffer may be stored late, and take the room for its second slot."""
        buffer = self._buffers[name]
        return not buffer.load and self._users[buffer.array] == 1 and self._fits(buffer)

    def _fits(self, buffer: Buffer) -> bool:
        further = _doubled(buffer).total - buffer.total
        if self.taken + further > self._left:
            return False
        self.taken += further
        return True


def _doubled(buffer: Buffer) -> Buffer:
    """Return ``buffer`` with two slots, each of them aligned."""
    padded = -(-buffer.bytes // buffer.alignment) * buffer.alignment
    return replace(buffer, slots=2, bytes=padded)
