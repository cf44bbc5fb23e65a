"""Generate the files of a project, taking from the cache what is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from swbuild.buildsys.cache import Entry, cache_directory, key_of, load, store
from swbuild.diagnostics import Diagnostic, SwbuildError, render

if TYPE_CHECKING:
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
) -> tuple[Entry, ...]:
    """Return what every source becomes, or raise with the mistakes of all of them.

    ``watch`` is shown what becomes of the regions of each source; then nothing is taken from the cache.
    """
    made: list[Entry] = []
    problems: list[Diagnostic] = []
    for source in project.sources:
        try:
            one = replace(project, sources=(source,))
            if watch is None:
                made.append(_entry(one, source, timings, allow_refused))
            else:
                made.append(_generated(one, source, timings, allow_refused, watch))
        except SwbuildError as error:
            problems += error.diagnostics
    if problems:
        raise SwbuildError(problems)
    return tuple(made)


def _entry(project: Project, source: ProjectSource, timings: Timings, allow_refused: bool) -> Entry:
    folder = cache_directory()
    if folder is None:
        return _generated(project, source, timings, allow_refused)
    with timings.stage("cache"):
        read = _read(source)
    if read is None:
        return _generated(project, source, timings, allow_refused)
    text, seen = read
    with timings.stage("cache"):
        key = _key(source, text, seen, allow_refused)
        found = load(folder, key)
    if found is None:
        found = _generated(project, source, timings, allow_refused, seen=seen)
        with timings.stage("cache"):
            store(folder, key, found)
    return found


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
