"""Read a manifest: text → nodes → dataclasses, or all that is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.manifest.model import Manifest, Region, Source
from swbuild.manifest.nodes import parse
from swbuild.manifest.problems import Problems, Rejected
from swbuild.manifest.records import Record

__all__ = ["load_manifest", "load_text", "read_text"]

_KIND = Record(
    Manifest,
    "a manifest",
    elsewhere=(
        (Region, "put it under `defaults`, or in a region"),
        (Source, "put it in an entry of `sources`"),
    ),
)


def load_manifest(path: Path | str) -> Manifest:
    """Return the manifest in the file ``path``; raise :class:`SwbuildError` with every mistake in it."""
    return load_text(read_text(Path(path)), os.fspath(path))


def load_text(text: str, file: str) -> Manifest:
    """Return the manifest in ``text``; ``file`` is the name that diagnostics show."""
    root, found = parse(text, file)
    problems = Problems(found)
    try:
        manifest = _KIND.load(root, "a manifest", problems)
    except Rejected:
        raise SwbuildError(problems.diagnostics) from None
    if problems.diagnostics:
        raise SwbuildError(problems.diagnostics)
    return manifest


def read_text(path: Path) -> str:
    """Return the text of a manifest file, or say why it cannot be read."""
    span = Span(os.fspath(path))
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        place = Span(span.file, line, 1)
        raise SwbuildError(Diagnostic("SW101", message, place, "save the file as UTF-8")) from None
    except OSError as error:
        raise SwbuildError(Diagnostic("SW108", f"cannot read the manifest: {error.strerror}", span)) from None
