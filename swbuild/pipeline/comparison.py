"""What the presets make of the same kernels: exact counts of the emulated core group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swbuild.check import CheckSettings, Counts, RegionResult, SourceTask, check_sources
from swbuild.check.project import tasks_of
from swbuild.classes import dataclass
from swbuild.manifest import Project
from swbuild.options import KernelOptions, Preset

__all__ = ["Comparison", "compare_presets"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One region at one size: the counts under each preset, and the verdicts."""

    region: str
    size: str
    presets: tuple[tuple[Preset, RegionResult], ...]

    def counts(self) -> Iterator[tuple[Preset, Counts]]:
        """Yield the counts per preset, the baseline first."""
        for preset, result in self.presets:
            yield preset, result.counts


def compare_presets(project: Project) -> tuple[Comparison, ...]:
    """Run every region at the largest of its sizes under both presets."""
    settings = CheckSettings(modes=("eager",), refused_is_error=False)
    tasks = [_at_largest(task) for task in tasks_of(project)]
    runs = {
        preset: check_sources([_with_preset(task, preset) for task in tasks], settings)
        for preset in (Preset.CLASSIC, Preset.DEFAULT)
    }
    pairs = zip(*runs.values(), strict=True)
    return tuple(
        Comparison(first.region, _size(first), tuple(zip(runs, (first, second), strict=True)))
        for first, second in pairs
    )


def _size(result: RegionResult) -> str:
    return result.cases[0].label if result.cases else "-"


def _at_largest(task: SourceTask) -> SourceTask:
    checks = {name: check.at_largest() for name, check in task.checks.items()}
    return replace(task, checks=checks, default_check=task.default_check.at_largest())


def _with_preset(task: SourceTask, preset: Preset) -> SourceTask:
    def changed(options: KernelOptions) -> KernelOptions:
        return replace(options, preset=preset)

    options = {name: changed(found) for name, found in task.options.items()}
    return replace(task, options=options, default_options=changed(task.default_options))
