"""What is estimated for kernels of the original PolyBench programs, beside the replay of their run.

    python tests/examples/estimated_time.py POLYBENCH [--machine M] gemm:NI=260,NJ=260,NK=260 mvt:N=800

A line per kernel: launches, cycles estimated and replayed, spawn and join included, and their ratio; last the
median of how far the estimates are off.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from swbuild.frontend import CppOptions, read_source
from swbuild.generate import complete, generate_unit
from swbuild.machine import DEFAULT_MACHINE
from swbuild.options import KernelOptions

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from timed import estimates_of, timed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("polybench", type=Path, help="the unpacked PolyBench/C")
    parser.add_argument("--machine", default=DEFAULT_MACHINE)
    parser.add_argument("programs", nargs="+", metavar="NAME:MACRO=SIZE,…")
    args = parser.parse_args()
    errors = []
    for word in args.programs:
        errors += _compared(args.polybench, args.machine, *word.partition(":")[::2])
    print(f"median error {100 * median(errors):.0f} % of {len(errors)} kernels")
    return 0


def _compared(root: Path, machine: str, name: str, sizes: str) -> list[float]:
    """Print the lines of one program; return how far each estimate is off."""
    source = next(path for path in root.rglob(f"{name}.c"))
    macros = tuple(sizes.split(","))
    includes = (str(root / "utilities"), str(source.parent))
    model = read_source(source, CppOptions(includes, macros), None)
    unit = complete(generate_unit(model, {scop.name: KernelOptions(machine=machine) for scop in model.scops}))
    assert unit.slave is not None, f"{name} has no kernels"
    numbers = {key.lower(): int(value) for key, _, value in (macro.partition("=") for macro in macros)}
    estimates = estimates_of(model, numbers, KernelOptions(machine=machine))
    words = [*(f"-I{place}" for place in includes), *(f"-D{macro}" for macro in macros)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for file in (unit.host, unit.slave, unit.header):
            (folder / file.name).write_text(file.text, encoding="utf-8")
        host = [folder / unit.host.name, root / "utilities" / "polybench.c"]
        words += [f"-I{folder}", "-DPOLYBENCH_USE_C99_PROTO"]
        times = timed(machine, folder, host, [folder / unit.slave.name], words)
    errors = []
    for kernel, time in times.items():
        cycles = estimates[kernel].cycles.total
        errors.append(abs(cycles / time.cycles - 1))
        print(
            f"{kernel:40} {time.launches:6d} {cycles:14.0f} {time.cycles:14.0f} {cycles / time.cycles:6.2f}"
        )
    return errors


if __name__ == "__main__":
    sys.exit(main())
