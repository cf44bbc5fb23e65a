"""The two pipes against listings of the vendor's compiler and against published loops."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from swbuild.emulator.model import listed, listings
from swbuild.emulator.model.listed import Listed
from swbuild.machine import load


def errors(held_out: bool, model: Callable[[Listed], int]) -> list[float]:
    found = [
        abs(model(item) - item.compiler) / item.compiler
        for item, count in listed.blocks().items()
        if item.held_out == held_out
        for _ in range(count)
    ]
    return sorted(found)


@pytest.mark.parametrize(("held_out", "count"), [(False, 400), (True, 200)])
def test_blocks_take_what_the_compiler_says_under_its_own_rules(held_out: bool, count: int) -> None:
    found = errors(held_out, lambda item: item.scheduler)
    assert len(found) > count
    assert found[len(found) // 2] <= 0.10 and found[int(0.9 * len(found))] <= 0.30


def test_the_published_loops_take_16_cycles_and_earlier_versions_more() -> None:
    cycles = {(row[0], row[1]): float(row[3]) for row in listed.loop_rows()}
    best = [
        value for (file, name), value in cycles.items() if file == "dgemm_asm_best.S" and "older" not in name
    ]
    earlier = [value for (file, _), value in cycles.items() if file in ("dgemm_asm.S", "dgemm_trans_asm.S")]
    commented = [value for (_, name), value in cycles.items() if "older" in name]
    assert best == [16.0] * 4
    assert len(earlier) == 8 and min(earlier) > 16
    assert len(commented) == 4 and sorted(commented)[1] > 16


def test_the_vector_loops_of_stream_as_compiled_take_what_was_measured() -> None:
    rows = listed.stream_rows({"scale": 3.33, "add": 4.51, "triad": 4.51})
    errors = [abs(float(row[3]) / float(row[2]) - 1) for row in rows]
    assert len(errors) == 3 and max(errors) <= 0.15, rows


def test_the_figures_rest_on_the_machine_file_as_it_is() -> None:
    """``python -m swbuild.emulator.model.listings DIRECTORY`` renews them from the listings."""
    with listed.PARAMETERS.open(encoding="utf-8", newline="") as file:
        stored = [(row["name"], float(row["value"])) for row in csv.DictReader(file)]
    assert stored == [(name, float(value)) for name, value in listed.parameters(load("sw26010"))]


def test_a_listing_is_measured_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inline assembly and labels cut blocks; the same block counts once."""
    text = (
        ".ent f\nf:\n ldw $1,0($16) # [0]\n addw $1,1,$1 # [3]\n rcsr $5,4\n stw $1,0($16) # [4]\n"
        ".L: vmuld $2,$3,$2 # [0]\n fstd $2,0($16) # [4]\n bne $1,.L # [5]\n"
    )
    (tmp_path / "swCandle").mkdir()
    for name in ("a.s", "b.s"):
        (tmp_path / "swCandle" / name).write_text(text, encoding="utf-8")
    for name in ("BLOCKS", "LOOPS", "STREAM", "PARAMETERS"):
        monkeypatch.setattr(listings, name, tmp_path / name)
    assert listings.main([str(tmp_path)]) == 0
    monkeypatch.setattr(listed, "BLOCKS", tmp_path / "BLOCKS")
    found = {(item.integer, item.memory, item.floating): item for item in listed.blocks()}
    assert set(found) == {(1, 1, 0), (0, 1, 0), (1, 1, 1)}
    assert [(item.compiler, item.scheduler, item.pipes) for item in found.values()].count((4, 4, 4)) == 1
    assert (found[1, 1, 1].compiler, found[1, 1, 1].scheduler, found[1, 1, 1].pipes) == (6, 5, 7)
