"""``swbuild emulator``: the emulated machine's compilers and launchers in a shell."""

from __future__ import annotations

import os
import shlex
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import NoReturn

from swbuild.cli.exits import Exit
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import DEFAULT_MACHINE, machine_names

__all__ = ["configure", "run"]

_EPILOG = """\
example:
  eval "$(swbuild emulator env --machine MACHINE)"
  make && ./app
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "what",
        choices=("env", "path", "meson", "cmake", "exec"),
        help="env: shell commands that put the stand-ins first on PATH; path: their directory; "
        "meson: a native file for Meson; cmake: what CMake has to know of the machine; exec: run one of them",
    )
    parser.add_argument("tool", nargs=REMAINDER, metavar="TOOL ARG...", help="for exec: what to run")
    _add_machine(parser)


class _Behind(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SwbuildError(Diagnostic("SW100", message, Span(self.prog)))


def _add_machine(parser: ArgumentParser, chosen: str = DEFAULT_MACHINE) -> None:
    parser.add_argument("--machine", choices=machine_names(), default=chosen, help="the chip")


def _with_options(args: Namespace) -> Namespace:
    """Return the arguments with the options behind ``what``, which are not meant for a tool."""
    parser = _Behind(prog=f"swbuild emulator {args.what}", add_help=False, allow_abbrev=False)
    _add_machine(parser, args.machine)
    return parser.parse_args(args.tool, Namespace(what=args.what))


def run(args: Namespace) -> int:
    from swbuild.emulator import environment
    from swbuild.toolchain import Target, toolchain_for

    args = args if args.what == "exec" else _with_options(args)
    if args.what == "meson":
        from swbuild.buildsys.mesonfiles import machine_file

        print(machine_file(Target.EMULATOR, args.machine), end="")
        return Exit.OK
    if args.what == "cmake":
        from swbuild.buildsys.cmakefiles import machine_text

        print(machine_text(args.machine), end="")
        return Exit.OK
    if args.what == "exec":
        return _execute(args.machine, args.tool)
    folder = toolchain_for(Target.EMULATOR, args.machine).path[0]
    if args.what == "path":
        print(folder)
        return Exit.OK
    added = {name: value for name, value in environment(args.machine, {}).items() if name != "PATH"}
    print(f'export PATH={shlex.quote(folder)}:"$PATH"')
    for name, value in sorted(added.items()):
        print(f"export {name}={shlex.quote(value)}")
    return Exit.OK


def _execute(machine: str, command: list[str]) -> int:
    """Become one of the tools: for build systems that take a compiler as several words."""
    from swbuild.emulator import environment, toolchain_dir

    folder = toolchain_dir(machine)
    if not command or not (folder / command[0]).is_file():
        known = ", ".join(sorted(path.name for path in folder.iterdir()))
        message = f"exec takes one of {known}"
        raise SwbuildError(Diagnostic("SW100", message, Span("swbuild emulator exec")))
    path = str(folder / command[0])
    os.execve(path, [path, *command[1:]], environment(machine))
