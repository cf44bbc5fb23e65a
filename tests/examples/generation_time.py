"""Processor time of generation beside that of ``ppcg --target=c``, over the original PolyBench programs.

    python tests/examples/generation_time.py POLYBENCH --ppcg PPCG [--rounds N] [NAME ...]

``cold`` is one process of swbuild per file, without its cache; ``warm`` the same file in one process for all.
User and system time count, with those of compilers and other children.  The rounds interleave the three, and
the least time of each counts: what else runs on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("polybench", type=Path, help="the unpacked PolyBench/C")
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--ppcg", type=Path, help="the ppcg to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    sources = [s for s in _sources(args.polybench) if not args.names or s.stem in args.names]
    best: dict[str, dict[Path, float]] = {"cold": {}, "warm": {}} | ({"ppcg": {}} if args.ppcg else {})
    _warm(args.polybench, sources[0])  # what is imported is no work on a file
    for _ in range(args.rounds):
        for source in sources:
            works: dict[str, Callable[[Path, Path], None]] = {"cold": _cold, "warm": _warm}
            if args.ppcg:
                works["ppcg"] = lambda root, path: _ppcg(args.ppcg, root, path)
            for column, work in works.items():
                before = _processor()
                work(args.polybench, source)
                best[column][source] = min(_processor() - before, best[column].get(source, math.inf))
    _table(sources, best)
    return 0


def _sources(root: Path) -> list[Path]:
    left_out = ("utilities", "dummy_tests")
    found = (p for p in sorted(root.rglob("*.c")) if not set(left_out) & set(p.relative_to(root).parts))
    return [p for p in found if ".orig" not in p.name]


def _flags(root: Path, source: Path) -> list[str]:
    return [f"-I{root / 'utilities'}", f"-I{source.parent}", "-DLARGE_DATASET"]


def _cold(root: Path, source: Path) -> None:
    environment = {**os.environ, "SWBUILD_CACHE": "off", "PYTHONPATH": str(_ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed swbuild is compiled
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "swbuild", "generate", str(source), *_flags(root, source)]
        subprocess.run([*command, "-o", out, "-q"], check=True, env=environment, stderr=subprocess.DEVNULL)


def _warm(root: Path, source: Path) -> None:
    from swbuild.frontend import CppOptions, read_source
    from swbuild.generate import generate_unit

    options = CppOptions((str(root / "utilities"), str(source.parent)), ("LARGE_DATASET",))
    generate_unit(read_source(source, options, None), {})


def _ppcg(ppcg: Path, root: Path, source: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        command = [str(ppcg), "--target=c", *_flags(root, source), str(source), "-o", f"{out}/out.c"]
        subprocess.run(command, check=True, capture_output=True)


def _processor() -> float:
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _table(sources: list[Path], best: dict[str, dict[Path, float]]) -> None:
    print(f"{'':<18}" + "".join(f"{column:>10}" for column in best) + "   ms of processor time")
    for source in sources:
        print(f"{source.stem:<18}" + "".join(f"{1000 * best[c][source]:10.0f}" for c in best))
    sums = {column: sum(times.values()) for column, times in best.items()}
    print(f"{'sum':<18}" + "".join(f"{1000 * total:10.0f}" for total in sums.values()))
    if "ppcg" in best:
        for column in ("cold", "warm"):
            logs = [math.log(best[column][s] / best["ppcg"][s]) for s in sources]
            mean = math.exp(sum(logs) / len(logs))
            print(
                f"{column}: {sums[column] / sums['ppcg']:.2f} times ppcg's sum, {mean:.2f} in the mean ratio"
            )


if __name__ == "__main__":
    sys.exit(main())
