"""``swbuild schema``: the manifest's JSON Schema and reference page."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from swbuild.cli.exits import Exit
from swbuild.files import write_text

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--reference", action="store_true", help="print the manifest's reference page instead"
    )
    choice.add_argument(
        "--update", action="store_true", help="rewrite all generated pages in a checkout of swbuild"
    )


def run(args: Namespace) -> int:
    from swbuild.buildsys.cmakefiles import MACHINES_FILE, machines_text
    from swbuild.cli.catalogue import page_text
    from swbuild.cli.reference import reference_text as command_line
    from swbuild.manifest.reference import reference_text
    from swbuild.manifest.schema import SCHEMA_FILE, schema_text

    if args.update:
        write_text(SCHEMA_FILE, schema_text())
        docs = Path(__file__).parents[3] / "docs"
        write_text(docs / "manifest.md", reference_text())
        write_text(docs / "cli.md", command_line())
        write_text(docs / "diagnostics.md", page_text())
        write_text(MACHINES_FILE, machines_text())
        return Exit.OK
    sys.stdout.write(reference_text() if args.reference else schema_text())
    return Exit.OK
