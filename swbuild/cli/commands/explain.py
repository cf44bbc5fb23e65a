"""``swbuild explain``: how each region is mapped, what is moved, and why; or what a code means."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from typing import Any

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, project_of

__all__ = ["configure", "run"]

_CODE = re.compile(r"SW[0-9]{3}", re.IGNORECASE)


def configure(parser: ArgumentParser) -> None:
    parser.epilog = "'swbuild explain SW106' explains a diagnostic."
    add_input_arguments(parser, "fix this parameter in the generated code (repeatable)")
    parser.add_argument("--json", action="store_true", help="the reports as JSON")


def run(args: Namespace) -> int:
    if all(_CODE.fullmatch(name) for name in args.inputs):
        return _explain_codes(args.inputs)
    from swbuild.pipeline import Timings, generate_project
    from swbuild.pipeline.outputs import report_of

    units = generate_project(project_of(args), Timings(), allow_refused=True)
    reports = [report_of(unit) for unit in units]
    if args.json:
        json.dump(reports, sys.stdout, indent=2, ensure_ascii=False, default=str)
        print()
    else:
        print("\n\n".join("\n".join(_lines(report)) for report in reports))
    return Exit.OK


def _lines(report: dict[str, Any]) -> list[str]:
    from swbuild.cli.explanation import explain_value

    title = f"{report['source']} on {report['machine']}"
    lines = [title, "=" * len(title)]
    for region in report["regions"]:
        lines += ["", f"region {region['region']}", *explain_value(_without(region, "region"), 2)]
    for region in report["refused"]:
        lines += ["", f"region {region['region']} (line {region['line']}) stays on the host"]
        lines += [f"  line {reason['line']}: {reason['message']}" for reason in region["reasons"]]
    return lines


def _without(region: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in region.items() if name != key}


def _explain_codes(codes: list[str]) -> int:
    from swbuild.cli.catalogue import CATALOGUE

    unknown = [code for code in codes if code.upper() not in CATALOGUE]
    for code in codes:
        text = CATALOGUE.get(code.upper(), "no explanation is written for this code yet")
        print(textwrap.fill(f"{code.upper()}: {text}", 100))
    return Exit.USER_ERROR if unknown else Exit.OK
