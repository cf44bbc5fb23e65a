"""What generation yields for one C file: the contract with the checker, the build rules and the reports.

Every region becomes one host function, the *entry*::

    int sw_<region>(<arguments>);

It returns 0 when the region was computed on the core group, and having done nothing, when an
assumption of the model does not hold for these arguments, the number of its test, from 1 on (the
caller then runs the original text).
Arguments come in the order of :attr:`RegionUnit.arguments`: parameters and scalars that are only
read by value in their own C type, everything else as a pointer to the first element
(``double *A``, ``double *sum``).  Behind them come the addresses (``const void *``) of what is
passed by value, or not at all, and must not lie where the region writes.
"""

from __future__ import annotations

from typing import Any

from swbuild.classes import dataclass
from swbuild.expressions.types import ElementType
from swbuild.frontend.request import RefusedRegion
from swbuild.frontend.scop import Scop
from swbuild.mapping.grid import Grid

__all__ = ["EntryArgument", "GeneratedFile", "GeneratedUnit", "RegionUnit"]


@dataclass(frozen=True, slots=True)
class EntryArgument:
    """One argument of an entry: ``by_value`` for parameters and read-only scalars, else a pointer."""

    name: str
    element: ElementType
    by_value: bool
    reads: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class RegionUnit:
    """One region's outcome.  ``kernels`` is empty when all of it stays on the host.

    Behind ``arguments`` the entry takes ``addresses`` pointers, which it only compares; null lies apart
    from everything.

    ``report`` is the JSON-ready description that ``swbuild explain`` prints; ``grids`` are the loops of
    the kernels, for who chooses sizes and tells what they reach.  ``refusals`` are the reasons for which
    the entry declines; it returns the number of the first that holds, counted from 1.
    """

    scop: Scop
    entry: str
    arguments: tuple[EntryArgument, ...]
    kernels: tuple[str, ...]
    exact_order: bool
    report: dict[str, Any]
    addresses: int = 0
    grids: tuple[Grid, ...] = ()
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file to write: its name (no directory) and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class GeneratedUnit:
    """All that one source file yields: ``slave`` is ``None`` when no region has a kernel.

    ``refused`` are the regions that stay on the host because the front end or the generator refused them.
    """

    source: str
    host: GeneratedFile
    slave: GeneratedFile | None
    header: GeneratedFile
    regions: tuple[RegionUnit, ...]
    refused: tuple[RefusedRegion, ...] = ()
