"""What a kernel has in the LDM: its buffers, and what of its accesses stays in main memory."""

from __future__ import annotations

from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.memory.box import Box
from swbuild.memory.levels import Level
from swbuild.memory.rows import Interval

__all__ = [
    "ALIGNMENT",
    "Buffer",
    "Direct",
    "Exchange",
    "InTile",
    "MemoryPlan",
    "Residency",
    "Store",
    "Turned",
]


class Store(Enum):
    """How a buffer's results go back to main memory."""

    NONE = "none"
    BOX = "box"  # one strided transfer
    ROWS = "rows"  # one transfer per row of the exact footprint
    ELEMENTS = "elements"  # stores, one per element of the exact footprint


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a buffer gets or puts of its box in a visit: ``moved``, prefix -> element, the ``box`` around.

    ``whole``: that is all of the box, whose ends are known.
    """

    moved: isl.Map
    box: Box
    whole: bool


@dataclass(frozen=True, slots=True)
class Residency:
    """How a buffer keeps its boxes over all phases of a spawn: tiles that only this CPE works on.

    There is ``room`` for so many of them; the buffer has a slot more, for all others in turn.  ``numbers``
    count the tiles of this CPE per dimension of the array, as functions of the loops above its level, and
    ``lengths`` say how many a CPE has at most.  ``fresh`` is what others have written of a box since its last
    visit, ``wanted`` what they read of it after a visit, or what is left in memory, each in parts.
    """

    room: int
    numbers: tuple[isl.PwAff, ...]
    lengths: tuple[isl.PwAff, ...]
    fresh: tuple[Exchange, ...]
    wanted: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class InTile:
    """Where a CPE finds a box among the tiles of the array that it keeps: in one tile of its own.

    ``room``, ``numbers`` and ``lengths`` are as in :class:`Residency`; ``low`` and ``high`` are the ends of
    the tile, all as functions of the loops above the buffer's level.
    """

    room: int
    numbers: tuple[isl.PwAff, ...]
    lengths: tuple[isl.PwAff, ...]
    low: tuple[isl.PwAff, ...]
    high: tuple[isl.PwAff, ...]


#: Bytes that every buffer and each of its slots begin at a multiple of.
ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Turned:
    """A copy of a box, of ``bytes``, in which ``dimension`` comes last and rows are ``pitch`` elements apart.

    Each of them begins at a multiple of the bytes that buffers do.
    """

    dimension: int
    pitch: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Buffer:
    """An LDM buffer: ``box`` of ``array`` per visit of ``level``, serving the references ``refs``.

    It holds ``slots`` boxes of at most ``bytes`` each, aligned to ``alignment`` bytes.  Those of
    one with ``residency`` are tiles of its array, and loaded whatever is read.
    """

    name: str
    array: str
    level: int
    refs: tuple[tuple[str, int], ...]
    box: Box
    load: bool
    store: Store
    #: prefix -> element, exactly what is written (None when nothing is)
    written: isl.Map | None
    bytes: int
    #: another visit of this CPE may load what one visit stored
    reloaded: bool = False
    #: it is loaded, and nothing that it ever holds is written in a launch of the kernel
    steady: bool = False
    slots: int = 1
    alignment: int = ALIGNMENT
    residency: Residency | None = None
    #: its boxes are copied from there, and got from memory only where a tile does not stay
    in_tile: InTile | None = None
    turned: Turned | None = None
    #: these rows of the box, all of each, are what is ``written``
    rows: Interval | None = None
    #: all of the box that has to be got, row by row, where that is little of it; else all of it is got
    missing: Exchange | None = None

    @property
    def total(self) -> int:
        """The bytes of LDM that all slots take, and the turned box."""
        return self.slots * self.bytes + (self.turned.bytes if self.turned else 0)

    @property
    def is_put_once(self) -> bool:
        """Whether a box must go back once: a second visit would put what it has not loaded, or too late."""
        return self.store is not Store.NONE and not (self.load and self.reloaded)


@dataclass(frozen=True, slots=True)
class Direct:
    """A reference that stays in main memory, and why."""

    statement: str
    ref: int
    array: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """All buffers of one kernel; ``top`` is the tree of levels."""

    top: Level
    buffers: tuple[Buffer, ...]
    direct: tuple[Direct, ...]
    bytes: int

    def buffer_of(self, statement: str, ref: int) -> Buffer | None:
        """Return the buffer that serves this reference, or None when it is accessed in main memory."""
        return next((b for b in self.buffers if (statement, ref) in b.refs), None)

    def names(self) -> dict[tuple[str, int], str]:
        """Return, for each reference that a buffer serves, the name of the buffer."""
        return {ref: buffer.name for buffer in self.buffers for ref in buffer.refs}
