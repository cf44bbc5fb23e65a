"""Random products whose tiles CPEs hand to each other are right, on the mock and on the emulated node."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from swfuzz.batch import run_batch
from swfuzz.emulate import emulated
from swfuzz.products import random_product, random_triangle
from swfuzz.program import Program, is_valid

ROOT = Path(__file__).parents[2]
#: What a slave file has that hands tiles on.
HANDS_ON = {"sw26010": "sw_hand_", "sw26010-pro": "bcast("}


def _programs(first: int, count: int) -> dict[str, Program]:
    return {f"p{seed}": random_product(Random(seed)) for seed in range(first, first + count)}


@pytest.mark.slow
@pytest.mark.parametrize("machine", HANDS_ON)
def test_random_products(machine: str, tmp_path: Path) -> None:
    verdicts = run_batch(_programs(0, 10), machine, tmp_path, ROOT)
    assert {name: v.text for name, v in verdicts.items() if v.failed} == {}
    texts = [path.read_text() for path in tmp_path.glob("p*.slave.c")]
    assert sum(HANDS_ON[machine] in text for text in texts) > 2, "many of them should share"


@pytest.mark.slow
@pytest.mark.parametrize("machine", HANDS_ON)
def test_random_products_on_the_emulated_node(machine: str, tmp_path: Path) -> None:
    found = emulated(_programs(100, 2), machine, tmp_path)
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.slow
@pytest.mark.parametrize("machine", HANDS_ON)
def test_random_sums_over_triangles(machine: str, tmp_path: Path) -> None:
    programs = {f"t{seed}": random_triangle(Random(seed)) for seed in range(8)}
    verdicts = run_batch(programs, machine, tmp_path, ROOT)
    assert {name: v.text for name, v in verdicts.items() if v.failed} == {}
    texts = [path.read_text() for path in tmp_path.glob("t*.slave.c")]
    assert sum(HANDS_ON[machine] in text for text in texts) > 2, "many of them should share"


def test_every_product_is_provably_in_bounds() -> None:
    assert all(is_valid(random_product(Random(seed))) for seed in range(100))
