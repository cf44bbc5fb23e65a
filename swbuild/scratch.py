"""Scratch directories with an owner: a lock says that there is one, and what nobody owns is removed.

The lock ends with the process, however it ends, so the next one finds what a killed one has left.
"""

from __future__ import annotations

import fcntl
import os
import stat

__all__ = ["PREFIX", "kill_marked", "sweep", "take"]

#: How the names of all scratch directories begin.
PREFIX = "swbuild."


def take(base: str, purpose: str) -> tuple[str, int]:
    """Make a fresh directory under ``base`` and return its path and its lock, an open file.

    Raise :class:`OSError` if there can be none.
    """
    number = 0
    while True:
        path = f"{base}/{PREFIX}{purpose}.{os.getpid()}-{number}"
        number += 1
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        lock = _locked(path)
        if lock is not None:
            return path, lock


def sweep(base: str) -> None:
    """Remove the scratch directories under ``base`` that nobody owns, and end what still runs in them."""
    for name in os.listdir(base):
        path = f"{base}/{name}"
        lock = _locked(path) if name.startswith(PREFIX) and _is_ours(path) else None
        if lock is not None:
            import shutil

            kill_marked(f"TMPDIR={path}/")
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _is_ours(path: str) -> bool:
    """Return whether ``path`` is a directory of this user's, which others may remove at any time."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _locked(path: str) -> int | None:
    """Return the open lock of a directory, or None if another process has it or has removed the directory."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(path)):
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def kill_marked(mark: str) -> None:
    """End every process whose environment was given a variable that begins with ``mark``, ``NAME=value…``."""
    wanted = b"\0" + os.fsencode(mark)
    for _ in range(5):  # one that is ended now may have started another meanwhile
        found = [pid for pid in _processes() if wanted in b"\0" + _environment(pid)]
        for pid in found:
            try:
                os.kill(pid, 9)
            except OSError:
                continue
        if not found:
            return


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    """Return the environment that a process was started with; nothing where that is not to be seen."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return stream.read()
    except OSError:
        return b""
