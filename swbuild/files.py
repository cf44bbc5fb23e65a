"""Reading and writing text exactly: every byte that came in goes out again, and a failure names its file.

Bytes that are no UTF-8 travel as lone surrogates.  Writers make the file beside its place and rename it,
so that nobody ever sees half of one, and nothing stays behind where the disk is full.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = [
    "encoded",
    "made",
    "named_failures",
    "read_text",
    "system_error",
    "write_pieces",
    "write_text",
    "write_texts",
]

_FULL = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG])


def read_text(path: Path) -> str:
    """Return the exact text of a source file, line ends and bytes that are no UTF-8 preserved."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return the bytes that :func:`read_text` made ``text`` of."""
    return text.encode("utf-8", "surrogateescape")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in one step: a reader finds the old file or the new one.

    Raise SW113 where that fails.
    """
    write_texts({path: text})


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file of bytes as :func:`write_text` does: who reads it meanwhile sees one whole file."""
    with contextlib.ExitStack() as stack:
        part = _part(path, pieces, stack)
        with named_failures(path):
            os.replace(part, path)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write every text to its path as :func:`write_text` does, and none of them if one has no room.

    A device or a pipe is written to: it is not replaced by a file.
    """
    with contextlib.ExitStack() as stack:
        files = {path: text for path, text in texts.items() if not _is_device(path)}
        parts = {path: _part(path, [encoded(text)], stack) for path, text in files.items()}
        for path in texts.keys() - files.keys():
            with named_failures(path):
                path.write_bytes(encoded(texts[path]))
        for path, part in parts.items():
            with named_failures(path):
                os.replace(part, path)


def _is_device(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


def _part(path: Path, pieces: Iterable[bytes], stack: contextlib.ExitStack) -> str:
    """Return a file beside ``path`` that holds ``pieces``; ``stack`` removes it unless it is renamed."""
    with named_failures(path):
        prefix = f".{path.name}.swbuild-"
        _remove_leftovers(path.parent, prefix)
        part, handle = _fresh(os.fspath(path.parent / prefix))
        stack.callback(_remove, part)
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
    return part


def _fresh(prefix: str) -> tuple[str, int]:
    """Return the path of a new file, and the file, open."""
    for number in itertools.count():
        path = f"{prefix}{os.getpid()}-{number}"
        with contextlib.suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    raise AssertionError("numbers do not end")


def _remove_leftovers(directory: Path, prefix: str) -> None:
    """Remove what writers that were killed have left; writing takes no hour."""
    for name in os.listdir(directory):
        if name.startswith(prefix):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - os.stat(directory / name).st_mtime > 3600:
                    os.unlink(directory / name)


def _remove(part: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(part)


def made(directory: Path) -> Path:
    """Return ``directory``, made with those above it if need be; raise SW113 where that fails."""
    with named_failures(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


@contextlib.contextmanager
def named_failures(path: Path) -> Iterator[None]:
    """Turn what the system says against writing to ``path`` into SW113 at that place."""
    try:
        yield
    except OSError as error:
        raise SwbuildError(_refused(error, f"cannot write: {error.strerror}", os.fspath(path))) from None


def system_error(error: OSError, place: str) -> Diagnostic:
    """Return what the system says against reading or writing, at ``place`` if it names no file itself."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else place
    return _refused(error, f"cannot read or write: {error.strerror or error}", where)


def _refused(error: OSError, message: str, where: str) -> Diagnostic:
    hint = "make room there" if error.errno in _FULL else "name a place that can be written to"
    return Diagnostic("SW113", message, Span(where), hint)
