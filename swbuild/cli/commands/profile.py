"""``swbuild profile``: show what an emulated run has counted, and its model time."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.cli.exits import Exit
from swbuild.cli.overrides import add_set_argument, overrides
from swbuild.tables import print_rows

if TYPE_CHECKING:
    from swbuild.emulator.model.report import Analysis

__all__ = ["configure", "run"]

_COUNTS = ("counts", "sites")
_MODELLED = ("summary", "compute", "transfers", "runtime")

_EPILOG = """\
reports: counts (exact, by kernel), sites (exact, by call), and in model time summary, compute, transfers,
runtime.  Without --report: counts, and summary if the run left its events beside the file.
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="FILE", help="what 'swbuild run --profile FILE' has written")
    parser.add_argument(
        "--report", action="append", choices=(*_COUNTS, *_MODELLED), help="what to show (repeatable)"
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="write the time line of the CPEs, for Perfetto or Chrome"
    )
    parser.add_argument("--json", action="store_true", help="the whole analysis as JSON")
    add_set_argument(parser)


def run(args: Namespace) -> int:
    path = Path(args.file)
    reports = args.report or ["counts", *(["summary"] if _has_events(path) else [])]
    modelled = args.trace or args.json or any(name in _MODELLED for name in reports)
    analysis = _analysis(path, args) if modelled else None
    if args.trace and analysis:
        from swbuild.emulator.model.timeline import write_timeline

        write_timeline(analysis, Path(args.trace))
    if args.json and analysis:
        from swbuild.emulator.model.report import as_json

        json.dump(as_json(analysis), sys.stdout, indent=2)
        print()
    else:
        for number, name in enumerate(reports):
            print("\n" if number else "", end="")
            _show(name, path, analysis)
    return Exit.OK


def _has_events(path: Path) -> bool:
    return path.with_name(f"{path.name}.trace").exists()


def _analysis(path: Path, args: Namespace) -> Analysis:
    from swbuild.emulator.model.report import analyse

    return analyse(path, overrides(args), timeline=bool(args.trace))


def _show(name: str, path: Path, analysis: Analysis | None) -> None:
    if name in _COUNTS or analysis is None:
        from swbuild.cli.counts import print_counts

        print_counts(path, by_site=name == "sites")
        return
    from swbuild.emulator.model.report import tables

    for table in tables(analysis, [name]):
        print(table.title)
        print_rows(table.heads, table.rows, table.right)
        for note in table.notes:
            print(f"note: {note}")
