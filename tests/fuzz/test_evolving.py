"""Random programs that change arrays in place, whose tiles stay in the LDMs, are right."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from swfuzz.batch import run_batch
from swfuzz.emulate import emulated
from swfuzz.evolving import random_evolution
from swfuzz.program import Program, is_valid

ROOT = Path(__file__).parents[2]
MACHINES = ("sw26010", "sw26010-pro")


def _programs(first: int, count: int) -> dict[str, Program]:
    return {f"e{seed}": random_evolution(Random(seed)) for seed in range(first, first + count)}


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs_whose_tiles_stay(machine: str, tmp_path: Path) -> None:
    verdicts = run_batch(_programs(11, 4), machine, tmp_path, ROOT)
    assert {name: v.text for name, v in verdicts.items() if v.failed} == {}
    texts = [path.read_text() for path in tmp_path.glob("e*.slave.c")]
    assert sum("stays in the LDM" in text for text in texts) > 1, "some of them should stay"


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs_whose_tiles_stay_on_the_emulated_node(machine: str, tmp_path: Path) -> None:
    found = emulated(_programs(100, 1), machine, tmp_path)
    assert {name: text for name, text in found.items() if text} == {}


def test_every_program_is_provably_in_bounds() -> None:
    assert all(is_valid(random_evolution(Random(seed))) for seed in range(50))
