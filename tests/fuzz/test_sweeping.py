"""Random stencils over several steps, with edges that are set in each, are right in tiles over time."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from swfuzz.batch import run_batch
from swfuzz.campaign import programs_of
from swfuzz.emulate import emulated
from swfuzz.program import is_valid
from swfuzz.sweeping import random_sweeps

ROOT = Path(__file__).parents[2]
MACHINES = ("sw26010", "sw26010-pro")

#: Comments on kernels of which tiles are those of the schedule: one diamond, or a piece of one.
_OVER_TIME = re.compile(r"distribution of tiles, tile 1( x 1)*$", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_random_sweeps(machine: str, tmp_path: Path) -> None:
    verdicts = run_batch(programs_of(1, 5, "sweeping"), machine, tmp_path, ROOT)
    assert {name: v.text for name, v in verdicts.items() if v.failed} == {}
    texts = [path.read_text() for path in tmp_path.glob("w*.slave.c")]
    assert sum(bool(_OVER_TIME.search(text)) for text in texts) > 1, (
        "some of them should be in tiles over time"
    )


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_random_sweeps_on_the_emulated_node(machine: str, tmp_path: Path) -> None:
    found = emulated(programs_of(100, 1, "sweeping"), machine, tmp_path)
    assert {name: text for name, text in found.items() if text} == {}


def test_every_program_is_provably_in_bounds() -> None:
    assert all(is_valid(random_sweeps(Random(seed))) for seed in range(50))
