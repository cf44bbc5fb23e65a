"""What a tree of the kernel IR may speak of: names, buffers, kernels, and what the machine allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum

from swbuild.classes import dataclass
from swbuild.kernelir.transfers import Limits

__all__ = ["Between", "Held", "Scope", "Separation"]


class Between(Enum):
    """What has to come between the runs of two kernels in one spawn."""

    NOTHING = "nothing"
    FENCE = "a fence"  # one CPE runs both, and gets what it has put
    BARRIER = "a barrier"


#: What has to come between two kernels, by their names, whichever is first.
Separation = Callable[[str, str], Between]


@dataclass(frozen=True, slots=True)
class Held:
    """A buffer: the most indices per dimension, bytes of an element, slots, and who uses it.

    ``bytes`` are those of one slot, ``turned`` those of a copy of a box, ``statements`` those that access
    it.  ``loaded``: gets fill it.
    """

    bound: tuple[int, ...]
    element: int
    bytes: int
    slots: int
    alignment: int
    statements: frozenset[str]
    loaded: bool
    turned: int = 0


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known where a tree begins.

    ``names`` are the variables, ``kernels`` those that may be launched with the number of their loops,
    ``phases`` those that may run as phases of a spawn, and ``between`` what has to come between two of them.
    ``budget`` are the bytes of LDM for all buffers.  ``host``: the tree is the host's.  The CPEs that run
    a tree know themselves by ``threads``, row and column, of which there are so many; ``whole``: these are
    all CPEs of the core group.
    """

    names: frozenset[str]
    buffers: Mapping[str, Held] = field(default_factory=dict)
    kernels: Mapping[str, int] = field(default_factory=dict)
    budget: int = 0
    limits: Limits = field(default_factory=lambda: Limits(0, 0, 1))
    host: bool = False
    phases: Mapping[str, int] = field(default_factory=dict)
    between: Separation = lambda *_: Between.BARRIER
    threads: Mapping[str, int] = field(default_factory=dict)
    whole: bool = False
