"""Which stand-in was called, for which machine, and where things are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import options

__all__ = ["Facts", "Tool", "mpi_words"]

_HOST_VECTOR_BYTES = 32


class Facts:
    """What the stand-ins have to know of a machine: lines of a name and words, written at installation."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as stream:
            lines = [line.rstrip("\n").split("\t") for line in stream]
        words = {line[0]: line[1:] for line in lines}
        self.features, self.defines = words["features"], words["defines"]
        self.flags, self.c_flags = words["flags"], words["c_flags"]
        self.assembly, self.include = words["assembly"][0], words["include"]
        self.cpes, self.ldm_bytes = int(words["cpes"][0]), int(words["ldm_bytes"][0])
        self.vector_bytes = int(words["vector_bytes"][0])
        self.simd_aligns, self.slave_cxx = words["simd_aligns"][0] == "1", words["slave_cxx"][0] == "1"


class Tool:
    """Who was called, for which machine (the path of its facts), and where things are."""

    def __init__(self, name: str, machine: str, home: str, include: str, root: str) -> None:
        self.name, self.home, self.include, self.root = name, home, include, root
        self.machine, self.facts = os.path.basename(machine), Facts(machine)
        self.cxx = name.endswith(("++", "CC", "cxx"))
        self.mpi = name.startswith("mpi")
        self.gcc = (
            os.environ.get("SWBUILD_EMU_CXX", "g++") if self.cxx else os.environ.get("SWBUILD_EMU_CC", "gcc")
        )

    def library(self, kind: str) -> str:
        return f"{self.home}/lib/libswemu-{self.machine}-{kind}.a"

    def headers(self) -> list[str]:
        """Return the options for the places of our headers."""
        return [word for folder in (*self.facts.include, self.include) for word in ("-isystem", folder)]

    def defines(self, line: options.CommandLine) -> list[str]:
        return self.side("slave" if line.role == "slave" else "host", line.simd)

    def side(self, role: str, simd: bool) -> list[str]:
        """Return the definitions that tell the machine and the side of it."""
        width = self.facts.vector_bytes if role == "slave" else _HOST_VECTOR_BYTES
        found = [f"-D__swemu_vector_bytes={width}", f"-D__swemu_{role}__=1", "-D__sw_64__=1"]
        found += ["-D__swemu_crts__=1"] if "crts" in self.facts.features else []
        found += [f"-D{word.format(role=role)}" for word in self.facts.defines]
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
