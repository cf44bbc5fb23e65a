"""Random regions are right, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_regions import check_program_text, make_options, make_program, reduced

from swbuild.check import Outcome, explain


def _is_right(seed: int, directory: Path) -> None:
    options = make_options(seed)
    result = check_program_text(make_program(seed).text(), options, directory, ("late", f"random:{seed}"))
    too_large = bool(options.tile) and "error[SW302]" in result.message
    assert result.outcome in (Outcome.PASS, Outcome.SKIP) or too_large, explain(result)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7, 8, 9, 12, 13, 19, 23])
def test_random_region(seed: int, tmp_path: Path) -> None:
    _is_right(seed, tmp_path)


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_many_random_regions(seed: int, tmp_path: Path) -> None:
    _is_right(seed, tmp_path)


def test_one_seed_is_one_program() -> None:
    assert make_program(5).text() == make_program(5).text()
    assert len({make_program(seed).text() for seed in range(50)}) == 50


def test_reduction_keeps_what_fails() -> None:
    program = make_program(1)
    small = reduced(program, lambda candidate: "t1 * 0.5" in candidate.text())
    assert "t1 * 0.5" in small.text()
    assert small.text().count(";") < program.text().count(";")
