"""Write the generated files, leaving alone what has not changed, and tell build tools what was read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import swbuild
from swbuild.files import encoded, made, named_failures, write_texts

if TYPE_CHECKING:
    from swbuild.pipeline.outputs import Output

__all__ = ["dependencies", "depfile_text", "write_all"]


def write_all(directory: Path, outputs: Iterable[Output], *, touch: bool = False) -> tuple[Path, ...]:
    """Write every output to ``directory`` and return the paths of those that changed.

    A file that already has the right text keeps its time stamp unless ``touch``, so that nothing is
    compiled again for its sake.
    """
    made(directory)
    wanted = {directory / output.name: output.text for output in outputs}
    changed = {path: text for path, text in wanted.items() if not _holds(path, text)}
    write_texts(changed)
    for path in wanted if touch else ():
        with named_failures(path):
            os.utime(path)
    return tuple(changed)


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == encoded(text)
    except OSError:
        return False


def dependencies(read: Iterable[str | Path]) -> tuple[str, ...]:
    """Return every file that the outputs depend on: those ``read``, and swbuild's own code and data."""
    own = Path(swbuild.__file__).parent
    modules = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    code = {name for name in modules if name.startswith(f"{own}{os.sep}")}
    data = {os.fspath(path) for path in (own / "machine").glob("*.yaml")}
    return tuple(dict.fromkeys([*(os.fspath(path) for path in read), *sorted(code | data)]))


def depfile_text(targets: Sequence[str | Path], needed: Iterable[str]) -> str:
    """Return a rule for Make and Ninja, without a recipe, by which ``targets`` depend on ``needed``."""
    left = " ".join(_escaped(os.fspath(target)) for target in targets)
    return f"{left}:" + "".join(f" \\\n  {_escaped(name)}" for name in needed) + "\n"


def _escaped(name: str) -> str:
    """Return ``name`` for a depfile: GCC's way to write spaces, ``#`` and ``$``."""
    return name.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
