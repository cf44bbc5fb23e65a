"""Room in the LDM for further slots of a kernel's buffers, and which of them may have some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from swbuild.memory.buffers import Buffer, Store
from swbuild.memory.levels import Level
from swbuild.planning.tilings import Placed

__all__ = ["Room", "slotted"]


#: The part of the LDM that may be taken so that what is changed in place is moved meanwhile.
_PART = 0.5


class Room:
    """What is left of the LDM for second slots."""

    def __init__(self, place: Placed) -> None:
        self._buffers = {buffer.name: buffer for buffer in place.plan.buffers}
        moving = (b.array for b in place.plan.buffers if not b.steady)
        used = (*moving, *(d.array for d in place.plan.direct))
        self._users = Counter(used)
        self._bare = frozenset(d.array for d in place.plan.direct)
        self._inside = _inside(place.plan.top)
        self._all = place.budget - place.plan.bytes - sum(partial.bytes for partial in place.partials)
        self._handed = place.handed
        self._used, self._budget = place.plan.bytes, place.budget
        self._slots = {name: buffer.slots for name, buffer in self._buffers.items()}
        self.taken = 0

    @property
    def left(self) -> int:
        """The bytes that nothing has been given so far."""
        return self._all - self.taken

    def take_for_gets(self, name: str) -> bool:
        """Return whether the buffer may be filled early, and take the room for its second slot."""
        buffer = self._buffers[name]
        early = buffer.steady or self._is_stored_outside(buffer) or self._may_go_meanwhile(buffer)
        return early and buffer.missing is None and self._fits(name)

    def may_come_beside(self, name: str, stored: frozenset[str]) -> bool:
        """Return whether the buffer, which may be filled early, may be where the buffers ``stored`` are put.

        Those are all that are put while an iteration of a loop runs, and so while the next box comes.
        """
        buffer = self._buffers[name]
        alike = any(self._buffers[other].array == buffer.array for other in stored)
        return buffer.steady or buffer.store is not Store.NONE or not alike

    def may_hand_on(self, name: str) -> bool:
        """Return whether the buffer may be handed on if there is room: nobody writes what it holds."""
        return self._buffers[name].steady

    def take_to_hand_on(self, name: str) -> bool:
        """Return whether the buffer may be handed on, and take room for a second slot if it has none."""
        buffer = self._buffers[name]
        return self.may_hand_on(name) and (buffer.slots > 1 or self._fits(name))

    def take_for_puts(self, name: str) -> bool:
        """Return whether the buffer may be stored late, and take the room for another slot."""
        buffer = self._buffers[name]
        apart = self._may_go_meanwhile(buffer) if buffer.load else self._is_alone_inside(buffer)
        return apart and buffer.missing is None and self._fits(name)  # rows fill no slot for certain

    def take_to_hand_on_ahead(self, names: Iterable[str]) -> bool:
        """Return whether all of the buffers may be handed on ahead, and take room for four slots of each."""
        buffers = [self._buffers[name] for name in names]
        further = sum(slotted(b, 4).total - slotted(b).total for b in buffers)
        return self._take(further)

    def _may_go_meanwhile(self, buffer: Buffer) -> bool:
        """Return whether the next box may come, and the last one be stored, while one is computed on.

        No visit gets what another one puts.  Not where boxes are handed on: the first of the next round would
        come behind those that are put, and all CPEs wait for them.  Nor where that takes more than a part of
        the LDM, which a program shares.
        """
        slots = self._slots[buffer.name]
        further = self._bytes(buffer.name, slots + 1) - self._bytes(buffer.name, slots)
        fits = self._used + self.taken + further <= _PART * self._budget
        return fits and self._users[buffer.array] == 1 and not buffer.reloaded and not self._handed

    def _is_stored_outside(self, buffer: Buffer) -> bool:
        """Return whether the array of a buffer that is not stored is put outside the loops that get it alone.

        Then it comes from an array that no CPE changes while they run.
        """
        if buffer.store is not Store.NONE or buffer.array in self._bare:
            return False
        return all(other.store is Store.NONE for other in self._beside(buffer))

    def _is_alone_inside(self, buffer: Buffer) -> bool:
        """Return whether nothing else touches the array of ``buffer`` in the loops that store it alone.

        Then nobody needs what an iteration of them has stored before they end.
        """
        return buffer.array not in self._bare and not self._beside(buffer)

    def _beside(self, buffer: Buffer) -> list[Buffer]:
        """Return the other buffers of the same array that are moved in the innermost loop around a visit."""
        inside = self._inside[buffer.level]
        others = (b for b in self._buffers.values() if b.array == buffer.array and b.name != buffer.name)
        return [b for b in others if not b.steady and b.level in inside]

    def _fits(self, name: str) -> bool:
        """Return whether the buffer can have another slot, and take the room for it."""
        slots = self._slots[name] + 1
        if not self._take(self._bytes(name, slots) - self._bytes(name, slots - 1)):
            return False
        self._slots[name] = slots
        return True

    def _bytes(self, name: str, slots: int) -> int:
        """Return what so many slots of the buffer take."""
        buffer = self._buffers[name]
        return buffer.total if slots == buffer.slots else slotted(buffer, slots).total

    def _take(self, further: int) -> bool:
        if further > self.left:
            return False
        self.taken += further
        return True


def _inside(top: Level) -> dict[int, frozenset[int]]:
    """Return, per level, those that are in the innermost of the loops around it, itself among them."""
    found: dict[int, frozenset[int]] = {}

    def visit(level: Level, outermost: Level) -> None:
        if level.depth > outermost.depth:
            outermost = level
        found[level.number] = frozenset(inner.number for inner in outermost.walk())
        for child in level.children:
            visit(child, outermost)

    visit(top, top)
    return found


def slotted(buffer: Buffer, slots: int = 2) -> Buffer:
    """Return ``buffer`` with so many ``slots``, each of them aligned."""
    padded = -(-buffer.bytes // buffer.alignment) * buffer.alignment
    return replace(buffer, slots=slots, bytes=padded)
