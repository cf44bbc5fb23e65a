"""A project with two kernels, and the changes after which builds are counted."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from buildkit import Installation
from cmakekit import copy_project

__all__ = ["SCENARIOS", "CountedProject"]


class CountedProject:
    """The project ``counted``, and a copy of swbuild's package that can be upgraded."""

    def __init__(self, folder: Path, installation: Installation, package: Path) -> None:
        self.folder = copy_project("counted", folder)
        installed = next((installation.prefix / "lib").glob("python3*/site-packages/swbuild"))
        shutil.copytree(installed, package / "swbuild")
        self.package = package / "swbuild"
        self.program = package / "bin" / "swbuild"
        self.program.parent.mkdir()
        python = installation.prefix / "bin" / "python"
        self.program.write_text(f"#!/bin/sh\nPYTHONPATH='{package}' exec '{python}' -m swbuild \"$@\"\n")
        self.program.chmod(0o755)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace ``old``, which occurs once, in a file of the project."""
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} in {name}"
        time.sleep(0.02)  # the clock of file systems is coarse
        path.write_text(text.replace(old, new))

    def touch(self, path: Path) -> None:
        time.sleep(0.02)
        os.utime(path)


def _nothing(project: CountedProject) -> None:
    pass


def _header_touched(project: CountedProject) -> None:
    project.touch(project.folder / "scale.h")


def _comment_edited(project: CountedProject) -> None:
    project.edit("scale.c", "/* y := a x */", "/* y is a times x */")


def _loop_edited(project: CountedProject) -> None:
    project.edit("scale.c", "y[i] = a * x[i];", "y[i] = a * x[i] + 1;")


def _manifest_comment(project: CountedProject) -> None:
    project.edit("sunway.yaml", "# two kernels", "# two small kernels")


def _check_edited(project: CountedProject) -> None:
    project.edit("sunway.yaml", "{n: [5, 64]}", "{n: [5, 65]}")


def _option_edited(project: CountedProject) -> None:
    project.edit("sunway.yaml", "tile: [64]", "tile: [32]")


def _kernel_added(project: CountedProject) -> None:
    project.edit("sunway.yaml", "sources:\n", "sources:\n  - third.c\n")


def _kernel_removed(project: CountedProject) -> None:
    project.edit("sunway.yaml", "  - third.c\n", "")


def _reinstalled(project: CountedProject) -> None:
    project.touch(project.package / "__init__.py")


def _upgraded(project: CountedProject) -> None:
    path = project.package / "__init__.py"
    time.sleep(0.02)
    text = path.read_text()
    path.write_text(text.replace('__version__ = "', '__version__ = "9.'))


#: Name, change, and the expected runs of the generator, the host compiler and the slave compiler.
#: The files of a manifest share the LDM, so that all are generated again when one comes or goes.
#: A header that the generator read is included by the host file, so that one is compiled; an upgrade changes
#: the first line of every generated file.
SCENARIOS: tuple[tuple[str, Callable[[CountedProject], None], tuple[int, int, int]], ...] = (
    ("first build", _nothing, (2, 2, 2)),
    ("no change", _nothing, (0, 0, 0)),
    ("header touched", _header_touched, (1, 1, 0)),
    ("comment edited", _comment_edited, (1, 1, 0)),
    ("loop edited", _loop_edited, (1, 1, 1)),
    ("comment in the manifest", _manifest_comment, (0, 0, 0)),
    ("sizes to check edited", _check_edited, (0, 0, 0)),
    ("option of one kernel edited", _option_edited, (1, 0, 1)),
    ("kernel added", _kernel_added, (3, 1, 1)),
    ("kernel removed", _kernel_removed, (2, 0, 0)),
    ("same version installed again", _reinstalled, (2, 0, 0)),
    ("another version installed", _upgraded, (2, 2, 2)),
)
