"""What listings of the vendor's compiler say of the pipes: figures in ``measured/``, and tables of them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from swbuild.emulator.model.measurements import MEASURED
from swbuild.machine import MachineModel, facts

__all__ = [
    "BLOCKS",
    "LOOPS",
    "PARAMETERS",
    "STREAM",
    "Listed",
    "block_rows",
    "blocks",
    "loop_rows",
    "parameters",
    "size_rows",
    "stream_rows",
]

BLOCKS = MEASURED / "blocks_sw5cc.csv"
LOOPS = MEASURED / "loops_swgemm.csv"
STREAM = MEASURED / "loops_stream.csv"
PARAMETERS = MEASURED / "blocks_parameters.csv"

#: Bounds of the sizes of blocks, in instructions, that the page tells apart.
_SIZES = ((1, 2), (3, 5), (6, 10), (11, 20), (21, 1000))


@dataclass(frozen=True, slots=True, order=True)
class Listed:
    """A kind of block: instructions by class, and cycles: the compiler's, its rules' here, the two pipes'."""

    held_out: bool
    integer: int
    memory: int
    floating: int
    compiler: int
    scheduler: int
    pipes: int

    @property
    def instructions(self) -> int:
        return self.integer + self.memory + self.floating


def blocks() -> Counter[Listed]:
    """Return the blocks of the listings, as ``measured/`` has them, with how many there are of each."""
    with BLOCKS.open(encoding="utf-8", newline="") as file:
        rows = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]
    return Counter({_listed(row): row["blocks"] for row in rows})


def _listed(row: dict[str, int]) -> Listed:
    values = {name: value for name, value in row.items() if name not in ("held_out", "blocks")}
    return Listed(bool(row["held_out"]), **values)


def parameters(machine: MachineModel) -> list[tuple[str, float]]:
    """Return the numbers of the machine file that the figures rest on."""
    return [
        (fact.name, fact.value)
        for fact in facts(machine.name)
        if fact.name.startswith(("pipes.", "scheduler."))
    ]


def _spread(rows: Iterable[tuple[Listed, int]], model: Callable[[Listed], int]) -> list[str]:
    """Return count, exact ones, median and 90th percentile of the relative errors, and the worst."""
    errors = sorted(
        abs(model(item) - item.compiler) / item.compiler for item, count in rows for _ in range(count)
    )
    exact = sum(error == 0 for error in errors) / len(errors)
    found = [exact, errors[len(errors) // 2], errors[int(0.9 * len(errors))], errors[-1]]
    return [str(len(errors)), *(f"{100 * value:.0f} %" for value in found)]


def block_rows() -> list[list[str]]:
    """Return the errors of the blocks, by the compiler's rules and on the two pipes, fitted and held out."""
    items = blocks().items()
    fitted = [(item, count) for item, count in items if not item.held_out]
    held = [(item, count) for item, count in items if item.held_out]
    groups = [("listings of the fit", fitted), ("listings held out", held), ("all", list(items))]
    models: list[tuple[str, Callable[[Listed], int]]] = [
        ("the compiler's slots", lambda item: item.scheduler),
        ("two pipes", lambda item: item.pipes),
    ]
    return [[f"{name}, {which}", *_spread(rows, model)] for name, model in models for which, rows in groups]


def size_rows() -> list[list[str]]:
    """Return mean cycles by size of block: the compiler's, by its own rules, and on the two pipes."""
    result = []
    for low, high in _SIZES:
        rows = [(item, count) for item, count in blocks().items() if low <= item.instructions <= high]
        total = sum(count for _, count in rows)
        sums = [
            sum(getattr(item, name) * count for item, count in rows)
            for name in ("compiler", "scheduler", "pipes")
        ]
        name = f"{low} to {high}" if high < 1000 else f"{low} and more"
        result.append([name, str(total), *(f"{cycles / total:.2f}" for cycles in sums)])
    return result


def loop_rows() -> list[list[str]]:
    """Return file, loop, instructions and the model's cycles a turn of swGEMM's inner loops."""
    with LOOPS.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def stream_rows(measured: Mapping[str, float]) -> list[list[str]]:
    """Return STREAM's vector loops as compiled: instructions, cycles a vector ``measured`` and modelled."""
    with STREAM.open(encoding="utf-8", newline="") as file:
        rows = [(row["loop"], row["instructions"], float(row["cycles"])) for row in csv.DictReader(file)]
    return [
        [
            name,
            count,
            f"{measured[name]:.2f}",
            f"{cycles:.2f}",
            f"{100 * (cycles / measured[name] - 1):+.0f} %",
        ]
        for name, count, cycles in rows
    ]
