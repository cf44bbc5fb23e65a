"""A profile: what ``swbuild run --profile prof.json`` leaves behind, put together again.

``prof.json`` holds the runtime's exact counters, ``prof.json.trace`` the events (see ``trace``), and
``prof.json.trace.names`` says, one per line, what the events' numbers mean::

    kernel NAME                 (numbered from 0)
    site CALL FILE:LINE         (numbered from 1)
    block MIX FILE:LINE         (numbered from 0: blocks of host code, see ``host_block``)

A program of several processes leaves ``prof.json.1``, ``prof.json.2``… beside the first one's files, each
with a trace of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.host_block import HostBlock
from swbuild.emulator.model.trace import Process, Site, Trace, read_trace
from swbuild.machine import machine_names
from swbuild.machine.cost.host import Mix

__all__ = ["LineCount", "Profile", "read_profile"]


@dataclass(frozen=True, slots=True)
class LineCount:
    """What the code of one source line computed, over all CPEs: passes of its blocks and model cycles.

    ``own``: the cycles are those of the code that ran, for want of a match in the code that was costed.  Of
    assembly the cycles in which nothing issues are known, and the results that they ``waits`` for.
    """

    file: str
    line: int
    passes: int
    cycles: float
    own: bool = False
    stalls: float = 0.0
    waits: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """One profiled run; ``counters`` is the first process's JSON as the runtime wrote it."""

    machine: str
    processes: tuple[Process, ...]
    lines: tuple[LineCount, ...] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)


def read_profile(path: Path) -> Profile:
    """Return the profile at ``path``; raise :class:`SwbuildError` if it is none, or has no events."""
    first = _document(path)
    paths = [path, *_further(path)]
    documents = [first, *map(_document, paths[1:])]
    try:
        machine = _known(first["machine"])
        lines = tuple(line for document in documents for line in _lines(document))
    except (KeyError, TypeError, ValueError) as problem:
        raise _error(path, f"a part is missing or of the wrong kind ({problem!r})") from None
    processes = tuple(_process(rank, place) for rank, place in enumerate(paths))
    return Profile(machine, processes, lines, first)


def _known(machine: object) -> str:
    if machine not in machine_names():
        raise ValueError(f"there is no machine {machine!r}")
    return str(machine)


def _further(path: Path) -> list[Path]:
    """Return the files of the other processes, in order of their numbers."""
    found = []
    for other in path.parent.glob(f"{path.name}.*"):
        number = other.name[len(path.name) + 1 :]
        if number.isdecimal() and int(number) > 0:
            found.append((int(number), other))
    return [other for _, other in sorted(found)]


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as problem:
        raise _error(path, problem.strerror or str(problem)) from None
    except ValueError as problem:
        raise _error(path, f"it is not JSON ({problem})") from None
    if not isinstance(document, dict):
        raise _error(path, "it is not a profile")
    return document


def _lines(document: Mapping[str, Any]) -> list[LineCount]:
    return [
        LineCount(
            str(entry["file"]),
            int(entry["line"]),
            int(entry["passes"]),
            float(entry["cycles"]),
            bool(entry.get("own", False)),
            float(entry.get("stalls", 0.0)),
            str(entry.get("waits", "")),
        )
        for entry in document.get("lines", ())
    ]


def _process(rank: int, path: Path) -> Process:
    place = path.with_name(path.name + ".trace")
    if not place.exists():
        raise _error(path, f"the events '{place.name}' are not beside it")
    names = _names(place.with_name(place.name + ".names"))
    trace: Trace = read_trace(place)
    try:
        sites = tuple(_site(*_halves(rest)) for rest in names["site"])
        blocks = tuple(_block(*_halves(rest)) for rest in names["block"])
    except ValueError as problem:
        raise _error(path, f"a name is of the wrong kind ({problem})") from None
    return Process(rank, trace, tuple(names["kernel"]), sites, blocks)


def _names(path: Path) -> dict[str, list[str]]:
    """Return what stands behind each kind of name in a list; a missing list is an empty one."""
    found: dict[str, list[str]] = {"kernel": [], "site": [], "block": []}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        kind, _, rest = line.partition(" ")
        if kind in found:
            found[kind].append(rest)
    return found


def _halves(text: str) -> tuple[str, str]:
    first, _, second = text.partition(" ")
    return first, second


def _block(mix: str, place: str) -> HostBlock:
    file, _, line = place.rpartition(":")
    return HostBlock(file, int(line), Mix.parse(mix))


def _site(call: str, place: str) -> Site:
    file, _, line = place.rpartition(":")
    return Site(file, int(line), call) if line.isdecimal() else Site(place or "<unknown>", 0, call)


def _error(path: Path, why: str) -> SwbuildError:
    hint = "write it with 'swbuild run --profile prof.json PROGRAM'"
    return SwbuildError(Diagnostic("SW691", f"cannot read the profile: {why}", Span(str(path)), hint))
