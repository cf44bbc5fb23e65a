"""What is bad about a mapping, in words: notes from a region's report, and from what a check counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from swbuild.classes import dataclass
from swbuild.codegen.unit import RegionUnit
from swbuild.diagnostics import Diagnostic, Severity

__all__ = ["MappingNote", "Observed", "mapping_diagnostics", "mapping_notes"]

#: From so many kernels of one loop nest on it is worth a note.
_MANY = 3


@dataclass(frozen=True, slots=True)
class MappingNote:
    """A note: its code and what it says, why included."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A kernel in a check: how many CPEs had work in a launch at ``sizes``, and the launches at others.

    ``cpes`` is ``None`` where the sizes say nothing about those that the program will have.
    """

    cpes: float | None
    sizes: str
    launches: int
    launch_sizes: str


def mapping_notes(
    report: Mapping[str, Any], observed: Mapping[str, Observed] | None = None
) -> tuple[MappingNote, ...]:
    """Return what is bad about the mapping that ``report`` describes.

    ``observed`` tells of kernels, by their names, what became of them at some sizes.
    """
    said = [
        ((code, text), kernel["name"])
        for kernel in report["kernels"]
        for code, text in _of_kernel(report, kernel, (observed or {}).get(kernel["name"]))
    ]
    found = [
        MappingNote(code, f"{', '.join(names)}: {text}") for (code, text), names in _grouped(said).items()
    ]
    if "whole_words" in report and report["kernels"]:
        found.append(_of_words(**report["whole_words"]))
    return (*found, *(() if report["block"] else _of_nests(report["kernels"])))


def mapping_diagnostics(
    region: RegionUnit, observed: Mapping[str, Observed] | None = None
) -> tuple[Diagnostic, ...]:
    """Return the notes on ``region`` as located messages."""
    notes = mapping_notes(region.report, observed)
    return tuple(Diagnostic(n.code, n.message, region.scop.span, severity=Severity.NOTE) for n in notes)


def _of_kernel(
    report: Mapping[str, Any], kernel: Mapping[str, Any], seen: Observed | None
) -> Iterator[tuple[str, str]]:
    """Yield the codes and texts of the notes on one kernel."""
    if kernel["launched_in"]:
        yield "SW320", _launches(report, kernel, seen)
    if kernel["main_memory"]:
        reasons = _grouped((item["reason"], item["array"]) for item in kernel["main_memory"])
        arrays = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        yield "SW321", f"elements of arrays are accessed in main memory, one by one: {arrays}"
    threads = math.prod(kernel["threads"])
    counted = seen is not None and seen.cpes is not None
    cpes = seen.cpes if seen is not None and counted else kernel["busy_cpes"]
    if cpes is not None and 0 < cpes < threads / 2 and not kernel.get("for_owners"):
        where = f" at {seen.sizes}" if seen is not None and counted and seen.sizes else ""
        tiles = " x ".join(map(str, kernel["tile"][: kernel["mapped_loops"]]))
        yield "SW323", f"only {cpes:.3g} of {threads} CPEs get work{where}, in tiles of {tiles} iterations"


def _of_words(arrays: Sequence[str], where: str) -> MappingNote:
    """Return what is said of arrays that are moved in whole words at some sizes only."""
    what = f"the rows of {', '.join(arrays)} are whole words of 4 bytes, as DMA moves them"
    return MappingNote("SW324", f"the host does the work unless {where}: only then {what}")


def _launches(report: Mapping[str, Any], kernel: Mapping[str, Any], seen: Observed | None) -> str:
    """Return what is said of a kernel that the host launches again and again."""
    loops = "a loop" if kernel["launched_in"] == 1 else f"{kernel['launched_in']} loops"
    what = "wavefront of tiles" if report["wavefront_tile"] else "block" if report["block"] else "iteration"
    count = f" ({seen.launches} times at {seen.launch_sizes})" if seen and seen.launch_sizes else ""
    reasons = [
        f"{loop['loop']} in line {loop['line']}: {loop['because'][0]}"
        for loop in report["loops"]
        if loop["because"] and not loop["parallel"]
    ]
    why = f"; {reasons[0]}" if reasons else ""
    return f"launched inside {loops} of the host, once per {what}{count}{why}"


def _of_nests(kernels: Iterable[Mapping[str, Any]]) -> Iterator[MappingNote]:
    shared = (kernel for kernel in kernels if not kernel["single"])
    nests = _grouped((kernel["nest"], kernel["name"]) for kernel in shared if kernel["nest"])
    for line, names in nests.items():
        if len(names) >= _MANY:
            message = f"the loop nest in line {line} became {len(names)} kernels, each with its own transfers"
            yield MappingNote("SW322", f"{message}: {', '.join(names)}")


def _grouped(pairs: Iterable[tuple[Any, str]]) -> dict[Any, list[str]]:
    groups: dict[Any, list[str]] = {}
    for key, value in pairs:
        names = groups.setdefault(key, [])
        if value not in names:
            names.append(value)
    return groups
