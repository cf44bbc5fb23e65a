"""The host's published loop, run by the emulator: a program of our own, compiled by the stand-ins."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from swbuild.emulator.model.analysis import analyse
from swbuild.emulator.model.host_report import host_lines
from swbuild.endings import workplace
from swbuild.machine import MachineModel

__all__ = ["KERNELS", "stream_cycles"]

#: The loops of the program, in the order of its lines: a published one, STREAM's four, two published ones.
KERNELS = ("host loop", "copy", "scale", "add", "triad", "axpy", "dot")

_PROGRAM = """\
#include <stdlib.h>
static double x[ROOM] __attribute__((aligned(4096)));
int main(int count, char **words)
{
    long n = atol(words[count - 1]);
    double *a = x, *b = x + n, *c = x + 2 * n, sum = 0.0;
    for (long j = 0; j < n; j++) { a[j] = 1.0; b[j] = 2.0; c[j] = 0.0; }
    for (long j = 0; j < n; j++) a[j] = 2.0 * a[j];
    for (long j = 0; j < n; j++) c[j] = a[j];
    for (long j = 0; j < n; j++) b[j] = 3.0 * c[j];
    for (long j = 0; j < n; j++) c[j] = a[j] + b[j];
    for (long j = 0; j < n; j++) a[j] = b[j] + 3.0 * c[j];
    for (long j = 0; j < n; j++) b[j] = 3.0 * a[j] + b[j];
    for (long j = 0; j < n; j++) sum += a[j] * b[j];
    return sum == 1.0;
}
"""
_FIRST_LINE = 8  # of the loops


def stream_cycles(machine: MachineModel, sizes: list[int]) -> dict[int, Mapping[str, float]]:
    """Return the model cycles of the program's loops over arrays of each of ``sizes`` doubles."""
    from swbuild.emulator import environment

    with workplace("host-stream") as folder:
        (folder / "stream.c").write_text(_PROGRAM, encoding="utf-8")
        variables = environment(machine.name) | {"SWBUILD_EMU_COUNTED_CODE": "1"}
        command = machine.tools.host.command(f"-DROOM={3 * max(sizes)}")
        subprocess.run([*command, "stream.c", "-o", "stream"], cwd=folder, env=variables, check=True)
        return {size: _loops(folder, variables, size) for size in sizes}


def _loops(folder: Path, variables: Mapping[str, str], size: int) -> dict[str, float]:
    more = {"SWBUILD_EMU_COUNTERS": "p.json", "SWBUILD_EMU_MODEL": "p.json.model"}
    subprocess.run([folder / "stream", str(size)], cwd=folder, env={**variables, **more}, check=True)
    cycles = {line.line: line.cycles for line in host_lines(analyse(folder / "p.json"))}
    return {name: cycles[_FIRST_LINE + number] for number, name in enumerate(KERNELS)}
