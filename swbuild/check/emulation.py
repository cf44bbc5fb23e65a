"""What the checker asks of the emulator: a completion mode, and the counts of a run."""

from __future__ import annotations

import json
from pathlib import Path

from swbuild.check.results import Counts

__all__ = ["SPAWN_COUNTER", "read_counts", "run_environment"]

#: See :func:`swbuild.check.harness.harness_source`.
SPAWN_COUNTER: str | None = None


def run_environment(mode: str, counts: Path) -> dict[str, str]:
    """Return the environment for a run in ``mode`` that writes its counts to ``counts``."""
    return {"SW_EMU_DMA": mode, "SW_EMU_COUNTERS": str(counts)}


def read_counts(path: Path) -> Counts:
    """Return the counts of a run, all unknown if it wrote none."""
    if not path.exists():
        return Counts()
    found = json.loads(path.read_text(encoding="utf-8"))
    return Counts(spawns=found.get("spawns"))
