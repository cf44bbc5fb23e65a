"""``swbuild run``: start a program on the emulated core group."""

from __future__ import annotations

import argparse
import os
import shutil
from argparse import ArgumentParser, Namespace
from typing import NoReturn

from swbuild.cli.overrides import add_set_argument, overrides
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import DEFAULT_MACHINE, machine_names

__all__ = ["configure", "run"]

_EPILOG = """\
The program must have been built by the emulated compilers ('swbuild emulator env').  It takes the place of
'swbuild run': signals reach it, and its exit status is its own.

examples:
  swbuild run --checked ./app
  swbuild run --dma random:7 --profile app.json ./app input.txt && swbuild profile app.json
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("program", metavar="PROGRAM", help="the executable")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARG", help="its arguments")
    parser.add_argument(
        "--machine", choices=machine_names(), default=DEFAULT_MACHINE, help="the chip it was built for"
    )
    parser.add_argument("--checked", action="store_true", help="watch every access and transfer (slower)")
    parser.add_argument("--dma", metavar="MODE", help="when transfers complete: eager, late or random:SEED")
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="write counts to FILE, model time to FILE.model (see 'swbuild profile')",
    )
    parser.add_argument(
        "--events",
        action="store_true",
        help="for a profile: write the events, too, to FILE.trace (48 bytes each); its time line, and other"
        " numbers of the machine than those of the run, need them",
    )
    add_set_argument(parser, ", for a profile")
    parser.add_argument("--counts", metavar="FILE", help="write only the counts to FILE")


def run(args: Namespace) -> NoReturn:
    from swbuild.emulator import environment

    path = shutil.which(args.program)
    if path is None:
        hint = "give a path, as in ./app" if "/" not in args.program else ""
        raise SwbuildError(Diagnostic("SW114", "there is no such program", Span(args.program), hint))
    variables = {**environment(args.machine), **_settings(args)}
    try:
        os.execve(path, [path, *args.arguments], variables)
    except OSError as error:
        message = f"cannot start it: {error.strerror}"
        raise SwbuildError(Diagnostic("SW114", message, Span(args.program))) from None


def _settings(args: Namespace) -> dict[str, str]:
    """Return the emulator's variables for these options."""
    given = {
        "SWBUILD_EMU_CHECKED": "1" if args.checked else None,
        "SWBUILD_EMU_DMA": args.dma,
        "SWBUILD_EMU_COUNTERS": args.profile or args.counts,
        "SWBUILD_EMU_MODEL": f"{args.profile}.model" if args.profile else None,
        "SWBUILD_EMU_TRACE": f"{args.profile}.trace" if args.profile and args.events else None,
        **(_numbers(args) if args.set else {}),
    }
    return {name: value for name, value in given.items() if value is not None}


def _numbers(args: Namespace) -> dict[str, str]:
    """Return what makes the run go by other numbers; raise :class:`SwbuildError` for one that cannot be."""
    from swbuild.emulator.model.host_block import caches_text
    from swbuild.emulator.model.numbers import has_part
    from swbuild.machine import load

    numbers = overrides(args)
    host = load(args.machine, numbers).host
    late = [name for name in numbers if not has_part(name)]
    if late:
        hint = "what compiled code costs: SWBUILD_EMU_COUNTED_NUMBERS, when it is compiled"
        raise SwbuildError(
            Diagnostic("SW690", f"'{name}' changes nothing in a run", Span("--set"), hint) for name in late
        )
    return {
        "SWBUILD_EMU_HOST_CACHES": caches_text(host),
        "SWBUILD_EMU_NUMBERS": ",".join(f"{name}={value!r}" for name, value in numbers.items()),
    }
