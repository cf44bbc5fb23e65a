"""``swbuild query``: what a build system needs to know of a manifest.

This is a contract: fields are only ever added, and ``version`` rises when one changes its meaning.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, project_of

if TYPE_CHECKING:
    from swbuild.manifest import Project, ProjectSource

__all__ = ["configure", "run"]

_LINE_FIELDS = ("name", "source", "host", "slave", "header", "report")


def configure(parser: ArgumentParser) -> None:
    add_input_arguments(parser, "fix this parameter in the generated code (repeatable)")
    parser.add_argument(
        "--format",
        choices=("json", "lines"),
        default="json",
        help=f"json, or a line per source with {', '.join(_LINE_FIELDS)} between tabs",
    )


def run(args: Namespace) -> int:
    answer = _answer(project_of(args))
    if args.format == "json":
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        for source in answer["sources"]:
            print("\t".join(source[field] for field in _LINE_FIELDS))
    return Exit.OK


def _answer(project: Project) -> dict[str, Any]:
    return {
        "version": 1,
        "manifest": str(project.path) if project.path else None,
        "machine": project.machine.value,
        "sources": [_source(source) for source in project.sources],
    }


def _source(source: ProjectSource) -> dict[str, Any]:
    from swbuild.pipeline import output_names

    names = output_names(source.path)
    kernels = source.kernels
    return {
        "name": source.path.stem,
        "source": str(source.path),
        "host": names.host,
        "slave": names.slave,
        "header": names.header,
        "report": names.report,
        "include-dirs": list(source.cpp.includes),
        "defines": list(source.cpp.defines),
        "regions": None if kernels is None else [{"name": k.name, "line": k.span.line} for k in kernels],
    }
