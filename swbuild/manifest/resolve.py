"""From a manifest to what the stages take: defaults merged, paths joined, regions chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from math import prod
from pathlib import Path
from typing import Any, TypeVar

from swbuild import __version__
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Note, Span, SwbuildError
from swbuild.frontend.request import CppOptions, RegionRequest
from swbuild.machine import DEFAULT_MACHINE, MachineModel, load
from swbuild.manifest.model import Check, Defaults, Manifest, Region, Source, Tolerance
from swbuild.manifest.suggest import did_you_mean
from swbuild.manifest.transformations import steps_of
from swbuild.options import KernelOptions, Prefetch, Preset, Resident, Share, Spawn, Turn, Vectorize, Where

__all__ = ["CheckPlan", "Kernel", "Project", "ProjectSource", "Tolerances", "resolve", "select"]

T = TypeVar("T", bound=Any)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What counts as equal where order changes; ``rtol`` ``None`` means "chosen by element type"."""

    rtol: float | None = None
    atol: float = 0.0
    max_ulp: int = 0


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """How one kernel is tried; no ``sizes`` means "chosen by the checker"; ``timeout`` is in seconds."""

    sizes: tuple[dict[str, int], ...] = ()
    seed: int = 1
    tolerances: Tolerances = field(default_factory=Tolerances)
    timeout: float = 60
    expected_failure: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One region of the manifest with everything that holds for it; ``span`` is its place in the manifest."""

    name: str
    request: RegionRequest
    options: KernelOptions
    check: CheckPlan
    span: Span


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """One C file.  ``kernels`` is ``None`` when every region is wanted, each as ``every`` says."""

    path: Path
    cpp: CppOptions
    kernels: tuple[Kernel, ...] | None
    every: Kernel
    span: Span

    @property
    def requests(self) -> tuple[RegionRequest, ...] | None:
        """What to ask of the front end."""
        return None if self.kernels is None else tuple(kernel.request for kernel in self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name, for every name if every region is wanted."""
        if self.kernels is None:
            return replace(self.every, name=name, request=replace(self.every.request, name=name))
        return next(kernel for kernel in self.kernels if kernel.name == name)

    def options(self, names: Iterable[str]) -> dict[str, KernelOptions]:
        """Return the generator's options for the regions of these names."""
        return {name: self.kernel(name).options for name in names}


@dataclass(frozen=True, slots=True)
class Project:
    """A resolved manifest; ``path`` is ``None`` when there is only a C file."""

    path: Path | None
    machine: str
    sources: tuple[ProjectSource, ...]


def resolve(manifest: Manifest, path: Path | None = None, overrides: Defaults | None = None) -> Project:
    """Return what ``manifest``, read from ``path``, asks for.

    ``overrides`` (from the command line) wins over regions and defaults.  Raises
    :class:`SwbuildError` with everything that does not fit together.
    """
    resolver = _Resolver(manifest, path.parent if path else Path(), overrides or Defaults())
    sources = tuple(resolver.source(source) for source in manifest.sources)
    limits = _machine_problems(manifest, resolver.machine, resolver.overrides)
    problems = [*resolver.problems, *_version_problems(manifest), *_clashes(sources), *limits]
    if problems:
        raise SwbuildError(problems)
    return Project(path, resolver.machine, sources)


def select(project: Project, names: Iterable[str]) -> Project:
    """Return ``project`` with only the kernels of these names (all without names).

    Every source must name its regions (see :func:`swbuild.pipeline.naming.name_regions`).
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return project
    known = [kernel.name for source in project.sources for kernel in source.kernels or ()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        where = Span(os.fspath(project.path or project.sources[0].path))
        raise SwbuildError(_unknown_kernel(name, known, where) for name in unknown)
    return replace(project, sources=tuple(_narrowed(project.sources, set(wanted))))


def _unknown_kernel(name: str, known: list[str], where: Span) -> Diagnostic:
    return Diagnostic("SW112", f"there is no kernel `{name}`", where, did_you_mean(name, known))


def _narrowed(sources: Iterable[ProjectSource], wanted: set[str]) -> Iterator[ProjectSource]:
    for source in sources:
        kept = tuple(kernel for kernel in source.kernels or () if kernel.name in wanted)
        if kept:
            yield replace(source, kernels=kept)


class _Resolver:
    """Resolves the sources of one manifest and notes what is missing on disk."""

    def __init__(self, manifest: Manifest, base: Path, overrides: Defaults) -> None:
        self.manifest = manifest
        self.base = base
        self.overrides = overrides
        self.machine = manifest.machine or DEFAULT_MACHINE
        self.common = manifest.defaults or Defaults()
        self.problems: list[Diagnostic] = []
        self.includes = self._directories(manifest.include_dirs, manifest.span)
        self.files = 1 if manifest.separate else max(1, len({source.file for source in manifest.sources}))

    def source(self, source: Source) -> ProjectSource:
        path = self._join(source.file)
        self._need(path.is_file(), f"there is no file {path}", source.span)
        regions = source.regions
        kernels = None if regions is None else tuple(self.kernel(name, regions[name]) for name in regions)
        return ProjectSource(path, self._cpp(source), kernels, self._every(source), source.span)

    def kernel(self, name: str, region: Region) -> Kernel:
        settings = _merged(_merged(self.common, region), self.overrides)
        if region.label is not None and (region.function is not None or region.index is not None):
            message = f"the region `{name}` is chosen in two ways"
            self._problem("SW109", message, region.span, "a label suffices: remove `function` and `index`")
        by_name = region.function is None and region.label is None and region.index is None
        function = name if by_name else region.function
        request = replace(
            _stated(settings), name=name, function=function, label=region.label, index=region.index
        )
        self._check_sizes(name, settings, region.span)
        return Kernel(name, request, self._options(settings), _check_plan(settings.check), region.span)

    def _every(self, source: Source) -> Kernel:
        settings = _merged(self.common, self.overrides)
        request = _stated(settings)
        return Kernel("", request, self._options(settings), _check_plan(settings.check), source.span)

    def _options(self, settings: Defaults) -> KernelOptions:
        return KernelOptions(
            machine=self.machine,
            threads=settings.threads or (0, 0),
            tile=settings.tile or (),
            distribution=settings.distribution,
            fusion=settings.fusion,
            preset=settings.preset or Preset.DEFAULT,
            ldm_budget=settings.ldm_budget,
            params=dict(settings.params or {}),
            typical=dict(settings.typical or {}),
            assume=settings.assume or (),
            arrays=dict(settings.arrays or {}),
            transform=steps_of(settings.transform),
            reassociate=bool(settings.reassociate),
            contract=bool(settings.contract),
            where=settings.where or Where.AUTO,
            spawn=settings.spawn or Spawn.REGION,
            vectorize=settings.vectorize or Vectorize.AUTO,
            prefetch=settings.prefetch or Prefetch.AUTO,
            share=settings.share or Share.AUTO,
            resident=settings.resident or Resident.AUTO,
            turn=settings.turn or Turn.AUTO,
            files=self.files,
        )

    def _cpp(self, source: Source) -> CppOptions:
        includes = (*self._directories(source.include_dirs, source.span), *self.includes)
        return CppOptions(includes, (*(self.manifest.defines or ()), *(source.defines or ())))

    def _directories(self, names: tuple[str, ...] | None, span: Span) -> tuple[str, ...]:
        paths = [self._join(name) for name in names or ()]
        for path in paths:
            self._need(path.is_dir(), f"there is no directory {path}", span)
        return tuple(os.fspath(path) for path in paths)

    def _check_sizes(self, name: str, settings: Defaults, span: Span) -> None:
        fixed = settings.params or {}
        for row in (settings.check.sizes if settings.check else None) or ():
            wrong = [key for key, value in row.items() if fixed.get(key, value) != value]
            for key in wrong:
                message = f"`{name}` fixes {key} = {fixed[key]}, but a size to check says {key} = {row[key]}"
                hint = "leave it out of the sizes, or do not fix it in `params`"
                self._problem("SW110", message, span, hint)

    def _join(self, file: str) -> Path:
        return Path(os.path.normpath(self.base / file))

    def _need(self, there: bool, message: str, span: Span) -> None:
        if not there:
            self._problem("SW108", message, span, "names are relative to the manifest's directory")

    def _problem(self, code: str, message: str, span: Span, hint: str) -> None:
        self.problems.append(Diagnostic(code, message, span, hint))


def _stated(settings: Defaults) -> RegionRequest:
    """Return what ``settings`` state of a region's sizes and arrays, for a region without a name."""
    params, typical = dict(settings.params or {}), dict(settings.typical or {})
    arrays = dict(settings.arrays or {})
    return RegionRequest(params=params, typical=typical, assume=settings.assume or (), arrays=arrays)


def _check_plan(check: Check | None) -> CheckPlan:
    given = check or Check()
    tolerance = given.tolerance or Tolerance()
    tolerances = Tolerances(tolerance.rtol, tolerance.atol or 0.0, tolerance.max_ulp or 0)
    seed = 1 if given.seed is None else given.seed
    reason = given.expected_failure or ""
    return CheckPlan(given.sizes or (), seed, tolerances, given.timeout or 60, reason)


def _merged(below: T, above: T) -> T:
    """Return ``below`` with what ``above`` gives: mappings merged, assumptions added, the rest replaced."""
    changes = {}
    for item in fields(below):
        new, old = getattr(above, item.name), getattr(below, item.name)
        if new is not None and item.name != "span":
            changes[item.name] = _MERGES.get(item.name, _replace)(old, new)
    return replace(below, **changes)


def _replace(old: Any, new: Any) -> Any:
    return new


def _update(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**(old or {}), **new}


def _extend(old: tuple[str, ...] | None, new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(old or ()), *new)))


def _nested(old: Any, new: Any) -> Any:
    return new if old is None else _merged(old, new)


_MERGES: dict[str, Callable[[Any, Any], Any]] = {
    "params": _update,
    "typical": _update,
    "arrays": _update,
    "assume": _extend,
    "check": _nested,
    "tolerance": _nested,
}


def _version_problems(manifest: Manifest) -> Iterator[Diagnostic]:
    wanted = manifest.minimum_swbuild
    if wanted is not None and _numbers(wanted) > _numbers(__version__):
        message = f"the manifest needs swbuild {wanted} or later, this is {__version__}"
        yield Diagnostic("SW111", message, manifest.span, "upgrade swbuild")


def _machine_problems(manifest: Manifest, machine: str, overrides: Defaults) -> Iterator[Diagnostic]:
    """Yield what ``machine`` cannot do of what the settings ask for; ``overrides`` replace others."""
    chip = load(machine)
    common = [manifest.defaults] if manifest.defaults else []
    regions = [region for source in manifest.sources for region in (source.regions or {}).values()]
    given = [(settings, settings.span) for settings in (*common, *regions)]
    for key, objection in (("ldm_budget", _over_budget), ("threads", _too_many_threads)):
        value = getattr(overrides, key)
        places = given if value is None else [(overrides, Span(f"--{key.replace('_', '-')}"))]
        for settings, span in places:
            if (value := getattr(settings, key)) is not None:
                yield from objection(value, chip, span)


def _over_budget(budget: int, chip: MachineModel, span: Span) -> Iterator[Diagnostic]:
    if budget > chip.ldm_bytes:
        message = (
            f"`ldm-budget`: {budget} bytes are more than the {chip.ldm_bytes} of a CPE of the {chip.name}"
        )
        hint = f"leave it out: {chip.ldm_budget} bytes leave room for the stack"
        yield Diagnostic("SW107", message, span, hint)


def _too_many_threads(threads: tuple[int, int], chip: MachineModel, span: Span) -> Iterator[Diagnostic]:
    if prod(threads) > chip.cpes:
        message = f"`threads`: {list(threads)} are more than the {chip.cpes} CPEs of the {chip.name}"
        yield Diagnostic("SW107", message, span, f"leave it out: the whole mesh is {list(chip.mesh)}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _clashes(sources: tuple[ProjectSource, ...]) -> Iterator[Diagnostic]:
    """Yield what may occur only once: names of regions, files, and the names of generated files."""
    kernels = [kernel for source in sources for kernel in source.kernels or ()]
    yield from _twice(((kernel.name, kernel.span) for kernel in kernels), "the region name")
    files = {os.path.realpath(source.path): source for source in sources}
    stems = ((source.path.stem, source.span) for source in files.values())
    yield from _twice(((os.path.realpath(source.path), source.span) for source in sources), "the file")
    yield from _twice(stems, "the name of generated files")
    for source in sources:
        places = ((_place(kernel), kernel.span) for kernel in source.kernels or ())
        yield from _twice(places, "the region at")


def _place(kernel: Kernel) -> str:
    request = kernel.request
    if request.label is not None:
        return f"label {request.label}"
    where = f"function {request.function}" if request.function else "file"
    return f"{where}, index {request.index or 0}"


def _twice(named: Iterable[tuple[str, Span]], what: str) -> Iterator[Diagnostic]:
    seen: dict[str, Span] = {}
    for name, span in named:
        if name in seen:
            message = f"{what} `{Path(name).name if os.sep in name else name}` is used twice"
            yield Diagnostic("SW109", message, span, "", notes=(Note("the first one is here", seen[name]),))
        seen.setdefault(name, span)
