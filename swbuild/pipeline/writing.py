"""Write the generated files so that nobody ever sees half of one, and tell build tools what was read."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import swbuild
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

if TYPE_CHECKING:
    from swbuild.pipeline.outputs import Output

__all__ = ["dependencies", "depfile_text", "write_all", "write_text"]


def write_all(directory: Path, outputs: Iterable[Output], *, touch: bool = False) -> tuple[Path, ...]:
    """Write every output to ``directory`` and return the paths of those that changed.

    A file that already has the right text keeps its time stamp unless ``touch``, so that nothing is
    compiled again for its sake.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SwbuildError(_cannot_write(directory, error)) from None
    changed = []
    for output in outputs:
        path = directory / output.name
        if not _holds(path, output.text):
            write_text(path, output.text)
            changed.append(path)
        elif touch:
            os.utime(path)
    return tuple(changed)


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in one step: a reader finds the old file or the new one."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise SwbuildError(_cannot_write(path, error)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise SwbuildError(_cannot_write(path, error)) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _cannot_write(path: Path, error: OSError) -> Diagnostic:
    message = f"cannot write: {error.strerror}"
    return Diagnostic("SW113", message, Span(os.fspath(path)), "choose another directory with -o")


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
