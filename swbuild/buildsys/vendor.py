"""Copy the helpers into a user's source tree, for builds that have nothing but the program on ``PATH``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from swbuild import __version__
from swbuild.buildsys.helpers import helper_dir
from swbuild.pipeline.outputs import Output
from swbuild.pipeline.writing import write_all

__all__ = ["advice", "vendor"]

_SUFFIXES = (".cmake", ".cmake.in", ".build", "meson_options.txt")
_LEFT_OUT = ("swbuildSubdirectory.cmake", "__init__.py")

#: The directory is there: nothing is fetched.
_WRAP = """\
[wrap-file]
directory = swbuild

[provide]
swbuild = swbuild_dep
"""


def vendor(kind: str, directory: Path) -> Path:
    """Copy the helpers for ``kind`` (``cmake`` or ``meson``) to ``directory/swbuild`` and return that.

    Files that are already there with the same text stay untouched.
    """
    target = directory / "swbuild"
    source = helper_dir(kind) / ("subproject" if kind == "meson" else "")
    for folder in sorted({path.parent for path in _files(source)}):
        texts = [Output(p.name, p.read_text(encoding="utf-8")) for p in _files(source) if p.parent == folder]
        write_all(target / folder.relative_to(source), texts)
    if kind == "cmake":
        write_all(target, [Output("swbuildVersion.cmake", f'set(PACKAGE_VERSION "{__version__}")\n')])
    else:
        write_all(target, [Output("VERSION", f"{__version__}\n")])
        write_all(directory, [Output("swbuild.wrap", _WRAP)])
    return target


def _files(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        if path.is_file() and path.name.endswith(_SUFFIXES) and path.name not in _LEFT_OUT:
            yield path


def advice(kind: str, target: Path) -> str:
    """Return the lines that a user writes next."""
    place = os.fspath(target)
    if kind == "cmake":
        return (
            f"list(APPEND CMAKE_PREFIX_PATH ${{CMAKE_CURRENT_SOURCE_DIR}}/{place})\n"
            "find_package(swbuild CONFIG REQUIRED)"
        )
    return "swbuild_dep = subproject('swbuild').get_variable('swbuild_dep')"
