"""The build machine is not the target machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from buildkit import Installation
from cmakekit import PACKAGE_ONLY, Configure, copy_project
from fakenode import FakeNode


def _node(tmp_path: Path, installation: Installation) -> FakeNode:
    return FakeNode(tmp_path / "node", installation.program)


def _toolchain(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "toolchain.cmake"
    path.write_text(text)
    return path


def test_a_toolchain_that_hides_the_package(
    configured: Configure, installation: Installation, tmp_path: Path
) -> None:
    """A toolchain file of a site's own: the package must be named, then all is as ever."""
    node = _node(tmp_path, installation)
    toolchain = _toolchain(tmp_path, PACKAGE_ONLY)
    source = copy_project("mpi_host", tmp_path / "source")
    hidden = configured(source, source=source, toolchain=toolchain, path=(node.bin,), check=False)
    assert "Could not find a package configuration file" in hidden.output
    package = installation.prefix / "share/cmake/swbuild"
    build = configured(
        source, source=source, toolchain=toolchain, path=(node.bin,), build=tmp_path / "named",
        swbuild_DIR=str(package),
    )  # fmt: skip
    node.clear()
    build.build()
    assert any(line.startswith("swgcc -mslave") for line in node.lines())
    host = next(line for line in node.lines() if "scale.host.c" in line and " -c " in line)
    assert "-mhost" in host, "no toolchain file of ours gives it"


def test_find_root_path_both(configured: Configure, installation: Installation, tmp_path: Path) -> None:
    node = _node(tmp_path, installation)
    source = copy_project("mpi_host", tmp_path / "source")
    text = (source / "CMakeLists.txt").read_text()
    (source / "CMakeLists.txt").write_text(text.replace("REQUIRED", "REQUIRED CMAKE_FIND_ROOT_PATH_BOTH"))
    toolchain = _toolchain(tmp_path, PACKAGE_ONLY)
    configured(source, source=source, toolchain=toolchain, path=(node.bin,))


@pytest.mark.skipif(
    not (shutil.which("alpha-linux-gnu-gcc") and shutil.which("qemu-alpha")),
    reason="alpha-linux-gnu-gcc or qemu-alpha is not installed",
)
def test_a_real_cross_build(configured: Configure, tmp_path: Path) -> None:
    """The host role is a cross compiler and programs run under an emulator of that processor."""
    toolchain = _toolchain(
        tmp_path,
        "set(CMAKE_SYSTEM_NAME Linux)\n"
        "set(CMAKE_SYSTEM_PROCESSOR alpha)\n"
        "set(CMAKE_C_COMPILER alpha-linux-gnu-gcc)\n"
        "set(CMAKE_CROSSCOMPILING_EMULATOR qemu-alpha -L /usr/alpha-linux-gnu)\n"
        "set(SWBUILD_TARGET host)\n",
    )
    build = configured("c_host", toolchain=toolchain)
    build.build()
    assert build.program("app").read_bytes()[18:20] == b"\x26\x90", "an ELF file for Alpha"
    assert "100% tests passed, 0 tests failed out of 1" in build.ctest("-R", "^app$")
    assert (build.directory / "kernels.sunway/scale.report.json").is_file()
