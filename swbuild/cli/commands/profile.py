"""``swbuild profile``: show what an emulated run has counted."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from swbuild.cli.exits import Exit
from swbuild.cli.tables import print_rows
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["configure", "run"]

_OPERATIONS = (
    *("get", "put", "rma_get", "rma_put", "broadcast", "send", "receive"),
    *("wait", "barrier", "atomic"),
)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what 'swbuild run --profile FILE' has written")
    parser.add_argument("--sites", action="store_true", help="a line for every call in the source")


def run(args: Namespace) -> int:
    profile = _read(Path(args.file))
    ldm = profile["ldm"]
    used = f"LDM {ldm['peak']} of {ldm['size']} bytes used"
    print(f"machine {profile['machine']}, {profile['spawns']} spawns, {used}")
    print_rows(
        ("kernel", "spawns", "operation", "calls", "bytes", "requests", "partial"),
        [row for kernel in profile["kernels"] for row in _kernel_rows(kernel)],
        frozenset({1, 3, 4, 5, 6}),
    )
    if args.sites:
        print()
        print_rows(
            ("place", "operation", "calls", "bytes", "requests", "partial", "misaligned"),
            [_site_row(site) for kernel in profile["kernels"] for site in kernel["sites"]],
            frozenset({2, 3, 4, 5, 6}),
        )
    return Exit.OK


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


def _kernel_rows(kernel: dict[str, Any]) -> list[tuple[str, ...]]:
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
