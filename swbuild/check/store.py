"""Generated and built regions, kept between runs and shared by processes.

A region has a directory named after everything that is asked of it; a stamp in it lists the
files that were read, so that a change in any header makes it stale.  A lock lets one process build
while the others wait.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import swbuild
from swbuild.check.staged import GeneratedRegion, RegionTask, generate_region_unit
from swbuild.check.stored import from_text, to_text

__all__ = ["RegionStore", "package_fingerprint"]


class RegionStore:
    """The regions under one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def directory(self, task: RegionTask) -> Path:
        """Return the region's directory, made if need be."""
        path = self.root / f"{task.name}-{_key(task)}"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def generated(self, task: RegionTask) -> GeneratedRegion:
        """Return the generated region, from the store unless something that it was made from has changed."""
        directory = self.directory(task)
        with _locked(directory):
            found = _load(directory)
            if found is None:
                _clear(directory)
                found = generate_region_unit(task)
                _save(directory, found)
            return dataclasses.replace(found, task=task)

    def built(self, task: RegionTask, name: str, build: Callable[[Path, str], Path]) -> Path:
        """Return the executable ``name`` of the region; ``build`` makes it if there is none.

        :meth:`generated` must have been called: it throws away what is stale.
        """
        directory = self.directory(task)
        with _locked(directory):
            path = directory / name
            if not path.exists():
                partial = build(directory, f"{name}.part")
                partial.replace(path)
            return path


@lru_cache(maxsize=1)
def package_fingerprint() -> str:
    """Return a digest of this installation: another generator makes other files."""
    root = Path(swbuild.__file__).parent
    digest = hashlib.sha256(swbuild.__version__.encode())
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith((".py", ".c", ".h", ".yaml")):
                status = os.stat(os.path.join(folder, name))
                digest.update(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _key(task: RegionTask) -> str:
    asked = repr((os.path.abspath(task.path), task.request, task.options, task.cpp))
    return hashlib.sha256(f"{package_fingerprint()}\n{asked}".encode()).hexdigest()[:16]


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the directory's lock; where the file system has no locks, go on without."""
    with (directory / ".lock").open("a") as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _clear(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != ".lock":
            path.unlink()


def _load(directory: Path) -> GeneratedRegion | None:
    """Return what is stored if it is still true, else ``None``."""
    try:
        stamp = json.loads((directory / "stamp.json").read_text(encoding="utf-8"))
        if not all(_unchanged(path, known) for path, known in stamp.items()):
            return None
        return from_text((directory / "region.json").read_text(encoding="utf-8"), GeneratedRegion)
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return None


def _save(directory: Path, generated: GeneratedRegion) -> None:
    (directory / "region.json").write_text(to_text(generated), encoding="utf-8")
    read = {generated.unit.source, *generated.dependencies}
    stamp = {os.path.abspath(path): _state(path) for path in sorted(read)}
    partial = directory / "stamp.part"
    partial.write_text(json.dumps(stamp), encoding="utf-8")
    partial.replace(directory / "stamp.json")


def _state(path: str) -> Mapping[str, Any]:
    status = os.stat(path)
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return {"size": status.st_size, "mtime": status.st_mtime_ns, "digest": digest}


def _unchanged(path: str, known: Mapping[str, Any]) -> bool:
    """Return whether the file is as it was; its times may change when its content does not."""
    status = os.stat(path)
    if status.st_size != known["size"]:
        return False
    return status.st_mtime_ns == known["mtime"] or bool(_state(path)["digest"] == known["digest"])
