"""``share: auto`` is priced: grids and tiles are chosen for it where it pays, else nothing is shared."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from generation import EXAMPLES, model_of
from timed import timed

from swbuild.attempt import RegionResult
from swbuild.cli.choices import choices
from swbuild.compilation import Compilation, compile_regions
from swbuild.frontend import CppOptions, SourceModel, read_source
from swbuild.generate import complete, generate_unit, print_unit
from swbuild.kernelir.nodes import Along, Share
from swbuild.kernelir.passes import walk
from swbuild.machine import load
from swbuild.machine.cost.broadcasts import HandedOn, round_cycles
from swbuild.machine.cost.launches import Launch, Moved, Shape, launch_cycles
from swbuild.options import KernelOptions, Where
from swbuild.options import Share as Sharing
from swbuild.planning.estimates import counted

PRO = load("sw26010-pro")
AUTO = KernelOptions(machine="sw26010-pro", share=Sharing.AUTO)
NEVER = replace(AUTO, share=Sharing.NEVER)
N = 256
PROGRAM = f"""\
#define N {N}
double a[N][N], b[N][N], c[N][N], d[N][N], e[N][N], x[N], y[N];
void product(int n) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}}
void fresh(int n) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      e[i][j] = 0.0;
      for (int k = 0; k < n; k++)
        e[i][j] += a[i][k] * b[j][k];
    }}
#pragma endscop
}}
void twice(int n) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        d[i][j] += a[i][k] * b[k][j] + b[i][k] * a[k][j];
#pragma endscop
}}
void rows(int n) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += a[i][j] * y[j];
#pragma endscop
}}
int main(void) {{
  product(N), fresh(N), twice(N), rows(N);
  return 0;
}}
"""
PRODUCTS = ("product", "twice")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SourceModel:
    found = model_of(tmp_path_factory.mktemp("priced"), PROGRAM)
    assert not found.refused
    return found


def results(model: SourceModel, options: KernelOptions) -> dict[str, RegionResult]:
    return placed(compile_regions(model, {scop.name: options for scop in model.scops}))


def placed(compiled: Iterable[Compilation]) -> dict[str, RegionResult]:
    pairs = ((item.name, item.result) for item in compiled)
    return {name: result for name, result in pairs if isinstance(result, RegionResult)}


def ways(result: RegionResult) -> set[Along]:
    kernels = [kernel.body for kernel in result.assembled.code.kernels]
    return {node.along for body in kernels for node in walk(body) if isinstance(node, Share)}


def test_products_are_dealt_for_tiles_to_be_shared_along_rows_and_columns(model: SourceModel) -> None:
    found = results(model, AUTO)
    for name in PRODUCTS:
        (placed,) = found[name].placed
        assert placed.tiled.mapping.threads == PRO.mesh and len(placed.handed) >= 2
        assert ways(found[name]) == {Along.ROW, Along.COLUMN}


def test_nothing_is_shared_where_that_is_not_wanted(model: SourceModel) -> None:
    assert all(not place.handed for found in results(model, NEVER).values() for place in found.placed)


def slaves(example: str) -> tuple[str, str]:
    """Return the slave file of a contraction, with boxes shared where it pays and without."""
    model = read_source(EXAMPLES.parent / "nests" / f"{example}.c", CppOptions(), None)
    found = [complete(generate_unit(model, {model.scops[0].name: o})).slave for o in (AUTO, NEVER)]
    auto, never = (slave.text for slave in found if slave is not None)
    return auto, never


def test_tiles_that_take_far_longer_to_compute_are_not_taken_for_the_sake_of_sharing() -> None:
    """The estimate prefers them, but what is computed in them took twice as long as without sharing."""
    auto, never = slaves("contraction-turned")
    assert auto == never


def test_tiles_that_take_a_little_longer_to_compute_are_taken_where_sharing_saves_more() -> None:
    """These took a third less model time than those of CPEs that get all for themselves."""
    auto, never = slaves("contraction-ab")
    assert "bcast" in auto and "bcast" not in never


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_estimates_of_shared_tiles_are_near_the_replayed_time(
    model: SourceModel, machine: str, tmp_path: Path
) -> None:
    times = {}
    shares, alone = (replace(options, machine=machine) for options in (AUTO, NEVER))
    for options in (alone, shares):
        compiled = compile_regions(model, {scop.name: options for scop in model.scops})
        unit = complete(print_unit(model, compiled))
        assert unit.slave is not None
        for file in (unit.host, unit.slave, unit.header):
            (tmp_path / file.name).write_text(file.text, encoding="utf-8")
        files = [tmp_path / unit.host.name], [tmp_path / unit.slave.name]
        times[options.share] = timed(machine, tmp_path, *files)
    auto, never = times[Sharing.AUTO], times[Sharing.NEVER]
    ratios = []
    for name, result in placed(compiled).items():
        private = result.order.scheduled.private
        for place in result.placed:
            kernel = place.tiled.kernel.name
            estimate = counted(result.assembled.code.scop, place, private, shares).at({"n": N})
            assert auto[kernel].cycles < 1.02 * never[kernel].cycles, name
            ratios += [estimate.cycles.total / auto[kernel].cycles] if place.handed else []
    assert len(ratios) >= 3
    assert median(abs(ratio - 1) for ratio in ratios) < 0.25


def test_what_is_shared_is_moved_once_and_handed_on_in_every_round() -> None:
    box = Moved(1, False, 10, 1, Shape(32, 256, 8192, 128))
    alone = launch_cycles(Launch(64.0, 0.0, (box,)), PRO)
    one = Moved(1, False, 10, 1, Shape(32, 256, 8192, 128), 0.0, 8.0)
    shared = launch_cycles(Launch(64.0, 0.0, (one,)), PRO)
    assert one.bytes == box.bytes / 8 and shared.get < alone.get / 4
    assert shared.handing == pytest.approx(10 * round_cycles([HandedOn(8.0, 8192.0)], PRO))
    assert shared.total == pytest.approx(shared.control + shared.get + shared.handing)


def test_a_round_takes_a_meeting_and_the_network_for_all_boxes() -> None:
    assert round_cycles([], PRO) == 0.0
    small, large = (round_cycles([HandedOn(8.0, size)], PRO) for size in (8192.0, 16384.0))
    assert large - small == pytest.approx(8 * 8192 / PRO.rma.bytes_per_cycle)
    assert small > PRO.control.sync_cycles + PRO.rma.remote_latency


def test_messages_take_their_time_for_each_vector() -> None:
    machine = load("sw26010")
    small, large = (round_cycles([HandedOn(8.0, size)], machine) for size in (4096.0, 8192.0))
    singles = round_cycles([HandedOn(8.0, 4096.0, 4)], machine)
    assert large - small == pytest.approx(small - machine.register.latency)
    assert singles == pytest.approx(large), "four lanes whatever their size"
    both = round_cycles([HandedOn(8.0, 4096.0), HandedOn(8.0, 4096.0)], machine)
    assert both == pytest.approx(2 * small), "a CPE takes part along its row, then along its column"


def test_messages_for_all_take_a_step_more() -> None:
    machine = load("sw26010")
    sizes = (4096.0, 8192.0)
    column, everywhere = (
        [round_cycles([HandedOn(1.0, size, everywhere=way)], machine) for size in sizes]
        for way in (False, True)
    )
    assert everywhere[0] - column[0] >= machine.register.latency
    sent = 4096 / 32 * (2 * machine.register.send_cycles - machine.register.receive_cycles)
    assert (everywhere[1] - everywhere[0]) - (column[1] - column[0]) == pytest.approx(max(0.0, sent))


def test_explanations_name_who_shares_what(model: SourceModel) -> None:
    either = replace(AUTO, where=Where.AUTO)
    unit = complete(generate_unit(model, {scop.name: either for scop in model.scops}))
    report = next(region.report for region in unit.regions if region.scop.name == "product")
    (line,) = [line for line in choices(report) if "are got once for" in line]
    assert "tiles of a are got once for each row, of b are got once for each column" in line
    assert "bytes are moved" in line
