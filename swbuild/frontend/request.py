"""What is asked of the front end, and what it answers."""

from __future__ import annotations

from dataclasses import field

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span
from swbuild.frontend.scop import Scop

__all__ = ["CppOptions", "RefusedRegion", "RegionRequest", "SourceModel", "Vocabulary"]


@dataclass(frozen=True, slots=True)
class CppOptions:
    """How to preprocess: ``-I`` directories, ``-D`` definitions (``NAME`` or ``NAME=value``),
    the driver to call, and ``flags`` that it takes besides, for what they define.
    """

    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compiler: str = "gcc"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionRequest:
    """One region wanted, chosen by exactly one of function name, label (``#pragma scop NAME``) or index.

    A function that holds several regions needs ``index`` too (counted in that function, from 0).
    ``name`` is the region's unique name, a C identifier.  Of ``typical`` sizes only the names matter here.
    """

    name: str = ""
    function: str | None = None
    label: str | None = None
    index: int | None = None
    params: dict[str, int] = field(default_factory=dict)
    typical: dict[str, int] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefusedRegion:
    """A region that cannot be modelled, and why; it stays on the host unchanged."""

    name: str
    span: Span
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of one file.

    ``words`` are all in the user's own files, before and after preprocessing, and all macros; ``macros``
    those that the user's files or options define, ``given`` those of the options alone.  The user's files
    themselves declare ``library``, names of the standard library, and ``machine``, names of the machines'
    headers, with the places of the declarations.
    """

    words: frozenset[str] = frozenset()
    macros: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    library: frozenset[str] = frozenset()
    machine: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True, slots=True)
class SourceModel:
    """One C file: its exact text, the regions modelled and refused,
    every file that was read (for depfiles), and every name in them.
    ``unit`` is its preprocessed text, which the frames of the regions point into.
    """

    path: str
    text: str
    scops: tuple[Scop, ...]
    refused: tuple[RefusedRegion, ...]
    dependencies: tuple[str, ...]
    names: Vocabulary = Vocabulary()
    unit: str = ""
