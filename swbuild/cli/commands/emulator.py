"""``swbuild emulator``: the emulated machine's compilers and launchers in a shell."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace

from swbuild.cli.exits import Exit
from swbuild.options import Machine

__all__ = ["configure", "run"]

_EPILOG = """\
example:
  eval "$(swbuild emulator env --machine sw26010-pro)"
  make && ./app
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "what",
        choices=("env", "path", "meson"),
        help="env: shell commands that put the stand-ins first on PATH; path: their directory; "
        "meson: a native file for Meson",
    )
    machines = [machine.value for machine in Machine]
    parser.add_argument("--machine", choices=machines, default=machines[0], help="the chip")


def run(args: Namespace) -> int:
    from swbuild.emulator import environment
    from swbuild.toolchain import Target, toolchain_for

    if args.what == "meson":
        from swbuild.buildsys.mesonfiles import machine_file

        print(machine_file(Target.EMULATOR, Machine(args.machine)), end="")
        return Exit.OK
    folder = toolchain_for(Target.EMULATOR, Machine(args.machine)).path[0]
    if args.what == "path":
        print(folder)
        return Exit.OK
    added = {name: value for name, value in environment(args.machine, {}).items() if name != "PATH"}
    print(f'export PATH={shlex.quote(folder)}:"$PATH"')
    for name, value in sorted(added.items()):
        print(f"export {name}={shlex.quote(value)}")
    return Exit.OK
