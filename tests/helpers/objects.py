"""Where tests keep what they compile, so that the fixed part of the checks' harness is compiled once for all.

Objects are told apart by their content and by how they are compiled, with the paths of all that they include:
those of one test's own files are never taken for another's.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["keep_in", "shared_objects"]

_kept: list[Path] = []


def keep_in(folder: Path) -> None:
    """Have all tests of this process keep their objects in ``folder``."""
    _kept[:] = [folder]


def shared_objects() -> Path:
    """Return the folder for objects."""
    return _kept[0]
