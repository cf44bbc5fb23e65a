"""Loops of C against what the vendor's compiler made of such loops, from stored figures and stored code.

``python -m swbuild.emulator.model.compiled_loops`` renews the stored code, ``measured/loops.s``, with gcc.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from swbuild.emulator.driver.counting import costed
from swbuild.emulator.model.blocks import Block, functions
from swbuild.emulator.model.flow import read_blocks
from swbuild.emulator.model.measurements import MEASURED, measured_on, measured_rows
from swbuild.emulator.model.schedule import compiler_cycles, turn_cycles
from swbuild.machine import MachineModel

__all__ = ["Loop", "compiled", "loops", "table", "turn"]

_CODE = MEASURED / "loops.s"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a listing: cycles of one turn of the source's loop in the compiler's own schedule."""

    name: str
    words: str
    unrolled: int
    cycles: float


def loops() -> list[Loop]:
    """Return the loops whose listings give a schedule."""
    rows = measured_rows("loops_sw5cc")
    return [
        Loop(row["loop"], row["words"], int(row["unrolled"]), int(row["cycles"]) / int(row["unrolled"]))
        for row in rows
    ]


def table() -> list[list[str]]:
    """Return for every loop the compiler's cycles, the model's by the same rules, and those on the pipes."""
    machine = measured_on("loops_sw5cc")
    rows = []
    for loop in loops():
        model = compiled(loop.name, loop.unrolled, machine)
        figures = [f"{loop.cycles:.2f}", f"{model:.2f}", f"{model / loop.cycles - 1:+.0%}"]
        rows.append([loop.words, str(loop.unrolled), *figures, f"{turn(loop.name, machine):.2f}"])
    return rows


@cache
def turn(name: str, machine: MachineModel) -> float:
    """Return the model's cycles of one turn on the pipes."""
    return turn_cycles(_block(name).steps, _block(name).live, machine)


@cache
def compiled(name: str, unroll: int, machine: MachineModel) -> float:
    """Return what the compiler would say of one turn, unrolled as the listing has it."""
    block = _block(name)
    return compiler_cycles(block.steps, block.live, unroll, machine)


def _block(name: str) -> Block:
    return dict(_loops_of(_CODE.read_text(encoding="latin-1")))[name]


def _loops_of(text: str) -> Iterator[tuple[str, Block]]:
    """Yield the first loop of one block in each function."""
    for function in functions(read_blocks(text, 32)):
        block = next((block for block in function if block.loops), None)
        if block:
            yield next(label for label in function[0].labels if not label.startswith(".L")), block


def main() -> int:
    """Compile the stored loops as the stand-ins do for costing."""
    flags = ["-O2", "-ffp-contract=off", "-Wno-psabi", *costed("gcc")]
    command = ["gcc", *flags, "-g0", "-fno-asynchronous-unwind-tables", "-o", "-", "loops.c"]
    done = subprocess.run(command, cwd=MEASURED, check=True, capture_output=True, text=True)
    _CODE.write_text("\n".join(_bare(done.stdout)) + "\n", encoding="latin-1")
    return 0


def _bare(text: str) -> Iterator[str]:
    """Yield the labels and instructions, with the marks of spilled values and without other comments."""
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if code.strip() and not code.lstrip().startswith("."):
            yield code.rstrip() + ("\t# %sfp" if "%sfp" in comment else "")
        elif code.startswith(".L"):
            yield code.rstrip()


if __name__ == "__main__":
    sys.exit(main())
