"""What a replay yields: model time of kernels and CPEs by category, and the part of every call site."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

__all__ = ["BlockTime", "Category", "CpeTime", "HostTime", "KernelTime", "Replay", "SiteTime", "Slice"]


class Category(str, Enum):
    """What a CPE's time, or the host's, goes into; the value is the name in reports."""

    COMPUTE = "compute"
    ISSUE = "issue"
    DMA = "dma wait"
    RMA = "rma wait"
    SYNC = "sync"
    REGISTER = "register"
    DIRECT = "direct access"
    IDLE = "idle"
    HOST = "host"


@dataclass(slots=True)
class CpeTime:
    """One CPE's part in one kernel: begin and end in cycles, and where the time between them went."""

    cpe: int
    begin: float
    end: float = 0.0
    spent: dict[Category, float] = field(default_factory=dict)

    def add(self, category: Category, cycles: float) -> None:
        """Count ``cycles`` under ``category``."""
        self.spent[category] = self.spent.get(category, 0.0) + cycles


@dataclass(slots=True)
class KernelTime:
    """One spawn: from the host's call to its return from join; ``span`` is what the CPEs took."""

    ordinal: int
    name: str
    begin: float
    end: float = 0.0
    cpes: list[CpeTime] = field(default_factory=list)

    @property
    def span(self) -> float:
        """Return the cycles from the first CPE's begin to the last one's end."""
        if not self.cpes:
            return 0.0
        return max(cpe.end for cpe in self.cpes) - min(cpe.begin for cpe in self.cpes)

    def spent(self) -> dict[Category, float]:
        """Return where the CPEs' time went, averaged over them; idle is waiting for the last one."""
        if not self.cpes:
            return {}
        last = max(cpe.end for cpe in self.cpes)
        total = dict.fromkeys(Category, 0.0)
        for cpe in self.cpes:
            for category, cycles in cpe.spent.items():
                total[category] += cycles
            total[Category.IDLE] += last - cpe.end
        return {category: cycles / len(self.cpes) for category, cycles in total.items()}


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

    def site(self, index: int) -> SiteTime:
        """Return the entry of call site ``index``, made on first use."""
        entry = self.sites.get(index)
        if entry is None:
            entry = self.sites[index] = SiteTime()
        return entry
