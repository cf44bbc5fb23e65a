"""What every stage makes of a spread of kernels, word for word: what changes a stage, shows in its files."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from dumped import CASES, Case, compiled

from swbuild.dump.dump import dump
from swbuild.dump.stages import Stage

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_dumps_are_as_reviewed(case: Case, request: pytest.FixtureRequest) -> None:
    found = compiled(case)
    difference: list[str] = []
    for stage in Stage:
        path, text = GOLDEN / f"{case.name}.{stage.value}.txt", dump(found, stage)
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8").splitlines()
        difference += difflib.unified_diff(expected, text.splitlines(), path.name, "now", lineterm="")
    assert not difference, "\n".join([*difference, "if this is meant: pytest --update-golden"])


def test_no_golden_is_left_over() -> None:
    expected = {f"{case.name}.{stage.value}.txt" for case in CASES for stage in Stage}
    assert {path.name for path in GOLDEN.iterdir()} == expected
