"""Generator results kept by content, so that the same input is never worked on twice.

An entry is one file, named by the digest of everything that the result follows from: the part of
the manifest, the source's text and the preprocessed source, the options, and swbuild's own code.
Entries are written beside their place and renamed, so that any number of builds may share the cache
and one that is killed leaves no half entry.  A broken or foreign file counts as missing.

``SWBUILD_CACHE_DIR`` says where (default: ``swbuild/generated`` in the user's cache directory);
``SWBUILD_CACHE=off`` turns it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import swbuild
from swbuild.classes import dataclass
from swbuild.pipeline.outputs import Output

if TYPE_CHECKING:
    from swbuild.manifest import ProjectSource

__all__ = ["Entry", "cache_directory", "clear", "entries", "key_of", "load", "store"]

_FORMAT = 1
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Entry:
    """What one source became: the files, what was read for them, and the notes on refused regions."""

    outputs: tuple[Output, ...]
    dependencies: tuple[str, ...]
    notes: tuple[str, ...]


def cache_directory() -> Path | None:
    """Return where results are kept, or None if they are not."""
    if os.environ.get("SWBUILD_CACHE", "").lower() in ("off", "0", "no"):
        return None
    given = os.environ.get("SWBUILD_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "swbuild" / "generated"


def key_of(source: ProjectSource, text: bytes, preprocessed: str, allow_refused: bool) -> str:
    """Return the digest of everything that the result for ``source`` follows from."""
    from swbuild.buildsys.digest import digest_of, request_of

    # Not the directories of headers: what they contribute is in the preprocessed text.
    asked = {name: value for name, value in request_of(source).items() if name != "cpp"}
    digest = hashlib.sha256()
    parts = [str(_FORMAT), _own_code(), digest_of(asked), str(allow_refused), preprocessed]
    for part in parts:
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    digest.update(text)
    return digest.hexdigest()


def _own_code() -> str:
    """Return a text that changes with swbuild's code and with the libraries that do the mathematics."""
    packages = [find_spec(name) for name in ("swbuild", "islpy", "pycparser")]
    folders = [os.path.dirname(found.origin) for found in packages if found and found.origin]
    states = (state for folder in folders for state in sorted(_states(folder)))
    return "\n".join([swbuild.__version__, sys.version, *states])


def _states(root: str) -> Iterator[str]:
    """Yield name, size and time of each file below ``root`` that says what is generated."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".py", ".so", ".yaml")):
                path = os.path.join(folder, name)
                status = os.stat(path)
                yield f"{os.path.relpath(path, root)} {status.st_size} {status.st_mtime_ns}"


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / (key[2:] + _SUFFIX)


def load(folder: Path, key: str) -> Entry | None:
    """Return the entry of this key, or None."""
    try:
        found = json.loads(_path(folder, key).read_text(encoding="utf-8"))
        if found["format"] != _FORMAT or found["key"] != key:
            return None
        outputs = tuple(Output(name, text) for name, text in found["outputs"])
        return Entry(outputs, tuple(found["dependencies"]), tuple(found["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(folder: Path, key: str, entry: Entry) -> None:
    """Keep ``entry``; a cache that cannot be written is as good as none."""
    from swbuild.diagnostics import SwbuildError
    from swbuild.files import write_text

    path = _path(folder, key)
    value = {
        "format": _FORMAT,
        "key": key,
        "outputs": [[output.name, output.text] for output in entry.outputs],
        "dependencies": list(entry.dependencies),
        "notes": list(entry.notes),
    }
    with contextlib.suppress(OSError, SwbuildError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(value))


def entries(folder: Path) -> Iterator[Path]:
    """Yield the files of the entries."""
    yield from sorted(folder.glob(f"??/*{_SUFFIX}"))


def clear(folder: Path) -> int:
    """Remove all entries and return how many there were."""
    count = 0
    for path in entries(folder):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            count += 1
    for part in folder.glob("??"):
        with contextlib.suppress(OSError):
            part.rmdir()
    return count
