"""The results of a check as plain data, for ``--json`` and for reports; docs/check.md describes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from swbuild import __version__
from swbuild.check.results import (
    ArrayReport,
    CaseResult,
    Counts,
    Coverage,
    RegionResult,
    exit_status,
    worst,
)
from swbuild.diagnostics import Diagnostic

__all__ = ["FORMAT", "case_data", "counts_data", "document"]

#: Grows when something is renamed or removed; additions leave it alone.
FORMAT = 1


def document(results: Sequence[RegionResult]) -> dict[str, Any]:
    """Return all that a check found."""
    return {
        "version": FORMAT,
        "swbuild": __version__,
        "verdict": worst(result.outcome for result in results).value,
        "exit_status": exit_status(results),
        "regions": [_region(result) for result in results],
    }


def case_data(case: CaseResult) -> dict[str, Any]:
    """Return the data of one run of one set of sizes."""
    return {
        "sizes": dict(case.sizes),
        "mode": case.mode,
        "outcome": case.outcome.value,
        "message": case.message,
        "spawns": case.spawns,
        "seconds": case.seconds,
        "reference_seconds": case.reference_seconds,
        "arrays": [_array(report) for report in case.arrays],
    }


def counts_data(counts: Counts) -> dict[str, int | None]:
    """Return the emulator's counts, null where it did not count."""
    return {
        "spawns": counts.spawns,
        "dma_operations": counts.dma_operations,
        "dma_bytes": counts.dma_bytes,
        "ldm_bytes": counts.ldm_bytes,
        "direct_accesses": counts.direct_accesses,
        "direct_bytes": counts.direct_bytes,
    }


def _region(result: RegionResult) -> dict[str, Any]:
    return {
        "region": result.region,
        "source": result.source,
        "machine": result.machine,
        "threads": list(result.threads),
        "kernels": list(result.kernels),
        "outcome": result.outcome.value,
        "message": result.message,
        "expected_failure": result.expected_failure,
        "seconds": result.seconds,
        "counts": counts_data(result.counts),
        "coverage": None if result.coverage is None else _coverage(result.coverage),
        "cases": [case_data(case) for case in result.cases],
        "notes": [_diagnostic(note) for note in result.notes],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in result.diagnostics],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "sizes": coverage.sizes,
        "launched": coverage.launched,
        "goals": {kind: {"reached": n, "of": of} for kind, (n, of) in coverage.reached.items()},
        "missed": [{"kind": m.kind, "what": m.what, "line": m.line} for m in coverage.missed],
        "conditions_on_data": list(coverage.data_conditions),
        "instances": coverage.instances,
        "kernels": [
            {
                "kernel": load.kernel,
                "cpes": load.cpes,
                "sizes": dict(load.sizes),
                "launches": load.launches,
                "launch_sizes": dict(load.launch_sizes),
            }
            for load in coverage.loads
        ],
    }


def _array(report: ArrayReport) -> dict[str, Any]:
    return {
        "array": report.array,
        "elements": report.elements,
        "mismatches": report.mismatches,
        "first": [
            {"index": list(bad.index), "expected": bad.expected, "actual": bad.actual} for bad in report.first
        ],
        "box": [list(pair) for pair in report.box],
        "max_absolute": _finite(report.max_absolute),
        "max_relative": _finite(report.max_relative),
        "max_ulp": report.max_ulp,
        "red_zone": report.red_zone,
        "owner": report.owner,
    }


def _finite(number: float) -> float | None:
    """Return ``number``, or None for an infinity, which JSON does not have."""
    return number if math.isfinite(number) else None


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }
