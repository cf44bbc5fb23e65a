"""The files that a Meson project needs: the rules of a manifest's library, and machine files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from swbuild.buildsys.helpers import helper_dir
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import Tools, load, own_machines
from swbuild.toolchain import Target, toolchain_for
from swbuild.toolchain.launchers.template import PLACEHOLDERS

__all__ = ["kernels_file", "machine_file"]

_HEAD = "Made by 'swbuild init meson'; do not edit: run it again."
_ARCHIVER = "ar"


def kernels_file(manifest: Path, directory: Path, name: str) -> str:
    """Return a ``meson.build`` for ``directory`` that makes the library ``name`` of ``manifest``."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        what = f"`{name}` cannot be the name of a library and of Meson's variables"
        raise SwbuildError(Diagnostic("SW704", what, Span("--name"), "take a C identifier"))
    text = (helper_dir("meson") / "kernels.meson.in").read_text(encoding="utf-8")
    relative = Path(os.path.relpath(manifest, directory)).as_posix()
    values = {"head": _HEAD, "name": name, "manifest": relative.replace("'", "\\'")}
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def machine_file(target: Target, machine: str, *, mpi: bool = False) -> str:
    """Return a native file (emulator) or cross file (node) for ``machine``."""
    chain = toolchain_for(target, machine)
    folder = chain.path[0] + "/" if chain.path else ""
    c, cxx = _drivers(machine, mpi)
    sections = [
        ("binaries", _binaries(target, machine, folder + c, folder + cxx)),
        ("built-in options", _linking(machine)),
        ("properties", _properties(target, machine, folder + _drivers(machine, False)[0])),
    ]
    if target is Target.NODE:
        sections.append(
            ("host_machine", {"system": "linux", "cpu_family": "sw_64", "cpu": "sw_64", "endian": "little"})
        )
    return "\n".join(_section(name, values) for name, values in sections)


def _drivers(machine: str, mpi: bool) -> tuple[str, str]:
    compilers = load(machine).tools.compilers
    return (compilers.mpi_c, compilers.mpi_cxx) if mpi else (compilers.c, compilers.cxx)


def _binaries(target: Target, machine: str, c: str, cxx: str) -> dict[str, object]:
    found: dict[str, object] = {"c": c, "cpp": cxx, "ar": _ARCHIVER}
    if target is Target.NODE:
        found["exe_wrapper"] = launch_words(machine)
    return found


def launch_words(machine: str) -> list[str]:
    """Return the launcher's words ahead of the program, with the usual sizes."""
    chip = load(machine)
    words = ["bsub", "-b", "-I", "-q", "q_sw_expr", "-n", "1", "-cgsp", str(chip.cpes), "-host_stack", "1024"]
    return [*words, "-share_size", "4096", *(word.format(**PLACEHOLDERS) for word in chip.tools.launch)]


def _linking(machine: str) -> dict[str, object]:
    """Where a link has no role by default, everything is linked in the hybrid one.

    The role of compiling is not among the built-in options: Meson gives those to linking, too.  It
    comes with the dependency.
    """
    tools = load(machine).tools
    flags = [flag.text for flag in tools.link.flags]
    return {"c_link_args": flags, "cpp_link_args": flags} if tools.links_hybrid else {}


def _properties(target: Target, machine: str, slave: str) -> dict[str, object]:
    found: dict[str, object] = {"sunway_machine": machine, "sunway_target": target.value}
    found["sunway_slave"] = [slave]
    found["sunway_links_hybrid"] = load(machine).tools.links_hybrid
    if machine not in own_machines():
        found.update(_roles(load(machine).tools))
    if target is Target.NODE:
        found["needs_exe_wrapper"] = True
    return found


def _roles(tools: Tools) -> dict[str, object]:
    """Return the flags of a machine that the subproject does not know."""
    chosen = ("-O", "-std=")
    return {
        "sunway_host_flags": [flag.text for flag in tools.host.flags if not flag.text.startswith(chosen)],
        "sunway_slave_flags": [flag.text for flag in tools.slave.flags if not flag.text.startswith("-O")],
        "sunway_link_flags": [flag.text for flag in tools.link.flags],
        "sunway_libraries": list(tools.libraries),
    }


def _section(name: str, values: dict[str, object]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_value(value)}\n" for key, value in values.items())])


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert isinstance(value, Sequence)
    return "[" + ", ".join(map(_value, value)) + "]"
