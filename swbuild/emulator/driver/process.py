"""Processes, scratch directories and files of the stand-ins."""

from __future__ import annotations

import contextlib
import os
import sys

import scratch as places

__all__ = ["Failure", "clean", "finish", "must", "read", "run", "scratch", "start", "write"]


class Failure(Exception):
    """A message for the user and the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def start(command: list[str], errors: str = "") -> int:
    """Start a command and return its process number; ``errors`` is a file for its error stream."""
    if os.environ.get("SWBUILD_EMU_VERBOSE"):
        print("+", " ".join(command), file=sys.stderr)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [(os.POSIX_SPAWN_OPEN, 2, errors, flags, 0o600)] if errors else []
        return os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    except FileNotFoundError:
        raise Failure(f"error[SW601]: '{command[0]}' is not installed") from None


def finish(child: int) -> int:
    """Wait for a process and return its exit status; end it if this process is to end."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:
        os.kill(child, 15)
        raise


def run(command: list[str]) -> int:
    """Run a command and return its exit status."""
    return finish(start(command))


def must(command: list[str]) -> None:
    """Run a command; its failure is ours."""
    status = run(command)
    if status:
        raise Failure("", status if status > 0 else 1)


def scratch() -> str:
    """Return a fresh directory for intermediate files; what killed stand-ins have left is removed."""
    base = os.environ.get("TMPDIR", "/tmp").rstrip("/") or "/"
    try:
        places.sweep(base)
        return str(places.take(base, "cc")[0])
    except OSError as error:
        raise Failure(f"error[SW601]: no scratch directory in {base}: {error.strerror}") from None


def clean(path: str) -> None:
    for name in os.listdir(path):
        os.unlink(f"{path}/{name}")
    os.rmdir(path)


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def write(path: str, data: bytes) -> None:
    """Write a file by renaming, so that a parallel reader never sees half of it; a device is written to."""
    part = f"{path}.{os.getpid()}.part"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(data)
            return
        with open(part, "wb") as stream:
            stream.write(data)
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise Failure(f"error[SW601]: cannot write {path}: {error.strerror}") from None
