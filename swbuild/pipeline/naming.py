"""Name the regions of sources that a manifest takes as a whole."""

from __future__ import annotations

from dataclasses import replace

from swbuild.manifest import Kernel, Project, ProjectSource

__all__ = ["name_regions"]


def name_regions(project: Project) -> Project:
    """Return ``project`` with the regions of every source named, as the front end names them."""
    return replace(project, sources=tuple(map(_named, project.sources)))


def _named(source: ProjectSource) -> ProjectSource:
    if source.kernels is not None:
        return source
    from swbuild.frontend import read_source

    model = read_source(source.path, source.cpp, None)
    places = [(scop.span, scop.name) for scop in model.scops]
    places += [(region.span, region.name) for region in model.refused]
    names = [name for _, name in sorted(places)]
    return replace(source, kernels=tuple(_kernel(source, name, index) for index, name in enumerate(names)))


def _kernel(source: ProjectSource, name: str, index: int) -> Kernel:
    request = replace(source.every.request, name=name, index=index)
    return replace(source.every, name=name, request=request)
