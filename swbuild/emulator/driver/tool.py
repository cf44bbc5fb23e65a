"""Which stand-in was called, for which machine, and where things are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import options

__all__ = ["Tool", "mpi_words"]

_MACHINES = {"sw26010": "26010", "sw26010-pro": "26011"}
_OWN_MACHINE = {
    "sw5cc": "sw26010",
    "sw5CC": "sw26010",
    "sw5c++": "sw26010",
    "swcc": "sw26010",
    "swCC": "sw26010",
    "sw5cc.new": "sw26010",
    "sw9gcc": "sw26010-pro",
    "swgcc": "sw26010-pro",
    "sw9g++": "sw26010-pro",
    "swg++": "sw26010-pro",
}


class Tool:
    """Who was called, for which machine, and where things are."""

    def __init__(self, name: str, machine: str, home: str, include: str, root: str) -> None:
        self.name, self.home, self.include, self.root = name, home, include, root
        self.machine = _OWN_MACHINE.get(name, machine)
        self.cxx = name.endswith(("++", "CC", "cxx"))
        self.mpi = name.startswith("mpi")
        self.gcc = (
            os.environ.get("SWBUILD_EMU_CXX", "g++") if self.cxx else os.environ.get("SWBUILD_EMU_CC", "gcc")
        )

    def library(self, kind: str) -> str:
        return f"{self.home}/lib/libswemu-{self.machine}-{kind}.a"

    def ldm_bytes(self) -> int:
        """Return the size of the machine's LDM."""
        with open(f"{self.home}/lib/ldm-{self.machine}", encoding="utf-8") as stream:
            return int(stream.read())

    def defines(self, line: options.CommandLine) -> list[str]:
        return self.side("slave" if line.role == "slave" else "host", line.simd)

    def side(self, role: str, simd: bool) -> list[str]:
        """Return the definitions that tell the machine and the side of it."""
        found = [f"-D__swemu_machine={_MACHINES[self.machine]}", f"-D__swemu_{role}__=1", "-D__sw_64__=1"]
        if self.machine == "sw26010-pro":
            found.append(f"-D__sw_{role}__=1")
        if simd:
            found.append(f"-D_SIMD_{role.upper()}=1")
        return found


def mpi_words(tool: Tool, stage: str, asked: bool = False) -> list[str]:
    """Return the words that the installed MPI adds when compiling (or linking); none without an MPI."""
    if not tool.mpi and not asked:
        return []
    wrapper = find_mpi("mpicxx" if tool.cxx else "mpicc")
    if not wrapper:
        if stage == "link":
            print(
                f"{tool.name}: note: no MPI is installed here (tried Open MPI); linking without it",
                file=sys.stderr,
            )
        return []
    import subprocess

    shown = subprocess.run([wrapper, f"--showme:{stage}"], capture_output=True, text=True, check=False)
    return shown.stdout.split() if shown.returncode == 0 else []


def find_mpi(name: str) -> str:
    """Return the real MPI compiler on PATH that is not one of the stand-ins."""
    own = f"{os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))}/"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for candidate in (f"{folder}/{name}.openmpi", f"{folder}/{name}"):
            if os.access(candidate, os.X_OK) and not os.path.realpath(candidate).startswith(own):
                return candidate
    return ""
