"""Choosing sources of a project by their names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

if TYPE_CHECKING:
    from swbuild.manifest import Project, ProjectSource

__all__ = ["name_of", "select_sources"]


def name_of(source: ProjectSource) -> str:
    """Return the name of a source: its file's name without directory and suffix, unique in a manifest."""
    return source.path.stem


def select_sources(project: Project, names: Sequence[str]) -> Project:
    """Return ``project`` with only the sources of these names (all without names)."""
    if not names:
        return project
    known = [name_of(source) for source in project.sources]
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if unknown:
        from swbuild.manifest.suggest import did_you_mean

        where = Span(os.fspath(project.path or project.sources[0].path))
        raise SwbuildError(
            Diagnostic("SW701", f"there is no source `{name}`", where, did_you_mean(name, known))
            for name in unknown
        )
    return replace(project, sources=tuple(s for s in project.sources if name_of(s) in names))
