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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from emulator_programs import Outcome, call, environment_for

MODES = {
    "eager": {"SWBUILD_EMU_DMA": "eager"},
    "late": {"SWBUILD_EMU_DMA": "late"},
    "checked": {"SWBUILD_EMU_CHECKED": "1"},
}
ARGUMENTS = ("10", "10", "1", "1")
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
    environment = environment_for("sw26010", SWBUILD_EMU_HANG_SECONDS="3")
    for words in prepared(path, folder):
        done = tried(words, folder, environment)
        if done.status:
            return {"build": summary(done)}
    found = {}
    for mode, extra in MODES.items():
        done = tried(["./app", *ARGUMENTS], folder, {**environment, **extra})
        found[mode] = f"{summary(done)}, {len(done.out.splitlines())} lines, {digest(done.out)}"
    return found


def digest(text: str) -> str:
    """Return what tells one output from another, apart from the times in it."""
    return hashlib.sha256(re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "#", text).encode()).hexdigest()[:6]


def main(arguments: list[str]) -> int:
    candle = Path(arguments[0])
    for path in distinct(candle, "**/*.s"):
        with tempfile.TemporaryDirectory() as folder:
            results = listing(path, Path(folder))
        print(
            path.relative_to(candle), *(f"\n    {mode}: {text}" for mode, text in results.items()), flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
