"""Every route with every generator under the oldest, an older and the newest CMake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from buildkit import Failed, Installation, call, once, shared_dir
from changes import SCENARIOS, CountedProject
from cmakekit import PACKAGE_ONLY, ROUTES, Configure, copy_project
from fakenode import FakeNode

pytestmark = pytest.mark.matrix

_GENERATORS = ("Ninja", "Unix Makefiles", "Ninja Multi-Config")

#: What is asked of PyPI.
_VERSIONS = {"3.20": "cmake==3.20.*", "3.25": "cmake==3.25.*", "newest": "cmake"}


@pytest.fixture(params=_VERSIONS)
def cmake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a CMake program."""
    requirement = _VERSIONS[request.param]

    def make(folder: Path) -> None:
        call([sys.executable, "-m", "venv", folder])
        try:
            call([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", requirement])
        except Failed as error:
            pytest.skip(f"{requirement} cannot be installed: {error}")

    return str(once(shared_dir(tmp_path_factory) / f"cmake-{request.param}", make) / "bin" / "cmake")


@pytest.mark.parametrize("generator", _GENERATORS)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("project", ["c_host", "cxx_host", "mpi_host", "two_manifests", "outputs"])
def test_projects(
    configured: Configure,
    installation: Installation,
    tmp_path: Path,
    cmake: str,
    generator: str,
    route: str,
    project: str,
) -> None:
    node = FakeNode(tmp_path / "node", installation.program)
    source = copy_project(project, tmp_path / "quellen für alle")
    build = configured(
        source, source=source, build=tmp_path / "b b", cmake=cmake, generator=generator, route=route,
        toolchain="sw26010-pro", path=(node.bin,),
    )  # fmt: skip
    build.build()
    slaves = [line for line in node.lines() if ".slave.c" in line and "-mslave" in line]
    hosts = [line for line in node.lines() if ".host.c" in line and "-mhost" in line]
    assert slaves and len(slaves) == len(hosts)
    node.clear()
    build.build()
    assert node.lines() == []


@pytest.mark.parametrize("generator", _GENERATORS)
def test_counts(
    configured: Configure, installation: Installation, tmp_path: Path, cmake: str, generator: str
) -> None:
    project = CountedProject(tmp_path / "source", installation, tmp_path / "package")
    node = FakeNode(tmp_path / "node", project.program)
    build = configured(
        project.folder, source=project.folder, cmake=cmake, generator=generator, toolchain="sw26010-pro",
        path=(node.bin,), SWBUILD_EXECUTABLE=str(node.swbuild),
    )  # fmt: skip
    node.clear()
    for name, change, expected in SCENARIOS:
        change(project)
        build.build(jobs=8)
        tally = node.tally()
        assert tally.numbers() == expected, f"{name}: {tally}"
        build.build(jobs=8)
        assert node.tally().numbers() == (0, 0, 0), f"built again after {name}"


@pytest.mark.parametrize("generator", _GENERATORS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_toolchain_that_hides_packages(
    configured: Configure,
    installation: Installation,
    tmp_path: Path,
    cmake: str,
    generator: str,
    route: str,
) -> None:
    node = FakeNode(tmp_path / "node", installation.program)
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text(PACKAGE_ONLY)
    build = configured(
        "mpi_host", cmake=cmake, generator=generator, route=route, toolchain=toolchain, path=(node.bin,),
        named=True,
    )  # fmt: skip
    node.clear()
    build.build()
    assert any(line.startswith("swgcc -mslave") for line in node.lines())


@pytest.mark.parametrize("generator", _GENERATORS)
@pytest.mark.parametrize("route", ROUTES)
def test_install_and_consume(
    configured: Configure,
    installation: Installation,
    tmp_path: Path,
    cmake: str,
    generator: str,
    route: str,
) -> None:
    node = FakeNode(tmp_path / "node", installation.program)
    library = configured(
        "installed_library", build=tmp_path / "library", cmake=cmake, generator=generator, route=route,
        toolchain="sw26010", path=(node.bin,),
    )  # fmt: skip
    library.build()
    prefix = tmp_path / "prefix"
    config = ["--config", "Debug"] if library.multi else []
    call([cmake, "--install", library.directory, "--prefix", prefix, *config], library.environment)
    consumer = configured(
        "consumer", source=copy_project("consumer", tmp_path / "c"), build=tmp_path / "b", cmake=cmake,
        generator=generator, route=route, toolchain="sw26010", path=(node.bin,), scaling_ROOT=str(prefix),
    )  # fmt: skip
    node.clear()
    consumer.build()
    assert any("-hybrid" in line and "libkernels.a" in line for line in node.lines())
