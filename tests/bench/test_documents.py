"""Bounds, documents and comparisons of measurements, and what guesses do to them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from swbuild.bench.document import changes, document, merged, read_document
from swbuild.bench.results import Figures, Measured, bound_cycles
from swbuild.bench.sensitivity import guesses, influences
from swbuild.diagnostics import SwbuildError
from swbuild.machine import facts, load

FIGURES = Figures(50_000.0, 0.1, 2, 1000, 3000, 12_000, 28_672, 0.25, 0.5, 0.25)
ONE = Measured("f", "dir/f.c", "sw26010", {"n": 8}, FIGURES, 640, 57_344)


def test_the_bound_is_of_launch_and_the_larger_time() -> None:
    machine = load("sw26010")
    launch = machine.control.spawn_cycles + machine.control.join_cycles
    assert bound_cycles(machine, 5120, 0) == launch + 10  # 64 CPEs, four lanes, multiply and add
    assert bound_cycles(machine, 5120, 12_800) == launch + 100 * machine.memory.get_request


def test_ratios() -> None:
    assert ONE.compulsory == 4000
    assert ONE.moved_ratio == 3
    assert ONE.bound is not None
    assert ONE.x_bound == 50_000 / ONE.bound
    assert replace(ONE, operations=None).x_bound is None


def test_a_document_is_read_as_it_was_written(tmp_path: Path) -> None:
    failed = Measured("g", "g.c", "sw26010", {})
    path = tmp_path / "before.json"
    path.write_text(json.dumps(document([ONE, failed])))
    assert read_document(path) == (replace(ONE, source="f.c"), failed)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 2, "programs": []}', '{"format": 1, "programs": [{}]}']
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(SwbuildError, match="SW509"):
        read_document(tmp_path / "other.json")


def test_only_the_same_is_compared() -> None:
    slower = replace(ONE, figures=replace(FIGURES, cycles=60_000.0))
    others = [
        replace(slower, machine="sw26010-pro"),
        replace(slower, sizes={"n": 9}),
        replace(slower, name="g"),
    ]
    (change,) = changes([ONE], [slower, *others, replace(ONE, figures=None)])
    assert (change.name, change.ratio) == ("f", 1.2)


def test_later_measurements_take_the_places_of_earlier_ones() -> None:
    other, later = replace(ONE, name="g"), replace(ONE, sizes={"n": 9})
    assert merged([ONE, other], [later, replace(ONE, machine="sw26010-pro")])[:2] == (later, other)


@dataclass
class Subject:
    """A run whose time is a spawn and a half of all that compiled code takes."""

    runs: int = 0

    def run(self, numbers: dict[str, float]) -> Path:
        self.runs += 1
        return Path(json.dumps(numbers))

    def measured(self, profile: Path, numbers: dict[str, float]) -> Measured:
        spawn = numbers.get("control.spawn_cycles", 29500)
        built = json.loads(str(profile)) if profile.name.startswith("{") else {}
        cycles = spawn + built.get("pipes.float_latency", 7) * 100
        return replace(ONE, machine="sw26010-pro", figures=replace(FIGURES, cycles=float(cycles)))


def test_guesses_are_halved_and_doubled_and_code_is_built_again_where_it_must_be() -> None:
    subject = Subject()
    before = subject.measured(Path("profile"), {})
    found = influences(subject, before, Path("profile"))
    assert [item.number for item in found if item.strength] == ["control.spawn_cycles", "pipes.float_latency"]
    assert found[0].halved == pytest.approx(-14_750 / 30_200)
    assert found[0].doubled == pytest.approx(29_500 / 30_200)
    assert found[1].halved == pytest.approx(-400 / 30_200)  # of 7 cycles 3
    building = [
        item for item in found if item.number.split(".")[0] in ("pipes", "scheduler", "compute", "library")
    ]
    assert subject.runs >= sum((item.halved is not None) + (item.doubled is not None) for item in building)
    names = {fact.name: fact.confidence for fact in facts("sw26010-pro")}
    assert all(names[fact.name] == "U" for fact in guesses("sw26010-pro"))
