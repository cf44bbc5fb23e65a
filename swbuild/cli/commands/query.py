"""``swbuild query``: what a build system needs to know of a manifest."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from swbuild.buildsys.contract import (
    SOURCE_FIELDS,
    TEST_FIELDS,
    answer,
    cpp_arguments,
    source_lines,
    test_lines,
)
from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, project_of

__all__ = ["configure", "run"]

_LINES = {"lines": source_lines, "tests": test_lines, "cpp-args": cpp_arguments}


def configure(parser: ArgumentParser) -> None:
    add_input_arguments(parser, "fix this parameter in the generated code (repeatable)")
    parser.add_argument(
        "--format",
        choices=("json", *_LINES),
        default="json",
        help=f"json; lines: a line per source with {', '.join(SOURCE_FIELDS)} between tabs; "
        f"tests: a line per test with {', '.join(TEST_FIELDS)}; "
        "cpp-args: a line per argument of the preprocessor",
    )


def run(args: Namespace) -> int:
    found = answer(project_of(args))
    if args.format == "json":
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for line in _LINES[args.format](found):
            print(line)
    return Exit.OK
