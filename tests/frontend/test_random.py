"""Random regions: whatever is modelled computes, replayed from its model, what the region computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_programs import random_region
from region_program import Case, program
from replay import replayed, run_c

from swbuild.frontend import CppOptions, read_source

BATCH = 20


def _case(seed: int) -> Case:
    before, region = random_region(seed)
    return Case(f"r{seed}", region, before=before, after="x[70] = acc;")


def _lines(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if line.startswith("@"):
            found.setdefault(line.split()[0][1:], []).append(line)
    return found


def check_batch(first: int, directory: Path) -> int:
    """Check the regions of BATCH seeds; return how many of them have a model."""
    original = directory / "original.c"
    original.write_text(program([_case(seed) for seed in range(first, first + BATCH)]))
    model = read_source(original, CppOptions(), None)
    copy = directory / "replayed.c"
    copy.write_text(replayed(model))
    expected, found = _lines(run_c(original, CppOptions())[0]), _lines(run_c(copy, CppOptions())[0])
    wrong = [scop.name for scop in model.scops if expected[scop.name] != found[scop.name]]
    assert not wrong
    assert all(d.code in ("SW220", "SW221", "SW226", "SW228") for r in model.refused for d in r.diagnostics)
    return len(model.scops)


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_random_regions_compute_the_same(first: int, tmp_path: Path) -> None:
    assert check_batch(first, tmp_path) >= BATCH * 3 // 4, (
        "the generator should make regions that have models"
    )


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(1000, 3000, BATCH))
def test_many_random_regions_compute_the_same(first: int, tmp_path: Path) -> None:
    assert check_batch(first, tmp_path) >= BATCH // 2
