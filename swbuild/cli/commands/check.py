"""``swbuild check``: every kernel against its serial reference."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.cli.inputs import add_input_arguments, project_of

if TYPE_CHECKING:
    from swbuild.check import CheckSettings, RegionResult

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    add_input_arguments(parser, "check at this size, instead of the manifest's sizes (repeatable)")
    group = parser.add_argument_group("how to check")
    group.add_argument(
        "--program", action="store_true", help="compile and compare whole programs, with their main"
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of the input data")
    group.add_argument(
        "--dma",
        action="append",
        metavar="MODE",
        help="when transfers complete: eager, late or random:SEED (repeatable; default: late and eager)",
    )
    group.add_argument("--allow-refused", action="store_true", help="skip regions that cannot be modelled")
    group.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for one run")
    group.add_argument(
        "-j", "--jobs", type=int, default=0, metavar="N", help="sources at a time (default: one per core)"
    )
    group.add_argument("--keep", metavar="DIR", help="leave generated files and data in DIR")


def run(args: Namespace) -> int:
    from swbuild.check import check_sources, exit_status, explain, print_table
    from swbuild.check.project import tasks_of

    project = project_of(args, params_are_sizes=True)
    results = check_sources(tasks_of(project), _settings(args), _progress)
    print_table(results, sys.stdout)
    for result in results:
        text = explain(result)
        if text:
            print(text, file=sys.stderr)
    return exit_status(results)


def _settings(args: Namespace) -> CheckSettings:
    from swbuild.check import CheckSettings
    from swbuild.check.tasks import DEFAULT_MODES

    return CheckSettings(
        modes=tuple(args.dma or DEFAULT_MODES),
        timeout=args.timeout,
        jobs=args.jobs,
        keep=Path(args.keep) if args.keep else None,
        refused_is_error=not args.allow_refused,
    )


def _progress(result: RegionResult) -> None:
    print(f"{result.region}: {result.outcome.value} ({result.seconds:.1f} s)", file=sys.stderr, flush=True)
