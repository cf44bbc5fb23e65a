"""Generate the files of a project, taking from the cache what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from swbuild.buildsys.cache import Entry, cache_directory, key_of, load, store
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, SwbuildError, render

if TYPE_CHECKING:
    from pathlib import Path

    from swbuild.compilation import Compilation
    from swbuild.frontend.preprocess import Preprocessed
    from swbuild.manifest import Project, ProjectSource
    from swbuild.pipeline import Timings

__all__ = ["generate_entries"]


def generate_entries(
    project: Project,
    timings: Timings,
    *,
    allow_refused: bool = False,
    watch: Callable[[tuple[Compilation, ...]], None] | None = None,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda name: None,
) -> tuple[Entry, ...]:
    """Return what every source becomes, or raise with the mistakes of all of them.

    Sources that the cache does not have are worked on ``jobs`` at a time, in processes of their own.
    ``tell`` takes the name of each that is done.  ``watch`` is shown what becomes of the regions of each
    source; then nothing is taken from the cache, and all is done here.
    """
    alone = [replace(project, sources=(source,)) for source in project.sources]
    made: dict[int, Entry | tuple[Diagnostic, ...]] = {}
    if watch is None and min(jobs, len(alone)) > 1:
        made = _in_processes(alone, timings, allow_refused, jobs, tell)
    for number, one in enumerate(alone):
        if number not in made:
            made[number] = _outcome(partial(_entry, one, timings, allow_refused, watch))
            tell(one.sources[0].path.name)
    found = [made[number] for number in range(len(alone))]
    problems = [problem for each in found if not isinstance(each, Entry) for problem in each]
    if problems:
        raise SwbuildError(problems)
    return tuple(each for each in found if isinstance(each, Entry))


def _outcome(work: Callable[[], Entry]) -> Entry | tuple[Diagnostic, ...]:
    """Return what ``work`` does, or the user's mistakes that it finds."""
    try:
        return work()
    except SwbuildError as error:
        return tuple(error.diagnostics)


def _in_processes(
    alone: Sequence[Project],
    timings: Timings,
    allow_refused: bool,
    jobs: int,
    tell: Callable[[str], None],
) -> dict[int, Entry | tuple[Diagnostic, ...]]:
    """Return what each of these becomes, by its number, but for those whose process dies.

    That may be for want of memory, which one of them alone takes less of.
    """
    made: dict[int, Entry | tuple[Diagnostic, ...]] = {}
    for number, one in enumerate(alone):
        kept = _kept(one.sources[0], timings, allow_refused)
        if kept is not None:
            made[number] = kept
            tell(one.sources[0].path.name)
    missing = [number for number in range(len(alone)) if number not in made]
    if len(missing) < 2:
        return made
    from concurrent.futures.process import BrokenProcessPool

    from swbuild.workers import in_processes

    calls = [(alone[number], allow_refused) for number in missing]
    for number, future in in_processes(_alone, calls, min(jobs, len(missing))):
        with suppress(BrokenProcessPool):
            made[missing[number]] = future.result()
            tell(alone[missing[number]].sources[0].path.name)
    return made


def _alone(project: Project, allow_refused: bool) -> Entry | tuple[Diagnostic, ...]:
    """Return what the only source of ``project`` becomes, or the user's mistakes in it."""
    from swbuild.pipeline import Timings

    return _outcome(partial(_entry, project, Timings(), allow_refused, None))


def _kept(source: ProjectSource, timings: Timings, allow_refused: bool) -> Entry | None:
    """Return what the cache has of ``source``."""
    looked = _looked_up(source, timings, allow_refused)
    return looked.found if looked is not None else None


def _entry(
    project: Project,
    timings: Timings,
    allow_refused: bool,
    watch: Callable[[tuple[Compilation, ...]], None] | None,
) -> Entry:
    """Return what the only source of ``project`` becomes, taken from the cache unless it is to be watched."""
    (source,) = project.sources
    looked = _looked_up(source, timings, allow_refused) if watch is None else None
    if looked is None:
        return _generated(project, source, timings, allow_refused, watch)
    if looked.found is not None:
        return looked.found
    made = _generated(project, source, timings, allow_refused, seen=looked.seen)
    with timings.stage("cache"):
        store(looked.folder, looked.key, made)
    return made


@dataclass(frozen=True, slots=True)
class _Look:
    """A look into the cache in ``folder``: what is ``found`` by a ``key``, and the text as ``seen``."""

    folder: Path
    key: str
    seen: Preprocessed
    found: Entry | None


def _looked_up(source: ProjectSource, timings: Timings, allow_refused: bool) -> _Look | None:
    """Return what the cache says of ``source``, None without one, or where generation will say why."""
    folder = cache_directory()
    if folder is None:
        return None
    with timings.stage("cache"):
        read = _read(source)
        if read is None:
            return None
        text, seen = read
        key = _key(source, text, seen, allow_refused)
        return _Look(folder, key, seen, load(folder, key))


def _read(source: ProjectSource) -> tuple[bytes, Preprocessed] | None:
    """Return what ``source`` holds, as it is and preprocessed, or None: generation will say why."""
    from swbuild.frontend.preprocess import preprocess

    with suppress(OSError, SwbuildError):
        return source.path.read_bytes(), preprocess(source.path, source.cpp)
    return None


def _key(source: ProjectSource, text: bytes, seen: Preprocessed, allow_refused: bool) -> str:
    """Return the cache's key; names of ours depend on macros, too."""
    parts = "\0".join((seen.text, *sorted(seen.own_macros())))
    return key_of(source, text, parts, allow_refused)


def _generated(
    project: Project,
    source: ProjectSource,
    timings: Timings,
    allow_refused: bool,
    watch: Callable[[tuple[Compilation, ...]], None] | None = None,
    seen: Preprocessed | None = None,
) -> Entry:
    from swbuild.pipeline import generate_project, outputs_of
    from swbuild.pipeline.writing import dependencies

    known = {source.path: seen} if seen else None
    (unit,) = generate_project(project, timings, allow_refused=allow_refused, watch=watch, seen=known)
    # A run that takes from the cache has not loaded swbuild's modules: their names are kept, too.
    read = dependencies([source.path, *unit.model.dependencies])
    notes = tuple(render(region.diagnostics) for region in unit.generated.refused)
    notes += tuple(render([remark]) for remark in unit.remarks())
    return Entry(outputs_of(unit), read, notes)
