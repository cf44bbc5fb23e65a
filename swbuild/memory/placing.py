"""The choice of tiles for a kernel, and with it of its buffers: the largest that fit the LDM."""

from __future__ import annotations

from dataclasses import dataclass, replace

from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping.choose import first_fitting, first_mapping, unit_tile_variants
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.partials import Partial, find_partials
from swbuild.memory.plan import MemoryPlan, is_expandable, plan_memory
from swbuild.options import KernelOptions
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe
from swbuild.polyhedral.reductions import Reduction, without_accesses
from swbuild.polyhedral.scheduling import Scheduled

__all__ = ["Placed", "place_kernel"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A kernel with its tiles and its memory.

    ``expanded`` private variables live in LDM buffers; ``partials`` are what its CPEs accumulate.
    """

    tiled: TiledKernel
    plan: MemoryPlan
    expanded: frozenset[str]
    partials: tuple[Partial, ...]


def place_kernel(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    kernel: Kernel,
    reductions: tuple[Reduction, ...],
) -> Placed:
    """Return ``kernel`` with tiles whose buffers fit the LDM budget of ``options``, or of the machine.

    Parts of ``reductions`` that its threads compute together count as buffers.  Raise
    :class:`SwbuildError` (SW302) when nothing fits, :class:`NotPrivate` when private variables do not
    survive any tiling, :class:`~swbuild.memory.partials.Inseparable` as :func:`find_partials` does.
    """
    budget = options.ldm_budget or load(options.machine).ldm_budget
    first = first_mapping(kernel, options)
    first = replace(first, restructure=first.restructure and _may_restructure(scop, scheduled, kernel, first))

    def attempt(mapping: Mapping) -> Placed | None:
        return _tile_and_plan(scop, scheduled, kernel, mapping, reductions, budget)

    placed = first_fitting(first, bool(options.tile), attempt)
    if placed is None:
        raise SwbuildError(_does_not_fit(scop, options, kernel, budget))
    if options.tile or not placed.plan.direct:
        return placed
    variants = [attempt(mapping) for mapping in unit_tile_variants(placed.tiled)]
    return min([placed, *(v for v in variants if v is not None)], key=lambda p: len(p.plan.direct))


def _tile_and_plan(
    scop: Scop,
    scheduled: Scheduled,
    kernel: Kernel,
    mapping: Mapping,
    reductions: tuple[Reduction, ...],
    budget: int,
) -> Placed | None:
    tiled = tile_kernel(kernel, mapping, scheduled.kept, AccessStrides(scop))
    partials = find_partials(scop, tiled, reductions)
    rest = without_accesses(scop, {(name, p.array) for p in partials for name in p.statements})
    expanded = _not_contracted(scop, scheduled.private, tiled)
    left = budget - sum(partial.bytes for partial in partials)
    plan = plan_memory(rest, tiled, scheduled.dependences, scheduled.private, expanded, left)
    return None if plan is None else Placed(tiled, plan, expanded, partials)


def _not_contracted(scop: Scop, private: Private, tiled: TiledKernel) -> frozenset[str]:
    """Return the private variables of the kernel for which one copy per CPE does not do."""
    used = [n for n in sorted(private.names) if scop.users(n) & set(tiled.kernel.statements)]
    return frozenset(name for name in used if not contraction_is_safe(scop, private, name, tiled.schedule))


def _may_restructure(scop: Scop, scheduled: Scheduled, kernel: Kernel, mapping: Mapping) -> bool:
    """Return whether private variables survive the distribution of loops over statements.

    Raise :class:`NotPrivate` when they do not survive the order without it either.
    """
    private = scheduled.private
    if not any(scop.users(name) & set(kernel.statements) for name in private.names):
        return True
    stuck: frozenset[str] = frozenset()
    for restructure in (True, False):
        trial = replace(mapping, restructure=mapping.restructure and restructure)
        tiled = tile_kernel(kernel, trial, scheduled.kept, AccessStrides(scop))
        names = _not_contracted(scop, private, tiled)
        stuck = frozenset(n for n in names if not is_expandable(scop, tiled, private, n))
        if not stuck:
            return restructure
    raise NotPrivate(stuck)


def _does_not_fit(scop: Scop, options: KernelOptions, kernel: Kernel, budget: int) -> Diagnostic:
    tile = " x ".join(map(str, options.tile)) if options.tile else "the smallest tile"
    return Diagnostic(
        "SW302",
        f"the buffers of kernel {kernel.name} with {tile} do not fit the LDM budget of {budget} bytes",
        scop.span,
        "give smaller 'tile' sizes, or a larger 'ldm-budget'",
    )
