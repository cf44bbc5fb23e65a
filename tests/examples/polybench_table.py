"""Writes docs/polybench.md: PolyBench/C 4.2.1, every program serial against offloaded.

    python tests/examples/polybench_table.py PolyBenchC-4.2.1 [--sizes MINI,LARGE:120] > docs/polybench.md

The benchmark's sources are not part of swbuild; give the directory that holds a copy.  A number behind a
size is the limit of its runs, in seconds, in place of --timeout.  Generation times are processor
seconds of front end and generator, measured in one process.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from swbuild.frontend import CppOptions, read_source
from swbuild.generate import generate_unit

_FOLDERS = ("linear-algebra", "datamining", "stencils", "medley")

_HEAD = """\
# PolyBench/C

<!-- Written by tests/examples/polybench_table.py; do not edit. -->

The thirty programs of PolyBench/C 4.2.1, unmodified: `swbuild check --program` builds each of them twice,
serially with gcc and with its regions on the emulated SW26010, and compares what both print, byte for byte.
A run of more than {limits} counts as *too long*. *Kernels* counts what the core group runs,
*mapped* the loops that are dealt out to threads in each of them, and *loops on the host* those around
kernels that stay sequential. *Seconds* is the processor time of preprocessor, front end and generator.

"""

_VERDICTS = {0: "pass", 1: "wrong", 2: "refused", 77: "not offloaded", 99: "machinery", 124: "too long"}


@dataclass(frozen=True, slots=True)
class Row:
    """One program."""

    name: str
    kernels: int
    mapped: tuple[int, ...]
    host_loops: tuple[int, ...]
    seconds: float
    reason: str
    verdicts: tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", type=Path)
    parser.add_argument("--sizes", default="MINI,SMALL,MEDIUM")
    parser.add_argument("--timeout", type=float, default=600)
    args = parser.parse_args()
    sizes = dict(_size(text, args.timeout) for text in args.sizes.split(","))
    rows = [_row(args.root, path, sizes) for path in programs(args.root)]
    print("\n".join(_page(rows, sizes, args.timeout)))
    return int(any(verdict == "wrong" for row in rows for verdict in row.verdicts))


def _size(text: str, timeout: float) -> tuple[str, float]:
    """Return a size and the limit of its runs."""
    name, _, seconds = text.partition(":")
    return name, float(seconds) if seconds else timeout


def programs(root: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*.c") if p.stem == p.parent.name)


def _row(root: Path, path: Path, sizes: Mapping[str, float]) -> Row:
    begin = _processor_seconds()
    model = read_source(path, CppOptions((str(root / "utilities"),)), None)
    (region,) = generate_unit(model, {}).regions
    seconds = _processor_seconds() - begin
    kernels = region.report["kernels"]
    assert isinstance(kernels, list)
    verdicts = []
    for size, timeout in sizes.items():
        verdicts.append(_verdict(root, path, size, timeout))
        print(f"{path.stem} {size}: {verdicts[-1]}", file=sys.stderr, flush=True)
    return Row(
        path.stem,
        len(kernels),
        tuple(kernel["mapped_loops"] for kernel in kernels),
        tuple(kernel["host_loops"] for kernel in kernels),
        seconds,
        "" if kernels else _reason(region.report),
        tuple(verdicts),
    )


def _processor_seconds() -> float:
    """Return the seconds that this process and the ended ones below it have computed for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _reason(report: dict[str, object]) -> str:
    loops = report["loops"]
    assert isinstance(loops, list)
    return str(loops[0]["because"][0]) if loops and loops[0]["because"] else str(report.get("note", ""))


def _verdict(root: Path, path: Path, size: str, timeout: float) -> str:
    command = [sys.executable, "-m", "swbuild", "check", "-q", "--program", f"--timeout={timeout:g}"]
    command += ["-I", str(root / "utilities"), str(root / "utilities" / "polybench.c"), str(path)]
    command += ["-D", f"{size}_DATASET", "-D", "POLYBENCH_DUMP_ARRAYS", "--dma", "late"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * timeout, check=False)
    except subprocess.TimeoutExpired:
        return _VERDICTS[124]
    if done.returncode == 1 and re.search(r"^late: timeout\b", done.stdout, re.MULTILINE):
        return _VERDICTS[124]
    return _VERDICTS.get(done.returncode, f"exit {done.returncode}")


def _page(rows: list[Row], sizes: Mapping[str, float], timeout: float) -> Iterator[str]:
    others = ", ".join(f"{name}: {limit:g}" for name, limit in sizes.items() if limit != timeout)
    yield _HEAD.format(limits=f"{timeout:g} seconds" + (f" ({others})" if others else "")).rstrip() + "\n"
    yield f"| program | kernels | mapped | loops on the host | {' | '.join(sizes)} | seconds |"
    yield "|---|---|---|---|" + "---|" * len(sizes) + "---|"
    for row in rows:
        mapped, host = (_short(values) for values in (row.mapped, row.host_loops))
        cells = [row.name, str(row.kernels), mapped, host, *row.verdicts, f"{row.seconds:.2f}"]
        yield f"| {' | '.join(cells)} |"
    mean = sum(row.seconds for row in rows) / len(rows)
    largest = max(rows, key=lambda row: row.seconds)
    yield f"\nGeneration: {mean:.2f} s in the mean, at most {largest.seconds:.2f} s ({largest.name})."
    for row in rows:
        if row.reason:
            yield f"\n`{row.name}` has no parallel loop: {row.reason}."


def _short(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values)) if len(set(values)) > 1 else str(values[0]) if values else "-"


if __name__ == "__main__":
    sys.exit(main())
