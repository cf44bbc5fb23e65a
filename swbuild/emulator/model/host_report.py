"""Reports of the host's time: parts of the whole program, the host's lines, the speed-up over another run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.analysis import Analysis, Table
from swbuild.emulator.model.result import HostTime, Replay

__all__ = ["HostLine", "host_json", "host_lines", "host_table", "program_table", "speedup_table"]

_MISSING = (
    "the host's time is not in it: compile host code with SWBUILD_EMU_COUNTED_CODE=1 in the environment"
    " (CMake: -DSWBUILD_COUNTED=ON, Meson: -Dswbuild:counted=true)"
)
_MODEL = "model time; what is calibrated and what is not: docs/model.md"


@dataclass(frozen=True, slots=True)
class HostLine:
    """What the host did for a line: passes of its busiest block, cycles, those of them lost to caches."""

    file: str
    line: int
    passes: int
    cycles: float
    stalled: float


def host_lines(analysis: Analysis) -> list[HostLine]:
    """Return the lines of host code of all processes, the most expensive first."""
    found: dict[tuple[str, int], HostLine] = {}
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        for number, spent in result.host.blocks.items():
            block = process.blocks[number]
            key = block.file, block.line
            old = found.get(key, HostLine(*key, 0, 0.0, 0.0))
            passes = max(old.passes, spent.passes)
            found[key] = HostLine(*key, passes, old.cycles + spent.cycles, old.stalled + spent.stalled)
    return sorted(found.values(), key=lambda line: (-line.cycles, line.file, line.line))


def host_table(analysis: Analysis) -> Table:
    """Return the host's lines by the cycles that their code takes."""
    lines = [line for line in host_lines(analysis) if line.cycles]
    total = sum(line.cycles for line in lines)
    rows = tuple(
        (
            f"{line.file}:{line.line}",
            f"{line.passes}",
            f"{line.cycles:.0f}",
            f"{100 * line.stalled / line.cycles:.1f}",
            f"{100 * line.cycles / total:.1f}",
        )
        for line in lines
    )
    heads = ("place", "passes", "cycles", "of these caches %", "%")
    return Table(
        "host",
        "the host by source line (model cycles)",
        heads,
        rows,
        frozenset({1, 2, 3, 4}),
        _notes(analysis),
    )


def program_table(analysis: Analysis) -> Table:
    """Return what the whole program's model time consists of, for every process."""
    rows = []
    several = len(analysis.replays) > 1
    for process, result in zip(analysis.profile.processes, analysis.replays, strict=True):
        for what, cycles in _parts(result):
            name = f"{process.rank}: {what}" if several else what
            share = f"{100 * cycles / result.cycles:.1f}" if result.cycles else "-"
            rows.append((name, f"{cycles:.0f}", f"{analysis.microseconds(cycles):.2f}", share))
    heads = ("what", "cycles", "us", "%")
    title = f"model time of the whole program ({analysis.machine.title})"
    return Table("program", title, heads, tuple(rows), frozenset({1, 2, 3}), _notes(analysis))


def _parts(result: Replay) -> list[tuple[str, float]]:
    host = result.host
    return [
        ("host ahead of the first spawn", host.before),
        ("host between spawns", host.between),
        ("host behind the last join", host.after),
        ("kernels, spawns and joins", max(0.0, result.cycles - host.cycles)),
        ("whole program", result.cycles),
    ]


def speedup_table(analysis: Analysis, other: Analysis, name: str) -> Table:
    """Return how many times the time of ``analysis`` the program of ``other`` takes, whose file is ``name``.

    Raise :class:`SwbuildError` if the host's time is missing in one of them, or the machines differ.
    """
    _check_comparable(analysis, other, name)
    own, others = (max((result.cycles for result in each.replays), default=0.0) for each in (analysis, other))
    ratio = f"{others / own:.2f}" if own else "-"
    row = ("whole program", f"{other.microseconds(others):.2f}", f"{analysis.microseconds(own):.2f}", ratio)
    heads = ("what", f"{name} us", "us", "speed-up")
    return Table("speedup", f"speed-up over {name}", heads, (row,), frozenset({1, 2, 3}), (_MODEL,))


def _check_comparable(analysis: Analysis, other: Analysis, name: str) -> None:
    why = ""
    if other.machine.name != analysis.machine.name:
        why = f"it is a run on the {other.machine.name}, not on the {analysis.machine.name}"
    elif not (analysis.host_counted and other.host_counted):
        why = "the host's time is missing in " + (
            "it" if analysis.host_counted else "the profile it is compared with"
        )
    if why:
        hint = "build both programs with SWBUILD_EMU_COUNTED_CODE=1 in the environment"
        raise SwbuildError(
            Diagnostic("SW695", f"there is no speed-up over this profile: {why}", Span(name), hint)
        )


def host_json(host: HostTime) -> dict[str, Any]:
    """Return the host's cycles as values for a JSON file."""
    return {"cycles": host.cycles, "before": host.before, "between": host.between, "after": host.after}


def _notes(analysis: Analysis) -> tuple[str, ...]:
    return (_MODEL,) if analysis.host_counted else (_MISSING, _MODEL)
