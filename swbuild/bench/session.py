"""A whole run: regions of several sources in parallel, measurements as they come."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from swbuild.bench.region import prepare_region
from swbuild.bench.results import Measured
from swbuild.bench.sensitivity import influences
from swbuild.bench.tasks import BenchSettings
from swbuild.check.slots import region_slots
from swbuild.check.staged import GeneratedRegion, RegionTask
from swbuild.check.tasks import SourceTask
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, internal_error
from swbuild.endings import run_directory
from swbuild.frontend.request import RegionRequest
from swbuild.workers import in_processes

__all__ = ["Progress", "measure_tasks"]

#: Called with each measurement as soon as there is one, in the calling process.
Progress = Callable[[Measured], None]


def measure_tasks(
    tasks: Sequence[SourceTask], settings: BenchSettings, progress: Progress | None = None
) -> tuple[Measured, ...]:
    """Measure every region of every task at its largest size; return the results in their order.

    A mistake in one source is a result of that source and leaves the others alone.
    """
    tell = progress or (lambda measured: None)
    single = [part for task in tasks for part in _parts(task)]
    jobs = min(settings.jobs or os.cpu_count() or 1, len(single)) or 1
    results: dict[int, tuple[Measured, ...]] = {}
    with run_directory(settings.keep, "bench") as directory:
        calls = [(task, settings, directory / f"{n:03}-{task.path.stem}") for n, task in enumerate(single)]
        for number, future in in_processes(_measure, calls, jobs):
            results[number] = _collect(future, single[number])
            for measured in results[number]:
                tell(measured)
    return tuple(measured for number in range(len(single)) for measured in results[number])


def _parts(task: SourceTask) -> list[SourceTask]:
    """Return a task for each region that is named."""
    if task.requests is None:
        return [task]
    return [replace(task, requests=(request,)) for request in task.requests]


def _measure(task: SourceTask, settings: BenchSettings, directory: Path) -> tuple[Measured, ...]:
    """Measure the regions of one source; what goes wrong is a result."""
    from swbuild.frontend import read_source
    from swbuild.generate import generate_unit

    try:
        model = read_source(task.path, task.cpp, task.requests, every=task.every)
        options = {scop.name: task.options.get(scop.name, task.default_options) for scop in model.scops}
        unit = generate_unit(model, options)
        found = []
        for region in unit.regions:
            check = task.checks.get(region.scop.name, task.default_check)
            request = RegionRequest(region.scop.name)
            part = RegionTask(task.path, request, options[region.scop.name], check, task.cpp)
            slots = region_slots(region)
            generated = GeneratedRegion(part, model.unit, model.dependencies, unit, region, slots)
            found.append(_measured(generated, settings, directory / region.scop.name))
        return (*found, *(_failed(task, refused.name, refused.diagnostics) for refused in unit.refused))
    except SwbuildError as error:
        return (_failed(task, task.path.stem, error.diagnostics),)


def _measured(generated: GeneratedRegion, settings: BenchSettings, directory: Path) -> Measured:
    """Measure one region, and remove what was made for it unless somebody wants to see it."""
    task = generated.task
    try:
        prepared = prepare_region(generated, directory, settings.timeout, settings.sensitivity)
        profile = prepared.run({})
        measured = prepared.measured(profile, {})
        if not settings.sensitivity:
            return measured
        return replace(measured, influences=influences(prepared, measured, profile))
    except SwbuildError as error:
        machine = task.options.machine
        return Measured(task.name, str(task.path), machine, {}, diagnostics=error.diagnostics)
    finally:
        if settings.keep is None:
            shutil.rmtree(directory, ignore_errors=True)


def _failed(task: SourceTask, name: str, diagnostics: tuple[Diagnostic, ...]) -> Measured:
    return Measured(name, str(task.path), task.machine, {}, diagnostics=diagnostics)


def _collect(future: Future[tuple[Measured, ...]], task: SourceTask) -> tuple[Measured, ...]:
    """Return the results of a worker; a fault of ours there is a result, too."""
    name = task.requests[0].name if task.requests else task.path.stem
    try:
        return future.result()
    except BrokenProcessPool as error:
        span = Span(str(task.path))
        return (_failed(task, name, (Diagnostic("SW501", f"the process died: {error}", span),)),)
    except Exception as error:  # noqa: BLE001 - a fault of ours: show it, and go on with the others
        return (_failed(task, name, (internal_error(error, Span(str(task.path))),)),)
