"""``swbuild bench``: model time of regions beside a bound that no program can beat."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, assignments, project_of
from swbuild.cli.programs import add_program_arguments, program_task
from swbuild.cli.progress import bench_progress
from swbuild.cli.sizenames import unknown_sizes
from swbuild.diagnostics import SwbuildError

if TYPE_CHECKING:
    from swbuild.bench import BenchSettings, Measured

__all__ = ["configure", "run"]

_EPILOG = """\
Every region is generated, built for the emulator and run once, at the largest of its sizes, with a profile.
Times are model cycles: they depend on the program and on the machine file alone. The bound is one spawn and
join, and the larger of two times: that of all operations at peak, and that of the bytes that have to cross
the bus of the main memory. Data is made up, as by 'swbuild check', which says whether results are right.

With --program, all inputs make one program, whose own main runs from its first spawn to its last join; its
operations, and so the bound, are known if -p gives all parameters of its regions (each runs once).

exit status: 0 measured, 1 something became slower than --tolerance allows, 2 a mistake in the input, 99 the
machinery failed.

examples:
  swbuild bench sunway.yaml --json before.json
  swbuild bench sunway.yaml --against before.json      what has become slower since
  swbuild bench gemm.c -p ni=500 -p nj=500 -p nk=500 --json -
  swbuild bench --program main.c gemm.c -D N=500 -p ni=500 -p nj=500 -p nk=500
  swbuild bench gemm.c -p ni=64 -p nj=64 -p nk=64 --sensitivity
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_input_arguments(parser, "measure at this size instead of the manifest's largest (repeatable)")
    group = parser.add_argument_group("how to measure")
    group.add_argument("--json", metavar="FILE", help="write the measurements as JSON (-: not the table)")
    group.add_argument("--against", metavar="FILE", help="compare with what --json has written earlier")
    group.add_argument(
        "--tolerance",
        type=_percentage,
        default=2.0,
        metavar="P",
        help="with --against: how many percent slower is still as fast (default: 2)",
    )
    group.add_argument(
        "--sensitivity",
        action="store_true",
        help="also with each guess among the machine's numbers halved and doubled (slow)",
    )
    group.add_argument(
        "-j", "--jobs", type=int, default=0, metavar="N", help="regions at a time (default: as cores)"
    )
    group.add_argument("--timeout", type=float, default=1800.0, metavar="S", help="seconds for one run")
    group.add_argument("--keep", metavar="DIR", help="leave generated files and profiles in DIR")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress")
    add_program_arguments(parser)


def _percentage(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"'{word}' is no percentage")
    return value


def run(args: Namespace) -> int:
    from swbuild.bench import BenchSettings
    from swbuild.bench.document import read_document

    before = read_document(Path(args.against)) if args.against else ()
    settings = BenchSettings(
        args.jobs, args.timeout, Path(args.keep) if args.keep else None, args.sensitivity
    )
    found = _program(args, settings) if args.program else _regions(args, settings)
    _write(args, found)
    slower = _compare(args, before, found) if args.against else False
    sys.stdout.flush()
    problems = [problem for item in found for problem in item.diagnostics]
    if not args.program:
        known = {name for item in found for name in item.sizes}
        problems += unknown_sizes(assignments(args.param), known, {Path(item.source) for item in found})
    if problems:
        raise SwbuildError(problems)
    return Exit.MISMATCH if slower else Exit.OK


def _regions(args: Namespace, settings: BenchSettings) -> tuple[Measured, ...]:
    """Measure every region of the inputs."""
    from swbuild.bench import measure_tasks
    from swbuild.check.project import tasks_of

    tasks = tasks_of(project_of(args, params_are_sizes=True))
    with bench_progress(sum(len(task.requests or (None,)) for task in tasks), args.quiet) as tell:
        return measure_tasks(tasks, settings, tell)


def _program(args: Namespace, settings: BenchSettings) -> tuple[Measured, ...]:
    """Measure the program that all inputs make."""
    from swbuild.bench import measure_program

    task = program_task(args, params_are_sizes=True)
    with bench_progress(1, args.quiet) as tell:
        measured = measure_program(task, assignments(args.param), settings)
        tell(measured)
    return (measured,)


def _write(args: Namespace, found: Sequence[Measured]) -> None:
    """Print the tables, and write what programs are to read."""
    from swbuild.bench.document import document
    from swbuild.cli.benchtables import print_influences, print_measurements
    from swbuild.files import write_text

    if args.json:
        text = json.dumps(document(found), indent=1) + "\n"
        sys.stdout.write(text) if args.json == "-" else write_text(Path(args.json), text)
    if args.json != "-":
        print_measurements(found)
        for item in found:
            print_influences(item)


def _compare(args: Namespace, before: Sequence[Measured], found: Sequence[Measured]) -> bool:
    """Print what has changed; return whether anything is slower than it may be."""
    from swbuild.bench.document import changes
    from swbuild.cli.benchtables import print_changes

    stream = sys.stderr if args.json == "-" else sys.stdout
    return print_changes(changes(before, found), args.tolerance, args.against, stream)
