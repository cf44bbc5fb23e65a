"""From a manifest to tests: one per kernel, set of sizes and target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_sw.items import KernelItem
from pytest_sw.verdicts import SwFailure
from pytest_sw.workbench import workbench
from swbuild.check.staged import RegionTask
from swbuild.diagnostics import SwbuildError
from swbuild.manifest import Kernel, Project, ProjectSource

__all__ = ["SwKernel", "SwManifest", "load_project", "region_task"]


def load_project(path: Path) -> Project:
    """Return the manifest, resolved, with every region named; raise :class:`SwbuildError`."""
    from swbuild.manifest import load_manifest, resolve
    from swbuild.pipeline.naming import name_regions

    return name_regions(resolve(load_manifest(path), path))


def region_task(source: ProjectSource, kernel: Kernel, seed: int = -1) -> RegionTask:
    """Return what is asked of the checker for one kernel; a ``seed`` from 0 on wins over the manifest's."""
    from swbuild.check.project import check_of

    check = check_of(kernel.check)
    if seed >= 0:
        check = dataclasses.replace(check, seed=seed)
    return RegionTask(source.path, kernel.request, kernel.options.for_kernels(), check, source.cpp)


class SwManifest(pytest.File):
    """A manifest as a collector."""

    def collect(self) -> Iterator[pytest.Item]:
        bench = workbench(self.config)
        try:
            project = load_project(self.path)
        except SwbuildError as error:
            raise self.CollectError(bench.context.shorten(str(error))) from None
        for source in project.sources:
            for kernel in source.kernels or ():
                yield from self._items(source, kernel)

    def _items(self, source: ProjectSource, kernel: Kernel) -> Iterator[pytest.Item]:
        settings = workbench(self.config).settings
        task = region_task(source, kernel, settings.seed)
        for label, sizes in _labelled(kernel.check.sizes):
            for target in settings.target:
                name = f"{kernel.name}[{label}-{target}]"
                yield SwKernel.from_parent(
                    self, name=name, task=task, sizes=sizes, target=target, label=label, place=kernel
                )


class SwKernel(KernelItem):
    """A test of a kernel as pytest runs it."""

    def __init__(self, *, place: Kernel, **kwargs: Any) -> None:
        super().__init__(line=place.span.line, **kwargs)
        reason = place.check.expected_failure
        if reason:
            self.add_marker(pytest.mark.xfail(reason=reason, raises=SwFailure, strict=True))

    def setup(self) -> None:
        """Build and run; what goes wrong here is not the kernel's fault."""
        __tracebackhide__ = True
        workbench(self.config).gather(self)

    def runtest(self) -> None:
        """Judge what the run left behind."""
        __tracebackhide__ = True
        workbench(self.config).judge(self)


def _labelled(
    sizes: Iterable[Mapping[str, int]],
) -> Iterator[tuple[str, Mapping[str, int] | None]]:
    """Yield an identifier for each set of sizes, ``default`` when there is none."""
    seen: dict[str, int] = {}
    rows: list[Mapping[str, int] | None] = list(sizes) or [None]
    for row in rows:
        label = ",".join(f"{name}={value}" for name, value in row.items()) if row else "default"
        seen[label] = seen.get(label, 0) + 1
        yield (label if seen[label] == 1 else f"{label}#{seen[label]}"), row
