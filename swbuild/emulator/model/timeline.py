"""The time line of the CPEs as a Chrome/Perfetto trace: load the file in ui.perfetto.dev or chrome://tracing.

A process of the program is a process there, each CPE a thread; further threads hold the kernels and the host.
Times are model microseconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.report import Analysis
from swbuild.emulator.model.result import KernelTime, Replay, Slice
from swbuild.emulator.model.trace import HOST, Process

__all__ = ["events", "write_timeline"]

_KERNELS = 1000  # the thread number of the kernels: behind all CPEs


def write_timeline(analysis: Analysis, path: Path) -> None:
    """Write the time line of ``analysis`` (made with ``timeline=True``) to ``path``, whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as out:
            out.write('{"displayTimeUnit": "ns", "otherData": {"time": "model time"}, "traceEvents": [\n')
            out.write(",\n".join(json.dumps(event) for event in events(analysis)))
            out.write("\n]}\n")
        os.replace(part, path)
    except OSError as problem:
        part.unlink(missing_ok=True)
        message = f"cannot write the time line: {problem.strerror}"
        raise SwbuildError(Diagnostic("SW694", message, Span(str(path)))) from None


def events(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Return the trace events: names first, then slices in the order of time."""
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        yield from _names(analysis, process, result)
        for kernel in result.kernels:
            yield _kernel(analysis, process, kernel)
        for piece in sorted(result.slices, key=lambda piece: (piece.begin, piece.cpe)):
            yield _slice(analysis, process, piece)
        for cpe, time, site in result.marks:
            place = str(process.site(site))
            yield _event(analysis, process, cpe, place, time) | {"ph": "i", "s": "t"}


def _names(analysis: Analysis, process: Process, result: Replay) -> Iterator[dict[str, Any]]:
    columns = analysis.machine.mesh_columns
    yield _named(process, "process_name", 0, f"core group, rank {process.rank}")
    yield _named(process, "thread_name", _KERNELS, "kernels")
    if any(piece.cpe == HOST for piece in result.slices):
        yield _named(process, "thread_name", HOST, "host")
    cpes = sorted({cpe.cpe for kernel in result.kernels for cpe in kernel.cpes})
    for cpe in cpes:
        yield _named(process, "thread_name", cpe, f"CPE {cpe:2d} ({cpe // columns},{cpe % columns})")


def _named(process: Process, what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process.rank, "tid": thread, "name": what, "args": {"name": name}}


def _kernel(analysis: Analysis, process: Process, kernel: KernelTime) -> dict[str, Any]:
    event = _event(analysis, process, _KERNELS, kernel.name, kernel.begin)
    duration = round(analysis.microseconds(kernel.end - kernel.begin), 4)
    return event | {"ph": "X", "dur": duration, "args": {"spawn": kernel.ordinal, "cycles": kernel.span}}


def _slice(analysis: Analysis, process: Process, piece: Slice) -> dict[str, Any]:
    event = _event(analysis, process, piece.cpe, piece.category.value, piece.begin)
    duration = round(analysis.microseconds(piece.end - piece.begin), 4)
    arguments: dict[str, Any] = {"cycles": round(piece.end - piece.begin, 1)}
    if piece.site:
        site = process.site(piece.site)
        arguments |= {"place": str(site), "call": site.call}
    return event | {"ph": "X", "cat": piece.category.value, "dur": duration, "args": arguments}


def _event(analysis: Analysis, process: Process, thread: int, name: str, begin: float) -> dict[str, Any]:
    return {"pid": process.rank, "tid": thread, "name": name, "ts": round(analysis.microseconds(begin), 4)}
