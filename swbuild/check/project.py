"""From a resolved manifest to what the checker is asked."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.check.compare import Tolerance
from swbuild.check.tasks import RegionCheck, SourceTask
from swbuild.manifest.resolve import CheckPlan, Kernel, Project, ProjectSource

__all__ = ["check_of", "tasks_of"]


def tasks_of(project: Project) -> tuple[SourceTask, ...]:
    """Return a task for each source of the project."""
    return tuple(_task(source) for source in project.sources)


def _task(source: ProjectSource) -> SourceTask:
    named: Mapping[str, Kernel] = {kernel.name: kernel for kernel in source.kernels or ()}
    return SourceTask(
        path=source.path,
        cpp=source.cpp,
        requests=source.requests,
        every=source.every.request,
        options={name: kernel.options.for_kernels() for name, kernel in named.items()},
        checks={name: check_of(kernel.check) for name, kernel in named.items()},
        default_options=source.every.options.for_kernels(),
        default_check=check_of(source.every.check),
    )


def check_of(plan: CheckPlan) -> RegionCheck:
    """Return how a kernel with this plan is tried."""
    given = plan.tolerances
    stated = given.rtol is not None or given.atol or given.max_ulp
    tolerance = Tolerance(given.atol, given.rtol or 0.0, given.max_ulp) if stated else None
    return RegionCheck(tuple(plan.sizes), plan.seed, tolerance, float(plan.timeout), plan.expected_failure)
