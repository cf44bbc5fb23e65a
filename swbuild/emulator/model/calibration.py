"""The model against the published measurements: every row, its error, and the tables of ``docs/model.md``.

``document`` turns the rows into that page's tables; a test keeps the page from drifting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median

from swbuild.emulator.model import compiled_loops, experiments
from swbuild.emulator.model.host_experiments import stream_cycles
from swbuild.emulator.model.measurements import measured_on, measured_rows
from swbuild.emulator.model.replay import replay
from swbuild.emulator.model.trace import Process
from swbuild.machine import MachineModel

__all__ = [
    "Row",
    "Summary",
    "all_rows",
    "dma_rows",
    "get_rows",
    "host_pro_rows",
    "host_rows",
    "penalties",
    "rma_rows",
    "stream_rows",
    "summarise",
]


_REPETITIONS = 5
#: The numbers of CPEs whose rows took no part in fitting the machine file.
HELD_OUT_CPES = (2, 8, 32)
#: The lengths of the host's loop, in doubles, that the machine file was fitted to; the longest that is run.
HOST_FITTED = (10240, 20480, 40960, 128000)
HOST_LIMIT = 1_100_000
HOST_PRO_FITTED = {"axpy": 55_000_000, "dot": 56_250_000}


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: ``table`` and ``case`` say which, ``held_out``: no parameter was fitted to it."""

    table: str
    case: str
    measured: float
    model: float
    unit: str
    aligned: bool = True
    held_out: bool = False

    @property
    def error(self) -> float:
        """Return the model's relative error, positive where it is too high."""
        return self.model / self.measured - 1.0


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a set of rows is off: median and worst of the absolute relative errors."""

    count: int
    median: float
    worst: float
    worst_case: str


def summarise(rows: Sequence[Row]) -> Summary:
    """Return the summary of ``rows``, of which there is at least one."""
    worst = max(rows, key=lambda row: abs(row.error))
    return Summary(len(rows), median(abs(row.error) for row in rows), abs(worst.error), worst.case)


def _cycles(process: Process, machine: MachineModel) -> float:
    """Return the cycles of the slowest CPE of a process with one kernel."""
    (kernel,) = replay(process, machine).kernels
    return kernel.span


def dma_rows(machine: MachineModel, keep: Callable[[dict[str, str]], bool] = lambda row: True) -> list[Row]:
    """DMA study on the Pro: cycles per operation, for the rows of the table that ``keep`` accepts."""
    rows = []
    for entry in filter(keep, measured_rows("dma_pro")):
        op, offset, cpes, size = entry["op"], int(entry["offset"]), int(entry["cpes"]), int(entry["bytes"])
        model = _cycles(experiments.dma_loop(op, offset, cpes, size, _REPETITIONS), machine) / _REPETITIONS
        case = f"{op} {size} B, {cpes} CPE{'s' * (cpes > 1)}, offset {offset}"
        aligned = offset == 0 and size % machine.dma.request_bytes == 0
        rows.append(
            Row("DMA " + op, case, float(entry["cycles"]), model, "cycles", aligned, cpes in HELD_OUT_CPES)
        )
    return rows


def stream_rows(machine: MachineModel) -> list[Row]:
    """swCandle STREAM on the SW26010: MB/s; the strided rows with a gap above one double are held out."""
    rows = []
    for entry in measured_rows("stream_sw26010"):
        step, doubles = int(entry["step"]), int(entry["n"])
        for name, arrays in (("copy", 2), ("triad", 3)):
            cycles = _cycles(experiments.stream(step, doubles, name == "triad", _REPETITIONS), machine)
            payload = 64 * _REPETITIONS * arrays * 8 * (doubles if step == 0 else 3072)
            rate = payload / cycles * machine.clock_hz / 1e6
            table = "STREAM contiguous" if step == 0 else "STREAM strided"
            case = f"{name}, N = {doubles}" + (f", gap {step}" if step else "")
            rows.append(Row(table, case, float(entry[name]), rate, "MB/s", doubles >= 16, step > 1))
    return rows


def get_rows(machine: MachineModel) -> list[Row]:
    """swGEMM's map of get bandwidth by block size on the SW26010: MB/s."""
    rows = []
    for entry in measured_rows("get_map_sw26010"):
        block = int(entry["bytes"])
        cycles = _cycles(experiments.get_blocks(block, _REPETITIONS), machine)
        payload = 64 * _REPETITIONS * max(1, 24576 // block) * block
        rate = payload / cycles * machine.clock_hz / 1e6
        rows.append(Row("get map", f"blocks of {block} B", float(entry["rate"]), rate, "MB/s"))
    return rows


def rma_rows(machine: MachineModel) -> list[Row]:
    """RMA study on the Pro: half round trips, cycles per put by window, and by number of flows."""
    rows = []
    for entry in measured_rows("rma_pro"):
        kind, one, other = entry["kind"], int(entry["a"]), int(entry["b"])
        size, window = int(entry["bytes"]), int(entry["window"])
        if kind == "latency":
            process, puts = experiments.ping_pong(one, other, size, _REPETITIONS), 2 * _REPETITIONS
            case = f"CPE {one} to {other}, {size} B"
        else:
            flows = ((0, 1),) if kind == "window" else experiments.FLOWS[one]
            process, puts = experiments.rma_flows(flows, size, window, _REPETITIONS), window * _REPETITIONS
            case = f"{len(flows)} flow{'s' * (len(flows) > 1)}, {size} B, window {window}"
        model = _cycles(process, machine) / puts
        rows.append(Row("RMA " + kind, case, float(entry["cycles"]), model, "cycles"))
    return rows


def latency_formula_rows(machine: MachineModel) -> list[Row]:
    """The RMA study's formula for 8 bytes, 98.48 + 3.965 bx + 4.355 by, over all distances of clusters."""
    rows = []
    for across in range(4):
        for down in range(4):
            other = down * 2 * 8 + across * 2 + (not across and not down)
            model = _cycles(experiments.ping_pong(0, other, 8, _REPETITIONS), machine) / (2 * _REPETITIONS)
            measured = 98.480 + 3.965 * across + 4.355 * down
            rows.append(Row("RMA formula", f"{across} across, {down} down", measured, model, "cycles"))
    return rows


def convolution_rows(machine: MachineModel) -> list[Row]:
    """The DMA test of swDNN's convolution runs on the SW26010: microseconds per spawn."""
    rows = []
    for entry in measured_rows("convolution_sw26010"):
        block, channels = int(entry["b"]), int(entry["ni"])
        cycles = replay(experiments.convolution_reads(block, channels // 8, 20), machine).cycles
        case = f"20 gets of {channels // 8} blocks of {block} B"
        rows.append(Row("convolution", case, float(entry["time"]), cycles / machine.clock_hz * 1e6, "us"))
    return rows


def spawn_rows(machine: MachineModel) -> list[Row]:
    """What is left of the convolution runs' times where their gets move nothing: spawn, join, and 20 starts.

    That is the intercept of a straight line through the times by bytes, for each length of block.
    """
    rows = []
    for block in (128, 256):
        members = [row for row in convolution_rows(machine) if row.case.endswith(f" {block} B")]
        counts = [float(row.case.split()[3]) for row in members]
        measured = linear_regression(counts, [row.measured for row in members]).intercept
        model = linear_regression(counts, [row.model for row in members]).intercept
        rows.append(
            Row("spawn", f"spawn, join, start of 20 gets in blocks of {block} B", measured, model, "us")
        )
    return rows


def broadcast_rows(machine: MachineModel) -> list[Row]:
    """swCandle's broadcast STREAM on the SW26010: microseconds of spawn, 20 gets by one CPE, and join."""
    rows = []
    for entry in measured_rows("broadcast_sw26010"):
        doubles = int(entry["n"])
        cycles = replay(experiments.broadcast(doubles, 20), machine).cycles
        time = cycles / machine.clock_hz * 1e6
        rows.append(Row("broadcast", f"20 gets of {doubles} doubles", float(entry["copy"]), time, "us"))
    return rows


def compute_rows(machine: MachineModel) -> list[Row]:
    """The same program's vector loops on the SW26010: cycles for four doubles.

    Measured: what scale, add and triad take longer than copy, from which the second get of add and triad is
    taken off at the pace at which copy's time grows; mean of 2048 and 3072 doubles.
    """
    times = {
        int(entry["n"]): {name: float(entry[name]) for name in entry}
        for entry in measured_rows("broadcast_sw26010")
    }
    pace = (times[3072]["copy"] - times[2048]["copy"]) / 1024
    rows = []
    for name in ("scale", "triad", "add"):
        measured = 0.0
        for doubles in (2048, 3072):
            second = 0.0 if name == "scale" else pace * doubles
            spent = times[doubles][name] - times[doubles]["copy"] - second
            measured += spent * 1e-6 * machine.clock_hz / (20 * doubles / 4) / 2
        rows.append(Row("compute", name, measured, compiled_loops.turn(name, machine), "cycles"))
    return rows


def compiled_rows(machine: MachineModel) -> list[Row]:
    """Loops of C, arranged by what the vendor's compiler believes, against its own schedule of such loops."""
    rows = []
    for loop in compiled_loops.loops():
        model = compiled_loops.compiled(loop.name, loop.unrolled, machine)
        rows.append(Row("compiled", loop.words, loop.cycles, model, "cycles"))
    return rows


def host_rows() -> list[Row]:
    """The host's loop in swCandle's STREAM on the SW26010: MB/s, 16 bytes an element.

    Its times are whole microseconds, cut off: half of one is added.  Those below 5120 doubles are too short
    for its clock, those of more than a million go on in a straight line, in the data and in the model.
    """
    entries = [entry for entry in measured_rows("host_sw26010") if 5120 <= int(entry["n"]) <= HOST_LIMIT]
    machine = measured_on("host_sw26010")
    found = stream_cycles(machine, [int(entry["n"]) for entry in entries])
    rows = []
    for entry in entries:
        size = int(entry["n"])
        measured = 16 * size / (float(entry["us"]) + 0.5)
        model = 16 * size / (found[size]["host loop"] / machine.clock_hz * 1e6)
        case = f"a[j] = 2 a[j], {size} doubles"
        rows.append(Row("host", case, measured, model, "MB/s", held_out=size not in HOST_FITTED))
    return rows


def host_pro_rows() -> list[Row]:
    """The host's loops in swKokkos on the Pro: MB/s, 24 and 16 bytes an element.

    The rates do not depend on the length, far beyond the caches: the model runs a shorter one.
    """
    machine = measured_on("host_pro")
    (cycles,) = stream_cycles(machine, [HOST_LIMIT // 2]).values()
    rows = []
    for entry in measured_rows("host_pro"):
        loop, size = entry["loop"], int(entry["n"])
        moved = {"axpy": 24, "dot": 16}[loop]
        model = moved * (HOST_LIMIT // 2) / (cycles[loop] / machine.clock_hz) / 1e6
        measured = moved * size / float(entry["s"]) / 1e6
        fitted = size == HOST_PRO_FITTED[loop]
        rows.append(Row("host pro", f"{loop}, {size} doubles", measured, model, "MB/s", held_out=not fitted))
    return rows


def penalties(rows: Iterable[Row]) -> list[Row]:
    """Return how many times longer a put takes at offset 4 than at offset 0, measured and model."""
    found = {row.case: row for row in rows}
    result = []
    for case, row in found.items():
        base = found.get(case.replace("offset 4", "offset 0"))
        if base is not None and base is not row and base.aligned:
            result.append(
                Row(
                    "penalty",
                    case,
                    row.measured / base.measured,
                    row.model / base.model,
                    "times",
                    aligned=False,
                )
            )
    return result


def all_rows() -> dict[str, list[Row]]:
    """Return every table of the calibration by name."""
    old, new = measured_on("stream_sw26010"), measured_on("dma_pro")
    return {
        "dma": dma_rows(new),
        "rma": rma_rows(new) + latency_formula_rows(new),
        "stream": stream_rows(old),
        "get": get_rows(old),
        "broadcast": broadcast_rows(old),
        "compute": compute_rows(old),
        "compiled": compiled_rows(old),
        "convolution": convolution_rows(old),
        "spawn": spawn_rows(old),
        "host": host_rows(),
        "host-pro": host_pro_rows(),
    }
