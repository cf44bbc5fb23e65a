"""The choice of tiles for a kernel, and with it of its buffers: the largest that fit the LDM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.partials import Inseparable, find_partials
from swbuild.memory.plan import Overflow, is_expandable, plan_memory
from swbuild.options import KernelOptions
from swbuild.planning.mappings import (
    SMALLEST_TILE,
    Outcome,
    first_fitting,
    first_mapping,
    unit_tile_variants,
)
from swbuild.planning.tilings import Choice, DoesNotFit, Infeasible, Placed, Purpose, Tiling, Verdict
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe
from swbuild.polyhedral.reductions import Reduction, without_accesses
from swbuild.polyhedral.scheduling import Scheduled
from swbuild.timings import step

__all__ = ["Record", "place_kernel"]

#: takes what is tried on the way, in its order
Record = Callable[[Tiling | Choice], None]


@dataclass(frozen=True, slots=True)
class _Task:
    """A kernel to place; ``fixed``: with no other tiles than the user's."""

    scop: Scop
    scheduled: Scheduled
    kernel: Kernel
    reductions: tuple[Reduction, ...]
    budget: int
    fixed: bool
    record: Record

    def chosen(self, placed: Placed, verdict: Verdict) -> None:
        self.record(Choice(self.kernel.name, placed.tiled.mapping, verdict))


@step("tiles and buffers")
def place_kernel(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    kernel: Kernel,
    reductions: tuple[Reduction, ...],
    record: Record,
) -> Placed | Infeasible:
    """Return ``kernel`` with tiles whose buffers fit the LDM budget of ``options``, or of the machine.

    Parts of ``reductions`` that its threads compute together count as buffers; ``record`` takes what is
    tried.  Without a plan, the outcome says what is in the way of one: buffers, private variables, parts.
    """
    budget = options.ldm_budget or load(options.machine).ldm_budget
    task = _Task(scop, scheduled, kernel, reductions, budget, bool(options.tile), record)
    first = _surviving(task, first_mapping(kernel, options))
    if isinstance(first, NotPrivate):
        return first
    placed = first_fitting(first, task.fixed, partial(_fitting, task, Purpose.FIRST))
    if isinstance(placed, NotPrivate | Inseparable):
        return placed
    if not isinstance(placed, Placed):
        return DoesNotFit(kernel.name, budget)
    return _refined(task, first, placed)


def _refined(task: _Task, first: Mapping, placed: Placed) -> Placed:
    """Return the best variant of ``placed``, which was found from ``first``."""
    if placed.expanded and first.restructure:
        placed = _whole_iterations(task, first, placed) or placed
    if placed.plan.direct and not task.fixed:
        placed = _with_unit_steps(task, placed)
    task.chosen(placed, Verdict.TAKEN)
    return placed


def _with_unit_steps(task: _Task, placed: Placed) -> Placed:
    """Return the first with fewest accesses to main memory among ``placed`` and its unit tile variants."""
    found = [_fitting(task, Purpose.UNIT, mapping) for mapping in unit_tile_variants(placed.tiled)]
    variants = [placed, *(variant for variant in found if isinstance(variant, Placed))]
    best = min(variants, key=lambda p: len(p.plan.direct))
    for other in variants:
        if other is not best:
            task.chosen(other, Verdict.NO_BETTER)
    return best


def _whole_iterations(task: _Task, first: Mapping, other: Placed) -> Placed | None:
    """Return the kernel with its statements in one nest inside the tile, None where ``other`` is better.

    Variables private to an iteration then are variables of the emitted C, where ``other`` has a buffer of
    them for the tile.
    """

    def whole(mapping: Mapping) -> Outcome:
        found = _fitting(task, Purpose.WHOLE, mapping)
        if isinstance(found, Placed) and any(b.level for b in found.plan.buffers):
            task.chosen(found, Verdict.MOVES_INSIDE)
            return Verdict.MOVES_INSIDE
        return found

    found = first_fitting(replace(first, restructure=False), task.fixed, whole)
    if not isinstance(found, Placed):
        return None
    worse = _worse(found, other, len(first.threads))
    task.chosen(found if worse else other, worse or Verdict.EXPANDS)
    return None if worse else found


def _worse(found: Placed, other: Placed, mapped: int) -> Verdict | None:
    """Return what makes ``found``, in one nest, worse than ``other``; ``mapped`` loops are shared out."""
    if found.expanded:
        return Verdict.EXPANDS
    if len(found.plan.direct) > len(other.plan.direct):
        return Verdict.MORE_DIRECT
    pairs = zip(found.tiled.sizes, other.tiled.sizes, strict=False)
    if all(2 * mine >= theirs for mine, theirs in islice(pairs, mapped)):
        return None
    return Verdict.SHORTER


def _fitting(task: _Task, purpose: Purpose, mapping: Mapping) -> Placed | Overflow | NotPrivate | Inseparable:
    """Return the kernel with the tiles of ``mapping`` and its buffers, or why it has none; record it."""
    found = _tile_and_plan(task, mapping)
    task.record(Tiling(task.kernel.name, purpose, mapping, found))
    return found


def _tile_and_plan(task: _Task, mapping: Mapping) -> Placed | Overflow | NotPrivate | Inseparable:
    scop, dependences, private = task.scop, task.scheduled.dependences, task.scheduled.private
    tiled = tile_kernel(task.kernel, mapping, task.scheduled.kept, AccessStrides(scop))
    partials = find_partials(scop, tiled, task.reductions)
    if isinstance(partials, Inseparable):
        return partials
    rest = without_accesses(scop, {(name, p.array) for p in partials for name in p.statements})
    expanded = _not_contracted(scop, private, tiled)
    stuck = _unexpandable(scop, private, tiled, expanded)
    if stuck is not None:
        return stuck
    left = task.budget - sum(partial.bytes for partial in partials)
    last = not (task.fixed or task.kernel.in_front) and set(mapping.tile) == {SMALLEST_TILE}
    plan = plan_memory(rest, tiled, dependences, private, expanded, left, smallest=last)
    if isinstance(plan, Overflow):
        return plan
    return Placed(tiled, plan, expanded, partials, task.budget)


def _not_contracted(scop: Scop, private: Private, tiled: TiledKernel) -> frozenset[str]:
    """Return the private variables of the kernel for which one copy per CPE does not do."""
    used = [n for n in sorted(private.names) if scop.users(n) & set(tiled.kernel.statements)]
    return frozenset(name for name in used if not contraction_is_safe(scop, private, name, tiled.schedule))


def _unexpandable(
    scop: Scop, private: Private, tiled: TiledKernel, names: frozenset[str]
) -> NotPrivate | None:
    """Return those of ``names`` that do not fit a buffer of the tile's copies, None if all do."""
    stuck = frozenset(n for n in names if not is_expandable(scop, tiled, private, n))
    return NotPrivate(stuck) if stuck else None


def _surviving(task: _Task, mapping: Mapping) -> Mapping | NotPrivate:
    """Return ``mapping``, with loops distributed over statements only where private variables survive it.

    Or those that do not survive the order without it either.
    """
    scop, names = task.scop, task.scheduled.private.names
    if not any(scop.users(name) & set(task.kernel.statements) for name in names):
        return mapping
    if mapping.restructure and _lost(task, mapping) is None:
        return mapping
    whole = replace(mapping, restructure=False)
    return _lost(task, whole) or whole


def _lost(task: _Task, mapping: Mapping) -> NotPrivate | None:
    """Return the private variables that do not survive ``mapping``, None if all do."""
    scop, private = task.scop, task.scheduled.private
    tiled = tile_kernel(task.kernel, mapping, task.scheduled.kept, AccessStrides(scop))
    return _unexpandable(scop, private, tiled, _not_contracted(scop, private, tiled))
