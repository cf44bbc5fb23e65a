"""Parse the command line, run one subcommand, and turn what it raises into text and a status."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from swbuild import __version__
from swbuild.cli.command import COMMANDS, Command, load
from swbuild.cli.exits import Exit
from swbuild.diagnostics import INTERNAL, Span, SwbuildError, internal_error
from swbuild.files import system_error

__all__ = ["build_parser", "leave", "run"]

_EPILOG = """\
exit status: 0 pass, 1 mismatch, 2 mistake in the input, 77 skipped, 99 infrastructure.
'swbuild COMMAND --help' tells what a command takes.
"""


_CHOICE = re.compile(r"argument [^:]*: invalid choice: '([^']*)' \(choose from (.*)\)")
_OPTION = re.compile(r"unrecognized arguments: (--?[\w-]+)")


def _below(action: argparse.Action) -> list[argparse.ArgumentParser]:
    """Return the parsers of an action's subcommands."""
    return list(action.choices.values()) if isinstance(action, argparse._SubParsersAction) else []


def _likeliest(word: str, known: Sequence[str]) -> str:
    import difflib  # not before something is misspelt

    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f"  hint: did you mean `{close[0]}`?\n" if close else ""


#: Options of ``check`` and ``bench`` whose values begin with a dash as a rule: ``--link -lm``.
_DASHED = frozenset({"--link", "--arg"})


def _joined(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with such options and their values in one word."""
    found: list[str] = []
    for word in arguments:
        if found and found[-1] in _DASHED and word.startswith("-"):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


class _Parser(argparse.ArgumentParser):
    """Speaks of a wrong command line the way swbuild speaks of any other mistake."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        hint = self._hint(message)
        self.exit(Exit.USER_ERROR, f"{self.prog}: error[SW100]: {message}\n{hint}")

    def _hint(self, message: str) -> str:
        """Return the line that names the likeliest of the commands, choices or options, or nothing."""
        choice = _CHOICE.match(message)
        if choice:
            return _likeliest(choice[1], re.findall(r"[\w.:-]+", choice[2]))
        option = _OPTION.match(message)
        return _likeliest(option[1], self._options()) if option else ""

    def _options(self) -> list[str]:
        """Return the options of this parser and of those below it."""
        parsers = [self, *(p for action in self._actions for p in _below(action))]
        return [name for parser in parsers for action in parser._actions for name in action.option_strings]


class _CMakeDir(argparse.Action):
    """Prints where CMake finds ``swbuildConfig.cmake``, for ``-Dswbuild_DIR=`` and toolchain files."""

    def __init__(self, option_strings: Sequence[str], dest: str, **given: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **given)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from swbuild.buildsys.helpers import helper_dir

        print(helper_dir("cmake"))
        parser.exit()


def build_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser; only the subcommand named ``chosen`` is imported and knows its arguments."""
    parser = _Parser(
        prog="swbuild",
        description="Kernels for Sunway core groups from plain C loop nests: generate, emulate, check.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swbuild {__version__}")
    parser.add_argument("--cmake-dir", action=_CMakeDir, help="print the directory of the CMake package")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an internal error")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for command in COMMANDS:
        _add(commands, command, command.name == chosen)
    return parser


def _add(commands: argparse._SubParsersAction[_Parser], command: Command, chosen: bool) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.summary[0].upper() + command.summary[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if chosen:
        load(command).configure(parser)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` and return the exit status; no exception leaves here."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    arguments = _joined(arguments) if chosen in ("check", "bench") else arguments
    if "--debug" in arguments:
        os.environ["SWBUILD_DEBUG"] = "1"
    _exact_streams()
    try:
        args = build_parser(chosen).parse_args(arguments)
        command = next(command for command in COMMANDS if command.name == args.command)
        from swbuild.signals import unwound_by_signals  # not to print a version

        with unwound_by_signals(lambda number: SystemExit(128 + number)):
            status = load(command).run(args)
        sys.stdout.flush()
        return status
    except SwbuildError as error:
        print(error, file=sys.stderr)
        return _status(error)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else Exit.OK
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return _broken_pipe()
    except OSError as error:
        return _system_error(error)
    except Exception as error:  # noqa: BLE001  a defect of ours must not look like the user's mistake
        print(internal_error(error, Span("swbuild")), file=sys.stderr)
        return Exit.INTERNAL


def leave(status: int) -> NoReturn:
    """End the process at once.

    To take the modules and the objects of isl to pieces first would be a tenth of a small file's time.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _status(error: SwbuildError) -> int:
    """Return whose fault it is: ours, or the machinery's (compilers, launchers) if nothing else is wrong."""
    if any(diagnostic.code == INTERNAL for diagnostic in error.diagnostics):
        return Exit.INTERNAL
    machinery = all(diagnostic.code.startswith("SW4") for diagnostic in error.diagnostics)
    return Exit.INFRASTRUCTURE if machinery else Exit.USER_ERROR


def _broken_pipe() -> int:
    """The reader went away (``swbuild explain | head``): be silent, also at interpreter exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.OK


def _system_error(error: OSError) -> int:
    """Say what the system refuses: a full disk, a pipe or a terminal that is gone."""
    print(system_error(error, "standard output"), file=sys.stderr)
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.INFRASTRUCTURE


def _exact_streams() -> None:
    """Let names and sources of any encoding through to the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            unicode = stream.encoding.lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="surrogateescape" if unicode else "backslashreplace")
