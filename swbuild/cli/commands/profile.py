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
    from swbuild.emulator.model.report import Analysis, Table

__all__ = ["configure", "run"]

_COUNTS = ("counts", "sites")
_MODELLED = ("summary", "compute", "transfers", "runtime", "program", "host")

_EPILOG = """\
reports: counts (exact, by kernel), sites (exact, by call), and in model time summary, compute, transfers,
runtime, program (the whole program: host and kernels), host (the host's lines).  Without --report: counts,
and if the run was one with --profile summary and, where host code was counted, program.

example:
  swbuild profile app.json --against serial.json        the speed-up over a run of the serial program
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="FILE", help="what 'swbuild run --profile FILE' has written")
    parser.add_argument(
        "--report", action="append", choices=(*_COUNTS, *_MODELLED), help="what to show (repeatable)"
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write the time line of the CPEs, for Perfetto or Chrome (of a run with --events)",
    )
    parser.add_argument(
        "--against", metavar="FILE", help="show the speed-up in model time over that profile's run"
    )
    parser.add_argument("--json", action="store_true", help="the whole analysis as JSON")
    add_set_argument(parser, " (of a run with --events)")


def run(args: Namespace) -> int:
    path = Path(args.file)
    reports = args.report or _usual_reports(path)
    modelled = args.trace or args.json or args.against or any(name in _MODELLED for name in reports)
    analysis = _analysis(path, args) if modelled else None
    if args.trace and analysis:
        from swbuild.emulator.model.timeline import write_timeline

        write_timeline(analysis, Path(args.trace))
    if args.json and analysis:
        from swbuild.emulator.model.report import as_json

        json.dump(as_json(analysis), sys.stdout, indent=2)
        print()
        return Exit.OK
    if args.against and analysis:
        from swbuild.emulator.model.host_report import speedup_table

        _print(speedup_table(analysis, _analysis(Path(args.against), args), args.against))
        reports = args.report or []
    for number, name in enumerate(reports):
        print("\n" if number or args.against else "", end="")
        _show(name, path, analysis)
    return Exit.OK


def _usual_reports(path: Path) -> list[str]:
    if not path.with_name(f"{path.name}.model").exists():
        return ["counts"]
    from swbuild.emulator.model.profile import read_model

    return ["counts", "summary", *(["program"] if read_model(path).trace.host_counted else [])]


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
        _print(table)


def _print(table: Table) -> None:
    print(table.title)
    print_rows(table.heads, table.rows, table.right)
    for note in table.notes:
        print(f"note: {note}")
