"""Writes docs/speedup.md: model time of PolyBench/C 4.2.1 on the host alone, and with kernels.

    python tests/examples/polybench_speedup.py PolyBenchC-4.2.1 [--sizes SMALL,LARGE=mvt] > docs/speedup.md

The benchmark's sources are not part of swbuild; give the directory that holds a copy.  Behind a size may
stand the programs that run at it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, geometric_mean

from polybench_table import programs

from swbuild.emulator import environment
from swbuild.emulator.model.host_report import host_lines
from swbuild.emulator.model.report import Analysis, analyse

PRESETS = ("default", "classic")
#: The thirteen programs of the Journal of Software 34 (2023), section 7.
PUBLISHED = ("gemm", "gemver", "gesummv", "symm", "syrk", "syr2k", "trmm", "2mm", "3mm", "atax", "bicg")
PUBLISHED += ("doitgen", "mvt")

_HEAD = """\
# Speed-up over the host, in model time

<!-- Written by tests/examples/polybench_speedup.py; do not edit. -->

The thirty programs of PolyBench/C 4.2.1 on the model of the SW26010: once built for the management core
alone, once with their regions as kernels on the 64 CPEs of a core group. *Host* is the time of the region's
lines on the management core. *Default* and *classic* are the times from the first spawn to the last join with
these presets, host code between them included; behind them the speed-up over the host. All of it is model
time ([model.md](model.md)), with the model of {commit}.
"""

_COMPARED = """
## Beside the published figures

The preset `classic` follows an algorithm that was published with measurements on the SW26010 (Journal of
Software 34, 2023, section 7): at LARGE, EXTRALARGE and these sizes rounded up to multiples of 32, with 64
threads, the mean speed-up of thirteen programs over the management core is 539.16, the largest 3093.09;
jacobi-2d, with a spawn in every step of time, has about 9. The speed-ups of single programs are bars of a
logarithmic chart there, without numbers. In model time, those of the thirteen that stand above have:

| size | programs | preset | mean | geometric mean | least | largest |
|---|---|---|---|---|---|---|
"""

_REASONS = """
What may explain the difference:

* **Size.** The published programs compute a thousand times as much as SMALL. A spawn and a join cost
  {spawn:.0f} us on the model, which is much of a kernel's time at small sizes, and tiles of 32 leave most of
  the 64 CPEs without work where an array has 60 to 240 rows. The speed-ups grow with the size here, too.
* **The host's caches.** At SMALL the arrays lie in them; at the published sizes every step down a column
  misses both levels, to which the publication lays much of its speed-ups.
* **The host's walks through memory.** A line costs the model what it costs in the one loop that is published,
  {miss:.0f} cycles with the way back. Translation of addresses is not in it: in a large matrix a walk down a
  column touches another page in every step.
* **The host's code.** The model counts what gcc makes at -O2, without vectors; the published serial programs
  were compiled with -O3 -msimd by another compiler.
* **What CPEs compute** has errors of its own (model.md).
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One program at one size: microseconds of its region on the host, and by preset.

    0: it has no kernels.
    """

    name: str
    host: float
    kernels: tuple[float, ...]

    def speedup(self, preset: int) -> float:
        return self.host / self.kernels[preset] if self.kernels[preset] else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", type=Path)
    parser.add_argument("--sizes", default="SMALL,MEDIUM=" + "+".join(PUBLISHED))
    args = parser.parse_args()
    paths = list(programs(args.root))
    found = {}
    for word in args.sizes.split(","):
        size, _, names = word.partition("=")
        wanted = names.split("+") if names else [path.stem for path in paths]
        found[size] = [_row(args.root, path, size) for path in paths if path.stem in wanted]
    print("\n".join(_page(found)))
    return 0


def _row(root: Path, path: Path, size: str) -> Row:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        host = _region(_serial(root, path, size, folder), path)
        kernels = tuple(_kernels(_offloaded(root, path, size, folder, preset)) for preset in PRESETS)
    print(path.stem, size, f"{host:.1f}", *(f"{time:.1f}" for time in kernels), file=sys.stderr, flush=True)
    return Row(path.stem, host, kernels)


def _run(folder: Path, *words: object) -> None:
    subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment("sw26010"),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _compiled(folder: Path, role: str, sources: Sequence[Path], words: Sequence[object]) -> list[str]:
    for source in sources:
        _run(folder, "sw5cc", role, "-O2", "-std=gnu99", *words, "-c", source, "-o", f"{source.stem}.o")
    return [f"{source.stem}.o" for source in sources]


def _profiled(folder: Path, objects: Sequence[str], role: str) -> Analysis:
    """Link and run the program; return its analysis."""
    _run(folder, "sw5cc", role, *objects, "-o", "program", "-lm")
    _run(folder, sys.executable, "-m", "swbuild", "run", "--profile", "p.json", "./program")
    return analyse(folder / "p.json")


def _serial(root: Path, path: Path, size: str, folder: Path) -> Analysis:
    words = ["-I", root / "utilities", "-I", path.parent, f"-D{size}_DATASET"]
    return _profiled(
        folder, _compiled(folder, "-host", [path, root / "utilities" / "polybench.c"], words), "-host"
    )


def _offloaded(root: Path, path: Path, size: str, folder: Path, preset: str) -> Analysis:
    include = ["-I", root / "utilities", "-I", path.parent, f"-D{size}_DATASET"]
    generate = [
        sys.executable,
        "-m",
        "swbuild",
        "generate",
        "-q",
        "--preset",
        preset,
        "-I",
        root / "utilities",
    ]
    _run(folder, *generate, "-D", f"{size}_DATASET", "-o", ".", path)
    hosts = [folder / f"{path.stem}.host.c", root / "utilities" / "polybench.c"]
    objects = _compiled(folder, "-host", hosts, ["-I", ".", *include])
    objects += _compiled(folder, "-slave", [folder / f"{path.stem}.slave.c"], ["-msimd", "-I", ".", *include])
    return _profiled(folder, objects, "-hybrid")


def _region(analysis: Analysis, path: Path) -> float:
    """Return the model microseconds of the lines between a program's pragmas."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    marks = [
        number
        for number, line in enumerate(lines, 1)
        if line.split()[:2] in (["#pragma", "scop"], ["#pragma", "endscop"])
    ]
    first, last = marks
    return analysis.microseconds(
        sum(
            line.cycles
            for line in host_lines(analysis)
            if Path(line.file).name == path.name and first < line.line < last
        )
    )


def _kernels(analysis: Analysis) -> float:
    """Return the model microseconds from the first spawn to the last join; 0 if there is none."""
    (result,) = analysis.replays
    if not result.kernels:
        return 0.0
    return analysis.microseconds(result.cycles - result.host.before - result.host.after)


def _page(sizes: dict[str, list[Row]]) -> Iterator[str]:
    from swbuild.machine import load

    machine = load("sw26010")
    commit = subprocess.run(
        ["git", "log", "-1", "--format=commit %h of %cs"], capture_output=True, text=True, check=True
    ).stdout.strip()
    yield _HEAD.format(commit=commit)
    for size, rows in sizes.items():
        yield f"## {size}\n"
        yield "| program | host us | default us | | classic us | |"
        yield "|---|---|---|---|---|---|"
        yield from map(_line, rows)
        yield ""
    yield _COMPARED.strip("\n")
    for size, rows in sizes.items():
        yield from _means(size, [row for row in rows if row.name in PUBLISHED])
    control = machine.control.spawn_cycles + machine.control.join_cycles
    miss = machine.host.fill_cycles + machine.host.write_cycles
    yield _REASONS.format(spawn=control / machine.clock_hz * 1e6, miss=miss).rstrip()


def _line(row: Row) -> str:
    cells = [row.name, f"{row.host:.0f}"]
    for number, time in enumerate(row.kernels):
        cells += [f"{time:.0f}", f"{row.speedup(number):.2f}"] if time else ["no kernel", "-"]
    return f"| {' | '.join(cells)} |"


def _means(size: str, rows: Sequence[Row]) -> Iterator[str]:
    for number, preset in enumerate(PRESETS):
        found = {row.name: row.speedup(number) for row in rows if row.kernels[number] > 0}
        if found:
            least, most = min(found, key=lambda name: found[name]), max(found, key=lambda name: found[name])
            values = list(found.values())
            cells = [size, str(len(found)), preset, f"{fmean(values):.1f}", f"{geometric_mean(values):.1f}"]
            cells += [f"{found[name]:.1f} ({name})" for name in (least, most)]
            yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
