"""The choice of tiles for a kernel, and with it of its buffers: the largest that fit the LDM."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from swbuild.diagnostics import Diagnostic
from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.partials import find_partials
from swbuild.memory.plan import Overflow, is_expandable, plan_memory
from swbuild.options import KernelOptions
from swbuild.planning.mappings import SMALLEST_TILE, first_fitting, first_mapping, unit_tile_variants
from swbuild.planning.tilings import Choice, Placed, Purpose, Stuck, Tiling, Verdict
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe
from swbuild.polyhedral.reductions import Reduction, without_accesses
from swbuild.polyhedral.scheduling import Scheduled
from swbuild.timings import step

__all__ = ["DoesNotFit", "Record", "place_kernel"]

#: takes what is tried on the way, in its order
Record = Callable[[Tiling | Choice], None]


class DoesNotFit(Exception):
    """A kernel whose buffers do not fit the LDM with the tiles asked for, or with the smallest ones."""

    def __init__(self, kernel: str, budget: int) -> None:
        super().__init__(kernel)
        self.kernel = kernel
        self.budget = budget

    @property
    def note(self) -> str:
        """What to say of a region that stays on the host for it."""
        return f"the buffers of its kernel {self.kernel} do not fit the LDM, even with the smallest tiles"

    def diagnostic(self, scop: Scop, options: KernelOptions) -> Diagnostic:
        """Return what to tell a user who chose the tiles or the budget."""
        tile = " x ".join(map(str, options.tile)) if options.tile else "the smallest tile"
        budget = f"the LDM budget of {self.budget} bytes"
        message = f"the buffers of kernel {self.kernel} with {tile} do not fit {budget}"
        return Diagnostic("SW302", message, scop.span, "give smaller 'tile' sizes, or a larger 'ldm-budget'")


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
) -> Placed:
    """Return ``kernel`` with tiles whose buffers fit the LDM budget of ``options``, or of the machine.

    Parts of ``reductions`` that its threads compute together count as buffers; ``record`` takes what is
    tried.  Raise :class:`DoesNotFit` when nothing fits, :class:`NotPrivate` when private variables do not
    survive any tiling, :class:`~swbuild.memory.partials.Inseparable` as :func:`find_partials` does.
    """
    budget = options.ldm_budget or load(options.machine).ldm_budget
    task = _Task(scop, scheduled, kernel, reductions, budget, bool(options.tile), record)
    first = first_mapping(kernel, options)
    first = replace(first, restructure=_may_restructure(scop, scheduled, kernel, first))
    placed = first_fitting(first, task.fixed, partial(_fitting, task, Purpose.FIRST))
    if placed is None:
        raise DoesNotFit(kernel.name, budget)
    if placed.expanded and first.restructure:
        placed = _whole_iterations(task, first, placed) or placed
    if placed.plan.direct and not task.fixed:
        placed = _with_unit_steps(task, placed)
    task.chosen(placed, Verdict.TAKEN)
    return placed


def _with_unit_steps(task: _Task, placed: Placed) -> Placed:
    """Return the first with fewest accesses to main memory among ``placed`` and its unit tile variants."""
    variants = [placed]
    for mapping in unit_tile_variants(placed.tiled):
        with contextlib.suppress(NotPrivate):
            variants += filter(None, [_fitting(task, Purpose.UNIT, mapping)])
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

    def whole(mapping: Mapping) -> Placed | None:
        found = _fitting(task, Purpose.WHOLE, mapping)
        if found is not None and any(b.level for b in found.plan.buffers):
            task.chosen(found, Verdict.MOVES_INSIDE)
            return None
        return found

    with contextlib.suppress(NotPrivate):
        found = first_fitting(replace(first, restructure=False), task.fixed, whole)
        if found is None:
            return None
        worse = _worse(found, other, len(first.threads))
        task.chosen(found if worse else other, worse or Verdict.EXPANDS)
        return None if worse else found
    return None


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


def _fitting(task: _Task, purpose: Purpose, mapping: Mapping) -> Placed | None:
    """Return the kernel with the tiles of ``mapping`` if its buffers fit, and record it."""

    def tried(outcome: Placed | Overflow | Stuck) -> None:
        task.record(Tiling(task.kernel.name, purpose, mapping, outcome))

    try:
        found = _tile_and_plan(task, mapping)
    except NotPrivate as unsafe:
        tried(Stuck(unsafe.names))
        raise
    tried(found)
    return found if isinstance(found, Placed) else None


def _tile_and_plan(task: _Task, mapping: Mapping) -> Placed | Overflow:
    scop, dependences, private = task.scop, task.scheduled.dependences, task.scheduled.private
    tiled = tile_kernel(task.kernel, mapping, task.scheduled.kept, AccessStrides(scop))
    partials = find_partials(scop, tiled, task.reductions)
    rest = without_accesses(scop, {(name, p.array) for p in partials for name in p.statements})
    expanded = _not_contracted(scop, private, tiled)
    _check_expandable(scop, private, tiled, expanded)
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


def _check_expandable(scop: Scop, private: Private, tiled: TiledKernel, names: frozenset[str]) -> None:
    """Raise :class:`NotPrivate` for those of ``names`` that do not fit a buffer of the tile's copies."""
    stuck = frozenset(n for n in names if not is_expandable(scop, tiled, private, n))
    if stuck:
        raise NotPrivate(stuck)


def _may_restructure(scop: Scop, scheduled: Scheduled, kernel: Kernel, mapping: Mapping) -> bool:
    """Return whether to distribute loops over statements: ``mapping`` says so, and private variables survive.

    Raise :class:`NotPrivate` when they do not survive the order without it either.
    """
    private = scheduled.private
    if not any(scop.users(name) & set(kernel.statements) for name in private.names):
        return mapping.restructure
    if mapping.restructure:
        with contextlib.suppress(NotPrivate):
            _check_survivors(scop, scheduled, kernel, mapping)
            return True
    _check_survivors(scop, scheduled, kernel, replace(mapping, restructure=False))
    return False


def _check_survivors(scop: Scop, scheduled: Scheduled, kernel: Kernel, mapping: Mapping) -> None:
    """Raise :class:`NotPrivate` for private variables that do not survive ``mapping``."""
    tiled = tile_kernel(kernel, mapping, scheduled.kept, AccessStrides(scop))
    names = _not_contracted(scop, scheduled.private, tiled)
    _check_expandable(scop, scheduled.private, tiled, names)
