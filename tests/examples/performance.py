"""Measures the examples in model time: docs/performance.json keeps it, docs/performance.md shows it.

    python tests/examples/performance.py                    everything, on both machines: some minutes each
    python tests/examples/performance.py --machine sw26010 --only polybench -k gemm -k atax
    python tests/examples/performance.py --short            the subset that all runs of the tests compare
    python tests/examples/performance.py --only choices     the planner's choices beside other candidates
    python tests/examples/performance.py --page             draw the page again, measure nothing

What is measured takes the place of what the ledger says of it, one region after the other; what was not
measured, or not in time, keeps its earlier figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, log
from pathlib import Path

from choices import Tried, measure, read_choices, section

from swbuild.bench import BenchSettings, measure_tasks
from swbuild.bench.document import document, merged, read_document
from swbuild.bench.results import Measured
from swbuild.check.project import tasks_of
from swbuild.cli.progress import bench_progress
from swbuild.files import write_text
from swbuild.machine import load, own_machines
from swbuild.manifest import load_manifest, resolve, select

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
#: A few regions at small sizes, and what they took when this was last written.
SHORT = Path(__file__).with_name("short.yaml")
SHORT_LEDGER = Path(__file__).with_name("short.json")


@dataclass(frozen=True, slots=True)
class Part:
    """A manifest of examples, and what the page says of it."""

    name: str
    title: str
    text: str

    @property
    def manifest(self) -> Path:
        return ROOT / "examples" / self.name / ("bench.yaml" if self.name == "polybench" else "sunway.yaml")


PARTS = (
    Part(
        "polybench",
        "PolyBench",
        "The thirty kernels of `examples/polybench` at PolyBench's LARGE, with fewer steps of time, and "
        "floyd-warshall at n = 800.",
    ),
    Part(
        "nests",
        "Deep nests",
        "`examples/nests`: contractions of two tensors over two indices, a convolution with the channels in\n"
        "two places, and a loop of one line, in which nothing is used twice.",
    ),
    Part(
        "stencils",
        "Stencils",
        "`examples/stencils`: one step of eight stencils in single precision, from one array to another,\n"
        "1024 x 1024 (121 and 169 points), 2048 x 2048 (9 points) and 128 x 128 x 128.",
    ),
)

_HEAD = """\
# Performance, in model time

<!-- Written by tests/examples/performance.py; do not edit. -->

What the examples cost with default options, on the core group also where `where: auto` leaves a region to the
host. All times are *model time*: cycles that a core group would take, as far as its published measurements
tell ([model.md](model.md)). Nothing here was measured on the machines. Model time depends on the program,
the machine file and the compiler that the emulator uses, not on the box: two runs agree to the cycle.

* **x bound**: model cycles over a bound, which is one spawn and join and the larger of two times: all
  operations at peak, a multiply-add on all lanes of all CPEs in every cycle; and all *compulsory* bytes
  in whole requests, one behind the other. Operations are counted from the expressions, for each instance
  of a statement, sums without multiply-adds as well, so that 1 is out of reach for many. What stays on
  the host has no spawn, and may be below 1.
* **moved**: bytes that CPEs read and wrote in main memory, over the compulsory ones: distinct bytes that
  were read before they were written, and distinct bytes that were written, as the emulator sees them (of
  what the host works on, whole lines of its cache). What fetches more than it needs raises them, and
  with them the bound.
* **host**: the host's share of all time. **computing**, **waiting** and **idle**: shares of the CPEs'
  time in kernels; idle is waiting for the last CPE to end.
* **LDM**: what the fullest CPE used, in percent of the budget for buffers.

`swbuild bench` measures any region like this ([cli.md](cli.md)); with `--against docs/performance.json`
it says what has become slower.
"""
_COLUMNS = ("region", "sizes", "model cycles", "x bound", "moved", "spawns", "host", "computing", "waiting")
_COLUMNS += ("idle", "LDM")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--machine", action="append", choices=own_machines())
    parser.add_argument("--only", action="append", choices=[*(part.name for part in PARTS), "choices"])
    parser.add_argument("-k", "--kernel", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=1800.0)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    settings = BenchSettings(args.jobs, args.timeout)
    for machine in () if args.page else args.machine or own_machines():
        if args.short:
            _measure(SHORT, machine, args.kernel, settings, SHORT_LEDGER)
            continue
        for part in PARTS:
            if not args.only or part.name in args.only:
                _measure(part.manifest, machine, args.kernel, settings, LEDGER)
        if not args.only or "choices" in args.only:
            measure(machine, args.kernel)
    PAGE.write_text(page(read_document(LEDGER), read_choices()), encoding="utf-8")
    return 0


def _measure(
    manifest: Path, machine: str, names: Sequence[str], settings: BenchSettings, ledger: Path
) -> None:
    """Measure what the manifest lists, and put each measurement into the ledger as soon as there is one."""
    project = select(resolve(replace(load_manifest(manifest), machine=machine), manifest), names)
    count = sum(len(source.kernels or ()) for source in project.sources)
    with bench_progress(count) as tell:

        def keep(item: Measured) -> None:
            tell(item)
            if item.figures:
                _keep(ledger, item)
            for problem in item.diagnostics:
                print(problem, file=sys.stderr)

        measure_tasks(tasks_of(project), settings, keep)


def _keep(ledger: Path, item: Measured) -> None:
    before = read_document(ledger) if ledger.exists() else ()
    write_text(ledger, json.dumps(document(merged(before, [item])), indent=1) + "\n")


def page(found: Sequence[Measured], choices: Sequence[Tried]) -> str:
    """Return the page that shows both ledgers."""
    lines = [_HEAD, *(line for part in PARTS for line in _section(part, found)), *section(choices)]
    return "\n".join(lines).rstrip() + "\n"


def _section(part: Part, found: Sequence[Measured]) -> Iterator[str]:
    sources = {path.name for path in part.manifest.parent.glob("*.c")}
    if any(item.source in sources for item in found):
        yield f"## {part.title}\n\n{part.text}\n"
    for machine in own_machines():
        rows = [item for item in found if item.machine == machine and item.source in sources]
        rows.sort(key=lambda item: item.name)
        if not rows:
            continue
        yield f"### {load(machine).title}\n"
        yield f"| {' | '.join(_COLUMNS)} |"
        yield "|---|---|" + "---:|" * (len(_COLUMNS) - 2)
        yield from map(_row, rows)
        ratios = [item.x_bound for item in rows if item.x_bound]
        mean = exp(fsum(map(log, ratios)) / len(ratios))
        yield f"\nGeometric mean of {len(ratios)}: {mean:.2f} x bound.\n"


def _row(item: Measured) -> str:
    figures = item.figures
    assert figures is not None
    shares = (figures.host, figures.computing, figures.waiting, figures.idle, figures.ldm / item.budget)
    cells = [
        item.name,
        ", ".join(f"{name} {value}" for name, value in item.sizes.items()),
        f"{figures.cycles:,.0f}",
        _ratio(item.x_bound),
        _ratio(item.moved_ratio),
        f"{figures.spawns:,}",
        *(f"{100 * share:.0f} %" for share in shares),
    ]
    return f"| {' | '.join(cells)} |"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
