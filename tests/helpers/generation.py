"""Generate code for a piece of C in one call."""

from __future__ import annotations

from pathlib import Path

from swbuild.codegen.unit import GeneratedUnit
from swbuild.frontend import CppOptions, SourceModel, read_source
from swbuild.generate import complete, generate_unit
from swbuild.options import KernelOptions

__all__ = ["EXAMPLES", "generated", "model_of", "unit_of"]

EXAMPLES = Path(__file__).parents[2] / "examples" / "polybench"


def model_of(directory: Path, text: str, name: str = "region.c") -> SourceModel:
    """Return the model of the C text ``text``, put into ``directory``."""
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return read_source(path, CppOptions(), None)


def generated(directory: Path, text: str, options: KernelOptions | None = None) -> GeneratedUnit:
    """Return what is generated for the C text ``text``, every region under ``options``."""
    model = model_of(directory, text)
    assert not model.refused, model.refused
    return complete(generate_unit(model, {scop.name: options or KernelOptions() for scop in model.scops}))


def unit_of(example: str, options: KernelOptions) -> GeneratedUnit:
    """Return what is generated for the example ``example``."""
    model = read_source(EXAMPLES / f"{example}.c", CppOptions(), None)
    return complete(generate_unit(model, {scop.name: options for scop in model.scops}))
