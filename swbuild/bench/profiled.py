"""Runs with a profile: how code is built and started for one, and the figures that it yields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swbuild.bench.results import Figures
from swbuild.check.emulation import run_environment
from swbuild.emulator.model.host_block import CACHE_SHAPE, caches_text
from swbuild.emulator.model.report import analyse, as_json
from swbuild.machine import load

__all__ = ["COUNTED", "Numbers", "figures", "profile_environment"]

#: Numbers in place of those of a machine file, by their dotted names.
Numbers = Mapping[str, int | float]

#: The definition that has the model cycles of a source counted.
COUNTED = "SWBUILD_EMU_COUNTED_CODE=1"


#: The numbers by which compiled code is counted, and those that a run takes.
_BUILDING = ("pipes.", "scheduler.", "compute.", "library.")


def when(number: str) -> str:
    """Return when a number of the machine counts: while ``building``, ``running`` or ``reading``."""
    if number in CACHE_SHAPE:
        return "running"
    return "building" if number.startswith(_BUILDING) else "reading"


def build_settings(numbers: Numbers) -> dict[str, str]:
    """Return the variables for compilers: no version for checked mode, and these numbers to count with."""
    counted = [f"{name}={value}" for name, value in numbers.items() if when(name) == "building"]
    return {"SWBUILD_EMU_CHECKED_CODE": "0", "SWBUILD_EMU_COUNTED_NUMBERS": ",".join(counted)}


def profile_environment(
    profile: Path, touched: str, machine: str, numbers: Numbers, events: bool
) -> dict[str, str]:
    """Return the environment for a run that leaves ``profile``, with its ``events`` if they are wanted.

    ``touched`` says from when on the host's part of memory counts: ``start``, or the first ``spawn``.
    """
    environment = {**run_environment("late", profile), "SWBUILD_EMU_TOUCHED": touched}
    caches = {name: value for name, value in numbers.items() if when(name) == "running"}
    if caches:
        environment["SWBUILD_EMU_HOST_CACHES"] = caches_text(load(machine, caches).host)
    if events:
        environment["SWBUILD_EMU_TRACE"] = f"{profile}.trace"
    return {**environment, "SWBUILD_EMU_MODEL": f"{profile}.model"}


def figures(profile: Path, numbers: Numbers, whole: bool) -> Figures:
    """Return the figures of the run that left ``profile``, replayed with other numbers of the machine.

    Not the ``whole`` run counts but what lies from its first spawn to its last join, if it has any.
    """
    late = {name: value for name, value in numbers.items() if when(name) != "running"}
    report = as_json(analyse(profile, late))
    return _figures(report, json.loads(profile.read_text(encoding="utf-8")), whole)


def _figures(report: Mapping[str, Any], counters: Mapping[str, Any], whole: bool) -> Figures:
    process = report["processes"][0]
    host = process["host"]
    around = 0.0 if whole or not process["kernels"] else host["before"] + host["after"]
    cycles = process["cycles"] - around
    computing, idle = _shares(process["kernels"])
    return Figures(
        cycles=round(cycles, 3),
        host=_rounded((host["cycles"] - around) / cycles if cycles else 0.0),
        spawns=counters["spawns"],
        read=counters["touched"]["read"],
        written=counters["touched"]["written"],
        moved=sum(k[way]["bytes"] for k in counters["kernels"] for way in ("get", "put", "load", "store")),
        ldm=counters["ldm"]["peak"] if process["kernels"] else 0,
        computing=_rounded(computing),
        waiting=_rounded(1 - computing - idle if process["kernels"] else 0.0),
        idle=_rounded(idle),
    )


def _shares(kernels: list[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the shares of computing and of idling in the CPEs' time."""
    total = sum(sum(kernel["spent"].values()) for kernel in kernels) or 1.0
    computing, idle = (
        sum(kernel["spent"].get(what, 0.0) for kernel in kernels) for what in ("compute", "idle")
    )
    return computing / total, idle / total


def _rounded(share: float) -> float:
    return round(max(0.0, share), 4)
