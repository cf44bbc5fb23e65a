"""The table that a check ends with: by rich where a person looks, plain text otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from swbuild.check.results import Coverage, Outcome, RegionResult
from swbuild.tables import print_rows

__all__ = ["print_table", "row"]

_HEADS = (
    "region",
    "kernels",
    "threads",
    "sizes",
    "verdict",
    "reached",
    "CPEs",
    "DMA ops",
    "DMA bytes",
    "direct",
    "LDM",
    "seconds",
)
_RIGHT = frozenset({1, 5, 6, 7, 8, 9, 10, 11})
_COLOURS = {
    outcome.value: {Outcome.PASS: "green", Outcome.SKIP: "yellow", Outcome.EXPECTED: "yellow"}.get(
        outcome, "bold red"
    )
    for outcome in Outcome
}


def print_table(results: Sequence[RegionResult], stream: TextIO) -> None:
    """Print one line per region to ``stream``."""
    print_rows(_HEADS, [row(result) for result in results], _RIGHT, stream, _COLOURS)


def row(result: RegionResult) -> tuple[str, ...]:
    """Return the cells for a region."""
    counts = result.counts
    return (
        result.region,
        str(len(result.kernels)),
        "x".join(map(str, result.threads)),
        _sizes(result),
        result.outcome.value,
        _reached(result.coverage),
        _cpes(result.coverage),
        _number(counts.dma_operations),
        _bytes(counts.dma_bytes),
        _number(counts.direct_accesses),
        _bytes(counts.ldm_bytes),
        f"{result.seconds:.1f}",
    )


def _sizes(result: RegionResult) -> str:
    """Return how many sizes ran, and the largest of them."""
    ran = list(dict.fromkeys(case.sizes for case in result.cases if case.outcome is not Outcome.SKIP))
    if not ran:
        return "-"
    largest = max(ran, key=lambda sizes: sum(value for _, value in sizes))
    shown = " ".join(f"{name}={value}" for name, value in largest)
    return f"{len(ran)}: {shown}" if len(ran) > 1 else shown or "-"


def _reached(coverage: Coverage | None) -> str:
    """Return how many of the goals were reached, of how many."""
    return "-" if coverage is None else "{}/{}".format(*coverage.total)


def _cpes(coverage: Coverage | None) -> str:
    """Return how many CPEs had work in the kernel that kept the fewest busy, at its best sizes."""
    cpes = None if coverage is None else coverage.cpes
    return "-" if cpes is None else f"{cpes:.3g}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value}"


def _bytes(value: int | None) -> str:
    if value is None:
        return "-"
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{value} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("unreachable")
