"""Which files a project yields, and what is in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from swbuild import __version__
from swbuild.classes import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from swbuild.pipeline.stages import Unit

__all__ = ["Output", "OutputNames", "output_names", "outputs_of", "report_of"]


@dataclass(frozen=True, slots=True)
class OutputNames:
    """The names of the files of one source; they follow from its name alone."""

    host: str
    slave: str
    header: str
    report: str

    def all(self) -> tuple[str, ...]:
        """Return them in their order."""
        return self.host, self.slave, self.header, self.report


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write: its name (no directory) and its text."""

    name: str
    text: str


def output_names(source: Path) -> OutputNames:
    """Return the names of the files for ``source``."""
    stem = source.stem
    return OutputNames(f"{stem}.host.c", f"{stem}.slave.c", f"{stem}.sw.h", f"{stem}.report.json")


def outputs_of(unit: Unit) -> tuple[Output, ...]:
    """Return the files of ``unit``: always the same four, so that build rules can name them beforehand."""
    generated = unit.generated
    names = output_names(unit.source.path)
    slave = generated.slave.text if generated.slave else _empty_slave(unit)
    report = json.dumps(report_of(unit), indent=2, ensure_ascii=False, default=str) + "\n"
    return (
        Output(names.host, generated.host.text),
        Output(names.slave, slave),
        Output(names.header, generated.header.text),
        Output(names.report, report),
    )


def _empty_slave(unit: Unit) -> str:
    """Return a slave file without kernels; ISO C wants one declaration in every file."""
    name = "".join(sign if sign.isalnum() else "_" for sign in unit.source.path.stem)
    return f"/* No region of {unit.source.path.name} became a kernel. */\ntypedef int sw_no_kernels_{name};\n"


def report_of(unit: Unit) -> dict[str, Any]:
    """Return the report on ``unit``, ready for JSON."""
    return {
        "version": 1,
        "swbuild": __version__,
        "source": unit.source.path.name,
        "machine": unit.source.every.options.machine,
        "regions": [
            {
                "region": region.scop.name,
                "entry": region.entry,
                "kernels": list(region.kernels),
                **region.report,
            }
            for region in unit.generated.regions
        ],
        "refused": [
            {
                "region": region.name,
                "line": region.span.line,
                "reasons": [_reason(d) for d in region.diagnostics],
            }
            for region in unit.generated.refused
        ],
    }


def _reason(diagnostic: Any) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "line": span.line,
        "column": span.column,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }
