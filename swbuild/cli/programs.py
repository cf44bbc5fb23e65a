"""Whole programs on the command line: what they are built of, and how they are called."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.cli.inputs import is_manifest, project_of
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

if TYPE_CHECKING:
    from swbuild.check.program import ProgramTask

__all__ = ["add_program_arguments", "program_task"]


def add_program_arguments(parser: ArgumentParser) -> None:
    """Add ``--program`` and what goes with it."""
    group = parser.add_argument_group("whole programs")
    group.add_argument(
        "--program", action="store_true", help="compile all inputs to one program and run its main"
    )
    group.add_argument(
        "--arg", action="append", default=[], metavar="ARG", help="an argument for the program"
    )
    group.add_argument(
        "--input", action="append", default=[], metavar="FILE", help="a file that the program reads"
    )
    group.add_argument(
        "--link", action="append", default=[], metavar="ARG", help="an argument for the linker"
    )


def program_task(args: Namespace, *, params_are_sizes: bool = False) -> ProgramTask:
    """Return the program that the command line asks for; with ``params_are_sizes``, ``-p`` fixes nothing."""
    from swbuild.check.program import ProgramTask

    for name in filter(is_manifest, args.inputs):
        raise SwbuildError(Diagnostic("SW100", "--program takes C files, not a manifest", Span(name)))
    project = project_of(args, params_are_sizes=params_are_sizes)
    first = project.sources[0]
    return ProgramTask(
        sources=tuple(source.path for source in project.sources),
        cpp=first.cpp,
        every=first.every.request,
        default_options=first.every.options,
        arguments=tuple(args.arg),
        inputs=tuple(map(Path, args.input)),
        link_arguments=tuple(args.link),
    )
