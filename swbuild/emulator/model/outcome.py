"""The lines that the replay (``emulator/replay``) writes, as a :class:`Replay`.

A line is a word that says what it is of, and numbers::

    kernel ORDINAL NAME BEGIN END SPAN CPES SPENT...      SPENT: averages, in the order of Category
    cpe ORDINAL CPE BEGIN END SPENT...                    only with details, as are slice and mark
    site NUMBER OPERATIONS BYTES REQUESTS PARTIAL WAITED AWAITED COMPUTED
    block NUMBER PASSES CYCLES STALLED
    host BEFORE BETWEEN AFTER
    slice CPE CATEGORY BEGIN END SITE
    mark CPE TIME SITE
    stuck CPE SITE WHAT
    nameless BLOCK
    end CYCLES CONTROLLER
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.result import (
    BlockTime,
    Category,
    CpeTime,
    HostTime,
    KernelTime,
    Replay,
    SiteTime,
    Slice,
)
from swbuild.emulator.model.trace import HOST, Process

__all__ = ["read_outcome"]

_CATEGORIES = tuple(Category)


@dataclass(slots=True)
class _Lines:
    """What was read so far."""

    process: Process
    result: Replay = field(default_factory=Replay)
    cpes: dict[int, list[CpeTime]] = field(default_factory=dict)
    stuck: list[tuple[int, int, str]] = field(default_factory=list)

    def kernel(self, words: Sequence[str]) -> None:
        ordinal, name, cpes = int(words[0]), int(words[1]), int(words[5])
        begin, end, span = map(float, words[2:5])
        spent = dict(zip(_CATEGORIES, map(float, words[6:]), strict=True)) if cpes else {}
        title = self.process.kernel(name) if name != _UNNAMED else f"kernel {ordinal}"
        self.result.kernels.append(KernelTime(ordinal, title, begin, end, span, cpes, spent))

    def cpe(self, words: Sequence[str]) -> None:
        ordinal, cpe = map(int, words[:2])
        begin, end, *spent = map(float, words[2:])
        times = {category: time for category, time in zip(_CATEGORIES, spent, strict=True) if time}
        self.cpes.setdefault(ordinal, []).append(CpeTime(cpe, begin, end, times))

    def site(self, words: Sequence[str]) -> None:
        self.result.sites[int(words[0])] = SiteTime(*map(int, words[1:5]), *map(float, words[5:8]))

    def block(self, words: Sequence[str]) -> None:
        number, passes = map(int, words[:2])
        self.result.host.blocks[number] = BlockTime(passes, *map(float, words[2:4]))

    def host(self, words: Sequence[str]) -> None:
        before, between, after = map(float, words)
        self.result.host = HostTime(before, between, after, self.result.host.blocks)

    def slice(self, words: Sequence[str]) -> None:
        cpe, category, site = int(words[0]), _CATEGORIES[int(words[1])], int(words[4])
        self.result.slices.append(Slice(cpe, category, float(words[2]), float(words[3]), site))

    def mark(self, words: Sequence[str]) -> None:
        self.result.marks.append((int(words[0]), float(words[1]), int(words[2])))

    def wait(self, words: Sequence[str]) -> None:
        self.stuck.append((int(words[0]), int(words[1]), " ".join(words[2:])))

    def nameless(self, words: Sequence[str]) -> None:
        raise _hangs(f"the trace speaks of block {words[0]} of the host's code, which has no name")

    def bad(self, words: Sequence[str]) -> None:
        message = f"cannot read the trace: it has a record of unknown kind {words[0]}"
        raise SwbuildError(Diagnostic("SW691", message, Span(str(self.process.trace.path))))

    def end(self, words: Sequence[str]) -> None:
        self.result.cycles, self.result.controller_busy = map(float, words)


_UNNAMED = 0xFFFFFFFF
_READERS: dict[str, Callable[[_Lines, Sequence[str]], None]] = {
    "kernel": _Lines.kernel,
    "cpe": _Lines.cpe,
    "site": _Lines.site,
    "block": _Lines.block,
    "host": _Lines.host,
    "slice": _Lines.slice,
    "mark": _Lines.mark,
    "stuck": _Lines.wait,
    "nameless": _Lines.nameless,
    "bad": _Lines.bad,
    "end": _Lines.end,
}


def read_outcome(lines: Iterable[str], process: Process) -> Replay:
    """Return the model time of ``process`` that the replay has written.

    Raise :class:`SwbuildError` if some CPE waits for what never comes (a trace cut short).
    """
    found = _Lines(process)
    for line in lines:
        kind, *words = line.split()
        if kind in _READERS:
            _READERS[kind](found, words)
    _check_finished(process, found.stuck)
    found.result.kernels.sort(key=lambda kernel: kernel.ordinal)
    for kernel in found.result.kernels:
        kernel.cpes = found.cpes.get(kernel.ordinal, [])
    return found.result


def _check_finished(process: Process, stuck: Sequence[tuple[int, int, str]]) -> None:
    if not stuck:
        return
    why = "the trace was cut short" if process.trace.dropped else "the program ended while they waited"
    place = process.site(stuck[0][1])
    names = ", ".join("the host" if cpe == HOST else f"CPE {cpe}" for cpe, _, _ in stuck[:8])
    more = f" and {len(stuck) - 8} more" if len(stuck) > 8 else ""
    message = f"the replay cannot go on: {names}{more} wait ({stuck[0][2]}) for what never comes; {why}"
    raise _hangs(message, Span(place.file, place.line) if place.line else Span("<trace>"))


def _hangs(message: str, span: Span | None = None) -> SwbuildError:
    return SwbuildError(Diagnostic("SW692", message, span or Span("<trace>")))
