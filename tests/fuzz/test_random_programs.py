"""Random programs computed by the generated code are bit for bit what they are serially.

The sequential mock of the core group makes hundreds of programs affordable; a few also run on the
emulated node, where transfers complete late and every access is checked.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from swfuzz.batch import Verdict, run_batch
from swfuzz.campaign import machine_of, programs_of
from swfuzz.emulate import emulated
from swfuzz.grammar import random_program
from swfuzz.program import is_valid

ROOT = Path(__file__).parents[2]
BATCH = 25
FIRST = 5000


def _failures(verdicts: dict[str, Verdict]) -> dict[str, str]:
    return {name: f"{v.kind}: {v.text}" for name, v in verdicts.items() if v.failed}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + 100, BATCH))
def test_random_programs(first: int, tmp_path: Path) -> None:
    verdicts = run_batch(programs_of(first, BATCH), machine_of(first), tmp_path, ROOT)
    assert _failures(verdicts) == {}
    offloaded = sum(v.spawns > 0 for v in verdicts.values())
    assert offloaded >= BATCH // 4, "most programs should have something for the CPEs"


@pytest.mark.slow
def test_random_programs_with_tables_of_pointers(tmp_path: Path) -> None:
    verdicts = run_batch(programs_of(7000, 15, "tables"), machine_of(7000), tmp_path, ROOT)
    assert _failures(verdicts) == {}
    assert sum(v.spawns > 0 for v in verdicts.values()) >= 5


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(10000, 12000, BATCH))
def test_many_random_programs(first: int, tmp_path: Path) -> None:
    assert _failures(run_batch(programs_of(first, BATCH), machine_of(first), tmp_path, ROOT)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", [5000, 5050])
def test_random_programs_on_the_emulated_node(first: int, tmp_path: Path) -> None:
    programs = programs_of(first, 4)
    found = emulated(programs, machine_of(first), tmp_path)
    assert {name: text for name, text in found.items() if text} == {}


def test_every_program_is_provably_in_bounds() -> None:
    assert all(is_valid(random_program(Random(seed))) for seed in range(300))
