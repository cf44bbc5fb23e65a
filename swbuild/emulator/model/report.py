"""Reports of a profiled run: *summary*, *compute*, *transfers*, *runtime*, mapped to source lines.

The functions return tables as values; whoever calls them prints them (the command line does).  Times
are model cycles and model microseconds, and are called so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.analysis import Analysis, Table, analyse
from swbuild.emulator.model.host_report import host_json, host_lines, host_table, program_table
from swbuild.emulator.model.profile import LineCount
from swbuild.emulator.model.result import Category, KernelTime, SiteTime
from swbuild.emulator.model.trace import Process, Site

__all__ = ["REPORTS", "Analysis", "Table", "analyse", "as_json", "tables"]


def tables(analysis: Analysis, names: Sequence[str] = ("summary",)) -> list[Table]:
    """Return the reports ``names`` (see :data:`REPORTS`) in that order."""
    unknown = [name for name in names if name not in REPORTS]
    if unknown:
        message = f"there is no report '{unknown[0]}'; there are {', '.join(REPORTS)}"
        raise SwbuildError(Diagnostic("SW693", message, Span("<reports>")))
    return [REPORTS[name](analysis) for name in names]


# --- summary ------------------------------------------------------------------------------------


def _summary(analysis: Analysis) -> Table:
    """Return a row for every kernel of every process: model time, where it went, bytes per second."""
    columns = tuple(category for category in Category if _occurs(analysis, category))
    rows = []
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        for name, kernels in _by_name(result.kernels).items():
            rows.append(_summary_row(analysis, process, name, kernels, columns))
    heads = ("kernel", "spawns", "cycles", "us", "us/spawn", *(f"{column.value} %" for column in columns))
    title = f"model time of the kernels ({analysis.machine.title}, first CPE's begin to last CPE's end)"
    return Table("summary", title, heads, tuple(rows), frozenset(range(1, len(heads))), _notes(analysis))


def _summary_row(
    analysis: Analysis,
    process: Process,
    name: str,
    kernels: Sequence[KernelTime],
    columns: Sequence[Category],
) -> tuple[str, ...]:
    span = sum(kernel.span for kernel in kernels)
    spent: dict[Category, float] = defaultdict(float)
    for kernel in kernels:
        for category, cycles in kernel.spent.items():
            spent[category] += cycles
    time = analysis.microseconds(span)
    ranked = _ranked(analysis, process, name)
    shares = (f"{100 * spent[column] / span:.1f}" if span else "-" for column in columns)
    return (ranked, str(len(kernels)), f"{span:.0f}", f"{time:.2f}", f"{time / len(kernels):.2f}", *shares)


def _ranked(analysis: Analysis, process: Process, name: str) -> str:
    """Return a kernel's name, with its process ahead where there are several."""
    return name if len(analysis.profile.processes) == 1 else f"{process.rank}: {name}"


def _occurs(analysis: Analysis, category: Category) -> bool:
    kernels = (kernel for result in analysis.replays for kernel in result.kernels)
    return any(kernel.spent.get(category) for kernel in kernels)


def _by_name(kernels: Sequence[KernelTime]) -> dict[str, list[KernelTime]]:
    found: dict[str, list[KernelTime]] = {}
    for kernel in kernels:
        found.setdefault(kernel.name, []).append(kernel)
    return found


def _notes(analysis: Analysis) -> tuple[str, ...]:
    notes = []
    if not analysis.counted and any(result.kernels for result in analysis.replays):
        notes.append(
            "compute time is not in it: compile slave code with SWBUILD_EMU_COUNTED_CODE=1 in the environment"
            " (CMake: -DSWBUILD_COUNTED=ON, Meson: -Dswbuild:counted=true)"
        )
    own = sorted({f"{line.file}:{line.line}" for line in analysis.profile.lines if line.own})
    if own:
        some = ", ".join(own[:3]) + ", …" * (len(own) > 3)
        notes.append(
            f"rough cycles in {len(own)} lines ({some}): they are those of the emulated code, whose functions"
            " come out otherwise with a CPE's registers"
        )
    if any(process.trace.dropped for process in analysis.profile.processes):
        notes.append("the trace was cut short: times are those of its part")
    notes.append("model time; what is calibrated and what is not: docs/model.md")
    return tuple(notes)


# --- compute ------------------------------------------------------------------------------------


def _compute(analysis: Analysis) -> Table:
    """Return the source lines by the cycles that their code takes, over all CPEs."""
    lines = _merged(analysis.profile.lines) or _leading(analysis)
    total = sum(line.cycles for line in lines) or 1.0
    stalled = any(line.stalls for line in lines)
    rows = tuple(
        (
            f"{line.file}:{line.line}",
            f"{line.passes}",
            f"{line.cycles:.0f}",
            f"{100 * line.cycles / total:.1f}",
            *((f"{line.stalls:.0f}" if line.stalls else "", line.waits) if stalled else ()),
        )
        for line in lines
        if line.cycles
    )
    heads = ("place", "passes", "cycles", "%", *(("stalled", "waits for") if stalled else ()))
    title = "computing by source line (model cycles, all CPEs together)"
    return Table(
        "compute", title, heads, rows, frozenset({1, 2, 3, 4} if stalled else {1, 2, 3}), _notes(analysis)
    )


def _merged(lines: Sequence[LineCount]) -> list[LineCount]:
    """Return one entry per line, the most expensive first; its passes are those of its busiest block."""
    found: dict[tuple[str, int], LineCount] = {}
    for line in lines:
        old = found.get((line.file, line.line), LineCount(line.file, line.line, 0, 0.0))
        found[line.file, line.line] = replace(
            old,
            passes=max(old.passes, line.passes),
            cycles=old.cycles + line.cycles,
            stalls=old.stalls + line.stalls,
            waits="; ".join(dict.fromkeys(filter(None, (*old.waits.split("; "), *line.waits.split("; "))))),
        )
    return sorted(found.values(), key=lambda line: (-line.cycles, line.file, line.line))


def _leading(analysis: Analysis) -> list[LineCount]:
    """Return what was computed ahead of each call, where the profile has no lines."""
    return _merged(
        [
            LineCount(site.file, site.line, entry.operations, entry.computed)
            for site, entry in _sites(analysis)
            if entry.computed
        ]
    )


# --- transfers ----------------------------------------------------------------------------------


def _transfers(analysis: Analysis) -> Table:
    """Return the calls that move data: how much, how well it fits the requests, and the waiting."""
    rows = []
    for site, entry in sorted(_sites(analysis), key=lambda pair: (-pair[1].awaited, str(pair[0]))):
        if entry.bytes:
            rows.append(_transfer_row(analysis, site, entry))
    heads = (
        "place",
        "call",
        "calls",
        "bytes",
        "bytes/call",
        "requests",
        "partial",
        "used %",
        "awaited us/CPE",
    )
    request = analysis.machine.dma.request_bytes
    title = f"transfers by call (used: bytes moved of those in the {request}-byte requests touched)"
    return Table("transfers", title, heads, tuple(rows), frozenset(range(2, len(heads))), _notes(analysis))


def _transfer_row(analysis: Analysis, site: Site, entry: SiteTime) -> tuple[str, ...]:
    touched = entry.requests * analysis.machine.dma.request_bytes
    used = f"{100 * entry.bytes / touched:.0f}" if touched else "-"
    awaited = analysis.microseconds(entry.awaited) / _cpes(analysis)
    numbers = (
        entry.operations,
        entry.bytes,
        entry.bytes // max(1, entry.operations),
        entry.requests,
        entry.partial,
    )
    return (str(site), site.call, *map(str, numbers), used, f"{awaited:.2f}")


def _cpes(analysis: Analysis) -> int:
    """Return how many CPEs took part, over all processes."""
    parts = (max((kernel.threads for kernel in result.kernels), default=0) for result in analysis.replays)
    return sum(parts) or 1


# --- runtime ------------------------------------------------------------------------------------


def _runtime(analysis: Analysis) -> Table:
    """Return what spawning, waiting and unequal work cost: by kernel, then by waiting call."""
    rows = []
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        for name, kernels in _by_name(result.kernels).items():
            rows += _runtime_rows(analysis, _ranked(analysis, process, name), kernels)
    for site, entry in sorted(_sites(analysis), key=lambda pair: (-pair[1].waited, str(pair[0]))):
        if entry.waited:
            average = analysis.microseconds(entry.waited) / _cpes(analysis)
            rows.append((f"waiting at {site}", site.call, f"{average:.2f}", ""))
    busy = sum(result.controller_busy for result in analysis.replays)
    span = sum(kernel.span for result in analysis.replays for kernel in result.kernels)
    if span:
        rows.append(
            ("memory controller busy", "", f"{analysis.microseconds(busy):.2f}", f"{100 * busy / span:.1f}")
        )
    heads = ("what", "kernel or call", "us", "% of the kernels")
    title = "run time beside the work itself (waiting: average of the CPEs)"
    return Table("runtime", title, heads, tuple(rows), frozenset({2, 3}), _notes(analysis))


def _runtime_rows(analysis: Analysis, name: str, kernels: Sequence[KernelTime]) -> list[tuple[str, ...]]:
    span = sum(kernel.span for kernel in kernels)
    around = sum(max(0.0, kernel.end - kernel.begin - kernel.span) for kernel in kernels)
    idle = sum(kernel.spent.get(Category.IDLE, 0.0) for kernel in kernels)
    rows = [("spawn and join", name, around), ("idle until the last CPE's end", name, idle)]
    return [
        (what, which, f"{analysis.microseconds(time):.2f}", _share(time, span)) for what, which, time in rows
    ]


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


# --- all of them --------------------------------------------------------------------------------


def _sites(analysis: Analysis) -> list[tuple[Site, SiteTime]]:
    """Return every call site with its counts, those of the same place and call in one."""
    found: dict[Site, SiteTime] = {}
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        for index in sorted(result.sites):
            site, entry = process.site(index), result.sites[index]
            total = found.setdefault(site, SiteTime())
            total.operations += entry.operations
            total.bytes += entry.bytes
            total.requests += entry.requests
            total.partial += entry.partial
            total.waited += entry.waited
            total.awaited += entry.awaited
            total.computed += entry.computed
    return list(found.items())


REPORTS: dict[str, Callable[[Analysis], Table]] = {
    "summary": _summary,
    "compute": _compute,
    "transfers": _transfers,
    "runtime": _runtime,
    "program": program_table,
    "host": host_table,
}


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Return the whole analysis as values for a JSON file; cycles are model cycles."""
    return {
        "machine": analysis.machine.name,
        "clock_hz": analysis.machine.clock_hz,
        "compute_counted": analysis.counted,
        "host_counted": analysis.host_counted,
        "processes": [
            {
                "rank": process.rank,
                "cycles": result.cycles,
                "host": host_json(result.host),
                "kernels": [_kernel_json(kernel) for kernel in result.kernels],
            }
            for process, result in zip(analysis.profile.processes, analysis.replays, strict=True)
        ],
        "sites": [
            {"file": site.file, "line": site.line, "call": site.call} | asdict(entry)
            for site, entry in _sites(analysis)
        ],
        "lines": [asdict(line) for line in _merged(analysis.profile.lines)],
        "host_lines": [asdict(line) for line in host_lines(analysis)],
    }


def _kernel_json(kernel: KernelTime) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "begin": kernel.begin,
        "end": kernel.end,
        "cycles": kernel.span,
        "cpes": kernel.threads,
        "spent": {category.value: cycles for category, cycles in kernel.spent.items()},
    }
