"""What CMake has to know of the machines: compilers, flags by role, libraries, the launcher's options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from swbuild.machine import Tool, load, own_machines
from swbuild.toolchain.launchers.template import PLACEHOLDERS

__all__ = ["MACHINES_FILE", "machine_text", "machines_text"]

#: In a checkout: the file that CMake reads without asking swbuild.
MACHINES_FILE = Path(__file__).parents[2] / "cmake" / "modules" / "SwbuildMachines.cmake"

_HEAD = """\
# The machines that come with swbuild.  Written by 'swbuild schema --update' from their files; do not edit.
"""


def machines_text() -> str:
    """Return the text of :data:`MACHINES_FILE`."""
    return "".join([f"{_HEAD}set(SWBUILD_MACHINES)\n", *map(machine_text, own_machines())])


def machine_text(name: str) -> str:
    """Return what CMake has to know of one machine, as commands."""
    lines = [f"set(SWBUILD_{name}_{key}{value})" for key, value in _values(name)]
    return "\n".join([f"\nlist(APPEND SWBUILD_MACHINES {name})", *lines]) + "\n"


def _values(name: str) -> Iterator[tuple[str, str]]:
    chip = load(name)
    tools = chip.tools
    for key in ("c", "cxx", "mpi_c", "mpi_cxx"):
        yield f"{key.upper()}_COMPILER", f" {getattr(tools.compilers, key)}"
    yield "KNOWN_COMPILERS", _words(chip.emulator.compilers)
    yield "HOST_FLAGS", _flags(tools.host, "-O", "-std=")
    yield "SLAVE_FLAGS", _flags(tools.slave, "-O")
    yield "LINK_FLAGS", _flags(tools.link)
    yield "LINKS_HYBRID", f" {str(tools.links_hybrid).upper()}"
    yield "LIBRARIES", _words(library.removeprefix("-l") for library in tools.libraries)
    yield "LAUNCH", _words(word.format(**PLACEHOLDERS) for word in tools.launch)
    yield "CPES", f" {chip.cpes}"


def _flags(tool: Tool, *without: str) -> str:
    """Return the flags of a role but those that CMake chooses itself."""
    return _words(flag.text for flag in tool.flags if not (without and flag.text.startswith(without)))


def _words(words: Iterable[str]) -> str:
    return "".join(f" {word}" if re.fullmatch(r"[\w.+=-]+", word) else f' "{word}"' for word in words)
