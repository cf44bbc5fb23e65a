"""Where the files lie that CMake and Meson users include."""

from __future__ import annotations

from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["helper_dir"]


def helper_dir(kind: str) -> Path:
    """Return the directory of the helpers for ``cmake`` or ``meson``.

    In a wheel they lie in the package, in a checkout beside it.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise SwbuildError(
        Diagnostic("SW703", f"the {kind} helpers are not installed", Span(str(package)), "reinstall swbuild")
    )
