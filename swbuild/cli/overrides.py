"""``--set NAME=VALUE``: numbers that stand in for those of the machine file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["add_set_argument", "overrides"]


def add_set_argument(parser: ArgumentParser, where: str = "") -> None:
    """Add ``--set``; ``where`` says when it counts."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"replace a number of the machine file{where}",
    )


def overrides(args: Namespace) -> dict[str, int | float]:
    """Return the numbers by name; raise :class:`SwbuildError` for what is no assignment of a number."""
    return dict(map(_override, args.set))


def _override(word: str) -> tuple[str, int | float]:
    name, _, text = word.partition("=")
    try:
        value = float(text)
    except ValueError:
        raise SwbuildError(Diagnostic("SW100", f"--set {word}: write NAME=NUMBER", Span("--set"))) from None
    return name, int(value) if value.is_integer() else value
