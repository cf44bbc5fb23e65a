"""``swbuild check``: every kernel against its serial reference, or a whole program against itself."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, assignments, project_of
from swbuild.cli.programs import add_program_arguments, program_task
from swbuild.cli.progress import progress
from swbuild.cli.sizenames import unknown_sizes
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

if TYPE_CHECKING:
    from swbuild.check import CheckSettings, RegionResult
    from swbuild.manifest import Project

__all__ = ["configure", "run"]

#: How long a run of a program may take where nothing says it.
_PROGRAM_SECONDS = 120.0

_EPILOG = """\
exit status: 0 all pass, 1 a mismatch, a crash or a timeout, 2 a mistake in the input, 77 nothing could be
checked, 99 the machinery failed.

examples:
  swbuild check sunway.yaml                       every kernel of the manifest at its sizes
  swbuild check sunway.yaml -k gemm --dma random:7
  swbuild check gemm.c -p ni=64 -p nj=50 -p nk=70  every region of a C file at one size
  swbuild check --program -I inc main.c solver.c   the whole program, serial against offloaded
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_input_arguments(
        parser, "check at this size instead of the manifest's; completed if partial (repeatable)"
    )
    group = parser.add_argument_group("how to check")
    group.add_argument("--seed", type=_seed, metavar="N", help="seed of the input data")
    group.add_argument(
        "--dma",
        action="append",
        type=_mode,
        metavar="MODE",
        help="when transfers complete: eager, late or random:SEED; or checked: late, every access watched "
        "(repeatable; default: late and eager)",
    )
    group.add_argument("--target", choices=("emulator", "node"), default="emulator", help="where kernels run")
    group.add_argument(
        "--launcher", default="local", metavar="L", help="local, bsub, swrun, slurm or a template"
    )
    group.add_argument("--allow-refused", action="store_true", help="skip regions that cannot be modelled")
    group.add_argument(
        "--timeout",
        dest="run_timeout",
        type=_seconds,
        metavar="S",
        help="seconds for one run (default: as the manifest says)",
    )
    group.add_argument(
        "-j", "--jobs", type=int, default=0, metavar="N", help="sources at a time (default: as cores)"
    )
    group.add_argument("--keep", metavar="DIR", help="leave generated files and data in DIR")
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="no progress, no line per region: the table and notes",
    )
    group.add_argument("--json", metavar="FILE", help="write the results as JSON (-: instead of the table)")
    group.add_argument("--junit", metavar="FILE", help="write the results as JUnit's XML, for CI")
    add_program_arguments(parser)


def _seed(word: str) -> int:
    if not word.isdecimal():
        raise ArgumentTypeError(f"'{word}' is no seed: write an integer that is not negative")
    return int(word)


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < inf:
        raise ArgumentTypeError(f"'{word}' is no number of seconds above 0")
    return seconds


def _mode(word: str) -> str:
    if not re.fullmatch(r"eager|late|checked|random:[0-9]+", word):
        raise ArgumentTypeError(f"'{word}' is none of eager, late, random:SEED and checked")
    return word


def run(args: Namespace) -> int:
    return _run_program(args) if args.program else _run_kernels(args)


def _run_kernels(args: Namespace) -> int:
    from swbuild.check import check_sources, exit_status
    from swbuild.check.project import tasks_of

    project = project_of(args, params_are_sizes=True)
    with progress(_count(project), args.quiet) as tell:
        results = check_sources(tasks_of(project), _settings(args), tell)
    _write(args, results)
    if args.json != "-":
        _print(results, args.quiet)
    status = exit_status(results)
    known = {name for result in results for case in result.cases for name, _ in case.sizes}
    unknown = unknown_sizes(assignments(args.param), known, [source.path for source in project.sources])
    if unknown and status in (Exit.OK, Exit.SKIPPED):
        raise SwbuildError(unknown)
    return status


def _print(results: Sequence[RegionResult], quiet: bool) -> None:
    from swbuild.check import coverage_line, explain, print_table, remarks

    print_table(results, sys.stdout)
    for line in () if quiet else filter(None, map(coverage_line, results)):
        print(line)
    for result in results:
        sys.stdout.writelines(f"{note}\n" for note in remarks(result))
    sys.stdout.flush()
    for text in filter(None, map(explain, results)):
        print(text, file=sys.stderr)


def _write(args: Namespace, results: Sequence[RegionResult]) -> None:
    """Write what programs are to read."""
    from swbuild.check.document import document
    from swbuild.check.junit import junit_text
    from swbuild.files import write_text

    if args.json:
        text = json.dumps(document(results), indent=2) + "\n"
        sys.stdout.write(text) if args.json == "-" else write_text(Path(args.json), text)
    if args.junit:
        write_text(Path(args.junit), junit_text(results))


def _count(project: Project) -> int:
    """Return how many regions there are: as the manifest says, or as many as the files show."""
    found = [source.kernels for source in project.sources]
    return sum(
        _shown(source.path) if kernels is None else len(kernels)
        for source, kernels in zip(project.sources, found, strict=True)
    )


def _shown(path: Path) -> int:
    """Return how many regions a file marks, to judge by its text."""
    try:
        return len(re.findall(rb"^[ \t]*#[ \t]*pragma[ \t]+scop\b", path.read_bytes(), re.MULTILINE))
    except OSError:
        return 0


def _settings(args: Namespace) -> CheckSettings:
    from swbuild.check import CheckSettings
    from swbuild.check.tasks import DEFAULT_MODES
    from swbuild.toolchain import Target

    return CheckSettings(
        target=Target(args.target),
        launcher=args.launcher,
        modes=tuple(args.dma or DEFAULT_MODES),
        timeout=args.run_timeout or _PROGRAM_SECONDS,
        jobs=args.jobs,
        keep=Path(args.keep) if args.keep else None,
        refused_is_error=not args.allow_refused,
    )


def _run_program(args: Namespace) -> int:
    from swbuild.check.program import check_program
    from swbuild.cli.program import print_program

    if args.json or args.junit:
        raise SwbuildError(Diagnostic("SW100", "--program has no results for --json and --junit", Span("")))
    result = check_program(program_task(args), _settings(args))
    print_program(result)
    return result.outcome.exit_status
