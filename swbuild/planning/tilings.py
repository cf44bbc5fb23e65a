"""What is tried to find tiles for a kernel, as values: each tiling with its buffers, or why it has none."""

from __future__ import annotations

from collections.abc import Mapping as References
from dataclasses import field
from enum import Enum
from typing import Any

from swbuild.classes import dataclass
from swbuild.mapping.tiling import Mapping, TiledKernel
from swbuild.memory.buffers import MemoryPlan
from swbuild.memory.partials import Inseparable, Partial
from swbuild.memory.plan import Care, Needed, Overflow
from swbuild.memory.words import SharedWords
from swbuild.planning.search import Ranking
from swbuild.planning.turning import Turnable
from swbuild.planning.view import Views
from swbuild.polyhedral.privatise import NotPrivate

__all__ = [
    "Choice",
    "DoesNotFit",
    "Estimated",
    "Infeasible",
    "Known",
    "Outcome",
    "Placed",
    "Purpose",
    "Tiling",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Placed:
    """A kernel with its tiles and its memory.

    ``expanded`` private variables live in LDM buffers; ``partials`` are what its CPEs accumulate;
    ``budget`` is what buffers and parts may take of the LDM, in bytes.  Boxes of buffers that are to be
    ``handed`` on are got by one CPE for others, as far as the passes can.  ``among``: what its threads and
    tiles were chosen from, None where the user has chosen.  ``known`` is what the choice rests on.
    """

    tiled: TiledKernel
    plan: MemoryPlan
    expanded: frozenset[str]
    partials: tuple[Partial, ...]
    budget: int
    among: Ranking | None = None
    handed: frozenset[str] = frozenset()
    known: Known = field(default_factory=lambda: Known(), compare=False, repr=False)

    @property
    def bytes(self) -> int:
        """The bytes of LDM that buffers and parts take."""
        return self.plan.bytes + sum(part.bytes for part in self.partials)


#: A tiling with its buffers, or why it has none.
Outcome = Placed | Overflow | NotPrivate | Inseparable


@dataclass(frozen=True, slots=True)
class Known:
    """What has been found of a kernel in one order, whether boxes may be handed on or not.

    These are its tilings, its numbers in orders of its loops, at each of the assumed sizes, private variables
    of which tilings have copies, boxes that may be turned, buffers that each CPE fills for itself, estimates,
    and what these rest on.
    """

    tiled: dict[Mapping, TiledKernel] = field(default_factory=dict)
    views: dict[Mapping, list[Views]] = field(default_factory=dict)
    copied: dict[Mapping, frozenset[str]] = field(default_factory=dict)
    turnable: dict[Mapping, References[tuple[str, int], Turnable]] = field(default_factory=dict)
    alone: dict[tuple[Mapping, Care], Outcome] = field(default_factory=dict)
    counted: dict[tuple[object, ...], Any] = field(default_factory=dict)
    grounds: dict[tuple[object, ...], Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DoesNotFit:
    """A kernel whose buffers do not fit the LDM with the tiles asked for, or with the smallest ones.

    ``needed`` is what its buffers take with ``tile``, as far inside as they may be.
    """

    kernel: str
    budget: int
    tile: tuple[int, ...]
    needed: tuple[Needed, ...]


#: Why a kernel, or the region that it is part of, has no plan.
Infeasible = NotPrivate | Inseparable | DoesNotFit | SharedWords


class Purpose(Enum):
    """What a tiling is tried for."""

    FIRST = "the largest tiles that fit"
    SEQUENTIAL = "sequential loops distributed over statements, too"
    WHOLE = "all statements in one nest"
    UNIT = "a loop in steps of 1, for fewer accesses to main memory"


class Verdict(Enum):
    """What becomes of a tiling that fits."""

    TAKEN = "taken"
    EXPANDS = "private variables would still have buffers"
    DEARER = "another order inside the tile costs less"
    NO_BETTER = "another costs less, or as much"


@dataclass(frozen=True, slots=True)
class Tiling:
    """One tiling of a kernel that was tried: what for, and what came out."""

    kernel: str
    purpose: Purpose
    mapping: Mapping
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Estimated:
    """What tilings of a kernel would cost."""

    kernel: str
    purpose: Purpose
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Choice:
    """What became of a tiling that fits."""

    kernel: str
    mapping: Mapping
    verdict: Verdict
