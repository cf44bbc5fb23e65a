"""Build and run public assembly of the SW26010 on the emulated node: ``public_assembly.py SWCANDLE SWGEMM``.

The arguments are checkouts of jameslinsjtu/swCandle (listings of the vendor's compiler, each with a main
program that measures it) and of feifeibear/swGEMM (kernels of products, compared here with plain loops).
Prints a line for each file and how many run.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from emulator_programs import Outcome, call, environment_for

MODES = {
    "eager": {"SWBUILD_EMU_DMA": "eager"},
    "late": {"SWBUILD_EMU_DMA": "late"},
    "checked": {"SWBUILD_EMU_CHECKED": "1"},
}
ARGUMENTS = ("10", "10", "1", "1")
#: What programs need that put more messages than the emulated FIFOs hold before any is taken.
DEEP = {"SWBUILD_EMU_FIFO": "20"}
HANG = 87
HARNESS = Path(__file__).parent / "assembly" / "product.c"
#: File, function, type, sign of what is added, and whether the second factor lies by columns.
PRODUCTS = (
    ("dgemm_asm.S", "dgemmasm", "double", "+", 0),
    ("dgemm_asm_best.S", "dgemmasm2", "double", "+", 0),
    ("gemm.S", "gemm", "double", "+", 0),
    ("dgemm_trans_asm.S", "dgemmtransasm", "double", "+", 1),
    ("dgemm_trans_asm_m.S", "dgemmtransasmm", "double", "-", 1),
    ("gemm_float.S", "gemmfloat", "float", "+", 0),
)
#: The mains fill matrices that nothing reads.
SMALLER = ("n=6400", "n=64")


def distinct(folder: Path, pattern: str) -> Iterator[Path]:
    """Return the files of the pattern, one of each content."""
    seen = set()
    for path in sorted(folder.glob(pattern)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            yield path


def summary(done: Outcome) -> str:
    """Return the first message of a run, or how it ended."""
    found = re.search(r"^.*(?:error|warning)\[SW6.*$", done.err, re.MULTILINE)
    text = found[0].split("/")[-1] if found else (done.err.strip().splitlines() or [""])[-1]
    return "ok" if not done.status and not found else f"{done.status}: {text[:150]}"


def tried(words: list[str], folder: Path, environment: dict[str, str]) -> Outcome:
    try:
        return call(words, folder, environment, limit=120)
    except subprocess.TimeoutExpired:
        return Outcome(124, "", "no end within 120 s")


def prepared(path: Path, folder: Path) -> list[list[str]]:
    """Put a listing and its main program into a folder; return the commands that build ``app``."""
    text = path.read_text(errors="replace")
    (folder / "listing.s").write_text(text)
    if re.search(r"^main:", text, re.MULTILINE):
        return [["sw5cc", "-host", "listing.s", "-lm", "-o", "app"]]
    main = (path.parent / "main.c").read_text(errors="replace").replace(*SMALLER)
    if "unsigned long * time" in text and "unsigned long * time" not in main:  # of another version
        main = main.replace("int iternum;\n};", "int iternum;\n    unsigned long *time;\n};")
        main = main.replace(
            "para->n = n;", "static unsigned long times[64]; para->time = times; para->n = n;"
        )
    if "slave_main:" in text:
        main = (
            "#include <athread.h>\nextern void slave_main(void *);\nint main(void)\n{\n    athread_init();\n"
        )
        main += "    __real_athread_create(0, (void *)slave_main, 0);\n    athread_wait(0);\n}\n"
    (folder / "main.c").write_text(main)
    return [
        ["sw5cc", "-host", "-w", "-c", "main.c"],
        ["sw5cc", "-slave", "-msimd", "-c", "listing.s"],
        ["sw5cc", "-hybrid", "main.o", "listing.o", "-lswperf", "-o", "app"],
    ]


def listing(path: Path, folder: Path) -> dict[str, str]:
    """Build one listing with the main program beside it and run it in every mode."""
    return results(prepared(path, folder), folder)


def product(kernel: tuple[str, str, str, str, int], gemm: Path, folder: Path) -> dict[str, str]:
    """Build a kernel for products with the program that compares it with plain loops, and run it."""
    name, function, real, sign, transposed = kernel
    (folder / name).write_text((gemm / "asm" / name).read_text(errors="replace"))
    (folder / "product.c").write_text(HARNESS.read_text())
    defined = [f"-DKERNEL={function}", f"-DREAL={real}", f"-DSIGN={sign}", f"-DTRANSPOSED={transposed}"]
    commands = [
        ["sw5cc", "-host", *defined, "-c", "product.c", "-o", "host.o"],
        ["sw5cc", "-slave", "-msimd", "-DSLAVE", *defined, "-c", "product.c", "-o", "slave.o"],
        ["sw5cc", "-slave", "-msimd", "-c", name, "-o", "kernel.o"],
        ["sw5cc", "-hybrid", "host.o", "slave.o", "kernel.o", "-o", "app"],
    ]
    return results(commands, folder)


def results(commands: list[list[str]], folder: Path) -> dict[str, str]:
    """Run the commands, then ``app`` in every mode; return what is to be said of each."""
    environment = environment_for("sw26010", SWBUILD_EMU_HANG_SECONDS="3")
    for words in commands:
        done = tried(words, folder, environment)
        if done.status:
            return {"build": summary(done)}
    return {mode: run(folder, {**environment, **extra}) for mode, extra in MODES.items()}


def run(folder: Path, environment: dict[str, str]) -> str:
    """Run ``app``, with deep FIFOs if it hangs, and say how it ended."""
    done = tried(["./app", *ARGUMENTS], folder, environment)
    deep = ""
    if done.status == HANG:
        done = tried(["./app", *ARGUMENTS], folder, {**environment, **DEEP})
        deep = ", with FIFOs of 20 messages"
    return f"{summary(done)}, {len(done.out.splitlines())} lines, {digest(done.out)}{deep}"


def digest(text: str) -> str:
    """Return what tells one output from another, apart from the times in it."""
    return hashlib.sha256(re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "#", text).encode()).hexdigest()[:6]


def ended(found: dict[str, str]) -> bool:
    """Say whether a program ended by itself in the modes that do not look for faults."""
    return all(found.get(mode, "no").startswith(("ok", "0:")) for mode in ("eager", "late"))


def main(arguments: list[str]) -> int:
    candle, gemm = map(Path, arguments)
    listings = list(distinct(candle, "**/*.s"))
    jobs = [(str(path.relative_to(candle)), partial(listing, path)) for path in listings]
    jobs += [(kernel[0], partial(product, kernel, gemm)) for kernel in PRODUCTS]
    right = 0
    for name, job in jobs:
        with tempfile.TemporaryDirectory() as folder:
            found = job(Path(folder))
        right += ended(found)
        print(name, *(f"\n    {mode}: {text}" for mode, text in found.items()), flush=True)
    print(f"{right} of {len(jobs)} run in eager and in late mode")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
