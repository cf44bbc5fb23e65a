"""A whole run of the checker: sources in parallel, results as they come."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from swbuild.check.kernel import UnitCheck, check_region
from swbuild.check.results import Outcome, RegionResult
from swbuild.check.tasks import CheckSettings, RegionCheck, SourceTask
from swbuild.codegen.unit import RegionUnit
from swbuild.diagnostics import INTERNAL, Diagnostic, Span, SwbuildError, internal_error, render
from swbuild.endings import run_directory
from swbuild.files import made
from swbuild.frontend.preprocess import compiler_errors
from swbuild.frontend.request import RefusedRegion
from swbuild.options import KernelOptions
from swbuild.workers import in_processes

__all__ = ["Progress", "check_source", "check_sources"]

#: What is said where a compiler or linker fails.
_BUILDING = ("SW402", "SW403")

#: Called with each result as soon as there is one, in the calling process.
Progress = Callable[[RegionResult], None]


def check_sources(
    tasks: Sequence[SourceTask], settings: CheckSettings, progress: Progress | None = None
) -> tuple[RegionResult, ...]:
    """Check every region of every task; return the results in the order of the tasks.

    A mistake in one source is a result of that source and leaves the others alone.
    """
    tell = progress or (lambda result: None)
    jobs = min(settings.jobs or os.cpu_count() or 1, len(tasks))
    with run_directory(settings.keep, "check") as directory:
        places = [directory / f"{number:03}-{task.path.stem}" for number, task in enumerate(tasks)]
        if jobs <= 1:
            results = []
            for task, place in zip(tasks, places, strict=True):
                results.append(check_source(task, settings, place, directory / "objects"))
                _announce(results[-1], tell)
        else:
            results = _parallel(tasks, settings, places, directory / "objects", jobs, tell)
    return tuple(result for found in results for result in found)


def check_source(
    task: SourceTask, settings: CheckSettings, directory: Path, cache: Path
) -> tuple[RegionResult, ...]:
    """Check the regions of one source; ``directory`` takes what is made, ``cache`` the objects.

    Never raises for a mistake of the user or a failure of a tool: both are results.
    """
    from swbuild.frontend import read_source
    from swbuild.generate import generate_unit

    try:
        made(directory)
        made(cache)
        model = read_source(task.path, task.cpp, task.requests, every=task.every)
        options = {scop.name: task.options.get(scop.name, task.default_options) for scop in model.scops}
        unit = generate_unit(model, options)
    except SwbuildError as error:
        return (_failed(task, Outcome.USER_ERROR, task.path.stem, error.diagnostics),)
    except Exception as error:  # noqa: BLE001 - a defect in one source must not take the others along
        return (_failed(task, Outcome.INFRA, task.path.stem, (internal_error(error, Span(str(task.path))),)),)
    context = UnitCheck(model, unit, task.cpp, settings, directory, cache)
    found = [check_region(context, region, *_asked(task, region)) for region in unit.regions]
    if len(found) > 1 and any(map(_unbuilt, found)):
        found = _apart(task, context, found)
    return (*_whose_fault(task, found), *(_refused(task, region, settings) for region in unit.refused))


def _asked(task: SourceTask, region: RegionUnit) -> tuple[KernelOptions, RegionCheck]:
    """Return the options and the checks of a region."""
    name = region.scop.name
    return task.options.get(name, task.default_options), task.checks.get(name, task.default_check)


def _unbuilt(result: RegionResult) -> bool:
    """Return whether a region was not checked because something did not compile."""
    return result.outcome is Outcome.INFRA and any(d.code in _BUILDING for d in result.diagnostics)


def _apart(task: SourceTask, whole: UnitCheck, found: Sequence[RegionResult]) -> list[RegionResult]:
    """Return the verdicts of regions whose common files do not compile: each is built on its own.

    Where each of them compiles, what is wrong is their being together: that is a result, too.
    """
    from swbuild.generate import generate_unit

    results = []
    for region in whole.unit.regions:
        options, check = _asked(task, region)
        model = dataclasses.replace(whole.model, scops=(region.scop,), refused=())
        unit = generate_unit(model, {region.scop.name: options})
        alone = dataclasses.replace(whole, unit=unit, directory=whole.directory / f"only-{region.scop.name}")
        results += [check_region(alone, made, options, check) for made in unit.regions]
    if not any(map(_unbuilt, results)):
        failed = next(filter(_unbuilt, found))
        results.append(dataclasses.replace(failed, region=task.path.stem))
    return results


def _whose_fault(task: SourceTask, found: Sequence[RegionResult]) -> list[RegionResult]:
    """Return the results; what did not compile because the user's file does not is the user's mistake."""
    mistakes = compiler_errors(task.path, task.cpp) if any(map(_unbuilt, found)) else []
    if not mistakes:
        return list(found)
    said = partial(_failed, task, Outcome.USER_ERROR, diagnostics=tuple(mistakes))
    return [said(result.region) if _unbuilt(result) else result for result in found]


def _parallel(
    tasks: Sequence[SourceTask],
    settings: CheckSettings,
    places: Sequence[Path],
    cache: Path,
    jobs: int,
    tell: Progress,
) -> list[tuple[RegionResult, ...]]:
    results: dict[int, tuple[RegionResult, ...]] = {}
    calls = [(task, settings, place, cache) for task, place in zip(tasks, places, strict=True)]
    for number, future in in_processes(check_source, calls, jobs):
        results[number] = _collect(future, tasks[number])
        _announce(results[number], tell)
    return [results[number] for number in range(len(tasks))]


def _collect(future: Future[tuple[RegionResult, ...]], task: SourceTask) -> tuple[RegionResult, ...]:
    """Return the results of a worker; a worker that died is a failure of the machinery."""
    try:
        return future.result()
    except BrokenProcessPool as error:
        return (_failed(task, Outcome.INFRA, task.path.stem, (), f"the checking process died: {error}"),)
    except Exception as error:  # noqa: BLE001 - a fault of ours: show it, and go on with the others
        return (_failed(task, Outcome.INFRA, task.path.stem, (internal_error(error, Span(str(task.path))),)),)


def _announce(results: Sequence[RegionResult], tell: Progress) -> None:
    for result in results:
        tell(result)


def _failed(
    task: SourceTask, outcome: Outcome, name: str, diagnostics: tuple[Diagnostic, ...], message: str = ""
) -> RegionResult:
    options = task.default_options
    text = message or render(diagnostics)
    return RegionResult(
        name, str(task.path), task.machine, options.grid, outcome, text, diagnostics=diagnostics
    )


def _refused(task: SourceTask, region: RefusedRegion, settings: CheckSettings) -> RegionResult:
    outcome = Outcome.USER_ERROR if settings.refused_is_error else Outcome.SKIP
    if any(diagnostic.code == INTERNAL for diagnostic in region.diagnostics):
        outcome = Outcome.INFRA
    return _failed(task, outcome, region.name, region.diagnostics)
