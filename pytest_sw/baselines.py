"""Stored counts: a kernel that moves more data than it used to is a failure, with the difference explained.

Only what the emulator counts exactly is compared, so a baseline holds on every computer.  In model cycles and
in LDM (its stack) the computer's compiler has a part: they are compared where it is the baseline's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from swbuild.check.evidence import CaseRun
from swbuild.toolchain.process import run

__all__ = ["FIGURES", "Baselines", "compare_figures", "compiler_name", "figures_of", "model_cycles"]

FORMAT = "swbuild-baseline"

#: What is compared, and how it is called.
FIGURES: Mapping[str, str] = {
    "dma_bytes": "bytes by DMA",
    "dma_operations": "DMA operations",
    "spawns": "spawns",
    "ldm_bytes": "bytes of LDM",
    "model_cycles": "cycles of model time",
}

#: What the computer's compiler has a part in.
_COMPILERS = ("ldm_bytes", "model_cycles")


class Baselines:
    """The figures in a baseline file, by the tests' names without their targets."""

    def __init__(self, path: Path, compiler: str) -> None:
        self.path = path
        self.compiler = compiler
        self.tests: dict[str, dict[str, int]] = {}
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != 1:
                raise ValueError(f"{path} is no baseline file of this version")
            self.tests = found["tests"]
            if found.get("compiler") != compiler:
                self._forget_the_compilers()

    def update(self, figures: Mapping[str, Mapping[str, int]]) -> None:
        """Put these figures in place of the stored ones and write the file; other tests stay as they are."""
        tests = {**self.tests, **{name: dict(found) for name, found in figures.items()}}
        found = {"format": FORMAT, "version": 1, "compiler": self.compiler, "tests": tests}
        text = json.dumps(found, indent=1, sort_keys=True) + "\n"
        partial = self.path.with_name(self.path.name + ".part")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.path)

    def _forget_the_compilers(self) -> None:
        for figures in self.tests.values():
            for name in _COMPILERS:
                figures.pop(name, None)


def compiler_name() -> str:
    """Return what tells the computer's compiler from others."""
    done = run(["gcc", "-dumpfullversion", "-dumpmachine"], timeout=30)
    return " ".join(["gcc", *done.output.split()])


def model_cycles(counters: Path) -> int:
    """Return the model time of all kernels of a run that left its counters and its events beside them."""
    from swbuild.emulator.model.report import analyse

    replays = analyse(counters).replays
    return round(sum(kernel.span for replay in replays for kernel in replay.kernels))


def figures_of(runs: Sequence[CaseRun], cycles: int | None = None) -> dict[str, int]:
    """Return the figures of a test: those of its first run, whatever is known of them, and its cycles."""
    counts = runs[0].counts
    found = {name: getattr(counts, name, None) for name in FIGURES} | {"model_cycles": cycles}
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
