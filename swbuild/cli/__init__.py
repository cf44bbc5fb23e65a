"""The command line: one thin module per subcommand, imported only when it is the one that runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

from swbuild.collecting import collect_rarely

__all__ = ["main"]


class _Unknown(ModuleType):
    """Stands in for the module that says which version islpy is of, in which nobody is interested.

    To look that up among the installed packages would take twice as long as the rest of islpy.
    """

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return "unknown"


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``swbuild`` with ``argv`` and return its exit status; the process's own command line ends it."""
    from swbuild.cli.app import leave, run

    sys.modules.setdefault("islpy.version", _Unknown("islpy.version"))
    if argv is not None:
        return run(argv)
    collect_rarely()
    return leave(run())
