"""Progress on standard error: a bar where a person looks, a line per result in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swbuild.bench import Measured
    from swbuild.check import RegionResult

__all__ = ["bench_progress", "generation_progress", "progress"]

_Show = Callable[[str, str], None]


@contextmanager
def progress(total: int | None, quiet: bool = False) -> Iterator[Callable[[RegionResult], None]]:
    """Yield what to call with every result; ``total`` results are expected, if that is known."""
    with _shown(total, quiet, "checking") as show:
        yield lambda result: show(f"{result.region}: {result.outcome.value}", f" ({result.seconds:.1f} s)")


@contextmanager
def bench_progress(total: int | None, quiet: bool = False) -> Iterator[Callable[[Measured], None]]:
    """Yield what to call with every measurement."""
    with _shown(total, quiet, "measuring") as show:
        yield lambda item: show(f"{item.name}: {_time(item)}", f" ({item.machine})")


@contextmanager
def generation_progress(total: int, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield what to call with the name of every source that is done.

    A build's log, which lists what is written, says nothing of it.
    """
    with _shown(total, quiet or total == 1 or not sys.stderr.isatty(), "generating") as show:
        yield lambda name: show(name, "")


def _time(item: Measured) -> str:
    return f"{item.figures.cycles:.0f} model cycles" if item.figures else "failed"


@contextmanager
def _shown(total: int | None, quiet: bool, doing: str) -> Iterator[_Show]:
    if quiet:
        yield lambda short, rest: None
    elif sys.stderr.isatty():
        with _bar(total, doing) as show:
            yield show
    else:
        yield lambda short, rest: print(short + rest, file=sys.stderr, flush=True)


@contextmanager
def _bar(total: int | None, doing: str) -> Iterator[_Show]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)

        yield lambda short, rest: bar.update(task, advance=1, description=short)
