"""``swbuild explain``: how each region is mapped, what is moved, and why; or what a code means.

With ``--pipeline``, how loops of assembly run on the pipes.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from argparse import ArgumentParser, Namespace

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, machine_of, project_of
from swbuild.cli.overrides import add_set_argument, overrides
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["configure", "run"]

_CODE = re.compile(r"SW[0-9]{3}", re.IGNORECASE)

_EPILOG = """\
examples:
  swbuild explain sunway.yaml                   of each region verdict, main limit, estimates, choice
  swbuild explain sunway.yaml -k gemm -v        mapping, tiles, buffers, transfers
  swbuild explain sunway.yaml --compare         the presets side by side, counted at the largest size
  swbuild explain gemm.c --compare -p ni=128 -p nj=128 -p nk=128
  swbuild explain gemm.c --loops                which source loops are parallel, and why others are not
  swbuild explain gemm.c --dependences          what every order of the statements has to keep
  swbuild explain gemm.c --dot | dot -Tsvg      the same as a picture
  swbuild explain gemm.c --dump=schedule,plan   what these stages of the generator have made of it
  swbuild explain --pipeline kernel.s           the loops of assembly on the pipes, cycle by cycle
  swbuild explain SW106                         what a diagnostic means
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_input_arguments(parser, "fix this parameter in the generated code; with --compare, the size to run")
    parser.add_argument("--json", action="store_true", help="the reports as JSON")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also buffers, transfers and loops; with --pipeline, all blocks",
    )
    parser.add_argument("--function", metavar="NAME", help="with --pipeline, only this function")
    add_set_argument(parser, ", with --pipeline")
    parser.add_argument(
        "--verify", action="store_true", help="with --dump, verify the code of each region after every pass"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--loops", action="store_true", help="say of each source loop whether it is parallel, or why not"
    )
    choice.add_argument("--dependences", action="store_true", help="list the dependences of each region")
    choice.add_argument("--dot", action="store_true", help="draw the dependences as a graph for Graphviz")
    choice.add_argument(
        "--dump",
        metavar="STAGE,…",
        help="print what stages of the generator make of each region, as text to read and to compare: "
        "scop, dependences, schedule, candidates, plan, program, ir, or all",
    )
    choice.add_argument(
        "--compare",
        action="store_true",
        help="run 'classic' and 'default' on the emulator and compare their transfers",
    )
    choice.add_argument(
        "--pipeline",
        action="store_true",
        help="inputs are files of assembly: print their loops on the two pipes, cycle by cycle",
    )


def run(args: Namespace) -> int:
    if args.pipeline:
        return _pipeline(args)
    if args.set or args.function:
        option = "--set" if args.set else "--function"
        raise SwbuildError(Diagnostic("SW100", f"{option} goes with --pipeline", Span(option)))
    if all(_CODE.fullmatch(name) for name in args.inputs):
        return _explain_codes(args.inputs)
    if args.dump is not None:
        return _dump(args)
    if args.loops or args.dependences or args.dot:
        return _analyse(args)
    return _compare(args) if args.compare else _explain(args)


def _pipeline(args: Namespace) -> int:
    """Print what the loops of files of assembly do on the pipes."""
    from swbuild.cli.pipes import pipeline_data, pipeline_lines, schedules
    from swbuild.machine import DEFAULT_MACHINE, load
    from swbuild.sw64.rules import rules

    machine = load(machine_of(args) or DEFAULT_MACHINE, overrides(args))
    found, problems = [], []
    for path in args.inputs:
        blocks, unknown = schedules(path, rules(machine), args.function, args.verbose)
        found += [(path, block) for block in blocks]
        problems += unknown
    if args.json:
        json.dump([pipeline_data(*item) for item in found], sys.stdout, indent=2)
        print()
    elif found:
        print("\n\n".join("\n".join(pipeline_lines(*item)) for item in found))
    elif not problems:
        print("no instructions" if args.verbose else "no block ends in a jump to its own begin; -v shows all")
    if problems:
        sys.stdout.flush()
        raise SwbuildError(problems)
    return Exit.OK


def _analyse(args: Namespace) -> int:
    """Print dependences or loops of the regions as they stand in the source."""
    from swbuild.cli.analysis import analysis_data, dependence_lines, dot_lines, loop_lines
    from swbuild.pipeline.stages import read_project
    from swbuild.polyhedral.verdicts import analyse_region

    models = read_project(project_of(args))
    regions = [(scop, analyse_region(scop)) for model in models for scop in model.scops]
    if args.json:
        json.dump([analysis_data(*region) for region in regions], sys.stdout, indent=2, ensure_ascii=False)
        print()
    elif args.dot:
        print("\n".join(dot_lines(regions, {model.path: model.text for model in models})))
    else:
        lines = loop_lines if args.loops else dependence_lines
        print("\n\n".join("\n".join(lines(*region)) for region in regions))
    refused = [item for model in models for region in model.refused for item in region.diagnostics]
    if refused:
        sys.stdout.flush()
        raise SwbuildError(refused)
    return Exit.OK


def _dump(args: Namespace) -> int:
    """Print what the stages asked for make of the regions, in their order in the sources."""
    from swbuild.compilation import require_sound
    from swbuild.dump import parse_stages
    from swbuild.dump.dump import dump
    from swbuild.pipeline.stages import compile_project

    stages = parse_stages(args.dump, "--dump")
    compiled = compile_project(project_of(args))
    found = [
        {"region": item.name, "stage": stage.value, "text": dump(item, stage)}
        for item in compiled
        for stage in stages
    ]
    if args.json:
        json.dump(found, sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n".join(item["text"] for item in found), end="")
    if args.verify:
        sys.stdout.flush()
        require_sound(compiled)
    return Exit.OK


def _explain(args: Namespace) -> int:
    from swbuild.cli.choices import choices
    from swbuild.cli.explanation import explain_report
    from swbuild.cli.summary import summary
    from swbuild.pipeline import Timings, generate_project
    from swbuild.pipeline.outputs import report_of

    units = generate_project(project_of(args), Timings(), allow_refused=True)
    reports = [report_of(unit) for unit in units]
    if args.json:
        json.dump(reports, sys.stdout, indent=2, ensure_ascii=False, default=str)
        print()
    else:
        parts = []
        for unit, report in zip(units, reports, strict=True):
            regions = unit.generated.regions
            summaries = [line for region in regions for line in (summary(region), *choices(region.report))]
            parts.append("\n".join(explain_report(report, summaries, args.verbose)))
        print("\n\n".join(parts))
    return Exit.OK


def _compare(args: Namespace) -> int:
    from swbuild.check import exit_status
    from swbuild.cli.explanation import print_comparisons
    from swbuild.pipeline.comparison import compare_presets

    comparisons = compare_presets(project_of(args, params_are_sizes=True))
    print_comparisons(comparisons)
    return exit_status(result for item in comparisons for _, result in item.presets)


def _explain_codes(codes: list[str]) -> int:
    from swbuild.cli.catalogue import explain_code

    texts = {code.upper(): explain_code(code.upper()) for code in codes}
    for code, text in texts.items():
        print(textwrap.fill(f"{code}: {text or 'there is no such code'}", 100))
    return Exit.OK if all(texts.values()) else Exit.USER_ERROR
