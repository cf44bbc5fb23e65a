"""The one contract that CMake, Meson and pytest read: which files a manifest yields, and which tests it has.

Fields are only ever added; :data:`VERSION` rises when one changes its meaning.  Nothing here reads
C or runs the polyhedral part: the answer follows from the manifest alone, in milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from swbuild import __version__
from swbuild.buildsys.digest import source_digest
from swbuild.buildsys.names import name_of
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.pipeline.outputs import output_names

if TYPE_CHECKING:
    from swbuild.manifest import Kernel, Project, ProjectSource

__all__ = ["SOURCE_FIELDS", "TEST_FIELDS", "VERSION", "answer", "cpp_arguments", "source_lines", "test_lines"]

VERSION = 1

#: The columns of the line format, one line per source.
SOURCE_FIELDS = ("name", "source", "host", "slave", "header", "report", "digest")

#: The columns of the line format, one line per test; ``option`` and ``value`` choose it in ``swbuild check``.
TEST_FIELDS = ("name", "option", "value", "timeout")

#: Seconds that a check may spend on compiling, over what its runs may take.
_BUILD_SECONDS = 120
#: Every size is run with transfers completing late and eagerly.
_RUNS_PER_SIZE = 2
#: How many sizes the checker picks when the manifest gives none.
_USUAL_SIZES = 4


def answer(project: Project) -> dict[str, Any]:
    """Return what a build system needs to know of ``project``, ready for JSON."""
    path = os.fspath(project.path) if project.path else None
    return {
        "version": VERSION,
        "swbuild": __version__,
        "manifest": path,
        "machine": project.machine,
        "depends": [path] if path else [],
        "sources": [_source(source) for source in project.sources],
        "tests": [test for source in project.sources for test in _tests(source)],
    }


def _source(source: ProjectSource) -> dict[str, Any]:
    names = output_names(source.path)
    kernels = source.kernels
    return {
        "name": name_of(source),
        "source": os.fspath(source.path),
        "host": names.host,
        "slave": names.slave,
        "header": names.header,
        "report": names.report,
        "digest": source_digest(source),
        "include-dirs": list(source.cpp.includes),
        "defines": list(source.cpp.defines),
        "regions": None if kernels is None else [{"name": k.name, "line": k.span.line} for k in kernels],
    }


def _tests(source: ProjectSource) -> Iterator[dict[str, Any]]:
    """Yield a test per region, or one for the file where the manifest does not name its regions."""
    if source.kernels is None:
        yield _test(name_of(source), "source", source.every)
    else:
        for kernel in source.kernels:
            yield _test(kernel.name, "kernel", kernel)


def _test(name: str, kind: str, kernel: Kernel) -> dict[str, Any]:
    plan = kernel.check
    runs = _RUNS_PER_SIZE * (len(plan.sizes) or _USUAL_SIZES)
    return {
        "name": name,
        "option": f"--{kind}",
        "value": name,
        "line": kernel.span.line,
        "timeout": _BUILD_SECONDS + runs * plan.timeout,
    }


def source_lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the line format of the sources."""
    return _lines(found["sources"], SOURCE_FIELDS)


def test_lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the line format of the tests."""
    return _lines(found["tests"], TEST_FIELDS)


def cpp_arguments(found: dict[str, Any]) -> Iterator[str]:
    """Yield what every host file is compiled with, one argument each; never nothing.

    For build systems whose libraries have one set of flags: a macro with two values is an error.
    The directory of each source comes first, for the includes that are relative to it.
    """
    arguments = [f"-I{os.path.dirname(os.path.abspath(row['source']))}" for row in found["sources"]]
    arguments += [f"-I{os.path.abspath(name)}" for row in found["sources"] for name in row["include-dirs"]]
    defined: dict[str, str] = {}
    for row in found["sources"]:
        for name in row["defines"]:
            macro = name.split("=")[0]
            if defined.setdefault(macro, name) != name:
                raise SwbuildError(_two_values(row["source"], macro))
    return iter(dict.fromkeys([*arguments, *(f"-D{name}" for name in defined.values())]))


def _two_values(source: str, macro: str) -> Diagnostic:
    what = f"the macro {macro} has another value here than in another source of the manifest"
    hint = "Meson compiles all files of a library alike: make a manifest of its own for this source"
    return Diagnostic("SW705", what, Span(source), hint)


def _lines(rows: list[dict[str, Any]], fields: tuple[str, ...]) -> Iterator[str]:
    for row in rows:
        yield "\t".join(str(row[field]) for field in fields)
