"""``swbuild init``: a commented manifest for the regions found in C files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_cpp_arguments
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, render

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="C files with '#pragma scop' regions")
    parser.add_argument("--machine", choices=("sw26010", "sw26010-pro"), default="sw26010", help="the chip")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the manifest here, unless it exists")
    add_cpp_arguments(parser)


def run(args: Namespace) -> int:
    from swbuild.frontend import CppOptions, read_source
    from swbuild.manifest.writer import manifest_text

    target = Path(args.output) if args.output else None
    if target is not None and target.exists():
        raise SwbuildError(
            Diagnostic("SW113", "there is a file of this name", Span(args.output), "choose another")
        )
    cpp = CppOptions(tuple(args.include_dirs), tuple(args.defines))
    models = [read_source(Path(name), cpp, None) for name in args.inputs]
    text = manifest_text(models, cpp, args.machine, target.parent if target else Path())
    for model in models:
        for region in model.refused:
            print(render(region.diagnostics), file=sys.stderr)
    if target is None:
        sys.stdout.write(text)
        return Exit.OK
    from swbuild.pipeline.writing import write_text

    write_text(target, text)
    return Exit.OK
