"""Configure and build the little projects under ``tests/cmake/projects``."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call, once, shared_dir

__all__ = ["PACKAGE_ONLY", "ROUTES", "Build", "Configure", "configured", "copy_project"]

PROJECTS = ROOT / "tests" / "cmake" / "projects"

#: How a project may find the CMake package.
ROUTES = ("wheel", "subdirectory", "vendored")

#: A toolchain file of a site's own, which hides what is not in the target's file system.
PACKAGE_ONLY = """\
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR sw_64)
set(CMAKE_FIND_ROOT_PATH /nowhere)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(SWBUILD_TARGET node)
set(SWBUILD_MACHINE sw26010-pro)
set(CMAKE_C_COMPILER swgcc)
"""


@dataclass
class Build:
    """A configured build directory."""

    cmake: str
    source: Path
    directory: Path
    environment: dict[str, str]
    output: str = ""
    generator: str = "Ninja"
    package: Path = field(default_factory=Path)

    @property
    def multi(self) -> bool:
        return "Multi" in self.generator

    def build(self, *targets: str, config: str = "Debug", jobs: int = 8, check: bool = True) -> str:
        """Build and return what was printed."""
        command = [self.cmake, "--build", str(self.directory), "-j", str(jobs)]
        command += ["--config", config] if self.multi else []
        for target in targets:
            command += ["--target", target]
        return call(command, self.environment, check=check).stdout

    def program(self, name: str, config: str = "Debug") -> Path:
        return self.directory / config / name if self.multi else self.directory / name

    def run(self, name: str, config: str = "Debug") -> str:
        """Run a program that was built and return what it printed."""
        return call([self.program(name, config)], self.environment).stdout

    def cached(self, name: str) -> str:
        """Return the value of a cache variable."""
        text = (self.directory / "CMakeCache.txt").read_text(encoding="utf-8")
        match = re.search(rf"^{re.escape(name)}:\w+=(.*)$", text, re.MULTILINE)
        return match[1] if match else ""

    def ctest(self, *arguments: str) -> str:
        ctest = os.path.join(os.path.dirname(shutil.which(self.cmake) or ""), "ctest")
        return call([ctest, "--output-on-failure", *arguments], self.environment, self.directory).stdout


Configure = Callable[..., Build]


def copy_project(name: str, target: Path) -> Path:
    """Copy a little project to ``target`` and return that."""
    shutil.copytree(PROJECTS / name, target)
    return target


@pytest.fixture
def configured(
    tmp_path: Path, installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Configure:
    """Return a function that configures a little project.

    Toolchain ``None`` is none at all; a name is one of the package's toolchain files.  ``named`` says
    where the package is, as a toolchain file that hides packages makes necessary.  By the route ``fetched``
    the project itself fetches swbuild; there is no toolchain file then.
    """

    def vendored() -> Path:
        def make(folder: Path) -> None:
            call([installation.program, "vendor", "cmake", folder])

        return once(shared_dir(tmp_path_factory) / "vendored", make)

    def configure(
        project: str | Path,
        *arguments: str,
        route: str = "wheel",
        generator: str = "Ninja",
        cmake: str = "cmake",
        toolchain: str | Path | None = "emulator",
        source: Path | None = None,
        build: Path | None = None,
        path: tuple[Path, ...] = (),
        check: bool = True,
        named: bool = False,
        **variables: str,
    ) -> Build:
        if source is None:
            source = copy_project(project, tmp_path / "source") if isinstance(project, str) else project
        build = build or tmp_path / "build"
        environment = installation.environment(*path)
        package, found = _package(route, installation, vendored, build)
        command: list[str | Path] = [cmake, "-S", source, "-B", build, "-G", generator, *found, *arguments]
        if isinstance(toolchain, str):
            toolchain = package / "toolchains" / f"{toolchain}.cmake"
        if toolchain is not None:
            command.append(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
        if named and route != "subdirectory":
            variables["swbuild_DIR"] = str(package)
        command += [f"-D{name}={value}" for name, value in variables.items()]
        output = call(command, environment, check=check).stdout
        made = Build(cmake, source, build, environment, output, generator, package)
        if check:
            assert Path(made.cached("swbuild_DIR")) == package
        return made

    return configure


def _package(
    route: str, installation: Installation, vendored: Callable[[], Path], build: Path
) -> tuple[Path, list[str]]:
    """Return where the package is by this route, and the arguments that make CMake find it."""
    if route == "fetched":
        return build / "_deps" / "swbuild-src" / "cmake", []
    if route == "wheel":
        return installation.prefix / "share" / "cmake" / "swbuild", []
    if route == "subdirectory":
        include = PROJECTS.parent / "as_subdirectory.cmake"
        return ROOT / "cmake", [f"-DCMAKE_PROJECT_INCLUDE={include}", f"-DSWBUILD_SOURCES={ROOT}"]
    folder = vendored()
    return folder / "swbuild", [f"-DCMAKE_PREFIX_PATH={folder}"]
