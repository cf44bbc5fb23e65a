"""From verdicts to words and figures: what a failed test says, and what its record keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_sw.items import KernelItem, Prepared
from pytest_sw.records import Record
from swbuild.check.compare import dtype_of
from swbuild.check.document import case_data, counts_data
from swbuild.check.errormap import differing, error_map
from swbuild.check.evidence import CaseRun
from swbuild.check.ownership import Owners
from swbuild.check.report import explain_cases
from swbuild.check.results import ArrayReport, CaseResult, Outcome

__all__ = ["describe", "item_size", "locate", "summarise"]


def locate(
    prepared: Prepared, run: CaseRun, results: Sequence[CaseResult], owners: Mapping[tuple[int, str], Owners]
) -> tuple[list[CaseResult], list[dict[str, Any]]]:
    """Return the results with the owners of first bad elements filled in, and a map of each bad array.

    ``owners`` is by the number of the case and the name of the array.
    """
    located, maps = [], []
    for number, result in enumerate(results):
        arrays = []
        for report in result.arrays:
            owner = owners.get((number, report.array))
            arrays.append(_owned(prepared, number, report, owner))
            if report.mismatches:
                maps.append(_map(prepared, run, number, report, owner))
        located.append(dataclasses.replace(result, arrays=tuple(arrays)))
    return located, maps


def _owned(prepared: Prepared, number: int, report: ArrayReport, owner: Owners | None) -> ArrayReport:
    if owner is None or not report.first:
        return report
    shape = prepared.plan.shapes[number][report.array]
    element = 0
    for index, extent in zip(report.first[0].index, shape, strict=True):
        element = element * extent + index
    return dataclasses.replace(report, owner=owner.phrase(element))


def _map(
    prepared: Prepared, run: CaseRun, number: int, report: ArrayReport, owner: Owners | None
) -> dict[str, Any]:
    """Return what the page draws of a bad array: where it is bad, and by which cores."""
    expected = prepared.reference.records[number].slots[report.array].values
    bad = differing(expected, run.found.records[number].slots[report.array].values)
    found = error_map(bad)
    return {
        "array": report.array,
        "mode": run.mode,
        "shape": list(prepared.plan.shapes[number][report.array]),
        "cells": [[round(cell, 4) for cell in row] for row in found.cells],
        "mesh": owner.mesh(bad) if owner is not None else None,
        "nobody": owner.orphans(bad) if owner is not None else None,
    }


def item_size(prepared: Prepared, array: str) -> int:
    """Return the bytes of an element of the array."""
    slot = next(slot for slot in prepared.plan.slots if slot.name == array)
    return int(dtype_of(slot.element).itemsize)


def describe(item: KernelItem, prepared: Prepared, results: Sequence[CaseResult], *, kept: bool) -> str:
    """Return what a person reads about a test that failed; ``kept``: its files are still there."""
    scop = prepared.generated.region.scop
    bad = [result for result in results if result.outcome not in (Outcome.PASS, Outcome.SKIP)]
    lines = [f"{scop.span.file}:{scop.span.line}: {item.task.name} on {item.target}: {bad[0].outcome.value}"]
    lines += [f"  {line}" for line in explain_cases(results)]
    if kept:
        lines.append(f"  data and generated files: {prepared.directory}, {prepared.executable.parent}")
    return "\n".join(lines)


def summarise(
    record: Record,
    prepared: Prepared,
    runs: Sequence[CaseRun],
    results: Sequence[CaseResult],
    maps: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Put the figures of the runs on the record."""
    reports = [report for result in results for report in result.arrays]
    if reports:
        record.set(
            max_ulp=max(report.max_ulp for report in reports),
            max_rel=max(report.max_relative for report in reports),
        )
    record.set(
        seconds=sum(result.seconds for result in results),
        reference_seconds=sum(result.reference_seconds for result in results[: len(prepared.plan.cases)]),
        runs=[_run(run, results) for run in runs],
    )
    if maps:
        record.set(maps=list(maps))


def _run(run: CaseRun, results: Sequence[CaseResult]) -> dict[str, Any]:
    return {
        "mode": run.mode,
        "status": run.ending.status,
        "counts": counts_data(run.counts),
        "cases": [case_data(result) for result in results if result.mode == run.mode],
    }
