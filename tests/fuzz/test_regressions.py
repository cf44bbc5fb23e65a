"""Programs that once went wrong: each names its options in its first line and is compared at many sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from swfuzz.batch import Trial, run_trials
from swfuzz.cases import case_of_text
from swfuzz.store import options_of

ROOT = Path(__file__).parents[2]
MACHINES = ("sw26010", "sw26010-pro")
FILES = sorted((Path(__file__).parent / "regressions").glob("*.c"))


def _trial(path: Path) -> Trial:
    text = path.read_text()
    renamed = re.sub(r"\bf\(", f"{path.stem}(", text)
    sizes = ((0, 3), (1, 1), (2, 7), (7, 2), (12, 5), (31, 33), (33, 31), (65, 34))
    return Trial(renamed, options_of(text), case_of_text(renamed, path.stem, sizes))


def _on(machine: str) -> dict[str, Trial]:
    """Return the programs that went wrong on this ``machine``."""
    trials = {path.stem: _trial(path) for path in FILES}
    return {n: t for n, t in trials.items() if t.options.get("machine", MACHINES[0]) == machine}


@pytest.mark.parametrize("machine", MACHINES)
def test_what_once_went_wrong(machine: str, tmp_path: Path) -> None:
    _assert_right(_on(machine), tmp_path)


@pytest.mark.matrix
@pytest.mark.parametrize("machine", MACHINES)
def test_what_once_went_wrong_is_right_on_the_other_machine(machine: str, tmp_path: Path) -> None:
    trials = {name: trial for other in MACHINES if other != machine for name, trial in _on(other).items()}
    moved = {n: Trial(t.text, {**t.options, "machine": machine}, t.case) for n, t in trials.items()}
    _assert_right(moved, tmp_path)


def _assert_right(trials: Mapping[str, Trial], tmp_path: Path) -> None:
    assert trials
    # one of them has 266,000 barriers at the largest size; a hang of the CPEs is seen at once
    verdicts = run_trials(trials, tmp_path, ROOT, seconds=300)
    assert {name: f"{v.kind}: {v.text}" for name, v in verdicts.items() if v.kind != "ok"} == {}
