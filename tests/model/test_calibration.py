"""The model against the published measurements: what must hold for it to be believed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from swbuild.emulator.model import calibration, document, experiments
from swbuild.emulator.model.calibration import Row, summarise
from swbuild.emulator.model.replay import replay
from swbuild.machine import load

PAGE = Path(__file__).parents[2] / "docs" / "model.md"


@cache
def rows() -> dict[str, list[Row]]:
    return calibration.all_rows()


@pytest.mark.parametrize("op", ["get", "put"])
def test_aligned_dma_is_within_ten_percent_mostly_and_twenty_five_always(op: str) -> None:
    aligned = [row for row in rows()["dma"] if row.aligned and row.table == f"DMA {op}"]
    assert len(aligned) == 140
    total = summarise(aligned)
    assert total.median <= 0.10 and total.worst <= 0.25, total


def test_ragged_lengths_at_offset_0_are_within_ten_percent_mostly_and_thirty_five_always() -> None:
    found = [row for row in rows()["dma"] if row.case.endswith("offset 0")]
    assert len(found) == 420
    total = summarise(found)
    assert total.median <= 0.10 and total.worst <= 0.35, total
    assert sum(abs(row.error) > 0.25 for row in found) <= 2


def test_rows_that_took_no_part_in_fitting_are_as_good() -> None:
    held = [row for row in rows()["dma"] if row.aligned and row.held_out]
    assert len(held) == 120
    assert summarise(held).median <= 0.10


def test_the_penalty_of_ragged_puts_is_within_a_factor_of_one_and_a_half() -> None:
    wanted = {f"put {size} B, {cpes}" for size in (128, 256) for cpes in ("1 CPE,", "64 CPEs,")}
    found = [row for row in calibration.penalties(rows()["dma"]) if row.case.startswith(tuple(wanted))]
    assert len(found) == 4
    for row in found:
        assert 1 / 1.5 <= row.model / row.measured <= 1.5, row


def test_ragged_puts_of_64_cpes_at_every_offset_are_within_a_factor_of_one_and_a_half() -> None:
    found = [
        row for row in rows()["dma"] if row.table == "DMA put" and "64 CPEs" in row.case and not row.aligned
    ]
    assert len(found) > 40
    assert all(1 / 1.5 <= row.model / row.measured <= 1.5 for row in found)


@pytest.mark.parametrize("table", ["STREAM contiguous", "STREAM strided"])
def test_stream_is_within_fifteen_percent(table: str) -> None:
    found = [row for row in rows()["stream"] if row.table == table and row.aligned]
    assert len(found) >= 18
    assert summarise(found).median <= 0.15


@pytest.mark.parametrize("table", ["RMA formula", "RMA latency", "RMA window", "RMA flows"])
def test_rma_is_within_fifteen_percent(table: str) -> None:
    found = [row for row in rows()["rma"] if row.table == table]
    assert summarise(found).median <= 0.15


def test_spawn_and_join_lie_between_the_two_sources() -> None:
    """swDNN's runs leave 12 to 17 microseconds, swCandle's broadcast runs 26."""
    machine = load("sw26010")
    cycles = replay(experiments.spawn_only(), machine).cycles
    assert 12 <= cycles / machine.clock_hz * 1e6 <= 26
    assert all(1 / 2 < row.model / row.measured < 2 for row in rows()["spawn"])


def test_the_convolution_runs_are_within_fifteen_percent() -> None:
    total = summarise(rows()["convolution"])
    assert total.count == 14
    assert total.median <= 0.05 and total.worst <= 0.15


def test_the_model_is_no_look_up_of_the_measurements() -> None:
    """A change of one parameter moves every table that rests on it."""
    faster = calibration.stream_rows(load("sw26010", overrides={"memory.get_request": 3.5}))
    for before, after in zip(rows()["stream"], faster, strict=True):
        assert after.model > before.model, before.case


def test_the_page_shows_what_the_model_says() -> None:
    """``python -m swbuild.emulator.model.document docs/model.md`` renews it."""
    page = PAGE.read_text(encoding="utf-8")
    assert document.renew(page, document.sections(rows())) == page


def test_a_page_without_a_marker_is_refused() -> None:
    with pytest.raises(ValueError, match="markers and parts differ"):
        document.renew("no markers", {"summary": ""})


def test_gets_of_one_cpe_with_spawn_and_join_are_within_thirty_percent() -> None:
    total = summarise(rows()["broadcast"])
    assert total.median <= 0.25 and total.worst <= 0.30


def test_the_vector_loops_are_within_twenty_five_percent() -> None:
    assert {row.case for row in rows()["compute"]} == {"scale", "add", "triad"}
    assert summarise(rows()["compute"]).worst <= 0.25
