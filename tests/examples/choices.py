"""Candidates of twelve kernels, each built and run: how good is the planner's choice, and its estimate?

docs/choices.json keeps every run, docs/performance.md shows a line per kernel and size.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from swbuild.files import write_text
from swbuild.machine import load, own_machines
from swbuild.options import KernelOptions
from swbuild.planning.view import Candidate

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from choosing import Kernel, Run, measured, space_of

__all__ = ["CHOICES", "Case", "Tried", "measure", "read_choices", "section"]

CHOICES = Path(__file__).resolve().parents[2] / "docs" / "choices.json"

_SOURCES = Path(__file__).with_name("choices")

_TEXT = """\
## Choices

Is there anything better than the tiles and the grid of threads that are chosen? The twelve kernels of
`tests/examples/choices`, of constant sizes, are built and run with other *candidates*: every grid of all 64
CPEs with all sizes of tiles that the search may try, as far as their buffers fit the LDM. Of a larger space
only a sample is run: the ten cheapest of different estimates, twenty as evenly spread among those that are
estimated to take at most twice as long as the cheapest (*near*), and six among all others. Rows are measured
one by one, as the search changes: neighbouring rows may be of different versions of it.

* **over best**: model cycles of the choice over those of the best candidate that was run.
* **estimate**: what the choice was estimated to take, over its model cycles.
"""
_COLUMNS = ("kernel", "sizes", "candidates", "near", "run", "choice", "model cycles", "best", "over best")
_COLUMNS += ("estimate",)


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel at one size."""

    name: str
    sizes: Mapping[str, int]

    def on(self, machine: str) -> Kernel:
        options = KernelOptions(machine=machine, reassociate=self.name == "dot")
        return Kernel(_SOURCES / f"{self.name}.c", self.sizes, options)


_PLANES = ({"M": 200, "N": 300}, {"M": 700, "N": 500})
_VECTORS = ({"N": 40000}, {"N": 300000})
_PRODUCTS = ({"M": 96, "N": 112, "K": 128}, {"M": 200, "N": 220, "K": 240})

CASES = tuple(
    Case(name, sizes)
    for name, both in {
        "line": _VECTORS,
        "dot": _VECTORS,
        "columns": _PLANES,
        "gemv": _PLANES,
        "ger": _PLANES,
        "gemm": _PRODUCTS,
        "syrk": ({"N": 120, "K": 100}, {"N": 260, "K": 200}),
        "trmm": ({"M": 100, "N": 120}, {"M": 220, "N": 240}),
        "trmv": ({"N": 300}, {"N": 800}),
        "star2d": _PLANES,
        "box2d": _PLANES,
        "star3d": ({"P": 40, "M": 40, "N": 40}, {"P": 70, "M": 90, "N": 100}),
    }.items()
    for sizes in both
)


@dataclass(frozen=True, slots=True)
class Tried:
    """What was run of a kernel at one size on one machine; the first of ``runs`` is the planner's choice.

    There are ``candidates``, ``near`` of which are estimated to take at most twice as long as the best.
    """

    name: str
    machine: str
    sizes: Mapping[str, int]
    candidates: int
    near: int
    runs: tuple[Run, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return self.name, self.machine, tuple(self.sizes.items())

    @property
    def best(self) -> Run:
        return min(self.runs, key=lambda run: run.cycles)

    @property
    def over_best(self) -> float:
        return self.runs[0].cycles / self.best.cycles

    @property
    def estimate(self) -> float:
        return self.runs[0].estimated / self.runs[0].cycles


def measure(machine: str, names: Sequence[str]) -> None:
    """Run the kernels ``names`` (all where there are none) on ``machine``, and put them into the ledger."""
    for case in (each for each in CASES if not names or each.name in names):
        with tempfile.TemporaryDirectory() as place:
            kernel = case.on(machine)
            space = space_of(kernel, Path(place))
            runs = measured(kernel, space.picked, Path(place))
        found = Tried(case.name, machine, case.sizes, space.size, space.near, runs)
        print(f"{found.name} {_named(found.sizes)}: {found.over_best:.2f} x best, {found.estimate:.2f}")
        before = {each.key: each for each in read_choices()} | {found.key: found}
        write_text(CHOICES, _document([before[key] for key in sorted(before, key=str)]))


def _document(found: Sequence[Tried]) -> str:
    """Return the ledger: a line per run."""
    kernels = []
    for each in found:
        values = asdict(each)
        del values["runs"]
        head = json.dumps(values)[:-1]
        runs = (
            [list(run.candidate.threads), list(run.candidate.tile), round(run.estimated), round(run.cycles)]
            for run in each.runs
        )
        kernels.append(head + ', "runs": [\n' + ",\n".join(map(json.dumps, runs)) + "]}")
    return '{"format": 1, "time": "model cycles", "kernels": [\n' + ",\n".join(kernels) + "]}\n"


def read_choices() -> tuple[Tried, ...]:
    """Return what the ledger holds."""
    if not CHOICES.exists():
        return ()
    return tuple(map(_tried, json.loads(CHOICES.read_text(encoding="utf-8"))["kernels"]))


def _tried(values: dict[str, Any]) -> Tried:
    runs = tuple(
        Run(Candidate(tuple(threads), tuple(tile)), estimated, cycles)
        for threads, tile, estimated, cycles in values.pop("runs")
    )
    return Tried(**values, runs=runs)


def section(found: Sequence[Tried]) -> Iterator[str]:
    """Yield the lines of the page that show ``found``."""
    if found:
        yield _TEXT
    for machine in own_machines():
        here = sorted((each for each in found if each.machine == machine), key=_place)
        if not here:
            continue
        yield f"### {load(machine).title}\n"
        yield f"| {' | '.join(_COLUMNS)} |"
        yield "|---|---|---:|---:|---:|---|---:|---|---:|---:|"
        yield from map(_row, here)
        worst = max(each.over_best for each in here)
        close = sum(each.over_best <= 1.15 for each in here)
        off = median(abs(each.estimate - 1) for each in here)
        yield (
            f"\nWithin 15 % of the best: {close} of {len(here)}, the worst at {worst:.2f}. "
            f"Estimates are off by {100 * off:.0f} % in the median.\n"
        )


def _place(each: Tried) -> tuple[int, list[int]]:
    names = [case.name for case in CASES]
    return names.index(each.name), list(each.sizes.values())


def _row(each: Tried) -> str:
    cells = [
        each.name,
        _named(each.sizes),
        f"{each.candidates:,}",
        f"{each.near:,}",
        str(len(each.runs)),
        _shown(each.runs[0].candidate),
        f"{each.runs[0].cycles:,.0f}",
        _shown(each.best.candidate),
        f"{each.over_best:.2f}",
        f"{each.estimate:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sizes.items())


def _shown(candidate: Candidate) -> str:
    """Return the threads and the tile of ``candidate``."""
    return f"{' x '.join(map(str, candidate.threads))}: {' x '.join(map(str, candidate.tile))}"
