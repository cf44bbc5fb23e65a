"""Damaged C files: always a model, a refusal or a located error, never anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import mutated
from region_cases import CASES
from region_program import program

from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend import CppOptions, read_source


def check(seed: int, path: Path) -> None:
    """Read one damaged program and look at the messages."""
    path.write_text(mutated(program([CASES[seed % len(CASES)]]), seed))
    found: list[Diagnostic] = []
    try:
        model = read_source(path, CppOptions(), None)
        found = [d for region in model.refused for d in region.diagnostics]
    except SwbuildError as error:
        found = list(error.diagnostics)
    for diagnostic in found:
        assert diagnostic.code.startswith("SW2") and diagnostic.message and diagnostic.hint
        assert diagnostic.span.line or diagnostic.code in ("SW202", "SW203")


@pytest.mark.parametrize("first", [0, 40, 80, 120])
def test_damaged_files_give_located_errors(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 40):
        check(seed, tmp_path / "damaged.c")


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_many_damaged_files_give_located_errors(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 100):
        check(seed, tmp_path / "damaged.c")
