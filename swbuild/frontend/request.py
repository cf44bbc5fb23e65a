"""What is asked of the front end, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from swbuild.diagnostics import Diagnostic, Span
from swbuild.frontend.scop import Scop

__all__ = ["CppOptions", "RefusedRegion", "RegionRequest", "SourceModel"]


@dataclass(frozen=True, slots=True)
class CppOptions:
    """How to preprocess: ``-I`` directories, ``-D`` definitions (``NAME`` or ``NAME=value``),
    the driver to call.
    """

    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compiler: str = "gcc"


@dataclass(frozen=True, slots=True)
class RegionRequest:
    """One region wanted, chosen by exactly one of function name, label (``#pragma scop NAME``) or index.

    A function that holds several regions needs ``index`` too (counted in that function, from 0).
    ``name`` is the region's unique name, a C identifier.
    """

    name: str
    function: str | None = None
    label: str | None = None
    index: int | None = None
    params: dict[str, int] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefusedRegion:
    """A region that cannot be modelled, and why; it stays on the host unchanged."""

    name: str
    span: Span
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class SourceModel:
    """One C file: its exact text, the regions modelled and refused,
    and every file that was read (for depfiles).
    """

    path: str
    text: str
    scops: tuple[Scop, ...]
    refused: tuple[RefusedRegion, ...]
    dependencies: tuple[str, ...]
