"""``swbuild doctor``: what is installed, and which targets can be used."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from swbuild.cli.exits import Exit
from swbuild.tables import print_rows

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: Namespace) -> int:
    from swbuild.cli.installation import packages, programs, targets

    sections = {"packages": packages(), "programs": programs(), "targets": targets()}
    if args.json:
        print(
            json.dumps(
                {name: [item.as_json() for item in items] for name, items in sections.items()}, indent=2
            )
        )
    else:
        for name, items in sections.items():
            print_rows((name, "", "", ""), [item.as_row() for item in items])
            print()
    missing = [item for items in sections.values() for item in items if item.needed and not item.there]
    return Exit.INFRASTRUCTURE if missing else Exit.OK
