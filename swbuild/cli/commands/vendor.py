"""``swbuild vendor``: copy the CMake or Meson helpers into a source tree."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from swbuild.cli.exits import Exit

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=("cmake", "meson"), help="for which build system")
    parser.add_argument(
        "directory", metavar="DIR", help="the files go to DIR/swbuild; for Meson, give subprojects"
    )


def run(args: Namespace) -> int:
    from swbuild.buildsys.vendor import advice, vendor

    target = vendor(args.kind, Path(args.directory))
    print(f"{target} is up to date; now write, in your build file:\n\n{advice(args.kind, target)}")
    return Exit.OK
