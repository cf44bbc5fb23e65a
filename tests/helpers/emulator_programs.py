"""Build and run little programs with the emulator's stand-ins."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swbuild.codegen.unit import GeneratedUnit
from swbuild.emulator import toolchain_dir

__all__ = [
    "Outcome",
    "build",
    "build_generated",
    "call",
    "compile_role",
    "environment_for",
    "launch",
    "run_serially",
]

_DRIVERS = {
    "sw26010": ("sw5cc", "-host", "-slave", "-hybrid"),
    "sw26010-pro": ("swgcc", "-mhost", "-mslave", "-mhybrid"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit status (negative: the signal) and what was written."""

    status: int
    out: str
    err: str


def environment_for(machine: str, **extra: str) -> dict[str, str]:
    """Return this process's environment, free of emulator settings, with the stand-ins first on PATH."""
    base = {k: v for k, v in os.environ.items() if not k.startswith("SWBUILD_EMU_")}
    return {**base, "PATH": f"{toolchain_dir(machine)}{os.pathsep}{base['PATH']}", **extra}


def call(words: Sequence[str], folder: Path, environment: dict[str, str], limit: float = 120) -> Outcome:
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def compile_role(machine: str, role: str, source: Path, target: Path, flags: Sequence[str] = ()) -> Outcome:
    """Compile one file as host or slave code (the file sees -DSLAVE in the latter case)."""
    driver, host, slave, _ = _DRIVERS[machine]
    words = [
        driver,
        slave if role == "slave" else host,
        *flags,
        "-c",
        source.name,
        "-o",
        str(target),
        "-I",
        str(source.parent),
    ]
    words += ["-DSLAVE"] if role == "slave" else []
    return call(words, source.parent, environment_for(machine))


def build(machine: str, source: Path, folder: Path, flags: Sequence[str] = ("-O1", "-std=gnu99")) -> Outcome:
    """Build ``folder/app`` from one file that holds both roles; the first step that fails is the outcome."""
    for role in ("host", "slave"):
        done = compile_role(machine, role, source, folder / f"{role}.o", [*flags, "-msimd"])
        if done.status:
            return done
    driver, _, _, hybrid = _DRIVERS[machine]
    return call([driver, hybrid, "host.o", "slave.o", "-o", "app"], folder, environment_for(machine))


def build_generated(machine: str, unit: GeneratedUnit, folder: Path) -> None:
    """Write a generated unit into ``folder``, whose only program it is, and build ``app`` from it."""
    assert unit.slave is not None
    for file in (unit.host, unit.slave, unit.header):
        (folder / file.name).write_text(file.text, encoding="utf-8")
    driver, host, slave, hybrid = _DRIVERS[machine]
    for words in (
        [driver, host, "-O1", "-Wall", "-Werror", "-c", unit.host.name, "-o", "host.o"],
        [driver, slave, "-O1", "-msimd", "-c", unit.slave.name, "-o", "slave.o"],
        [driver, hybrid, "host.o", "slave.o", "-o", "app"],
    ):
        done = call(words, folder, environment_for(machine))
        assert not done.status, done.err


def run_serially(source: Path) -> str:
    """Return what the program of one C file prints where no region is offloaded."""
    program = source.with_suffix(".serial")
    subprocess.run(["gcc", "-O1", "-w", "-o", str(program), str(source)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def launch(
    machine: str, folder: Path, mode: str = "eager", arguments: Sequence[str] = (), **extra: str
) -> Outcome:
    """Run ``folder/app`` in a completion mode, or ``checked``."""
    settings = {"SWBUILD_EMU_CHECKED": "1"} if mode == "checked" else {"SWBUILD_EMU_DMA": mode}
    settings["SWBUILD_EMU_HANG_SECONDS"] = "1"
    return call(["./app", *arguments], folder, environment_for(machine, **{**settings, **extra}))
