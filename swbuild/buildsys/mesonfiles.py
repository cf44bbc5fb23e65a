"""The files that a Meson project needs: the rules of a manifest's library, and machine files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from swbuild.buildsys.helpers import helper_dir
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.options import Machine
from swbuild.toolchain import Target, toolchain_for

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


def machine_file(target: Target, machine: Machine, *, mpi: bool = False) -> str:
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


def _drivers(machine: Machine, mpi: bool) -> tuple[str, str]:
    table = {
        (Machine.SW26010, False): ("sw5cc", "sw5CC"),
        (Machine.SW26010, True): ("mpicc", "mpiCC"),
        (Machine.SW26010_PRO, False): ("swgcc", "swg++"),
        (Machine.SW26010_PRO, True): ("mpicc", "mpicxx"),
    }
    return table[machine, mpi]


def _binaries(target: Target, machine: Machine, c: str, cxx: str) -> dict[str, object]:
    found: dict[str, object] = {"c": c, "cpp": cxx, "ar": _ARCHIVER}
    if target is Target.NODE:
        found["exe_wrapper"] = launch_words(machine)
    return found


def launch_words(machine: Machine) -> list[str]:
    """Return the launcher's words ahead of the program, with the usual sizes."""
    words = ["bsub", "-b", "-I", "-q", "q_sw_expr", "-n", "1", "-cgsp", "64", "-host_stack", "1024"]
    return [*words, "-share_size", "4096", *(["-cache_size", "0"] if machine is Machine.SW26010_PRO else [])]


def _linking(machine: Machine) -> dict[str, object]:
    """On the SW26010 a link has no role by default, so that everything is linked in the hybrid one.

    The role of compiling is not among the built-in options: Meson gives those to linking, too.  It
    comes with the dependency.
    """
    return {"c_link_args": ["-hybrid"], "cpp_link_args": ["-hybrid"]} if machine is Machine.SW26010 else {}


def _properties(target: Target, machine: Machine, slave: str) -> dict[str, object]:
    found: dict[str, object] = {"sunway_machine": machine.value, "sunway_target": target.value}
    found["sunway_slave"] = [slave]
    found["sunway_links_hybrid"] = machine is Machine.SW26010
    if target is Target.NODE:
        found["needs_exe_wrapper"] = True
    return found


def _section(name: str, values: dict[str, object]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_value(value)}\n" for key, value in values.items())])


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert isinstance(value, Sequence)
    return "[" + ", ".join(map(_value, value)) + "]"
