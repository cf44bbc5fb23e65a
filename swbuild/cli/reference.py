"""The reference page of the command line, from the parsers themselves."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator

from swbuild.cli.app import build_parser
from swbuild.cli.command import COMMANDS, Command
from swbuild.cli.exits import Exit

__all__ = ["reference_text"]

_HEAD = """\
# Command line

<!-- Written by 'swbuild schema --update'; do not edit. -->

Every command that works on kernels takes a manifest or C files; options of kernels on the command line win
over those of the manifest. Tables and progress bars are for terminals: in a pipe or a file the output is
plain text.

Exit status, the same everywhere:

| status | meaning |
|---|---|
"""

_MEANINGS = {
    Exit.OK: "all is well, everything passed",
    Exit.MISMATCH: "a mismatch, a crash or a timeout of offloaded code",
    Exit.USER_ERROR: "a mistake in the input: the messages say where, and what to do",
    Exit.INTERNAL: "a defect of swbuild; `SWBUILD_DEBUG=1` shows the traceback",
    Exit.SKIPPED: "nothing could be checked",
    Exit.INFRASTRUCTURE: "a compiler, a launcher or the emulator failed",
    Exit.INTERRUPTED: "interrupted",
}


def reference_text() -> str:
    """Return the page as Markdown; it does not depend on Python's version."""
    statuses = [f"| {int(status)} | {meaning} |" for status, meaning in _MEANINGS.items()]
    sections = ["\n".join(_section(command)) for command in COMMANDS]
    return _HEAD + "\n".join(statuses) + "\n\n" + "\n\n".join(sections) + "\n"


def _section(command: Command) -> Iterator[str]:
    parser = _parser(command)
    yield f"## swbuild {command.name}\n"
    yield f"{command.summary[0].upper()}{command.summary[1:]}."
    groups = [group for group in parser._action_groups if any(map(_is_shown, group._group_actions))]
    for group in groups:
        if group.title not in {"positional arguments", "options"}:
            yield f"\n{str(group.title)[0].upper()}{str(group.title)[1:]}:"
        if group is groups[0] or group.title not in {"positional arguments", "options"}:
            yield ""
        yield from (_entry(action) for action in group._group_actions if _is_shown(action))
    if parser.epilog:
        yield f"\n```text\n{parser.epilog.rstrip()}\n```"


def _parser(command: Command) -> argparse.ArgumentParser:
    subparsers = next(
        action
        for action in build_parser(command.name)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    found = subparsers.choices[command.name]
    assert isinstance(found, argparse.ArgumentParser)
    return found


def _is_shown(action: argparse.Action) -> bool:
    return action.dest != "help"


def _entry(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
    takes = "" if action.nargs == 0 or not action.option_strings else f" {value}"
    names = ", ".join(f"`{name}{takes}`" for name in action.option_strings or [str(value)])
    return textwrap.fill(f"* {names}: {action.help}", 110, subsequent_indent="  ", break_on_hyphens=False)
