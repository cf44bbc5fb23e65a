"""What is installed on this computer, as far as swbuild makes use of it."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from swbuild import __version__
from swbuild.classes import dataclass
from swbuild.diagnostics import SwbuildError
from swbuild.machine import load, machine_names
from swbuild.toolchain import LAUNCHERS, Role, Target, toolchain_for

__all__ = ["Item", "packages", "programs", "targets"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to look for; ``detail`` is its version or place, ``use`` what it is good for."""

    name: str
    there: bool
    detail: str
    use: str
    needed: bool = False

    def as_row(self) -> tuple[str, str, str, str]:
        """Return the cells of a table."""
        return self.name, "yes" if self.there else "MISSING" if self.needed else "no", self.detail, self.use

    def as_json(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {"name": self.name, "there": self.there, "detail": self.detail, "needed": self.needed}


_PACKAGES = (
    ("islpy", "polyhedral sets, schedules and code", True),
    ("pycparser", "reading C", True),
    ("pyyaml", "reading manifests", True),
    ("numpy", "comparing arrays", True),
    ("rich", "tables and progress", True),
    ("pytest", "the test plugin", False),
)

_PROGRAMS = (
    ("gcc", "preprocessing, serial references, the emulator", True),
    ("as", "the emulator's compilers", True),
    ("ld", "the emulator's link step", True),
    ("ar", "building the emulator, its link step", True),
    ("nm", "building the emulator", True),
    ("objcopy", "building the emulator, joining objects", True),
    ("g++", "host code in C++", False),
    ("clang", "a second opinion on generated C", False),
    ("cmake", "building projects", False),
    ("ninja", "building projects", False),
    ("meson", "building projects", False),
)


def packages() -> list[Item]:
    """Return the Python side."""
    found = [
        Item("swbuild", True, __version__, "this program", True),
        Item("python", True, platform.python_version(), "", True),
    ]
    return found + [_package(*entry) for entry in _PACKAGES]


def _package(name: str, use: str, needed: bool) -> Item:
    try:
        return Item(name, True, version(name), use, needed)
    except PackageNotFoundError:
        return Item(name, False, "", use, needed)


def programs() -> list[Item]:
    """Return the compilers and build tools of this computer."""
    return [_program(*entry) for entry in _PROGRAMS]


def _program(name: str, use: str, needed: bool) -> Item:
    path = shutil.which(name)
    return Item(name, path is not None, _version_line(path) if path else "", use, needed)


def _version_line(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return path
    return next(iter(done.stdout.splitlines()), path).strip()


def targets() -> list[Item]:
    """Return the targets: the emulator for each machine, the node compilers, the launchers."""
    found = [_emulator(machine) for machine in machine_names()]
    for machine in machine_names():
        tools = {
            role: tool.driver.split()[0] for role, tool in toolchain_for(Target.NODE, machine).tools.items()
        }
        missing = sorted({driver for driver in tools.values() if shutil.which(driver) is None})
        detail = f"not on PATH: {', '.join(missing)}" if missing else tools[Role.SLAVE]
        found.append(Item(f"node {machine}", not missing, detail, "the vendor's compilers"))
    for name in LAUNCHERS:
        command = LAUNCHERS[name].split()[0]
        path = "" if name == "local" else shutil.which(command)
        found.append(Item(f"launcher {name}", path is not None, path or "", "starting programs"))
    return found


def _emulator(machine: str) -> Item:
    name, use = f"emulator {machine}", f"{load(machine).cpes} emulated CPEs"
    try:
        return Item(name, True, toolchain_for(Target.EMULATOR, machine).path[0], use, True)
    except SwbuildError as error:
        return Item(name, False, error.diagnostics[0].message.splitlines()[0], use, True)
