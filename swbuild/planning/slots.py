"""Room in the LDM for further slots of a kernel's buffers, and which of them may have some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from swbuild.frontend.scop import Scop
from swbuild.memory.plan import Buffer, Store
from swbuild.planning.tilings import Placed

__all__ = ["Room", "slotted"]


class Room:
    """What is left of the LDM for second slots."""

    def __init__(self, scop: Scop, place: Placed) -> None:
        self._written = scop.written_by(set(place.tiled.kernel.statements))
        self._buffers = {buffer.name: buffer for buffer in place.plan.buffers}
        used = (*(b.array for b in place.plan.buffers), *(d.array for d in place.plan.direct))
        self._users = Counter(used)
        self._all = place.budget - place.plan.bytes - sum(partial.bytes for partial in place.partials)
        self.taken = 0

    @property
    def left(self) -> int:
        """The bytes that nothing has been given so far."""
        return self._all - self.taken

    def take_for_gets(self, name: str) -> bool:
        """Return whether the buffer may be filled early, and take the room for its second slot."""
        buffer = self._buffers[name]
        return buffer.store is Store.NONE and buffer.array not in self._written and self._fits(buffer)

    def may_hand_on(self, name: str) -> bool:
        """Return whether the buffer may be handed on if there is room: nobody writes its array."""
        buffer = self._buffers[name]
        return buffer.store is Store.NONE and buffer.array not in self._written

    def take_to_hand_on(self, name: str) -> bool:
        """Return whether the buffer may be handed on, and take room for a second slot if it has none."""
        buffer = self._buffers[name]
        return self.may_hand_on(name) and (buffer.slots > 1 or self._fits(buffer))

    def take_for_puts(self, name: str) -> bool:
        """Return whether the buffer may be stored late, and take the room for its second slot."""
        buffer = self._buffers[name]
        return not buffer.load and self._users[buffer.array] == 1 and self._fits(buffer)

    def take_to_hand_on_ahead(self, names: Iterable[str]) -> bool:
        """Return whether all of the buffers may be handed on ahead, and take room for four slots of each."""
        buffers = [self._buffers[name] for name in names]
        further = sum(slotted(b, 4).total - slotted(b).total for b in buffers)
        return self._take(further)

    def _fits(self, buffer: Buffer) -> bool:
        return self._take(slotted(buffer).total - buffer.total)

    def _take(self, further: int) -> bool:
        if further > self.left:
            return False
        self.taken += further
        return True


def slotted(buffer: Buffer, slots: int = 2) -> Buffer:
    """Return ``buffer`` with so many ``slots``, each of them aligned."""
    padded = -(-buffer.bytes // buffer.alignment) * buffer.alignment
    return replace(buffer, slots=slots, bytes=padded)
