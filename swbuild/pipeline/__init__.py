"""The stages in their order for a whole project: read, generate, write, and say what was read."""

from __future__ import annotations

from swbuild.pipeline.outputs import Output, output_names, outputs_of
from swbuild.pipeline.stages import Unit, generate_project
from swbuild.pipeline.writing import depfile_text, write_all
from swbuild.timings import Timings

__all__ = [
    "Output",
    "Timings",
    "Unit",
    "depfile_text",
    "generate_project",
    "output_names",
    "outputs_of",
    "write_all",
]
