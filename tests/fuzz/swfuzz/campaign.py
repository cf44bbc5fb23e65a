"""Runs for hours: batch after batch of random programs, what fails is made small and kept.

    python -m swfuzz.campaign --minutes 120 --keep found [--first SEED] [--batch 30] [--emulate 1]

Start it in tests/fuzz with the swbuild to try on PYTHONPATH, or name its root with --root.  The seed
of every program is its number: the same command finds the same programs again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import swfuzz.batch as batches
from swfuzz.batch import Verdict, run_batch
from swfuzz.emulate import emulated
from swfuzz.evolving import random_evolution
from swfuzz.grammar import random_program
from swfuzz.products import random_product, random_triangle
from swfuzz.program import Program, with_tables
from swfuzz.reduce import reduced
from swfuzz.store import keep
from swfuzz.sweeping import random_sweeps

__all__ = ["contracting", "fingerprint", "machine_of", "main", "programs_of"]

_ROOT = Path(__file__).parents[3]


@dataclass(slots=True)
class _Campaign:
    root: Path
    work: Path
    found: Path
    reduce_slow: bool = False
    kind: str = "any"
    seen: set[str] = field(default_factory=set)
    total: Counter[str] = field(default_factory=Counter)

    def batch(self, first: int, count: int) -> dict[str, Program]:
        """Run one batch; return the programs that passed with something on the CPEs."""
        programs, machine = programs_of(first, count, self.kind), machine_of(first)
        verdicts = run_batch(programs, machine, self.work / "batch", self.root)
        self.total.update(v.kind for v in verdicts.values())
        for name, verdict in verdicts.items():
            if verdict.failed:
                self.failure(name, programs[name], machine, verdict)
        return {name: programs[name] for name, v in verdicts.items() if v.kind == "ok" and v.spawns}

    def failure(self, name: str, program: Program, machine: str, verdict: Verdict) -> None:
        """Keep a failure of a new kind, as small as it gets."""
        what = fingerprint(verdict)
        print(f"{name}: {verdict.kind}: {verdict.text.strip().splitlines()[-1:]}", flush=True)
        if what in self.seen:
            return
        self.seen.add(what)
        keep(self.found, name, program, machine, verdict)
        if verdict.kind == "slow" and not self.reduce_slow:
            return

        def judge(candidates: Mapping[str, Program]) -> set[str]:
            verdicts = run_batch(candidates, machine, self.work / "reduce", self.root)
            return {n for n, v in verdicts.items() if fingerprint(v) == what}

        small = reduced(program, judge, lambda better: self.keep_small(name, better, machine, verdict))
        print(f"{name}: kept as {self.keep_small(name, small, machine, verdict)}", flush=True)

    def keep_small(self, name: str, program: Program, machine: str, verdict: Verdict) -> Path:
        return keep(self.found, f"{name}_small", program, machine, verdict)

    def emulate(self, programs: Mapping[str, Program], machine: str) -> None:
        """Confirm programs on the emulated node, about half of them with multiply-adds."""
        programs = {name: contracting(name, program) for name, program in programs.items()}
        for name, text in emulated(programs, machine, self.work / "emulated").items():
            self.total["emulated" if not text else "emulated wrongly"] += 1
            if text:
                print(f"{name}: on the emulated node: {text}", flush=True)
                if name in programs:  # else it is about the file of all of them
                    keep(self.found, f"{name}_emulated", programs[name], machine, Verdict("emulated", text))


def contracting(name: str, program: Program) -> Program:
    """Return ``program``, with multiply-adds where its name draws that.

    The mock compares with the source as it stands, so that only the emulated node's checks know of them.
    """
    drawn = Random(f"contract {name}").random() < 0.5
    return replace(program, options={**program.options, "contract": True}) if drawn else program


def fingerprint(verdict: Verdict) -> str:
    """Return what two failures of one cause have in common."""
    lines = [line.strip() for line in verdict.text.splitlines()]
    if verdict.kind in ("traceback", "slow", "died"):
        places = [line.split(", line")[0] for line in lines if "swbuild" in line and line.startswith("File")]
        place = (places[-1:] if verdict.kind == "traceback" else places[:1]) or [""]
        return f"{verdict.kind} {place[0]} {lines[-1][:40] if verdict.kind == 'traceback' and lines else ''}"
    if verdict.kind.endswith("compiler"):
        return verdict.kind + verdict.text.rpartition("[")[2] if "warning" in verdict.text else verdict.kind
    return verdict.kind


def machine_of(first: int) -> str:
    """Return the machine for the batch that begins with this seed."""
    return Random(first).choice(("sw26010", "sw26010-pro"))


#: What kinds of programs there are, and the letter that their names begin with.
_KINDS = {
    "any": (random_program, "f"),
    "products": (random_product, "p"),
    "triangles": (random_triangle, "t"),
    "evolving": (random_evolution, "e"),
    "sweeping": (random_sweeps, "w"),
    "tables": (lambda random: with_tables(random_program(random)), "r"),
}


def programs_of(first: int, count: int, kind: str = "any") -> dict[str, Program]:
    """Return the programs of a kind of seeds ``first``, ``first + 1``, …"""
    draw, letter = _KINDS[kind]
    return {f"{letter}{seed}": draw(Random(seed)) for seed in range(first, first + count)}


def main() -> int:
    """Run the campaign; 1 when anything failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--programs", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--batch", type=int, default=30)
    parser.add_argument(
        "--emulate", type=int, default=0, help="confirm so many of each batch on the emulated node"
    )
    parser.add_argument("--seconds", type=float, default=batches.LIMIT, help="limit of one generation")
    parser.add_argument(
        "--kind",
        choices=_KINDS,
        default="any",
        help="products: tiles that CPEs hand to each other; triangles: those of loops over triangles; "
        "evolving: tiles that stay in the LDMs; sweeping: tiles over time; tables: of pointers to rows",
    )
    parser.add_argument("--reduce-slow", action="store_true", help="make programs that take long small, too")
    parser.add_argument("--keep", type=Path, default=Path("found"))
    parser.add_argument("--root", type=Path, default=_ROOT, help="the checkout to try")
    args = parser.parse_args()
    batches.LIMIT = args.seconds
    sys.path.insert(0, str(args.root))
    end, seed = time.monotonic() + 60 * args.minutes, args.first
    with tempfile.TemporaryDirectory(prefix="swfuzz-") as work:
        campaign = _Campaign(args.root, Path(work), args.keep, args.reduce_slow, args.kind)
        while time.monotonic() < end and seed < args.first + args.programs:
            passed = campaign.batch(seed, args.batch)
            chosen = dict(list(passed.items())[: args.emulate])
            if chosen:
                campaign.emulate(chosen, machine_of(seed))
            seed += args.batch
            print(f"{seed - args.first} programs: {dict(campaign.total)}", flush=True)
    bad = set(campaign.total) - {"ok", "refused", "emulated"}
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
