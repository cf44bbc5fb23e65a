"""Model time of the kernels of a generated program, by replay, beside what was estimated for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swbuild.attempt import RegionResult
from swbuild.compilation import Compilation, compile_regions
from swbuild.emulator import environment
from swbuild.emulator.model.host_report import host_lines
from swbuild.emulator.model.report import Analysis, analyse
from swbuild.frontend import SourceModel
from swbuild.options import KernelOptions
from swbuild.planning.estimates import Estimate, estimate

__all__ = ["Timed", "estimates_of", "timed", "timed_on_host"]

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
    _, for_host, for_slave, hybrid = _DRIVERS[machine]
    files = [(for_host, source) for source in host] + [(for_slave, source) for source in slave]
    (result,) = _profiled(machine, folder, files, hybrid, words).replays
    found: dict[str, Timed] = {}
    for kernel in result.kernels:
        before = found.get(kernel.name, Timed(0, 0.0))
        found[kernel.name] = Timed(before.launches + 1, before.cycles + kernel.end - kernel.begin)
    return found


def timed_on_host(machine: str, source: Path, words: Sequence[str] = ()) -> dict[int, float]:
    """Return the cycles of each line of a program that runs on the host alone."""
    _, role, _, _ = _DRIVERS[machine]
    analysis = _profiled(machine, source.parent, [(role, source)], role, words)
    lines = (line for line in host_lines(analysis) if Path(line.file).name == source.name)
    return {line.line: line.cycles for line in lines}


def _profiled(
    machine: str, folder: Path, files: Sequence[tuple[str, Path]], link: str, words: Sequence[str]
) -> Analysis:
    """Build a program of ``files``, each with its role, run it, and return its analysis."""
    driver, _, for_slave, _ = _DRIVERS[machine]
    objects = [f"{source.name}.o" for _, source in files]
    for (role, source), target in zip(files, objects, strict=True):
        flags = ["-O2", "-msimd"] if role == for_slave else ["-O2"]
        _run(machine, folder, driver, role, *flags, *words, "-c", source, "-o", target)
    _run(machine, folder, driver, link, *objects, "-o", "program", "-lm")
    _run(machine, folder, sys.executable, "-m", "swbuild", "run", "--profile", "p.json", "./program")
    return analyse(folder / "p.json")


def _run(machine: str, folder: Path, *words: object) -> None:
    variables = {**os.environ, **environment(machine), "SWBUILD_EMU_COUNTED_CODE": "1"}
    subprocess.run(
        [str(word) for word in words], cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL
    )


def estimates_of(model: SourceModel, sizes: dict[str, int], options: KernelOptions) -> dict[str, Estimate]:
    """Return what is estimated for each kernel of ``model`` at ``sizes``, by the kernel's name."""
    compiled = compile_regions(model, {scop.name: options for scop in model.scops})
    found = (_estimates(item, sizes, options) for item in compiled)
    return {each.kernel: each for estimates in found for each in estimates}


def _estimates(item: Compilation, sizes: dict[str, int], options: KernelOptions) -> list[Estimate]:
    assert isinstance(item.result, RegionResult), item.result
    result = item.result
    scop, private = result.assembled.code.scop, result.order.scheduled.private
    return [estimate(scop, placed, private, sizes, options) for placed in result.placed]
