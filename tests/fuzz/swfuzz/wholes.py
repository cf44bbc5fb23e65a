"""Runs for hours: random whole programs (:mod:`swfuzz.typed`), serial against offloaded by their own output.

    python -m swfuzz.wholes --minutes 60 --keep found [--first SEED] [--batch 20]

Each program of a batch is a unit of one C file, so that the machinery is started once for all of them; when
the file fails, each of its units is tried alone.  Start it in tests/fuzz with the swbuild to try on
PYTHONPATH.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from swbuild.check import CheckSettings, Outcome
from swbuild.check.program import ProgramResult, ProgramTask, check_program
from swbuild.options import (
    Distribution,
    Fusion,
    KernelOptions,
    Prefetch,
    Preset,
    Resident,
    Share,
    Turn,
    Vectorize,
    Where,
)
from swfuzz.grammar import random_grid
from swfuzz.typed import Unit, program_of, random_unit

__all__ = ["checked_units", "main"]

_MODES = ("eager", "eager", "eager", "late", "random:3", "checked")


def checked_units(units: list[Unit], seed: int, directory: Path, mode: str = "") -> ProgramResult:
    """Return the verdict on the program of ``units``, under the options that ``seed`` draws.

    Transfers complete as ``mode`` says; without it ``seed`` draws that, too.
    """
    random = Random(f"options {seed}")
    machine = random.choice(("sw26010", "sw26010-pro"))
    options = {unit.name: _options(random, machine) for unit in units}
    source = directory / "typed.c"
    source.write_text(program_of(units))
    task = ProgramTask((source,), options=options, default_options=KernelOptions(machine=machine))
    drawn = random.choice(_MODES)
    return check_program(task, CheckSettings(modes=(mode or drawn,), timeout=120))


def _options(random: Random, machine: str) -> KernelOptions:
    return KernelOptions(
        machine=machine,
        threads=random_grid(random),
        distribution=random.choice(list(Distribution)),
        fusion=random.choice(list(Fusion)),
        preset=random.choice((*Preset, Preset.DEFAULT)),
        tile=random.choice(((), (), (4,), (8, 2), (3, 16))) or None,
        reassociate=False,
        vectorize=Vectorize.NEVER if random.random() < 0.2 else Vectorize.AUTO,
        prefetch=Prefetch.NEVER if random.random() < 0.2 else Prefetch.AUTO,
        share=random.choice(list(Share)),
        resident=random.choice(list(Resident)),
        turn=random.choice(list(Turn)),
        where=Where.AUTO if random.random() < 0.3 else Where.CPES,
    )


def _told(result: ProgramResult) -> str:
    lines = [result.message, *map(str, result.diagnostics)]
    lines += [f"{run.mode}: {run.message} {run.differences}" for run in result.runs]
    return "\n".join(lines)


def _tried(units: list[Unit], seed: int, directory: Path, mode: str) -> tuple[str, str, int, int]:
    """Return the outcome, what there is to say, and how many regions were modelled and have kernels."""
    try:
        result = checked_units(units, seed, directory, mode)
    except Exception as error:  # noqa: BLE001 - finding these is the purpose
        return "traceback", f"{type(error).__name__}: {error}", 0, 0
    kernels = sum(bool(region.kernels) for region in result.regions)
    good = (Outcome.PASS, Outcome.SKIP, Outcome.NOT_OFFLOADED)
    outcome = "ok" if result.outcome in good else result.outcome.value
    modelled = sum(bool(r.kernels) or r.reason.startswith("nothing in it") for r in result.regions)
    return outcome, _told(result), modelled, kernels


def _keep(place: Path, unit: Unit, seed: int, text: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{unit.name}.c").write_text(program_of([unit]))
    (place / f"{unit.name}.txt").write_text(f"options of seed {seed}\n{text}\n")


def _batch(first: int, args: argparse.Namespace, directory: Path, total: Counter[str]) -> None:
    units = [random_unit(seed) for seed in range(first, first + args.batch)]
    outcome, text, modelled, kernels = _tried(units, first, directory, args.mode)
    total.update({"programs": args.batch, "modelled": modelled, "offloaded": kernels})
    if outcome == "ok":
        return
    blamed = 0
    for unit in units:
        alone, text_alone, _, _ = _tried([unit], first, directory, args.mode)
        if alone != "ok":
            blamed += 1
            total[alone] += 1
            print(f"{unit.name}: {alone}: {text_alone.strip()[:300]}", flush=True)
            _keep(args.keep, unit, first, text_alone)
    if not blamed:
        total["together"] += 1
        print(f"{first}: only together: {outcome}: {text.strip()[:600]}", flush=True)


def main() -> int:
    """Run the campaign; 1 when anything failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--programs", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--mode", default="", help="how transfers complete, or checked (default: at random)")
    parser.add_argument("--keep", type=Path, default=Path("found"))
    args = parser.parse_args()
    end, seed, total = time.monotonic() + 60 * args.minutes, args.first, Counter[str]()
    with TemporaryDirectory(prefix="swfuzz-") as work:
        while time.monotonic() < end and seed < args.first + args.programs:
            _batch(seed, args, Path(work), total)
            seed += args.batch
            print(f"{seed - args.first} programs: {dict(total)}", flush=True)
    return 1 if set(total) - {"programs", "modelled", "offloaded"} else 0


if __name__ == "__main__":
    sys.exit(main())
