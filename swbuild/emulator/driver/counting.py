"""The options of code whose model cycles are counted: of slave code what runs and what is costed."""

from __future__ import annotations

import subprocess

__all__ = ["HOST", "RUNNING", "costed", "running", "without_tests"]

#: What both versions of slave code need: no vectors but the source's, loops that stay loops, and blocks that
#: stay where they are; for any x86-64, whatever the user's compiler takes itself to be.
_BOTH = (
    *("-g1", "-w", "-S", "-fverbose-asm", "-march=x86-64", "-mtune=generic", "-ffixed-r10", "-ffixed-r11"),
    *("-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-tree-loop-distribute-patterns"),
    *("-mstringop-strategy=loop", "-fno-shrink-wrap", "-fno-reorder-blocks", "-fno-crossjumping"),
    *("-fno-if-conversion2", "-mno-popcnt", "-mno-lzcnt", "-mno-bmi", "-mno-bmi2", "-mno-movbe"),
    *("-fno-builtin-floor", "-fno-builtin-ceil", "-fno-builtin-trunc", "-fno-builtin-rint"),
    *("-fno-builtin-floorf", "-fno-builtin-ceilf", "-fno-builtin-truncf", "-fno-builtin-rintf"),
    *("-fno-builtin-nearbyint", "-fno-builtin-nearbyintf", "-fno-builtin-fma", "-fno-builtin-fmaf"),
    "-fno-inline-functions-called-once",  # which of them depends on the registers there are
)
#: Host code, which is read as it runs.
HOST = (
    *(
        "-g1",
        "-w",
        "-S",
        "-fverbose-asm",
        "-ffixed-r10",
        "-ffixed-r11",
        "-fno-tree-vectorize",
        "-fno-tree-slp-vectorize",
    ),
    *("-fno-tree-loop-distribute-patterns", "-mstringop-strategy=loop"),
)
#: The slave code that runs.
RUNNING = (*_BOTH, "-mno-sse3")
#: Behind those, where the box can: a multiply-add is no call then, as little as in the code that is costed.
_FUSING = ("-mfma",)
#: What C text made from assembly has: its file of registers is aligned for vectors of SSE alone.
_REGISTERS = b"struct sw64_cpu"
#: The slave code that never runs and is costed: it has a CPE's number of registers, of its vectors' width.
_COSTED = (
    *_BOTH,
    *("-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mprefer-vector-width=512"),
)
#: What newer compilers need beside, so that copies of structures are no vectors; and since when they know it.
_COPIES = ("-mmove-max=128", "-mstore-max=128")
_COPIES_SINCE = 12


def running(text: bytes) -> tuple[str, ...]:
    """Return the options of slave code that runs, whose preprocessed text is ``text``."""
    fused = b"__builtin_fma" in text and _REGISTERS not in text
    return (*RUNNING, *_FUSING) if fused and _fuses() else RUNNING


def _fuses() -> bool:
    try:
        with open("/proc/cpuinfo", "rb") as file:
            words = next((line for line in file if line.startswith(b"flags")), b"").split()
    except OSError:
        return False
    return b"fma" in words and b"avx2" in words


def costed(gcc: str) -> tuple[str, ...]:
    """Return the options of the code that is costed."""
    shown = subprocess.run([gcc, "-dumpversion"], capture_output=True, text=True, check=False)
    number = shown.stdout.split(".")[0].strip()
    return (*_COSTED, *(_COPIES if number.isdigit() and int(number) >= _COPIES_SINCE else ()))


def without_tests(text: bytes) -> bytes:
    """Return preprocessed text without what the emulator tests as it runs: no CPE does that."""
    return text.replace(b"__swemu_tests = 1", b"__swemu_tests = 0")
