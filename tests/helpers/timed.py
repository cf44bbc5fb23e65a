"""Model time of the kernels of a generated program, by replay, beside what was estimated for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swbuild.compilation import Compilation, compile_regions
from swbuild.emulator import environment
from swbuild.emulator.model.report import analyse
from swbuild.frontend import SourceModel
from swbuild.machine import load
from swbuild.options import KernelOptions
from swbuild.planning.estimates import Estimate, estimate
from swbuild.polyhedral.context import lightened
from swbuild.region import RegionResult

__all__ = ["Timed", "estimates_of", "timed"]

_DRIVERS = {
    "sw26010": ("sw5cc", "-host", "-slave", "-hybrid"),
    "sw26010-pro": ("swgcc", "-mhost", "-mslave", "-mhybrid"),
}


@dataclass(frozen=True, slots=True)
class Timed:
    """All launches of a kernel: how many there are, and their cycles with spawn and join."""

    launches: int
    cycles: float


def timed(
    machine: str, folder: Path, host: Sequence[Path], slave: Sequence[Path], words: Sequence[str] = ()
) -> dict[str, Timed]:
    """Return the model time of the kernels of a program, built in ``folder`` from files of both roles."""
    driver, for_host, for_slave, hybrid = _DRIVERS[machine]
    objects = []
    for role, sources in ((for_host, host), (for_slave, slave)):
        for source in sources:
            objects.append(f"{source.name}.o")
            _run(machine, folder, driver, role, "-O2", "-msimd", *words, "-c", source, "-o", objects[-1])
    _run(machine, folder, driver, hybrid, *objects, "-o", "program", "-lm")
    _run(machine, folder, sys.executable, "-m", "swbuild", "run", "--profile", "p.json", "./program")
    (result,) = analyse(folder / "p.json").replays
    found: dict[str, Timed] = {}
    for kernel in result.kernels:
        before = found.get(kernel.name, Timed(0, 0.0))
        found[kernel.name] = Timed(before.launches + 1, before.cycles + kernel.end - kernel.begin)
    return found


def _run(machine: str, folder: Path, *words: object) -> None:
    variables = {**os.environ, **environment(machine), "SWBUILD_EMU_COUNTED_CODE": "1"}
    subprocess.run(
        [str(word) for word in words], cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL
    )


def estimates_of(model: SourceModel, sizes: dict[str, int], machine: str) -> dict[str, Estimate]:
    """Return what is estimated for each kernel of ``model`` at ``sizes``, by the kernel's name."""
    options = {scop.name: KernelOptions(machine=machine) for scop in model.scops}
    found = (_estimates(item, sizes, machine) for item in compile_regions(model, options))
    return {each.kernel: each for estimates in found for each in estimates}


def _estimates(item: Compilation, sizes: dict[str, int], machine: str) -> list[Estimate]:
    assert item.scop is not None
    assert isinstance(item.result, RegionResult), item.result
    scop, result = lightened(item.scop), item.result
    private = result.order.scheduled.private
    return [estimate(scop, placed, private, sizes, load(machine)) for placed in result.placed]
