"""Which cases of a region are run, with which inputs, and which cannot be."""

from __future__ import annotations

import re  # reads declarations made by the front end
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from swbuild.check.exchange import RunOutput
from swbuild.check.goals import Goal, region_goals
from swbuild.check.inputs import make_inputs
from swbuild.check.judge import Case
from swbuild.check.results import CaseResult, Outcome
from swbuild.check.shapes import Shape, holds, instances
from swbuild.check.sizes import Sizes, choose_sizes, complete_sizes, permitted_sizes
from swbuild.check.slots import Slot, region_slots, slot_shapes
from swbuild.check.tasks import RegionCheck
from swbuild.check.work import Work
from swbuild.classes import dataclass
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend.scop import Scop, Storage
from swbuild.mapping.grid import Grid
from swbuild.options import KernelOptions

__all__ = ["Plan", "as_given", "plan_region"]

#: A case whose objects are larger than this together (in bytes) is not run.
_LARGEST = 1 << 30

#: The extents of an array that are all numbers.
_FIXED = re.compile(r"\w(?:\[\d+\])+$")
_NUMBER = re.compile(r"\[(\d+)\]")

#: What sizes that nobody asked for may cost: bytes of objects, instances of
#: statements, and starts of innermost loops.
_MODEST_BYTES = 72 << 20
_MODEST_INSTANCES = 13_000_000
_MODEST_ROWS = 500_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a region that can be run, with the shapes of their objects, and those that cannot.

    ``goals`` are what the sizes were chosen for, none where they were given.
    """

    slots: tuple[Slot, ...]
    cases: tuple[Case, ...]
    shapes: tuple[Mapping[str, Shape], ...]
    skipped: tuple[CaseResult, ...]
    goals: tuple[Goal, ...] = ()


def plan_region(region: RegionUnit, options: KernelOptions, check: RegionCheck) -> Plan:
    """Return the plan for the sizes that ``check`` names, or for chosen ones if it names none."""
    scop, slots = region.scop, region_slots(region)
    wanted: Sequence[Sizes] = [complete_sizes(scop, sizes, options.params) for sizes in check.sizes]
    goals: tuple[Goal, ...] = ()
    if not wanted:
        permitted = permitted_sizes(scop, options.params)
        goals = region_goals(region, permitted)
        wanted = choose_sizes(scop, goals, permitted, _Modest(region, slots))
    cases: list[Case] = []
    shapes: list[Mapping[str, Shape]] = []
    skipped: list[CaseResult] = []
    for sizes in wanted:
        planned = _case(region, slots, sizes, check.seed)
        if isinstance(planned, str):
            skipped.append(CaseResult(tuple(sizes.items()), "", Outcome.SKIP, planned))
        else:
            cases.append(planned[0])
            shapes.append(planned[1])
    if not cases and not skipped:
        skipped.append(CaseResult((), "", Outcome.SKIP, "no sizes fit the region's conditions: give some"))
    return Plan(slots, tuple(cases), tuple(shapes), tuple(skipped), goals)


class _Modest:
    """Says whether a region can be run at some sizes without taking long."""

    def __init__(self, region: RegionUnit, slots: tuple[Slot, ...]) -> None:
        self._region, self._slots, self._work = region, slots, Work(region)

    def __call__(self, sizes: Sizes) -> bool:
        instances = self._work.instances(sizes, _MODEST_ROWS)
        if instances is None or instances > _MODEST_INSTANCES:
            return False
        shapes = slot_shapes(self._region, self._slots, self._region.scop.at(sizes))
        if isinstance(shapes, str) or _volume(self._slots, shapes) > _MODEST_BYTES:
            return False
        if _too_small(self._slots, shapes):
            return False
        return not instances or _index_bound(self._region.scop, shapes) != 0


def as_given(plan: Plan, reference: RunOutput) -> tuple[Plan, RunOutput]:
    """Return the plan and the reference's results with what the source itself states for its constants.

    Only the reference knows those values.  A case that asked for another size than one that the source
    states has not been run; it is among the skipped ones.
    """
    given = [slot for slot in plan.slots if slot.given]
    if not given:
        return plan, reference
    kept, skipped = [], list(plan.skipped)
    for case, shapes, record in zip(plan.cases, plan.shapes, reference.records, strict=False):
        told = {slot.name: record.slots[slot.name].values for slot in given}
        wrong = [s for s in given if s.parameter is not None and int(told[s.name]) != case.sizes[s.name]]
        if wrong:
            message = f"{wrong[0].text} is {int(told[wrong[0].name])} in the source: give that size"
            skipped.append(CaseResult(tuple(case.sizes.items()), "", Outcome.SKIP, message))
        else:
            kept.append((replace(case, inputs={**case.inputs, **told}), shapes, record))
    cases, shapes_kept = tuple(case for case, _, _ in kept), tuple(shapes for _, shapes, _ in kept)
    left = RunOutput(tuple(record for _, _, record in kept), reference.complete)
    return Plan(plan.slots, cases, shapes_kept, tuple(skipped), plan.goals), left


def _case(
    region: RegionUnit, slots: tuple[Slot, ...], sizes: Sizes, seed: int
) -> tuple[Case, Mapping[str, Shape]] | str:
    """Return the case for ``sizes``, or why it cannot be run."""
    scop = region.scop
    point = scop.at(sizes)
    if not holds(scop.context, point):
        return "these sizes contradict what is declared or assumed of them"
    if not holds(scop.assumptions, point):
        return "the model does not cover these sizes: the original text runs for them"
    shapes = slot_shapes(region, slots, point)
    if isinstance(shapes, str):
        return shapes
    small = _too_small(slots, shapes)
    if small:
        return f"at these sizes the region reaches behind the end of '{small}', as it is declared"
    if _volume(slots, shapes) > _LARGEST:
        return "the arrays would be too large for a check: give smaller sizes"
    inputs = make_inputs(slots, shapes, sizes, seed, _index_bound(scop, shapes))
    return Case(sizes, inputs, _must_spawn(region, point)), shapes


def _must_spawn(region: RegionUnit, point: isl.Set) -> bool:
    """Return whether a kernel has work at ``point``; one of unknown loops has if a statement runs."""
    if any(_has_work(grid, point) for grid in region.grids):
        return True
    unknown = set(region.kernels) - {grid.kernel for grid in region.grids}
    return bool(unknown) and bool(instances(region.scop, point))


def _has_work(grid: Grid, point: isl.Set) -> bool:
    """Return whether a kernel has iterations at ``point``."""
    return not isl.Set(str(grid.points)).intersect_params(point).is_empty()


def _volume(slots: Sequence[Slot], shapes: Mapping[str, Shape]) -> int:
    """Return how many bytes the objects take together."""
    total = 0
    for slot in slots:
        count = slot.element.size
        for extent in shapes[slot.name]:
            count *= extent
        total += count
    return total


def _too_small(slots: Sequence[Slot], shapes: Mapping[str, Shape]) -> str:
    """Return the first array that is declared with fewer elements than the region reaches, or "".

    The model of an array that is taken apart by strides (``a[i * stride]``) does not know that limit.
    """
    for slot in slots:
        array = slot.array
        if array is not None and array.extents and array.storage is not Storage.PARAMETER:
            numbers = array.declaration.startswith(f"{array.element.name} ")  # and no structures of them
            declared = _FIXED.search(array.declaration) if numbers else None
            room = prod(map(int, _NUMBER.findall(declared[0]))) if declared else None
            if room is not None and prod(shapes[slot.name]) > room:
                return slot.text
    return ""


def _index_bound(scop: Scop, shapes: Mapping[str, Shape]) -> int | None:
    """Return what data used as a subscript must stay under, ``None`` when there is no such subscript."""
    gathered = {a.array for s in scop.statements for a in s.accesses if not a.affine and a.array in shapes}
    extents = [extent for name in gathered for extent in shapes[name]]
    return min(extents) if extents else None
