"""The generated text of five kernels, word for word: a reader judges it, so a change must be seen."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from generation import unit_of

from swbuild.options import KernelOptions, Preset

GOLDEN = Path(__file__).parent / "golden"

CASES = [
    ("gemm", KernelOptions(machine="sw26010"), "sw26010"),
    ("gemm", KernelOptions(machine="sw26010-pro"), "sw26010-pro"),
    ("gemm", KernelOptions(machine="sw26010", preset=Preset.CLASSIC), "classic"),
    ("jacobi-2d", KernelOptions(machine="sw26010-pro"), "sw26010-pro"),
    ("gesummv", KernelOptions(machine="sw26010"), "sw26010"),
    ("syrk", KernelOptions(machine="sw26010-pro", threads=(4, 8)), "sw26010-pro"),
    ("trmm", KernelOptions(machine="sw26010", threads=(1, 16)), "sw26010"),
]


@pytest.mark.parametrize(("example", "options", "variant"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES])
def test_text_is_as_reviewed(
    example: str, options: KernelOptions, variant: str, request: pytest.FixtureRequest
) -> None:
    unit = unit_of(example, options)
    assert unit.slave is not None
    for file in (unit.host, unit.slave, unit.header):
        path = GOLDEN / f"{variant}.{file.name}.txt"
        if request.config.getoption("--update-golden"):
            path.write_text(file.text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8").splitlines()
        found = file.text.splitlines()
        difference = list(difflib.unified_diff(expected, found, path.name, "now", lineterm=""))
        assert not difference, "\n".join([*difference, "if this is meant: pytest --update-golden"])
