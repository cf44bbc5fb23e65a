"""Which machines there are: one file each, in the package's directory and in those of the user.

``SWBUILD_MACHINES`` lists further directories of machine files, as ``PATH`` does.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = [
    "DEFAULT_MACHINE",
    "further_machines",
    "further_places",
    "machine_file",
    "machine_names",
    "own_machines",
]

#: The machine where nobody says which.
DEFAULT_MACHINE = "sw26010"

_OWN = Path(__file__).with_name("chips")


def machine_names() -> tuple[str, ...]:
    """Return the names of all machines: the package's, then those that the user adds."""
    return tuple(_machine_files())


def own_machines() -> tuple[str, ...]:
    """Return the names of the machines that come with the package."""
    return tuple(name for name, path in _machine_files().items() if path.parent == _OWN)


def further_machines() -> tuple[str, ...]:
    """Return the names of the machines that the user adds."""
    return tuple(name for name, path in _machine_files().items() if path.parent != _OWN)


def further_places() -> tuple[Path, ...]:
    """Return the directories in which the user has machine files."""
    return tuple(dict.fromkeys(path.parent for path in _machine_files().values() if path.parent != _OWN))


def machine_file(name: str) -> Path:
    """Return the YAML file that describes the machine ``name``; raise :class:`SwbuildError` without one."""
    files = _machine_files()
    if name not in files:
        hint = f"there are {', '.join(files)}; SWBUILD_MACHINES lists directories with more"
        raise SwbuildError(Diagnostic("SW696", f"there is no machine `{name}`", Span("machine"), hint))
    return files[name]


def _machine_files() -> dict[str, Path]:
    """Return every machine's file by name; raise :class:`SwbuildError` for what is wrong with the path."""
    return _files(os.environ.get("SWBUILD_MACHINES", ""))


@cache
def _files(further: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    problems = []
    for folder in (_OWN, *(Path(word).absolute() for word in further.split(os.pathsep) if word)):
        if not folder.is_dir():
            what = f"SWBUILD_MACHINES: there is no directory {folder}"
            problems.append(
                Diagnostic("SW696", what, Span(str(folder)), "it lists directories of machine files")
            )
        for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem):
            if path.stem in found:
                what = f"there is a machine `{path.stem}` already, in {found[path.stem]}"
                problems.append(Diagnostic("SW696", what, Span(str(path)), "give it a name of its own"))
            found.setdefault(path.stem, path)
    if problems:
        raise SwbuildError(problems)
    return found
