"""The choice of tiles for a kernel, and with it of its buffers: the largest that fit the LDM."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from swbuild.diagnostics import Diagnostic
from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping.choose import SMALLEST_TILE, first_fitting, first_mapping, unit_tile_variants
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.partials import Partial, find_partials
from swbuild.memory.plan import MemoryPlan, is_expandable, plan_memory
from swbuild.options import KernelOptions
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe
from swbuild.polyhedral.reductions import Reduction, without_accesses
from swbuild.polyhedral.scheduling import Scheduled

__all__ = ["DoesNotFit", "Placed", "place_kernel"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A kernel with its tiles and its memory.

    ``expanded`` private variables live in LDM buffers; ``partials`` are what its CPEs accumulate.
    """

    tiled: TiledKernel
    plan: MemoryPlan
    expanded: frozenset[str]
    partials: tuple[Partial, ...]


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
        return Diagnostic(
            "SW302", message, scop.span, "give smaller 'tile' sizes, or a larger 'ldm-budget'"
        )


def place_kernel(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    kernel: Kernel,
    reductions: tuple[Reduction, ...],
) -> Placed:
    """Return ``kernel`` with tiles whose buffers fit the LDM budget of ``options``, or of the machine.

    Parts of ``reductions`` that its threads compute together count as buffers.  Raise
    :class:`DoesNotFit` when nothing fits, :class:`NotPrivate` when private variables do not
    survive any tiling, :class:`~swbuild.memory.partials.Inseparable` as :func:`find_partials` does.
    """
    budget = options.ldm_budget or load(options.machine).ldm_budget
    first = first_mapping(kernel, options)
    first = replace(first, restructure=_may_restructure(scop, scheduled, kernel, first))

    def attempt(mapping: Mapping) -> Placed | None:
        last = not (options.tile or kernel.in_front) and set(mapping.tile) == {SMALLEST_TILE}
        return _tile_and_plan(scop, scheduled, kernel, mapping, reductions, budget, smallest=last)

    placed = first_fitting(first, bool(options.tile), attempt)
    if placed is None:
        raise DoesNotFit(kernel.name, budget)
    if placed.expanded and first.restructure:
        placed = _whole_iterations(first, placed, options, attempt) or placed
    if options.tile or not placed.plan.direct:
        return placed
    variants = [placed]
    for mapping in unit_tile_variants(placed.tiled):
        with contextlib.suppress(NotPrivate):
            variants += filter(None, [attempt(mapping)])
    return min(variants, key=lambda p: len(p.plan.direct))


def _whole_iterations(
    first: Mapping, other: Placed, options: KernelOptions, attempt: Callable[[Mapping], Placed | None]
) -> Placed | None:
    """Return the kernel with its statements in one nest inside the tile, None where ``other`` is better.

    Variables private to an iteration then are variables of the emitted C, where ``other`` has a buffer of
    them for the tile.  It is worse where data would be moved inside the nest, where more would stay in main
    memory, and where the tiles would be less than half as long.
    """

    def whole(mapping: Mapping) -> Placed | None:
        found = attempt(mapping)
        return None if found is None or any(b.level for b in found.plan.buffers) else found

    with contextlib.suppress(NotPrivate):
        found = first_fitting(replace(first, restructure=False), bool(options.tile), whole)
        if found is None or found.expanded or len(found.plan.direct) > len(other.plan.direct):
            return None
        pairs = zip(found.tiled.sizes, other.tiled.sizes, strict=False)
        if all(2 * mine >= theirs for mine, theirs in islice(pairs, len(first.threads))):
            return found
    return None


def _tile_and_plan(
    scop: Scop,
    scheduled: Scheduled,
    kernel: Kernel,
    mapping: Mapping,
    reductions: tuple[Reduction, ...],
    budget: int,
    *,
    smallest: bool,
) -> Placed | None:
    tiled = tile_kernel(kernel, mapping, scheduled.kept, AccessStrides(scop))
    partials = find_partials(scop, tiled, reductions)
    rest = without_accesses(scop, {(name, p.array) for p in partials for name in p.statements})
    expanded = _not_contracted(scop, scheduled.private, tiled)
    _check_expandable(scop, scheduled.private, tiled, expanded)
    left = budget - sum(partial.bytes for partial in partials)
    dependences, private = scheduled.dependences, scheduled.private
    plan = plan_memory(rest, tiled, dependences, private, expanded, left, smallest=smallest)
    return None if plan is None else Placed(tiled, plan, expanded, partials)


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
