"""From what the two runs of a case left behind to its verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import islpy as isl
import numpy.typing as npt

from swbuild.check.compare import EXACT, Tolerance, compare_arrays, tolerance_for
from swbuild.check.exchange import RunRecord, SlotRecord
from swbuild.check.results import ArrayReport, CaseResult, Outcome
from swbuild.check.shapes import array_shape
from swbuild.check.slots import Slot
from swbuild.classes import dataclass
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend.scop import Storage
from swbuild.polyhedral.islutil import bounded_effort, ran_out
from swbuild.polyhedral.points import Points, TooMany
from swbuild.polyhedral.reductions import Operator, find_reductions

__all__ = ["Case", "judge_case", "refusal"]

#: isl steps, and starts of innermost loops, to count the terms of sums.
_EFFORT, _ROWS = 1_000_000, 1_000_000

#: What rounds at every step; the least or the largest of numbers is one of them.
_ROUNDED = (Operator.SUM, Operator.PRODUCT)


@dataclass(frozen=True, slots=True)
class Case:
    """One region at one set of sizes.

    ``must_spawn`` says that a correct run cannot do without the core group.
    """

    sizes: Mapping[str, int]
    inputs: Mapping[str, npt.NDArray[Any]]
    must_spawn: bool


def judge_case(
    unit: RegionUnit,
    slots: Sequence[Slot],
    case: Case,
    mode: str,
    reference: RunRecord,
    offloaded: RunRecord,
    tolerance: Tolerance | None,
) -> CaseResult:
    """Return the verdict on one case that both runs have finished."""
    compared = [slot for slot in slots if slot.argument is not None and not slot.by_value]
    terms = 1 if unit.exact_order or tolerance else _terms(unit, case, reference)
    reports = tuple(
        _array_report(
            unit, slot, case, reference.slots[slot.name], offloaded.slots[slot.name], tolerance, terms
        )
        for slot in compared
    )
    outcome, message = _verdict(unit, case, offloaded, reports)
    return CaseResult(
        tuple(case.sizes.items()),
        mode,
        outcome,
        message,
        tuple(report for report in reports if not report.good),
        None if offloaded.spawns < 0 else offloaded.spawns,
        reference.seconds,
        offloaded.seconds,
    )


def _terms(unit: RegionUnit, case: Case, reference: RunRecord) -> int:
    """Return about how many terms the longest of the region's sums has, 1 where isl takes long to count them.

    Those of arrays are taken to be spread evenly over the elements.
    """
    found = 1
    try:
        with bounded_effort(_EFFORT):
            for reduction in (r for r in find_reductions(unit.scop) if r.operator in _ROUNDED):
                points = (Points(unit.scop.statement(name).domain) for name in reduction.statements)
                count = sum(each.count(unit.scop.completed(case.sizes), _ROWS) for each in points)
                found = max(found, count // max(1, _elements(unit, case, reference, reduction.array)))
    except (isl.Error, TooMany) as error:
        if isinstance(error, isl.Error) and not ran_out(error):
            raise
    return found


def _elements(unit: RegionUnit, case: Case, reference: RunRecord, name: str) -> int:
    """Return the elements of the array ``name``; of a work array those of a row, as rows are added up."""
    slot, array = reference.slots.get(name), unit.scop.array(name)
    if slot is not None or array.storage is not Storage.WORK:
        return int(slot.values.size) if slot else 1
    shape = array_shape(unit.scop, array, unit.scop.at(case.sizes))
    return prod(shape[1:]) if shape else 1


def _verdict(
    unit: RegionUnit, case: Case, record: RunRecord, reports: Sequence[ArrayReport]
) -> tuple[Outcome, str]:
    bad = [report for report in reports if not report.good]
    if record.status and (case.must_spawn or bad):  # else there was nothing to do, and it was not done
        return Outcome.NOT_OFFLOADED, refusal(unit, record.status)
    if bad:
        names = ", ".join(report.array for report in bad)
        return Outcome.MISMATCH, f"{names} differ{'s' if len(bad) == 1 else ''} from the serial reference"
    if case.must_spawn and record.spawns == 0:
        return Outcome.NOT_OFFLOADED, f"{unit.entry} claims success, but no kernel was started"
    return Outcome.PASS, ""


def refusal(unit: RegionUnit, status: int) -> str:
    """Return why the entry declined: it returns the number of the test that said so."""
    reasons = dict(enumerate(unit.refusals, 1))
    why = f": {reasons[status]}" if status in reasons else ""
    return f"{unit.entry} returned {status}: it refused these arguments{why}"


def _array_report(
    unit: RegionUnit,
    slot: Slot,
    case: Case,
    reference: SlotRecord,
    offloaded: SlotRecord,
    tolerance: Tolerance | None,
    terms: int,
) -> ArrayReport:
    """Compare one object: a result with the reference, an object that is only read with its own input."""
    if slot.array is not None and slot.writes and not slot.array.live_out:
        report = ArrayReport(slot.name, offloaded.values.size, 0)
    elif slot.writes:
        allowed = EXACT if unit.exact_order else tolerance or tolerance_for(slot.element, False, terms)
        report = compare_arrays(slot.name, reference.values, offloaded.values, allowed)
    else:
        report = compare_arrays(slot.name, case.inputs[slot.name], offloaded.values, EXACT)
    return dataclasses.replace(report, red_zone=offloaded.changed_outside, untouchable=not slot.writes)
