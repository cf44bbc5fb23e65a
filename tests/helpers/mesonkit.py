"""Set up and build projects with Meson."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from buildkit import Installation, call

from swbuild.buildsys.mesonfiles import machine_file
from swbuild.toolchain import Target

__all__ = ["MesonBuild", "Setup", "meson", "meson_program", "node_file"]

_MAIN = """\
project('{name}', 'c', meson_version: '>=1.1')

subdir('sunway')
executable('first', 'main.c', dependencies: kernels_dep)
executable('second', 'main.c', dependencies: kernels_dep)
"""


@dataclass
class MesonBuild:
    """A build directory that was set up."""

    source: Path
    directory: Path
    environment: dict[str, str]
    output: str

    def build(self, jobs: int = 8, check: bool = True) -> str:
        return call(["ninja", "-C", self.directory, "-j", str(jobs)], self.environment, check=check).stdout

    def run(self, name: str) -> str:
        return call([self.directory / name], self.environment).stdout


Setup = Callable[..., MesonBuild]


def meson_program() -> str:
    """Return Meson's program, beside this interpreter or on ``PATH``; skip without one."""
    found = shutil.which("meson", path=str(Path(sys.executable).parent)) or shutil.which("meson")
    if found is None:
        pytest.skip("meson is not installed")
    return found


def node_file(folder: Path, machine: str, mpi: bool = False) -> Path:
    """Write the cross file for a node of ``machine`` and return its path."""
    path = folder / f"{machine}.ini"
    path.write_text(machine_file(Target.NODE, machine, mpi=mpi), encoding="utf-8")
    return path


@pytest.fixture
def meson(tmp_path: Path, installation: Installation) -> Setup:
    """Return a function that gives a project of C files its Meson files and sets it up."""
    program = meson_program()

    def setup(
        source: Path,
        *arguments: str | Path,
        path: tuple[Path, ...] = (),
        build: Path | None = None,
        check: bool = True,
    ) -> MesonBuild:
        environment = installation.environment(*path)
        if not (source / "meson.build").exists():
            (source / "meson.build").write_text(_MAIN.format(name=source.name))
            call([installation.program, "init", "meson", "sunway.yaml"], environment, source)
        build = build or tmp_path / "build"
        done = call([program, "setup", build, source, *arguments], environment, check=check)
        return MesonBuild(source, build, environment, done.stdout)

    return setup
