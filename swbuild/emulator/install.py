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
from pathlib import Path

from swbuild.emulator.model.numbers import numbers_text
from swbuild.endings import workplace
from swbuild.machine import further_places, load, machine_file, machine_names

__all__ = [
    "TOOLS",
    "build_runtime",
    "cache_root",
    "clear_emulators",
    "emulators",
    "environment",
    "replay_tool",
    "runtime_dir",
    "toolchain_dir",
]

#: The stand-ins that every machine has, beside the compilers of its own.
TOOLS = ("mpicc", "mpicxx", "mpiCC", "mpic++", "swld", "bsub", "swrun")
_BINUTILS = ("ar", "ranlib", "nm", "objdump", "readelf", "addr2line", "strip")
_HERE = Path(__file__).resolve().parent
#: The module that the drivers, which run without the package, have in common with it.
_SHARED = _HERE.parent / "scratch.py"
_WARNINGS = ("-Wall", "-Wextra")
_UNFINISHED = ".making-"


def cache_root() -> Path:
    """Return where the emulators of this user are."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "swbuild" / "emulator"


def _sources() -> list[Path]:
    found = [p for d in ("include", "driver") for p in (_HERE / d).iterdir() if p.is_file()]
    return sorted([*found, _SHARED])


def _runtime_key(machine: str) -> str:
    """Return what tells this machine's runtime from others: all that it is compiled from, and how."""
    folders = ("runtime", "replay")
    used = [path for folder in folders for path in (_HERE / folder).iterdir()]
    used += [*(_HERE / "model").glob("swb_*"), machine_file(machine)]
    return _digest([*sorted(path for path in used if path.is_file()), Path(__file__)])


def _tools_key(runtimes: Mapping[str, Path]) -> str:
    """Return what tells this environment's scripts, which use those runtimes, from others'."""
    places = [f"{machine_file(machine)} {runtime.name}" for machine, runtime in runtimes.items()]
    return _digest([*_sources(), Path(__file__)], *places, sys.executable, str(_HERE))


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
    found += sorted((_HERE / "replay").glob("swb_*.c"))
    return [*found, *sorted((_HERE / "model").glob("swb_*.c"))] if kind == "counted" else found


def _numbers(machine: str) -> list[str]:
    """Return what the runtime has to know of the machine, as definitions."""
    found = load(machine)
    values: dict[str, object] = {
        "MACHINE_NAME": f'"{found.name}"',
        "HAS_CRTS": int("crts" in found.features),
        "HAS_RMA": int("rma" in found.features),
        "HAS_REGISTERS": int("register-communication" in found.features),
        "CORE_GROUPS": found.core_groups,
        "MESH_ROWS": found.mesh_rows,
        "MESH_COLUMNS": found.mesh_columns,
        "MESH_CPES": found.cpes,
        "LAST_CPE": found.cpes - 1,
        "LDM_BYTES": found.ldm_bytes,
        "DCACHE_LINE_BYTES": found.dcache_line_bytes,
        "DMA_LONGEST": found.dma.max_length,
        "DMA_LARGEST_BLOCK": found.dma.max_block,
        "DMA_REQUEST": found.dma.request_bytes,
        "CPE_HERTZ": found.clock_hz,
        "FIFO_DEPTH": found.register.fifo_depth,
        "REGISTER_BYTES": found.register.message_bytes,
        "HOST_LINE_BYTES": found.host.line_bytes,
        "HOST_L1_BYTES": found.host.l1_bytes,
        "HOST_L1_WAYS": found.host.l1_ways,
        "HOST_L2_BYTES": found.host.l2_bytes,
        "HOST_L2_WAYS": found.host.l2_ways,
        "MODEL_NUMBERS": f'"{numbers_text(found)}"',
    }
    return [f"-D{name}={value}" for name, value in values.items()]


def _facts(machine: str) -> str:
    """Return what the stand-ins have to know of the machine, as they read it."""
    found = load(machine)
    own = found.emulator
    include = [str((machine_file(machine).parent / own.include).resolve())] if own.include else []
    words: dict[str, Sequence[object]] = {
        "features": found.features,
        "defines": own.defines,
        "flags": own.flags,
        "c_flags": own.c_flags,
        "assembly": [own.assembly],
        "include": include,
        "cpes": [found.cpes],
        "ldm_bytes": [found.ldm_bytes],
        "vector_bytes": [found.simd.register_bytes],
        "simd_aligns": [int(own.simd_aligns)],
        "slave_cxx": [int(own.slave_cxx)],
    }
    return "".join("\t".join([name, *map(str, values)]) + "\n" for name, values in words.items())


def build_runtime(library: Path, machine: str, kind: str, flags: Sequence[str] = ()) -> None:
    """Build one archive of the runtime, and beside it (``.names``) the list of its slave functions.

    ``kind`` is fast, checked or counted; ``flags`` go to the compiler (sanitizers, say).
    """
    from concurrent.futures import ThreadPoolExecutor  # only needed to build

    always = ["gcc", "-std=gnu11", "-O2", "-g1", "-fPIC", "-ffp-contract=off", *_WARNINGS]
    always += [f"-I{_HERE / folder}" for folder in ("model", "replay", "runtime")]
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


def _write_tool(folder: Path, final: Path, runtime: Path, machine: str, tool: str) -> None:
    """Write the script of a stand-in, which knows the machine although its caller may not."""
    words = [sys.executable, "-SEs", str(final / "driver" / "main.py"), "--tool", tool]
    words += ["--machine", str(final / "machines" / machine), "--home", str(runtime)]
    words += ["--include", str(final / "include"), "--root", str(_HERE.parents[1])]
    further = os.pathsep.join(map(str, further_places()))
    known = f"export SWBUILD_MACHINES={shlex.quote(further)}\n" if further else ""
    _write_script(folder / tool, known + "exec " + " ".join(map(shlex.quote, words)))


def _write_script(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\n{command} "$@"\n')
    path.chmod(0o755)


def _build_runtime(home: Path, machine: str) -> None:
    print(f"swbuild: building the emulator of the {machine} (once; it takes some seconds)", file=sys.stderr)
    sys.stderr.flush()
    (home / "lib").mkdir()
    for kind in ("fast", "checked", "counted"):
        build_runtime(home / "lib" / f"libswemu-{machine}-{kind}.a", machine, kind)


def _write_tools(home: Path, final: Path, runtimes: Mapping[str, Path]) -> None:
    for folder in ("include", "driver"):
        shutil.copytree(_HERE / folder, home / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_SHARED, home / "driver")
    (home / "machines").mkdir()
    for machine in runtimes:
        (home / "machines" / machine).write_text(_facts(machine))
        _write_folder(home / "bin" / machine, final, runtimes, machine)


def _write_folder(folder: Path, final: Path, runtimes: Mapping[str, Path], machine: str) -> None:
    """Write the stand-ins to use with ``machine``: its compilers, other machines', and what they share.

    A name that two machines have belongs to ``machine``, or to the first of them.
    """
    folder.mkdir(parents=True)
    for tool in TOOLS:
        _write_tool(folder, final, runtimes[machine], machine, tool)
    prefixes = ["sw"]
    for other in dict.fromkeys((machine, *runtimes)):
        own = load(other).emulator
        for tool in (*own.compilers, f"{own.binutils}ld"):
            if not (folder / tool).exists():
                _write_tool(folder, final, runtimes[other], other, tool)
        prefixes.append(own.binutils)
    for prefix in prefixes:
        for tool in _BINUTILS:  # these differ from the host's in name only
            _write_script(folder / f"{prefix}{tool}", f"exec {tool}")


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


def runtime_dir(machine: str) -> Path:
    """Return the directory of a machine's runtime, which all environments share; builds it on first use."""
    return _made(
        cache_root() / f"runtime-{_runtime_key(machine)}", lambda home: _build_runtime(home, machine)
    )


def replay_tool() -> Path:
    """Return the program that replays a trace; builds it on first use."""
    sources = sorted([*(_HERE / "replay").iterdir(), *(_HERE / "model").glob("swb_trace.h")])
    key = _digest([*sources, Path(__file__)])

    def build(home: Path) -> None:
        source = [str(path) for path in sources if path.suffix == ".c"]
        flags = ["-std=gnu11", "-O2", "-ffp-contract=off", *_WARNINGS, f"-I{_HERE / 'model'}"]
        _run(["gcc", *flags, *source, "-lm", "-o", str(home / "replay")])

    return _made(cache_root() / f"replay-{key}", build) / "replay"


def _install() -> Path:
    runtimes = {machine: runtime_dir(machine) for machine in machine_names()}
    final = cache_root() / _tools_key(runtimes)
    return _made(final, lambda home: _write_tools(home, final, runtimes))


def toolchain_dir(machine: str) -> Path:
    """Return the directory of the stand-ins for a machine; builds it on first use."""
    return _install() / "bin" / load(machine).name


def environment(machine: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment (of this process, or `base`) with the stand-ins first on ``PATH``."""
    found = dict(os.environ if base is None else base)
    folder = str(toolchain_dir(machine))
    parts = [part for part in found.get("PATH", os.defpath).split(os.pathsep) if part != folder]
    found["PATH"] = os.pathsep.join([folder, *parts])
    found["SWBUILD_MACHINE"] = machine
    found["SWBUILD_EMU_COUNTED_CODE"] = "1"
    return found
