"""The table of subcommands: names, one-line summaries, and the modules that hold them."""

from __future__ import annotations

import importlib
from argparse import ArgumentParser, Namespace
from typing import Protocol, cast

from swbuild.classes import dataclass

__all__ = ["COMMANDS", "Command", "CommandModule", "load"]


class CommandModule(Protocol):
    """What a module of :mod:`swbuild.cli.commands` provides."""

    def configure(self, parser: ArgumentParser) -> None:
        """Add this subcommand's arguments."""

    def run(self, args: Namespace) -> int:
        """Do it and return the exit status."""


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: ``module`` is its module's name in :mod:`swbuild.cli.commands`."""

    name: str
    summary: str
    module: str


COMMANDS: tuple[Command, ...] = (
    Command("check", "compare every kernel with its serial reference on the emulated core group", "check"),
    Command("generate", "write host, slave and header files for the regions of a manifest", "generate"),
    Command("explain", "say how each region is mapped, what is moved, and why", "explain"),
    Command("bench", "measure regions in model time, beside a bound that no program can beat", "bench"),
    Command("init", "print a commented manifest for the regions found in C files", "init"),
    Command("query", "print what a build system needs to know of a manifest", "query"),
    Command("run", "run a program on the emulated core group", "run"),
    Command("emulator", "use the emulated machine's compilers and launchers in a shell", "emulator"),
    Command("profile", "show the profile that an emulated run has written", "profile"),
    Command("doctor", "say what is installed and which targets can be used", "doctor"),
    Command("vendor", "copy the CMake or Meson helpers into a source tree", "vendor"),
    Command("cache", "show or clear what is kept: generator results, and the emulator", "cache"),
    Command("schema", "print the manifest's JSON Schema or its reference page", "schema"),
)


def load(command: Command) -> CommandModule:
    """Return the module that holds ``command``."""
    return cast("CommandModule", importlib.import_module(f"swbuild.cli.commands.{command.module}"))
