"""Write a manifest for sources that were read: what ``swbuild init`` prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from swbuild.frontend.request import CppOptions, RefusedRegion, SourceModel
from swbuild.frontend.scop import Array, Scop
from swbuild.machine import load

__all__ = ["manifest_text"]

_HEAD = """\
# Kernels for the core group. 'swbuild check {name}' compares each with its serial loops;
# docs/manifest.md, or 'swbuild schema --reference', explains every key.
version: 1
machine: {machine}
"""

_DEFAULTS = """
# Threads, tiles and the order of the loops are chosen by estimated cost, unless they are given:
# defaults:
#   {threads:<27} # rows and columns, {cpes} threads at most
#   fusion: min                 # leave loop nests apart; max: fuse them
#   preset: classic             # the published baseline
"""


def manifest_text(models: Sequence[SourceModel], cpp: CppOptions, machine: str, base: Path) -> str:
    """Return the text of a manifest, to be written into ``base``, for every region of ``models``."""
    return "\n".join(_lines(models, cpp, machine, base)) + "\n"


def _lines(models: Sequence[SourceModel], cpp: CppOptions, machine: str, base: Path) -> Iterator[str]:
    yield _HEAD.format(machine=machine, name="sunway.yaml").rstrip()
    if cpp.includes:
        yield f"include-dirs: [{', '.join(_quoted(_relative(name, base)) for name in cpp.includes)}]"
    if cpp.defines:
        yield f"defines: [{', '.join(map(_quoted, cpp.defines))}]"
    chip = load(machine)
    yield _DEFAULTS.format(threads=f"threads: {list(chip.mesh)}", cpes=chip.cpes).rstrip()
    yield "\nsources:"
    for model in models:
        yield f"  - file: {_quoted(_relative(model.path, base))}"
        yield from _regions(model)


def _relative(name: str, base: Path) -> str:
    return os.path.relpath(name, base)


def _regions(model: SourceModel) -> Iterator[str]:
    if model.scops:
        yield "    regions:"
    for scop in model.scops:
        yield from _region(scop, _index(scop, model))
    for region in model.refused:
        yield from _refusal(region)


def _index(scop: Scop, model: SourceModel) -> int | None:
    """Return the place of a region in its function if the function has several."""
    spans = [other.span for other in model.scops if other.function == scop.function]
    return spans.index(scop.span) if len(spans) > 1 else None


def _region(scop: Scop, index: int | None) -> Iterator[str]:
    first, last = scop.span.line, scop.span.end_line
    yield f"      {scop.name}:{'' if last <= first else f'  # lines {first} to {last}'}"
    if scop.label:
        yield f"        label: {scop.label}"
    else:
        yield f"        function: {scop.function}"
        if index is not None:
            yield f"        index: {index}"
    yield "        # tile: [64, 64]          # iterations, outermost loop first"
    hidden = [array for array in scop.arrays if any(extent is None for extent in array.extents)]
    if hidden:
        shapes = ", ".join(map(_shape, hidden))
        yield f"        # arrays: {{{shapes}}}   # extents that the source does not show"
    if scop.parameters:
        names = [parameter.name for parameter in scop.parameters]
        usual = ", ".join(f"{name}: 1000" for name in names)
        yield f"        # typical: {{{usual}}}    # sizes to choose tiles for; others are as right"
        yield f"        # params: {{{names[0]}: 1024}}     # fix sizes that never change"
        yield f"        # check: {{sizes: {{{', '.join(f'{name}: [7, 64]' for name in names)}}}}}"
        yield "        # without sizes, some are chosen that reach all of the region"


def _shape(array: Array) -> str:
    return f"{array.name}: [{', '.join('…' for _ in array.extents)}]"


def _refusal(region: RefusedRegion) -> Iterator[str]:
    yield f"      # {region.name}, line {region.span.line}, stays on the host:"
    for diagnostic in region.diagnostics:
        yield f"      #   {diagnostic.message}"


def _quoted(text: str) -> str:
    """Return a text as YAML: plain where that is safe beyond doubt."""
    safe = text.replace("_", "").replace("/", "").replace(".", "").replace("-", "").replace("=", "")
    if text and text[0].isalpha() and safe.isalnum() and safe.isascii() and text.lower() not in _WORDS:
        return text
    return "'" + text.replace("'", "''") + "'"


_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})
