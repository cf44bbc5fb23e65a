"""A profile: what ``swbuild run --profile prof.json`` leaves behind, put together again.

``prof.json`` holds the runtime's exact counters, ``prof.json.model`` the model time that was found while the
program ran: the lines of ``outcome``, and ::

    model 1 FLAGS EVENTS            FLAGS: those of a trace's header; EVENTS: whether there is a trace
    numbers NAME=VALUE,...          that stood in for those of the machine file
    named kernel NAME               (numbered from 0)
    named site CALL FILE:LINE       (numbered from 1)
    named block MIX FILE:LINE       (numbered from 0: blocks of host code)

``prof.json.trace``, if it was asked for, holds the events (see ``trace``).  A program of several processes
leaves ``prof.json.1``, ``prof.json.2``… beside the first one's files, each with a model time of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.host_block import HostBlock
from swbuild.emulator.model.trace import COUNTED, HOST_COUNTED, Process, Site, Trace
from swbuild.machine import machine_names
from swbuild.machine.cost.host import Mix

__all__ = ["LineCount", "Model", "Profile", "read_model", "read_profile"]

_NAMED = "named "


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
    """One profiled run; ``counters`` is the first process's JSON as the runtime wrote it.

    ``numbers``: what stood in for numbers of the machine file.
    """

    machine: str
    processes: tuple[Process, ...]
    lines: tuple[LineCount, ...] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, int | float] = field(default_factory=dict)


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
    models = [read_model(place) for place in paths]
    processes = tuple(
        _process(path, rank, model) for rank, (path, model) in enumerate(zip(paths, models, strict=True))
    )
    return Profile(machine, processes, lines, first, models[0].numbers)


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


@dataclass(frozen=True, slots=True)
class Model:
    """The file ``prof.json.model``: what is in it, the lines of the outcome, and names by their kinds."""

    trace: Trace
    numbers: Mapping[str, int | float]
    outcome: tuple[str, ...]
    names: Mapping[str, Sequence[str]]


def read_model(path: Path) -> Model:
    """Return the model time beside the counters at ``path``; raise :class:`SwbuildError` if there is none."""
    place = path.with_name(f"{path.name}.model")
    if not place.exists():
        raise _error(path, f"the model time '{place.name}' is not beside it")
    head, numbers, *lines = [*place.read_text(encoding="utf-8", errors="replace").splitlines(), "", ""]
    try:
        word, version, flags, events = head.split()
        if (word, version) != ("model", "1"):
            raise ValueError(head)
        trace = Trace((), bool(int(flags) & COUNTED), False, bool(int(flags) & HOST_COUNTED))
        given = dict(_assigned(each) for each in numbers.removeprefix("numbers").strip().split(",") if each)
    except ValueError:
        raise _error(path, f"'{place.name}' does not start like a model time") from None
    if int(events):
        trace = replace(trace, path=path.with_name(f"{path.name}.trace"))
    return Model(trace, given, tuple(line for line in lines if line), _names(lines))


def _assigned(text: str) -> tuple[str, int | float]:
    name, _, number = text.partition("=")
    value = float(number)
    return name, int(value) if value.is_integer() else value


def _process(path: Path, rank: int, model: Model) -> Process:
    try:
        sites = tuple(_site(*_halves(rest)) for rest in model.names["site"])
        blocks = tuple(_block(*_halves(rest)) for rest in model.names["block"])
    except ValueError as problem:
        raise _error(path, f"a name is of the wrong kind ({problem})") from None
    return Process(rank, model.trace, tuple(model.names["kernel"]), sites, blocks, model.outcome)


def _names(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return what stands behind each kind of name."""
    found: dict[str, list[str]] = {"kernel": [], "site": [], "block": []}
    for line in lines:
        if line.startswith(_NAMED):
            kind, rest = _halves(line.removeprefix(_NAMED))
            found.get(kind, []).append(rest)
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
