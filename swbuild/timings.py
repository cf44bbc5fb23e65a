"""How long each stage and its steps take, and how often they begin other processes."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from swbuild.classes import dataclass

__all__ = ["Timings", "count", "step"]


@dataclass(slots=True)
class _Stage:
    seconds: float = 0.0
    processor: float = 0.0
    times: int = 0


class Timings:
    """Seconds by stage, steps below the stages that they belong to, in the order of their first use.

    Processor time includes that of processes that have ended, such as compilers.
    """

    def __init__(self) -> None:
        self.stages: dict[tuple[str, ...], _Stage] = {}
        self.counts: Counter[str] = Counter()
        self._path: tuple[str, ...] = ()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the body to the stage ``name``; :func:`step` and :func:`count` tell of theirs."""
        before = _CURRENT.set(self)
        outer, self._path = self._path, (*self._path, name)
        stage = self.stages.setdefault(self._path, _Stage())
        start, processor = time.perf_counter(), _processor()
        try:
            yield
        finally:
            stage.seconds += time.perf_counter() - start
            stage.processor += _processor() - processor
            stage.times += 1
            self._path = outer
            _CURRENT.reset(before)

    def lines(self) -> Iterator[str]:
        """Yield a table of the stages, and the counts."""
        named = {path: "  " * (len(path) - 1) + path[-1] for path in self.stages}
        width = max(map(len, (*named.values(), *self.counts, "total")))
        yield f"{'':<{width}} {'elapsed':>12} {'processor':>12}"
        for path, text in named.items():
            stage = self.stages[path]
            times = f"  {stage.times} times" if stage.times > 1 else ""
            yield f"{text:<{width}} {_row(stage.seconds, stage.processor)}{times}"
        whole = [stage for path, stage in self.stages.items() if len(path) == 1]
        total = _row(sum(s.seconds for s in whole), sum(s.processor for s in whole))
        yield f"{'total':<{width}} {total}"
        for name, number in sorted(self.counts.items()):
            yield f"{name:<{width}} {number:9}"


_CURRENT: ContextVar[Timings | None] = ContextVar("timings", default=None)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Add the time of the body to the step ``name`` of the stage that runs, if one is timed."""
    timings = _CURRENT.get()
    if timings is None:
        yield
    else:
        with timings.stage(name):
            yield


def count(what: str) -> None:
    """Count one of ``what`` for the stage that runs, if one is timed."""
    timings = _CURRENT.get()
    if timings is not None:
        timings.counts[what] += 1


def _processor() -> float:
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _row(seconds: float, processor: float) -> str:
    return f"{1000 * seconds:9.1f} ms {1000 * processor:9.1f} ms"
