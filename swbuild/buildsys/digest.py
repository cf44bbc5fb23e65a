"""Digests by which build rules know whether what the manifest says of a source has changed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from swbuild.buildsys.names import name_of
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

if TYPE_CHECKING:
    from swbuild.frontend.request import CppOptions
    from swbuild.manifest import Kernel, Project, ProjectSource

__all__ = ["digest_of", "request_of", "require_digests", "source_digest"]


def source_digest(source: ProjectSource) -> str:
    """Return a digest of everything in the manifest that the generated files of ``source`` depend on.

    Comments, the order of keys, the sizes to check and other sources do not change it.
    """
    return digest_of(request_of(source))


def digest_of(request: dict[str, Any]) -> str:
    """Return the digest of a request."""
    text = json.dumps(request, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _without(source: ProjectSource, added: CppOptions) -> ProjectSource:
    """Return ``source`` without the directories and definitions that the command line put in."""
    cpp = source.cpp
    includes = cpp.includes[len(added.includes) :]
    defines = cpp.defines[: len(cpp.defines) - len(added.defines)]
    return replace(source, cpp=replace(cpp, includes=includes, defines=defines))


def request_of(source: ProjectSource) -> dict[str, Any]:
    """Return what is asked for ``source``, without places in the manifest and without checks."""
    kernels = source.kernels
    return {
        "source": os.fspath(source.path),
        "cpp": asdict(source.cpp),
        "every": _kernel(source.every) if kernels is None else None,
        "kernels": None if kernels is None else [_kernel(kernel) for kernel in kernels],
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    steps = tuple(replace(step, span=Span("")) for step in kernel.options.transform)
    chosen = replace(kernel.options, transform=steps)
    return {"request": asdict(kernel.request), "options": asdict(chosen)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"no JSON for {type(value).__name__}")


def require_digests(project: Project, digests: list[str], added: CppOptions) -> None:
    """Raise SW702 unless ``digests`` are those of the project's sources, in their order.

    ``added`` are the preprocessor's options that did not come from the manifest: the build has its
    own ways to know that they changed.
    """
    found = {name_of(source): source_digest(_without(source, added)) for source in project.sources}
    if list(found.values()) != digests:
        raise SwbuildError(
            Diagnostic(
                "SW702",
                f"the manifest does not say of {', '.join(found)} what it said when the build was configured",
                Span(os.fspath(project.path) if project.path else next(iter(found))),
                "configure the build again",
            )
        )
