"""What a person reads about a whole program that was checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swbuild.tables import print_rows

if TYPE_CHECKING:
    from swbuild.check.program import ProgramResult

__all__ = ["print_program"]


def print_program(result: ProgramResult) -> None:
    """Print the regions and the runs on standard output, what is wrong on standard error."""
    if result.regions:
        rows = [
            (r.name, r.source, " ".join(r.kernels) or "stays on the host", r.reason) for r in result.regions
        ]
        print_rows(("region", "source", "kernels", "why"), rows)
    for run in result.runs:
        verdict = f"{run.mode}: {run.outcome.value}"
        print(f"{verdict} ({run.seconds:.2f} s, serial {result.serial_seconds:.2f} s)")
    print(f"program: {result.outcome.value}")
    sys.stdout.flush()
    for line in _complaints(result):
        print(line, file=sys.stderr)


def _complaints(result: ProgramResult) -> Iterator[str]:
    if result.message:
        yield result.message
    for run in result.runs:
        for difference in run.differences:
            yield f"{run.mode}: {difference}"
