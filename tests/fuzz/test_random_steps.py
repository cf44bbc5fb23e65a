"""Legal sequences of transformations, drawn at random, change no bit of a result."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from swfuzz.batch import Trial, run_trials, source
from swfuzz.campaign import machine_of, programs_of
from swfuzz.cases import case_of

from swbuild.options import StepKind

ROOT = Path(__file__).parents[2]
BATCH = 25


def _trials(first: int) -> dict[str, Trial]:
    trials = {}
    for name, program in programs_of(first, BATCH).items():
        options = {**program.options, "machine": machine_of(first), "steps": int(name[1:])}
        trials[name] = Trial(source(program, name), options, case_of(program))
    return trials


def _run(first: int, directory: Path) -> Counter[str]:
    """Run a batch; return how many steps of each kind it took."""
    verdicts = run_trials(_trials(first), directory, ROOT)
    assert {name: f"{v.kind}: {v.text}" for name, v in verdicts.items() if v.failed} == {}
    assert sum(v.spawns > 0 for v in verdicts.values()) >= BATCH // 5
    lines = (directory / "outcomes.jsonl").read_text().splitlines()
    ended = [event for event in map(json.loads, lines) if event.get("kind") == "generated"]
    return Counter(kind for event in ended for kind in json.loads(event["text"])["steps"])


@pytest.mark.slow
def test_random_legal_steps(tmp_path: Path) -> None:
    taken: Counter[str] = Counter()
    for first in (20000, 20000 + BATCH):
        taken += _run(first, tmp_path / str(first))
    assert set(taken) >= {kind.value for kind in StepKind} - {"fuse"}, "every kind should be legal somewhere"


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(21000, 23000, BATCH))
def test_many_random_legal_steps(first: int, tmp_path: Path) -> None:
    _run(first, tmp_path)
