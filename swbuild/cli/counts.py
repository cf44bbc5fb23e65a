"""The exact counts of an emulated run as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.tables import print_rows

__all__ = ["print_counts"]

_OPERATIONS = (
    *("get", "put", "rma_get", "rma_put", "broadcast", "send", "receive"),
    *("wait", "barrier", "atomic", "load", "store"),
)


def print_counts(path: Path, *, by_site: bool) -> None:
    """Print the counts in the file ``path`` by kernel, or by the call in the source."""
    counts = _read(path)
    if by_site:
        rows = [_site_row(site) for kernel in counts["kernels"] for site in kernel["sites"]]
        heads = ("place", "operation", "calls", "bytes", "requests", "partial", "misaligned")
        print_rows(heads, rows, frozenset({2, 3, 4, 5, 6}))
        return
    ldm = counts["ldm"]
    used = f"LDM {ldm['peak']} of {ldm['size']} bytes used"
    print(f"machine {counts['machine']}, {counts['spawns']} spawns, {used}")
    heads = ("kernel", "spawns", "operation", "calls", "bytes", "requests", "partial")
    print_rows(
        heads, [row for kernel in counts["kernels"] for row in _rows(kernel)], frozenset({1, 3, 4, 5, 6})
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {key: found[key] for key in ("machine", "spawns", "ldm", "kernels")}
    except OSError as error:
        message = f"cannot read the profile: {error.strerror}"
    except (ValueError, KeyError, TypeError):
        message = "this is not a profile"
    raise SwbuildError(
        Diagnostic("SW115", message, Span(str(path)), "'swbuild run --profile FILE' writes one")
    )


def _rows(kernel: dict[str, Any]) -> list[tuple[str, ...]]:
    name, spawns = kernel["kernel"], str(kernel["spawns"])
    rows = []
    for operation in _OPERATIONS:
        counts = kernel.get(operation, {})
        if counts.get("calls"):
            numbers = (str(counts[key]) for key in ("calls", "bytes", "requests", "partial"))
            rows.append((name, spawns, operation, *numbers))
            name = spawns = ""
    return rows or [(name, spawns, "-", "0", "0", "0", "0")]


def _site_row(site: dict[str, Any]) -> tuple[str, ...]:
    numbers = (str(site[key]) for key in ("calls", "bytes", "requests", "partial", "misaligned"))
    return site["place"], site["operation"], *numbers
