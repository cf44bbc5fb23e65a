"""The exact command lines per role on a node: what the vendor's manuals and published builds use."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call
from cmakekit import Configure
from fakenode import FakeNode

from swbuild.buildsys.cmakefiles import MACHINES_FILE, machines_text
from swbuild.machine import load, machine_names
from swbuild.toolchain import Role

_GOLDEN = Path(__file__).parent / "golden"


def _normal(line: str, folder: Path) -> str:
    """Return a command line without the paths of this run and without the dependency file."""
    line = line.replace(os.fspath(folder), "TMP")
    return re.sub(r" -MD -MT \S+ -MF \S+", "", line)


@pytest.mark.parametrize("mpi", [False, True], ids=["plain", "mpi"])
@pytest.mark.parametrize("machine", machine_names())
def test_command_lines(
    configured: Configure, installation: Installation, tmp_path: Path, machine: str, mpi: bool
) -> None:
    node = FakeNode(tmp_path / "node", installation.program)
    build = configured(
        "mpi_host", toolchain=machine, path=(node.bin,), SWBUILD_MPI="ON" if mpi else "OFF",
        CMAKE_BUILD_TYPE="Release",
    )  # fmt: skip
    node.clear()
    build.build(jobs=1)
    commands = sorted(_normal(line, tmp_path) for line in node.lines() if not line.startswith("swbuild"))
    golden = _GOLDEN / f"{machine}-{'mpi' if mpi else 'plain'}.txt"
    text = "\n".join(commands) + "\n"
    if os.environ.get("SWBUILD_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("machine", machine_names())
def test_programs_run_through_the_batch_system(
    configured: Configure, installation: Installation, tmp_path: Path, machine: str
) -> None:
    node = FakeNode(tmp_path / "node", installation.program)
    build = configured("c_host", toolchain=machine, path=(node.bin,))
    build.build()
    node.clear()
    build.ctest("-R", "^app$")
    cache = " -cache_size 0" if machine == "sw26010-pro" else ""
    options = f"-b -I -q q_sw_expr -n 1 -cgsp 64 -host_stack 1024 -share_size 4096{cache}"
    assert node.lines() == [f"bsub {options} {build.program('app')}"]


def test_roles_are_those_of_the_toolchain_table() -> None:
    """CMake, Meson and ``swbuild check`` compile alike."""
    page = ROOT / "cmake" / "modules" / MACHINES_FILE.name
    assert page.read_text(encoding="utf-8") == machines_text(), "run 'swbuild schema --update'"
    script = ROOT / "tests" / "cmake" / "print_roles.cmake"
    printed = call(["cmake", f"-DROLES={ROOT}/cmake/modules/SwbuildRoles.cmake", "-P", script]).stdout
    by_cmake = dict(line.split(": ", 1) for line in printed.splitlines())
    for machine in machine_names():
        tools = load(machine).tools
        optimise = by_cmake["SWBUILD_SLAVE_OPTIMISE"].split(";")
        standard = by_cmake["SWBUILD_HOST_STANDARD"].split(";")

        def listed(kind: str, machine: str = machine) -> list[str]:
            return by_cmake[f"SWBUILD_{machine}_{kind}"].split(";")

        def flags(role: Role, machine: str = machine) -> list[str]:
            return [flag.text for flag in getattr(load(machine).tools, role.value).flags]

        assert listed("C_COMPILER") == [tools.slave.driver]
        assert listed("SLAVE_FLAGS") + optimise == flags(Role.SLAVE)
        assert listed("HOST_FLAGS") + standard + optimise == flags(Role.HOST)
        assert listed("LINK_FLAGS") == flags(Role.LINK)
        assert [f"-l{name}" for name in listed("LIBRARIES")] == list(load(machine).tools.libraries)
    subproject = (ROOT / "meson" / "subproject" / "meson.build").read_text()
    for machine in machine_names():
        for kind in ("SLAVE_FLAGS", "HOST_FLAGS"):
            words = by_cmake[f"SWBUILD_{machine}_{kind}"].split(";")
            quoted = ", ".join(f"'{word}'" for word in words)
            assert f"'{machine}': [{quoted}]" in subproject
