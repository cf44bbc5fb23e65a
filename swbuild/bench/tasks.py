"""How measurements are made."""

from __future__ import annotations

from pathlib import Path

from swbuild.classes import dataclass

__all__ = ["BenchSettings"]


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """How a whole run is done: processes at a time (0: as cores), seconds for one run, a directory that all
    that is made is left in (``None``: nothing is left), whether the guesses of the machine file are varied.
    """

    jobs: int = 0
    timeout: float = 1800.0
    keep: Path | None = None
    sensitivity: bool = False
