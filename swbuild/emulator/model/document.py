"""The tables of ``docs/model.md``: model against measurement, written by the program, free of drift.

``python -m swbuild.emulator.model.document docs/model.md`` renews what stands between the page's
markers; without the argument it prints the summary.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from swbuild.emulator.model.calibration import HELD_OUT_CPES, Row, all_rows, penalties, summarise
from swbuild.emulator.model.compiled_loops import table
from swbuild.emulator.model.listed import block_rows, loop_rows, size_rows, stream_rows
from swbuild.machine import Fact, facts, load, own_machines

__all__ = ["main", "renew", "sections"]

_MARKER = re.compile(r"(<!-- begin (?P<name>[a-z0-9-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
_TIMED = ("memory.", "rma.", "register.", "control.", "pipes.", "scheduler.", "compute.", "library.", "host.")


def sections(rows: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Return the generated parts of the page by the names of their markers, from ``all_rows()``."""
    return {
        "summary": _summary(rows),
        "dma-get": _grid(row for row in rows["dma"] if row.table == "DMA get" and row.aligned),
        "dma-put": _grid(row for row in rows["dma"] if row.table == "DMA put" and row.aligned),
        "dma-ragged": _grid(
            row
            for row in rows["dma"]
            if row.table == "DMA put" and not row.aligned and row.case.endswith("offset 0")
        ),
        "penalty": _list([row for row in penalties(rows["dma"]) if row.case.startswith("put")]),
        "rma": _list(rows["rma"]),
        "stream": _list(rows["stream"]),
        "get-map": _list(rows["get"]),
        "broadcast": _list(rows["broadcast"]),
        "compute": _list(rows["compute"]),
        "convolution": _list(rows["convolution"]),
        "spawn": _list(rows["spawn"]),
        "blocks": _markdown(
            ["rules", "distinct blocks", "exact", "median error", "90th percentile", "worst"], block_rows()
        ),
        "block-sizes": _markdown(
            ["instructions", "distinct blocks", "compiler's cycles", "its slots", "two pipes"], size_rows()
        ),
        "stream-loops": _markdown(
            ["loop", "instructions", "measured", "two pipes", "error"],
            stream_rows({row.case: row.measured for row in rows["compute"]}),
        ),
        "compiled-loops": _markdown(
            ["loop", "unrolled", "compiler's cycles a turn", "model", "error", "model on the pipes"], table()
        ),
        "loops": _markdown(["file", "loop", "instructions", "cycles a turn"], loop_rows()),
        "host": _list(rows["host"]),
        "host-pro": _list(rows["host-pro"]),
        **{f"parameters-{name}": _parameters(name) for name in own_machines()},
    }


def renew(page: str, parts: Mapping[str, str]) -> str:
    """Return ``page`` with the text between its markers replaced; every part must have its marker."""
    names = {match["name"] for match in _MARKER.finditer(page)}
    if names != set(parts):
        raise ValueError(f"markers and parts differ: {sorted(names ^ set(parts))}")
    return _MARKER.sub(lambda match: match[1] + parts[match["name"]] + match[3], page)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\n"


def _summary(rows: Mapping[str, Sequence[Row]]) -> str:
    new = [row for row in rows["dma"] if row.aligned]
    contiguous = [row for row in rows["stream"] if row.table == "STREAM contiguous" and row.aligned]
    strided = [row for row in rows["stream"] if row.table == "STREAM strided" and row.aligned]
    held = ", ".join(map(str, HELD_OUT_CPES))
    groups = [
        ("DMA get and put on the Pro, address and length on 128 B", new),
        (f"… of these with {held} CPEs: nothing was fitted to them", [row for row in new if row.held_out]),
        ("DMA get and put on the Pro at offset 0, every length", _at_offset(rows["dma"], 0)),
        ("DMA put at offset 4: penalty against offset 0, 1 and 64 CPEs", _main_penalties(rows["dma"])),
        ("DMA get and put on the Pro at offsets 4, 64 and 124", _at_offset(rows["dma"], 4, 64, 124)),
        (
            "RMA latency formula, all cluster distances",
            [row for row in rows["rma"] if row.table == "RMA formula"],
        ),
        ("RMA latency, single pairs and sizes", [row for row in rows["rma"] if row.table == "RMA latency"]),
        ("RMA one flow, windows 1 to 16", [row for row in rows["rma"] if row.table == "RMA window"]),
        ("RMA 2 to 12 flows", [row for row in rows["rma"] if row.table == "RMA flows"]),
        ("STREAM contiguous on the SW26010, N ≥ 16", contiguous),
        ("STREAM strided on the SW26010, N ≥ 16", strided),
        (
            "… of these with a gap above one double: nothing was fitted to them",
            [r for r in strided if r.held_out],
        ),
        ("STREAM, N < 16", [row for row in rows["stream"] if not row.aligned]),
        ("get bandwidth by block size on the SW26010", rows["get"]),
        ("gets by one CPE, with spawn and join, on the SW26010", rows["broadcast"]),
        ("strided gets of 64 CPEs, with spawn and join, on the SW26010", rows["convolution"]),
        ("spawn, join and the start of 20 gets on the SW26010", rows["spawn"]),
        ("three vector loops on the SW26010", rows["compute"]),
        ("the host's loop in STREAM on the SW26010, 40 KB to 8 MB", rows["host"]),
        ("… of these nothing was fitted to", [row for row in rows["host"] if row.held_out]),
        ("the host's axpy and dot product on the Pro, 160 MB to 1.6 GB", rows["host-pro"]),
        ("loops of C by the rules of sw5cc, against its own schedule", rows["compiled"]),
    ]
    lines = []
    for name, members in groups:
        total = summarise(members)
        lines.append(
            [name, str(total.count), _percent(total.median), _percent(total.worst), total.worst_case]
        )
    return _markdown(["table", "rows", "median error", "worst error", "worst at"], lines)


def _at_offset(rows: Sequence[Row], *offsets: int) -> list[Row]:
    return [row for row in rows if row.case.endswith(tuple(f"offset {offset}" for offset in offsets))]


def _main_penalties(rows: Sequence[Row]) -> list[Row]:
    sizes = ("put 128 B, 1 CPE,", "put 256 B, 1 CPE,", "put 128 B, 64 CPEs,", "put 256 B, 64 CPEs,")
    return [row for row in penalties(rows) if row.case.startswith(sizes)]


def _grid(rows: Iterable[Row]) -> str:
    """Return a table of sizes by numbers of CPEs; a cell holds the measured cycles and the model's error."""
    cells: dict[int, dict[int, str]] = {}
    for row in rows:
        match = re.match(r"\w+ (\d+) B, (\d+) CPE", row.case)
        assert match is not None
        error = f"{row.measured:.0f} ({100 * row.error:+.0f} %)"
        cells.setdefault(int(match[1]), {})[int(match[2])] = error
    columns = sorted({cpes for line in cells.values() for cpes in line})
    lines = [[str(size), *(cells[size].get(cpes, "") for cpes in columns)] for size in sorted(cells)]
    return _markdown(["bytes", *(f"{n} CPE{'s' * (n > 1)}" for n in columns)], lines)


def _list(rows: Sequence[Row]) -> str:
    lines = [
        [
            row.table,
            row.case,
            _number(row.measured),
            _number(row.model),
            row.unit,
            f"{100 * row.error:+.1f} %",
        ]
        for row in rows
    ]
    return _markdown(["table", "case", "measured", "model", "unit", "error"], lines)


def _parameters(machine: str) -> str:
    model = load(machine)
    absent = {
        name
        for name, present in (
            ("rma.", model.rma.bytes_per_cycle),
            ("register.", model.register.message_bytes),
        )
        if not present
    }
    timed = [fact for fact in facts(machine) if fact.name.startswith(_TIMED)]
    return _markdown(
        ["parameter", "value", "meaning", "source", "confidence"],
        (_fact(fact) for fact in timed if not fact.name.startswith(tuple(absent))),
    )


def _fact(fact: Fact) -> list[str]:
    return [f"`{fact.name}`", f"{fact.value:g}", fact.unit, fact.source, fact.confidence]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 20 else f"{value:.0f}"


def main(arguments: Sequence[str]) -> int:
    """Renew the page that the argument names, or print the summary; return the exit status."""
    if not arguments:
        print(_summary(all_rows()))
        return 0
    page = Path(arguments[0])
    page.write_text(renew(page.read_text(encoding="utf-8"), sections(all_rows())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
