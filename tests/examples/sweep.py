"""Check every program of an unmodified PolyBench/C source tree, offloaded against serial.

usage: python tests/examples/sweep.py TREE [--dataset MINI] [--only gemm,atax] [--keep DIR]

The suite itself is not part of this project: unpack it anywhere and name its directory.
Prints a line per program and ends with status 1 if any of them is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from swbuild.check import CheckSettings, Outcome
from swbuild.check.program import ProgramResult, ProgramTask, check_program
from swbuild.frontend.request import CppOptions
from swbuild.options import KernelOptions, Preset

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sweep and return its exit status."""
    args = _parser().parse_args(arguments)
    chosen = set(args.only.split(",")) if args.only else None
    programs = [path for path in _programs(args.tree) if chosen is None or path.stem in chosen]
    wrong = 0
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        futures = [(path, pool.submit(_check, path, args)) for path in programs]
        for path, future in futures:
            outcome, text = future.result()
            wrong += outcome not in (Outcome.PASS, Outcome.SKIP)
            print(f"{path.stem:16} {outcome.value:14} {text}", flush=True)
    print(f"{len(programs)} programs, {wrong} wrong")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--dataset", default="MINI")
    parser.add_argument("--only", default="")
    parser.add_argument("--machine", default="sw26010")
    parser.add_argument("--threads", default="8x8")
    parser.add_argument("--preset", type=Preset, default=Preset.DEFAULT)
    parser.add_argument("--modes", default="late,eager")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    return parser


def _programs(tree: Path) -> Iterator[Path]:
    """Yield the kernels' files: ``.../NAME/NAME.c`` in the suite's four folders."""
    for folder in ("linear-algebra", "datamining", "stencils", "medley"):
        yield from sorted(path for path in (tree / folder).rglob("*.c") if path.stem == path.parent.name)


def _check(path: Path, args: argparse.Namespace) -> tuple[Outcome, str]:
    utilities = args.tree / "utilities"
    rows, columns = map(int, args.threads.split("x"))
    options = KernelOptions(machine=args.machine, threads=(rows, columns), preset=args.preset)
    defines = (f"{args.dataset}_DATASET", "POLYBENCH_DUMP_ARRAYS")
    task = ProgramTask(
        (utilities / "polybench.c", path),
        CppOptions((str(utilities), str(path.parent)), defines),
        default_options=options,
    )
    keep = args.keep / path.stem if args.keep else None
    settings = CheckSettings(timeout=args.timeout, modes=tuple(args.modes.split(",")), keep=keep)
    start = time.monotonic()
    try:
        result = check_program(task, settings)
    except Exception:  # noqa: BLE001 - a traceback is what this sweep looks for
        return Outcome.INFRA, "TRACEBACK " + traceback.format_exc().strip().replace("\n", " | ")[-1500:]
    return result.outcome, _line(result, time.monotonic() - start)


def _line(result: ProgramResult, seconds: float) -> str:
    kernels = sum(len(region.kernels) for region in result.regions)
    spawns = result.runs[0].counts.spawns if result.runs else None
    text = f"{kernels} kernels, {spawns} spawns, {seconds:.1f} s"
    if result.outcome is not Outcome.PASS:
        text += "  " + result.message.replace("\n", " | ")[:600]
    return text


if __name__ == "__main__":
    sys.exit(main())
