"""Stored counts: a kernel that moves more data than it used to is a failure, with the difference explained.

Only what the emulator counts exactly is compared, so a baseline holds on every computer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from swbuild.check.evidence import CaseRun

__all__ = ["FIGURES", "Baselines", "compare_figures", "figures_of"]

FORMAT = "swbuild-baseline"

#: What is compared, and how it is called.
FIGURES: Mapping[str, str] = {
    "dma_bytes": "bytes by DMA",
    "dma_operations": "DMA operations",
    "spawns": "spawns",
    "ldm_bytes": "bytes of LDM",
}


class Baselines:
    """The figures in a baseline file, by the tests' names without their targets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, dict[str, int]] = {}
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != 1:
                raise ValueError(f"{path} is no baseline file of this version")
            self.tests = found["tests"]

    def update(self, figures: Mapping[str, Mapping[str, int]]) -> None:
        """Put these figures in place of the stored ones and write the file; other tests stay as they are."""
        tests = {**self.tests, **{name: dict(found) for name, found in figures.items()}}
        text = json.dumps({"format": FORMAT, "version": 1, "tests": tests}, indent=1, sort_keys=True) + "\n"
        partial = self.path.with_name(self.path.name + ".part")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.path)


def figures_of(runs: Sequence[CaseRun]) -> dict[str, int]:
    """Return the figures of a test: those of its first run, whatever is known of them."""
    counts = runs[0].counts
    found = {name: getattr(counts, name) for name in FIGURES}
    return {name: value for name, value in found.items() if value is not None}


def compare_figures(stored: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    """Return a line for each figure that is larger than the stored one; empty if none is."""
    worse = [name for name in FIGURES if found.get(name, 0) > stored.get(name, found.get(name, 0))]
    lines = [_line(name, stored[name], found[name]) for name in worse]
    if {"dma_bytes", "dma_operations"} <= set(stored) & set(found) and worse:
        before, after = (_mean(figures) for figures in (stored, found))
        lines.append(f"a transfer carries {after:.0f} bytes on average, it was {before:.0f}")
    better = [name for name in FIGURES if found.get(name, 0) < stored.get(name, 0)]
    if worse and better:
        lines += [f"(less: {_line(name, stored[name], found[name])})" for name in better if name in found]
    return lines


def _line(name: str, before: int, after: int) -> str:
    share = f" ({100.0 * (after - before) / before:+.1f} %)" if before else ""
    return f"{FIGURES[name]}: {before:,} -> {after:,}{share}"


def _mean(figures: Mapping[str, int]) -> float:
    return figures["dma_bytes"] / max(figures["dma_operations"], 1)
