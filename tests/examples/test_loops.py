"""Reductions and transformed loops on the emulated core group, for every machine and thread shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest
from cases import COMBINATIONS
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.check.compare import EXACT
from swbuild.check.project import tasks_of
from swbuild.manifest.loader import load_manifest
from swbuild.manifest.resolve import resolve
from swbuild.options import KernelOptions

MANIFEST = Path(__file__).resolve().parents[2] / "examples" / "loops" / "sunway.yaml"


def _tasks() -> Mapping[str, SourceTask]:
    """Return a task per region."""
    tasks = {}
    for task in tasks_of(resolve(load_manifest(MANIFEST), MANIFEST)):
        for request in task.requests or ():
            tasks[request.name] = dataclasses.replace(task, requests=(request,))
    return tasks


TASKS = _tasks()

#: A combination for each region, each another one.  (The examples of PolyBench meet all of them.)
CASES = [(region, *COMBINATIONS[3 * number % len(COMBINATIONS)]) for number, region in enumerate(TASKS)]


def _check(region: str, machine: str, threads: tuple[int, int], directory: Path) -> None:
    task = TASKS[region]
    options = dataclasses.replace(task.options[region], machine=machine, threads=threads)
    task = dataclasses.replace(task, options={region: options})
    settings = CheckSettings(timeout=300.0, modes=("late", "random:3", "checked"))
    (result,) = check_source(task, settings, directory, shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)
    assert result.kernels


@pytest.mark.parametrize(("region", "machine", "threads"), CASES)
def test_loops(region: str, machine: str, threads: tuple[int, int], tmp_path: Path) -> None:
    _check(region, machine, threads, tmp_path)


@pytest.mark.matrix
@pytest.mark.parametrize(("machine", "threads"), COMBINATIONS)
@pytest.mark.parametrize("region", TASKS)
def test_all_loops(region: str, machine: str, threads: tuple[int, int], tmp_path: Path) -> None:
    _check(region, machine, threads, tmp_path)


def test_parts_are_combined_in_one_order_only(tmp_path: Path) -> None:
    """Sums of parts differ from the serial sum by rounding, but are the same whoever is ready first."""
    check = RegionCheck(({"n": 4099},), tolerance=EXACT)
    task = dataclasses.replace(TASKS["dot"], checks={"dot": check})
    settings = CheckSettings(timeout=300.0, modes=("random:1", "random:2", "eager"))
    (result,) = check_source(task, settings, tmp_path, shared_objects())
    assert [case.outcome for case in result.cases] == [Outcome.MISMATCH] * 3, explain(result)
    assert len({next(report.max_absolute for report in case.arrays) for case in result.cases}) == 1


def test_without_leave_to_reassociate_the_order_is_kept(tmp_path: Path) -> None:
    task = dataclasses.replace(TASKS["dot"], options={"dot": KernelOptions()})
    (result,) = check_source(task, CheckSettings(timeout=300.0), tmp_path, shared_objects())
    assert not result.kernels
    assert result.outcome in (Outcome.PASS, Outcome.SKIP), explain(result)
