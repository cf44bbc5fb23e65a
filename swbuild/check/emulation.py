"""What the checker asks of the emulator: a completion mode, and the counts of a run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from swbuild.check.results import Counts
from swbuild.toolchain import Target, Toolchain

__all__ = ["LACKING", "SPAWN_COUNTER", "built_for", "read_counts", "run_environment"]

#: The exit status of a run to which this computer did not give what it needs: memory, threads.
LACKING = 99
#: Messages that FIFOs of register communication hold, where a run is not checked: as many as the emulator can
#: have there, since its threads change places whenever one is full.  Model time knows the machine's depth.
_DEEP = "256"
#: A declaration and an expression for the spawns so far, see :func:`swbuild.check.harness.harness_source`.
SPAWN_COUNTER = (
    "extern unsigned long swemu_spawn_count(void) __attribute__((weak));"
    "|swemu_spawn_count ? (long)swemu_spawn_count() : -1"
)


def built_for(modes: Collection[str], toolchain: Toolchain) -> Toolchain:
    """Return ``toolchain`` as it builds for runs in ``modes``: with a version for checked mode only for that.

    It takes about as long to compile as the code itself.
    """
    if toolchain.target is not Target.EMULATOR:
        return toolchain
    code = {"SWBUILD_EMU_CHECKED_CODE": "1" if "checked" in modes else "0"}
    return replace(toolchain, settings={**toolchain.settings, **code})


def run_environment(mode: str, counters: Path) -> dict[str, str]:
    """Return the environment for a run in ``mode`` that writes its counters to the file."""
    checked = mode == "checked"
    return {
        "SWBUILD_EMU_DMA": "late" if checked else mode,
        "SWBUILD_EMU_CHECKED": "1" if checked else "0",
        "SWBUILD_EMU_FIFO": "" if checked else _DEEP,
        "SWBUILD_EMU_COUNTERS": str(counters),
    }


def read_counts(path: Path) -> Counts:
    """Return the counts of a run, all unknown if it wrote none."""
    try:
        found = json.loads(_written(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Counts()
    return Counts(
        spawns=int(found["spawns"]),
        dma_operations=_sum(found, "calls"),
        dma_bytes=_sum(found, "bytes"),
        ldm_bytes=int(found["ldm"]["peak"]),
        direct_accesses=_sum(found, "calls", ("load", "store")) if found.get("direct_counted") else None,
        direct_bytes=_sum(found, "bytes", ("load", "store")) if found.get("direct_counted") else None,
    )


def _written(path: Path) -> Path:
    """Return the file of the counters: a process that is told another rank than 0 adds it to the name."""
    others = () if path.exists() else sorted(path.parent.glob(f"{path.name}.[0-9]*"))
    return others[0] if others else path


def _sum(found: Mapping[str, Any], what: str, ways: Sequence[str] = ("get", "put")) -> int:
    """Return the sum over all kernels of a figure of their transfers (or accesses) in both directions."""
    return sum(int(kernel[way][what]) for kernel in found["kernels"] for way in ways)
