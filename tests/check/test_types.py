"""Whole programs whose values depend on C's types, with what their own ``main`` prints as the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources, explain
from swbuild.check.program import ProgramTask, check_program

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_printed(path: Path) -> None:
    result = check_program(ProgramTask((path,)), CheckSettings(modes=("eager",), jobs=1))
    assert [(region.name, region.reason) for region in result.regions if not region.kernels] == []
    assert len(result.regions) == path.read_text().count("#pragma scop")
    assert result.outcome is Outcome.PASS, result.message or result.runs


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_its_regions_agree_with_their_references(path: Path) -> None:
    results = check_sources([SourceTask(path)], CheckSettings(modes=("eager",), jobs=1))
    assert [explain(result) for result in results if result.outcome is not Outcome.PASS] == []
