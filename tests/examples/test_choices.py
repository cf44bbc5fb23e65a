"""No other tiles of a small kernel are much faster than those that are chosen for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from choices import Case
from choosing import measured, space_of


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_choice_is_near_the_best_of_a_sample(tmp_path: Path) -> None:
    kernel = Case("gemm", {"M": 48, "N": 56, "K": 40}).on("sw26010")
    space = space_of(kernel, tmp_path, (3, 8, 1))
    chosen, *others = measured(kernel, space.picked, tmp_path)
    assert chosen.candidate == space.chosen
    assert len(others) >= 9
    best = min(others, key=lambda run: run.cycles)
    assert chosen.cycles <= 1.15 * best.cycles, best
    assert max(run.cycles for run in others) > 2 * chosen.cycles, "nothing in the sample is bad"
    assert chosen.estimated == pytest.approx(chosen.cycles, rel=0.25)
