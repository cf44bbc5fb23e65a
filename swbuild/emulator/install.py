"""Install the stand-ins: build the runtime once per user and version, and write one script per tool name.

Everything lies in ``$XDG_CACHE_HOME/swbuild/emulator`` (``~/.cache`` by default).  The runtime, which takes
a while to compile, is in ``runtime-<hash of its sources>`` and serves every Python environment; the scripts
name their interpreter, so each environment has its own, in ``<hash of contents and environment>``.
A directory is made beside its place and renamed, so any number of processes may be first at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from swbuild.machine import MachineModel

from swbuild.endings import workplace

__all__ = [
    "MACHINES",
    "TOOLS",
    "Named",
    "build_runtime",
    "cache_root",
    "clear_emulators",
    "emulators",
    "environment",
    "runtime_dir",
    "toolchain_dir",
]

MACHINES: Mapping[str, int] = {"sw26010": 26010, "sw26010-pro": 26011}
TOOLS = (
    "sw5cc",
    "sw5CC",
    "sw5cc.new",
    "swcc",
    "sw9gcc",
    "swgcc",
    "sw9g++",
    "swg++",
    "mpicc",
    "mpicxx",
    "mpiCC",
    "mpic++",
    "swld",
    "sw5ld",
    "sw9ld",
    "bsub",
    "swrun",
)
_BINUTILS = ("ar", "ranlib", "nm", "objdump", "readelf", "addr2line", "strip")
_PLAIN = {prefix + tool: tool for prefix in ("sw", "sw5", "sw9") for tool in _BINUTILS}
_HERE = Path(__file__).resolve().parent
#: The module that the drivers, which run without the package, have in common with it.
_SHARED = _HERE.parent / "scratch.py"
_WARNINGS = ("-Wall", "-Wextra")
_UNFINISHED = ".making-"


class Named(Protocol):
    """Anything with a machine's name, such as :class:`swbuild.machine.MachineModel`."""

    @property
    def name(self) -> str:
        """Return ``sw26010`` or ``sw26010-pro``."""


def _name(machine: Named | Enum | str) -> str:
    """Return the name of a machine: given as such, by a member of an enumeration, or by what bears it."""
    if isinstance(machine, Enum):
        name = str(machine.value)
    else:
        name = machine if isinstance(machine, str) else machine.name
    if name not in MACHINES:
        raise ValueError(f"unknown machine '{name}'; known are {', '.join(MACHINES)}")
    return name


def cache_root() -> Path:
    """Return where the emulators of this user are."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "swbuild" / "emulator"


def _sources() -> list[Path]:
    found = [p for d in ("include", "driver") for p in (_HERE / d).iterdir() if p.is_file()]
    return sorted([*found, _SHARED])


def _machine_files() -> list[Path]:
    return sorted((_HERE.parent / "machine" / "chips").glob("*.yaml"))


def _runtime_key() -> str:
    """Return what tells this runtime from others: all that it is compiled from, and how."""
    used = [*(_HERE / "runtime").iterdir(), *(_HERE / "model").glob("swb_*"), *_machine_files()]
    return _digest([*sorted(path for path in used if path.is_file()), Path(__file__)])


def _tools_key(runtime: Path) -> str:
    """Return what tells this environment's scripts, which use that runtime, from others'."""
    return _digest([*_sources(), Path(__file__)], runtime.name, sys.executable, str(_HERE))


def _digest(paths: Sequence[Path], *words: str) -> str:
    digest = hashlib.sha256()
    for path in paths:
        text = path.read_bytes()
        digest.update(f"{path.parent.name}/{path.name}\0{len(text)}\0".encode() + text)
    digest.update("\0".join(words).encode())
    return digest.hexdigest()[:16]


def _runtime_sources(kind: str) -> list[Path]:
    """Return the C files of one kind of runtime: fast, checked (hooks), counted (block counters)."""
    found = [p for p in sorted((_HERE / "runtime").glob("*.c")) if p.stem != "hooks" or kind == "checked"]
    return [*found, *sorted((_HERE / "model").glob("swb_*.c"))] if kind == "counted" else found


def _model(machine: str) -> MachineModel:
    from swbuild.machine import load  # here: reading the machine file is only needed to build

    return load(machine)


def _numbers(machine: str) -> list[str]:
    """Return the machine file's numbers as definitions for the runtime."""
    found = _model(machine)
    values = {
        "LDM_BYTES": found.ldm_bytes,
        "DMA_LONGEST": found.dma.max_length,
        "DMA_LARGEST_BLOCK": found.dma.max_block,
        "DMA_REQUEST": found.dma.request_bytes,
        "CPE_HERTZ": found.clock_hz,
        "FIFO_DEPTH": found.register.fifo_depth,
        "HOST_LINE_BYTES": found.host.line_bytes,
        "HOST_L1_BYTES": found.host.l1_bytes,
        "HOST_L1_WAYS": found.host.l1_ways,
        "HOST_L2_BYTES": found.host.l2_bytes,
        "HOST_L2_WAYS": found.host.l2_ways,
    }
    return [f"-D{name}={value}" for name, value in values.items()]


def build_runtime(library: Path, machine: str, kind: str, flags: Sequence[str] = ()) -> None:
    """Build one archive of the runtime, and beside it (``.names``) the list of its slave functions.

    ``kind`` is fast, checked or counted; ``flags`` go to the compiler (sanitizers, say).
    """
    from concurrent.futures import ThreadPoolExecutor  # only needed to build

    always = ["gcc", "-std=gnu11", "-O2", "-g1", "-fPIC", *_WARNINGS]
    always += [f"-I{_HERE / 'model'}", f"-I{_HERE / 'runtime'}", f"-DSWEMU_MACHINE={MACHINES[machine]}"]
    always += [*_numbers(machine), *flags]
    with workplace("emulator") as place:
        work = str(place)
        # Whose copy of the sources it was must not show: the result serves other environments too.
        always += [f"-ffile-prefix-map={place}={name}" for place, name in ((_HERE, "emulator"), (work, "."))]

        def compiled(source: Path) -> str:
            target = Path(work) / f"{source.stem}.o"
            _run([*always, "-c", str(source), "-o", str(target)], work)
            moved = [f"--rename-section={name}=swemu_text" for name in (".text", ".text.unlikely")]
            _run(["objcopy", *moved, str(target)])
            return str(target)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, _runtime_sources(kind)))
        _run(["ar", "rcs", str(library), *objects])
    names = _run(["nm", "-g", "--defined-only", str(library)])
    slave = [line.split()[-1] for line in names.splitlines() if " slave_" in line]
    library.with_suffix(".a.names").write_text("\n".join(slave) + "\n")


def _run(command: Sequence[str], directory: str | None = None) -> str:
    """Return what a tool prints; its failure, with its words, is a :class:`subprocess.CalledProcessError`."""
    done = subprocess.run(
        command, check=True, cwd=directory, capture_output=True, text=True, errors="replace"
    )
    return done.stdout


def _write_tool(home: Path, final: Path, runtime: Path, machine: str, tool: str) -> None:
    words = [sys.executable, "-SEs", str(final / "driver" / "main.py"), "--tool", tool, "--machine", machine]
    words += ["--home", str(runtime), "--include", str(final / "include"), "--root", str(_HERE.parents[1])]
    script = home / "bin" / machine / tool
    script.write_text("#!/bin/sh\nexec " + " ".join(map(shlex.quote, words)) + ' "$@"\n')
    script.chmod(0o755)


def _write_plain(home: Path, machine: str, tool: str, real: str) -> None:
    """Some tools differ from the host's in name only."""
    script = home / "bin" / machine / tool
    script.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    script.chmod(0o755)


def _build_runtimes(home: Path) -> None:
    (home / "lib").mkdir()
    for machine in MACHINES:
        (home / "lib" / f"ldm-{machine}").write_text(f"{_model(machine).ldm_bytes}\n")
        for kind in ("fast", "checked", "counted"):
            build_runtime(home / "lib" / f"libswemu-{machine}-{kind}.a", machine, kind)


def _write_tools(home: Path, final: Path, runtime: Path) -> None:
    for folder in ("include", "driver"):
        shutil.copytree(_HERE / folder, home / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_SHARED, home / "driver")
    for machine in MACHINES:
        (home / "bin" / machine).mkdir(parents=True)
        for tool in TOOLS:
            _write_tool(home, final, runtime, machine, tool)
        for tool, real in _PLAIN.items():
            _write_plain(home, machine, tool, real)


def _made(final: Path, make: Callable[[Path], None]) -> Path:
    """Return ``final``, which ``make`` fills beside its place if it is not there.

    One process makes it while the others wait; what one that was killed has left is thrown away.
    """
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with (final.parent / ".lock").open("a") as file:
        with contextlib.suppress(OSError):  # a file system without locks: the work may be done twice
            fcntl.flock(file, fcntl.LOCK_EX)
            _clear(final.parent)
        if not final.is_dir():
            _make(final, make)
    return final


def _clear(folder: Path) -> None:
    """Remove unfinished directories; whoever makes one has the lock."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(path, ignore_errors=True)


def _make(final: Path, make: Callable[[Path], None]) -> None:
    part = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=final.parent))
    try:
        make(part)
        try:
            part.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def emulators() -> list[Path]:
    """Return the directories of all emulators that were built: runtimes, and tools for an environment."""
    return sorted(path for path in cache_root().glob("*") if path.is_dir())


def clear_emulators() -> int:
    """Remove them and return how many there were."""
    found = emulators()
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    return len(found)


def runtime_dir() -> Path:
    """Return the directory of the runtime, which all environments share; builds it on first use."""
    return _made(cache_root() / f"runtime-{_runtime_key()}", _build_first)


def _build_first(home: Path) -> None:
    print("swbuild: building the emulator (once; it takes some seconds)", file=sys.stderr, flush=True)
    _build_runtimes(home)


def _install() -> Path:
    runtime = runtime_dir()
    final = cache_root() / _tools_key(runtime)
    return _made(final, lambda home: _write_tools(home, final, runtime))


def toolchain_dir(machine: Named | Enum | str) -> Path:
    """Return the directory of the stand-ins for a machine; builds it on first use."""
    return _install() / "bin" / _name(machine)


def environment(machine: Named | Enum | str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment (of this process, or `base`) with the stand-ins first on ``PATH``."""
    found = dict(os.environ if base is None else base)
    folder = str(toolchain_dir(machine))
    parts = [part for part in found.get("PATH", os.defpath).split(os.pathsep) if part != folder]
    found["PATH"] = os.pathsep.join([folder, *parts])
    found["SWBUILD_MACHINE"] = _name(machine)
    found["SWBUILD_EMU_COUNTED_CODE"] = "1"
    return found
