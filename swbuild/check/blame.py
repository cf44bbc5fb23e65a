"""Who is to blame: a case that went wrong is run once more with a trace, and the trace is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from swbuild.check.exchange import write_inputs
from swbuild.check.judge import Case
from swbuild.check.ownership import read_addresses, read_owners, trace_environment
from swbuild.check.results import ArrayReport, CaseResult, Outcome
from swbuild.check.slots import Slot

__all__ = ["Rerun", "blamed"]

#: Runs the offloaded executable on an input file with these additions to its environment.
Rerun = Callable[[Path, Mapping[str, str]], object]


def blamed(
    results: Sequence[CaseResult],
    cases: Sequence[Case],
    slots: Sequence[Slot],
    directory: Path,
    rerun: Rerun,
    mesh: tuple[int, int],
) -> list[CaseResult]:
    """Return ``results`` with the owner of the first bad element told for the first mismatch among them.

    ``results`` and ``cases`` belong together one by one, as far as both go.  ``mesh`` are the rows and
    columns of the CPEs that it ran on.
    """
    found = list(results)
    number = next((i for i, result in enumerate(results) if result.outcome is Outcome.MISMATCH), None)
    if number is None or number >= len(cases):
        return found
    inputs, trace, addresses = (directory / f"blame.{name}" for name in ("inputs", "trace", "addresses"))
    addresses.unlink(missing_ok=True)
    write_inputs(inputs, slots, [cases[number].inputs])
    rerun(inputs, trace_environment(trace, addresses))
    places = read_addresses(addresses, 0)
    reports = tuple(
        _told(report, cases[number], slots, trace, places, mesh) for report in found[number].arrays
    )
    found[number] = dataclasses.replace(found[number], arrays=reports)
    return found


def _told(
    report: ArrayReport,
    case: Case,
    slots: Sequence[Slot],
    trace: Path,
    places: Mapping[int, tuple[int, int]],
    mesh: tuple[int, int],
) -> ArrayReport:
    """Return the report on an array with the owner of its first bad element, where the trace tells."""
    position = next(i for i, slot in enumerate(slots) if slot.name == report.array)
    if not report.first or position not in places or not report.first[0].index:
        return report
    values = case.inputs[report.array]
    owners = read_owners(trace, *places[position], values.dtype.itemsize, mesh)
    if owners is None:
        return report
    element = int(np.ravel_multi_index(report.first[0].index, values.shape))
    return dataclasses.replace(report, owner=owners.phrase(element))
