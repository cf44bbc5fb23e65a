"""The example kernels on the emulated core group: right at every size, for every shape, on both machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest
from cases import COMBINATIONS, EXAMPLES, LEAST, MANIFEST, PARAMETERS, STENCILS, sizes_of
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, SourceTask, check_source, explain
from swbuild.check.project import tasks_of
from swbuild.machine import DEFAULT_MACHINE, load, machine_names
from swbuild.manifest.loader import load_manifest
from swbuild.manifest.resolve import resolve
from swbuild.options import KernelOptions, Preset


def _tasks() -> Mapping[str, SourceTask]:
    project = resolve(load_manifest(MANIFEST), MANIFEST)
    return {next(iter(task.options)): task for task in tasks_of(project)}


TASKS = _tasks()


def check(region: str, directory: Path, full: bool = False, **options: object) -> RegionResult:
    """Check one example with these options at all sizes and return its result."""
    task = dataclasses.replace(
        TASKS[region],
        options={region: dataclasses.replace(KernelOptions(), **options)},  # type: ignore[arg-type]
        checks={region: RegionCheck(sizes_of(region, full))},
    )
    (result,) = check_source(task, CheckSettings(timeout=300.0), directory, shared_objects())
    return result


def passes(result: RegionResult) -> None:
    assert result.outcome is Outcome.PASS, explain(result)
    assert result.kernels
    least = LEAST.get(result.region, {})
    skipped = [dict(case.sizes) for case in result.cases if case.outcome is Outcome.SKIP]
    assert all(any(sizes[name] < value for name, value in least.items()) for sizes in skipped), skipped


def covering() -> list[tuple[str, str, tuple[int, int]]]:
    """Return a combination for each kernel such that every machine meets every shape."""
    assert len(COMBINATIONS) <= len(PARAMETERS)
    return [(region, *COMBINATIONS[number % len(COMBINATIONS)]) for number, region in enumerate(PARAMETERS)]


def test_the_manifest_lists_every_example() -> None:
    assert sorted(TASKS) == sorted(PARAMETERS)
    listed = {task.path.name for task in TASKS.values()}
    assert listed == {path.name for path in EXAMPLES.glob("*.c")}


def test_the_subset_meets_every_machine_and_shape() -> None:
    assert {(machine, shape) for _, machine, shape in covering()} == set(COMBINATIONS)


@pytest.mark.slow
@pytest.mark.parametrize(("region", "machine", "threads"), covering())
def test_example(region: str, machine: str, threads: tuple[int, int], tmp_path: Path) -> None:
    passes(check(region, tmp_path, machine=machine, threads=threads))


@pytest.mark.slow
@pytest.mark.parametrize("region", ["gemm", "trmm", "doitgen", *STENCILS])
def test_example_with_the_classic_preset(region: str, tmp_path: Path) -> None:
    passes(check(region, tmp_path, preset=Preset.CLASSIC))


@pytest.mark.matrix
@pytest.mark.parametrize("region", PARAMETERS)
@pytest.mark.parametrize("threads", load(DEFAULT_MACHINE).thread_shapes)
@pytest.mark.parametrize("machine", machine_names())
@pytest.mark.parametrize("preset", Preset)
def test_matrix(region: str, machine: str, threads: tuple[int, int], preset: Preset, tmp_path: Path) -> None:
    passes(check(region, tmp_path, full=True, machine=machine, threads=threads, preset=preset))
