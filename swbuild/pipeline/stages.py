"""From a project to generated units."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.classes import dataclass
from swbuild.codegen.mappingnotes import mapping_diagnostics
from swbuild.diagnostics import Diagnostic, Severity, SwbuildError
from swbuild.timings import Timings, step

if TYPE_CHECKING:
    from swbuild.codegen.unit import GeneratedUnit, RegionUnit
    from swbuild.compilation import Compilation
    from swbuild.frontend.preprocess import Preprocessed
    from swbuild.frontend.request import SourceModel
    from swbuild.manifest import Project, ProjectSource

__all__ = ["Unit", "compile_project", "generate_project", "read_project"]


_ERRNO = re.compile(r"\berrno\b")


@dataclass(frozen=True, slots=True)
class Unit:
    """What one source of the project has become."""

    source: ProjectSource
    model: SourceModel
    generated: GeneratedUnit

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Return what somebody should know who builds with the generated files."""
        offloaded = [region for region in self.generated.regions if region.kernels and region.scop.sets_errno]
        errno = [_errno(region) for region in offloaded if _ERRNO.search(self.model.text)]
        mapping = [note for region in self.generated.regions for note in mapping_diagnostics(region)]
        return (*errno, *mapping)


def _errno(region: RegionUnit) -> Diagnostic:
    called = ", ".join(region.scop.sets_errno)
    return Diagnostic(
        "SW303",
        f"the host's errno is not set by {called} in the kernels of '{region.scop.name}'",
        region.scop.span,
        "test arguments or results in place of errno, or keep the region on the host",
        Severity.NOTE,
    )


def read_project(project: Project) -> tuple[SourceModel, ...]:
    """Return the models of all sources, or raise with the mistakes of all of them."""
    from swbuild.frontend import read_source

    models: list[SourceModel] = []
    problems: list[Diagnostic] = []
    for source in project.sources:
        try:
            models.append(read_source(source.path, source.cpp, source.requests, every=source.every.request))
        except SwbuildError as error:
            problems += error.diagnostics
    if problems:
        raise SwbuildError(problems)
    return tuple(models)


def compile_project(project: Project) -> tuple[Compilation, ...]:
    """Return what becomes of the regions of ``project``, in their order in each source.

    Raise where a source has mistakes outside its regions.
    """
    from swbuild.compilation import compile_regions

    found: list[Compilation] = []
    for source, model in zip(project.sources, read_project(project), strict=True):
        compiled = compile_regions(model, source.options(scop.name for scop in model.scops))
        found += sorted(compiled, key=lambda item: item.span)
    return tuple(found)


def generate_project(
    project: Project,
    timings: Timings,
    *,
    allow_refused: bool = False,
    watch: Callable[[tuple[Compilation, ...]], None] | None = None,
    seen: Mapping[Path, Preprocessed] | None = None,
) -> tuple[Unit, ...]:
    """Return a unit for every source, or raise with the mistakes of all of them.

    Without ``allow_refused`` a region that cannot be offloaded is a mistake; with it, it stays on the host.
    ``watch`` is shown what becomes of the regions of each source, those with mistakes among them; ``seen``
    are sources that are preprocessed already.
    """
    with timings.stage("import"):
        from swbuild.compilation import compile_regions
        from swbuild.frontend import read_source
        from swbuild.generate import complete, print_unit
    units: list[Unit] = []
    problems: list[Diagnostic] = []
    for source in project.sources:
        try:
            with timings.stage("front end"):
                preprocessed = (seen or {}).get(source.path)
                every = source.every.request
                model = read_source(source.path, source.cpp, source.requests, preprocessed, every)
            with timings.stage("generate"):
                compiled = compile_regions(model, source.options(scop.name for scop in model.scops))
                if watch is not None:
                    watch(compiled)
                with step("print"):
                    generated = print_unit(model, compiled)
            units.append(Unit(source, model, generated if allow_refused else complete(generated)))
        except SwbuildError as error:
            problems += error.diagnostics
    if problems:
        raise SwbuildError(problems)
    return tuple(units)
