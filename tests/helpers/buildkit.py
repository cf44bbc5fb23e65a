"""What the tests of the build systems share: swbuild installed from its wheel, and counted commands."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from swbuild.emulator.install import runtime_dir
from swbuild.machine import machine_names

__all__ = ["ROOT", "Failed", "Installation", "call", "installation", "locked", "shared_dir"]

ROOT = Path(__file__).resolve().parents[2]

#: Variables that would let something of the surroundings into a build.
_FOREIGN = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "PYTHONPATH", "DESTDIR", "VIRTUAL_ENV", "MAKEFLAGS")


class Failed(AssertionError):
    """A command failed that should not."""


def call(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run a command and return how it ended, with both streams in ``stdout``."""
    done = subprocess.run(
        [os.fspath(word) for word in command],
        cwd=directory,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if check and done.returncode:
        raise Failed(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}")
    return done


@dataclass(frozen=True)
class Installation:
    """A virtual environment that swbuild's wheel was installed in."""

    prefix: Path

    @property
    def program(self) -> Path:
        return self.prefix / "bin" / "swbuild"

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"

    def environment(self, *first: Path, **more: str) -> dict[str, str]:
        """Return an environment with this installation on ``PATH``, after the directories ``first``."""
        clean = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
        path = [*map(str, first), str(self.prefix / "bin"), os.environ["PATH"]]
        cache = self.prefix.with_name("cache")
        return {**clean, "PATH": os.pathsep.join(path), "XDG_CACHE_HOME": str(cache), **more}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold ``path`` as a lock between the processes of a parallel run."""
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def shared_dir(factory: pytest.TempPathFactory) -> Path:
    """Return a directory that all workers of this run share."""
    base = factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return ``folder``, made by ``make`` in the first process that asks for it."""
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            try:
                make(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
    return folder


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Return swbuild as its wheel installs it, in an environment that sees this one's packages."""
    return Installation(once(shared_dir(tmp_path_factory) / "installation", _install))


def _install(prefix: Path) -> None:
    wheels = prefix.with_name("wheels")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    call([*pip, "wheel", ROOT, "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels])
    call([sys.executable, "-m", "venv", "--without-pip", prefix])
    wheel = next(wheels.glob("swbuild-*.whl"))
    call([*pip, "--python", prefix / "bin" / "python", "install", "--no-deps", "--no-index", wheel])
    # The dependencies are those of the interpreter that runs the tests; its own swbuild comes after ours.
    packages = next((prefix / "lib").glob("python3*/site-packages"))
    seen = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(seen) + "\n")
    # The emulator's runtime is the one that there is; all else that is cached stays within this run.
    kept = prefix.with_name("cache") / "swbuild" / "emulator"
    kept.mkdir(parents=True, exist_ok=True)
    for runtime in map(runtime_dir, machine_names()):
        (kept / runtime.name).symlink_to(runtime)
