"""Progress on standard error: a bar where a person looks, a line per result in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swbuild.check import RegionResult

__all__ = ["progress"]

Tell = Callable[["RegionResult"], None]


@contextmanager
def progress(total: int | None, quiet: bool = False) -> Iterator[Tell]:
    """Yield what to call with every result; ``total`` results are expected, if that is known."""
    if quiet:
        yield lambda result: None
    elif sys.stderr.isatty():
        with _bar(total) as tell:
            yield tell
    else:
        yield _line


def _line(result: RegionResult) -> None:
    print(f"{result.region}: {result.outcome.value} ({result.seconds:.1f} s)", file=sys.stderr, flush=True)


@contextmanager
def _bar(total: int | None) -> Iterator[Tell]:
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
        task = bar.add_task("checking", total=total)

        def tell(result: RegionResult) -> None:
            bar.update(task, advance=1, description=f"{result.region}: {result.outcome.value}")

        yield tell
