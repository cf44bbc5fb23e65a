"""The command line: one thin module per subcommand, imported only when it is the one that runs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``swbuild`` with ``argv`` (default: the process's own) and return its exit status."""
    from swbuild.cli.app import run

    return run(argv)
