"""What a replay yields: model time of kernels and CPEs by category, and the part of every call site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["BlockTime", "Category", "CpeTime", "HostTime", "KernelTime", "Replay", "SiteTime", "Slice"]


class Category(str, Enum):
    """What a CPE's time, or the host's, goes into; the value is the name in reports.

    The order is that of ``enum swb_category``.
    """

    COMPUTE = "compute"
    ISSUE = "issue"
    DMA = "dma wait"
    RMA = "rma wait"
    SYNC = "sync"
    REGISTER = "register"
    DIRECT = "direct access"
    IDLE = "idle"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class CpeTime:
    """One CPE's part in one kernel: begin and end in cycles, and where the time between them went."""

    cpe: int
    begin: float
    end: float
    spent: Mapping[Category, float]


@dataclass(slots=True)
class KernelTime:
    """One spawn: from the host's call to its return from join.

    ``span``: from the first CPE's begin to the last one's end; ``threads``: how many CPEs; ``spent``: where
    their time went, averaged over them, where idle is waiting for the last one; ``cpes``: each one's part, in
    the order in which they began, if details were asked for.
    """

    ordinal: int
    name: str
    begin: float
    end: float
    span: float
    threads: int
    spent: Mapping[Category, float]
    cpes: Sequence[CpeTime] = ()


@dataclass(slots=True)
class SiteTime:
    """What one call site did.

    ``waited``: cycles that CPEs stood in this call (or in the wait it is); ``awaited``: cycles that CPEs
    stood anywhere until a transfer of this call was there; ``computed``: cycles computed ahead of it.
    """

    operations: int = 0
    bytes: int = 0
    requests: int = 0
    partial: int = 0
    waited: float = 0.0
    awaited: float = 0.0
    computed: float = 0.0


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a CPE's time line."""

    cpe: int
    category: Category
    begin: float
    end: float
    site: int


@dataclass(slots=True)
class BlockTime:
    """What one block of host code took: passes, cycles of the model, and those of them lost to the caches."""

    passes: int = 0
    cycles: float = 0.0
    stalled: float = 0.0


@dataclass(slots=True)
class HostTime:
    """The cycles that the host computed, by where they lie, and by block."""

    before: float = 0.0  # ahead of the first spawn
    between: float = 0.0
    after: float = 0.0  # behind the last join
    blocks: dict[int, BlockTime] = field(default_factory=dict)

    @property
    def cycles(self) -> float:
        """Return all of the host's cycles."""
        return self.before + self.between + self.after


@dataclass(slots=True)
class Replay:
    """The result: model time of every kernel and what each call site had to do with it."""

    cycles: float = 0.0
    kernels: list[KernelTime] = field(default_factory=list)
    sites: dict[int, SiteTime] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    controller_busy: float = 0.0
    marks: list[tuple[int, float, int]] = field(default_factory=list)
    host: HostTime = field(default_factory=HostTime)
