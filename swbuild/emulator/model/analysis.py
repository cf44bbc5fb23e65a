"""A profile with its replay, and the tables that reports are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.host_block import CACHE_SHAPE
from swbuild.emulator.model.outcome import read_outcome
from swbuild.emulator.model.profile import Profile, read_profile
from swbuild.emulator.model.replay import replay
from swbuild.emulator.model.result import Replay
from swbuild.emulator.model.trace import Process, read_trace
from swbuild.machine import MachineModel, load

__all__ = ["Analysis", "Table", "analyse"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people: ``right`` are the columns that hold numbers, ``notes`` stand below it."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """A profile with the replay of each of its processes."""

    profile: Profile
    machine: MachineModel
    replays: tuple[Replay, ...]

    @property
    def counted(self) -> bool:
        """Return whether compute time is in the profile of every process."""
        return all(process.trace.counted for process in self.profile.processes)

    @property
    def host_counted(self) -> bool:
        """Return whether the host's time is in the profile of every process."""
        return all(process.trace.host_counted for process in self.profile.processes)

    def microseconds(self, cycles: float) -> float:
        """Return model cycles as model microseconds."""
        return cycles / self.machine.clock_hz * 1e6


def analyse(
    path: Path, overrides: Mapping[str, int | float] | None = None, timeline: bool = False
) -> Analysis:
    """Read the profile at ``path``; with ``overrides``, or for what a ``timeline`` needs, replay its events.

    Raise :class:`SwbuildError` for a file that is no profile, an override that is unknown or comes too late,
    a run whose events do not hang together, or whose events are needed and were not kept.
    """
    _check_overrides(overrides or {})
    profile = read_profile(path)
    machine = load(profile.machine, {**profile.numbers, **(overrides or {})})
    again = bool(overrides) or timeline
    found = (_again(path, each, machine, timeline) if again else _as_run(each) for each in profile.processes)
    return Analysis(profile, machine, tuple(found))


def _as_run(process: Process) -> Replay:
    return read_outcome(process.outcome, process)


def _again(path: Path, process: Process, machine: MachineModel, timeline: bool) -> Replay:
    if process.trace.path is None:
        message = "other numbers, and the time line, need the run's events, which were not kept"
        hint = "run it again with 'swbuild run --profile FILE --events'"
        raise SwbuildError(Diagnostic("SW691", message, Span(str(path)), hint))
    trace = read_trace(process.trace.path)
    return replay(replace(process, trace=trace), machine, timeline)


def _check_overrides(overrides: Mapping[str, int | float]) -> None:
    hint = "give it to 'swbuild run --profile'"
    late = [
        f"'{name}' comes too late: the host's caches are simulated while the program runs"
        for name in overrides
        if name in CACHE_SHAPE
    ]
    if late:
        raise SwbuildError(Diagnostic("SW690", message, Span("--set"), hint) for message in late)
