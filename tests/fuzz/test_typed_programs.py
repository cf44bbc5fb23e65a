"""Whole programs about types, aliases and names: what they print is the same serially and offloaded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from swfuzz.typed import program_of, random_unit
from swfuzz.wholes import checked_units

from swbuild.check import Outcome

_SANITIZED = ("-fsanitize=undefined,address", "-fno-sanitize-recover=all")


def test_nothing_in_the_programs_is_undefined(tmp_path: Path) -> None:
    source, program = tmp_path / "typed.c", tmp_path / "typed"
    source.write_text(program_of([random_unit(seed) for seed in range(60)]))
    subprocess.run(["gcc", "-std=gnu99", "-w", *_SANITIZED, source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "mode"),
    [
        (0, "eager"),
        pytest.param(20, "checked", marks=pytest.mark.matrix),
        pytest.param(40, "checked", marks=pytest.mark.matrix),
        (30840, "checked"),  # CPEs put tiles that they do not own, if transfers go wherever their loops go
    ],
)
def test_programs_print_the_same_when_offloaded(first: int, mode: str, tmp_path: Path) -> None:
    units = [random_unit(seed) for seed in range(first, first + 20)]
    result = checked_units(units, first, tmp_path, mode)
    assert result.outcome is Outcome.PASS, result.message
    assert sum(bool(region.kernels) for region in result.regions) >= 4
