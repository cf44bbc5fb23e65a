"""The kernels of an order: nests together or apart, boxes shared or not, as takes less time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from math import fsum
from statistics import geometric_mean

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine import load
from swbuild.mapping.dividing import divided
from swbuild.mapping.regiontree import Kernel
from swbuild.options import KernelOptions, Preset, Share, Spawn
from swbuild.planning.estimates import counted
from swbuild.planning.ordering import Judgement, Order, Ordered, all_stay_home, split_tree
from swbuild.planning.placing import place_kernel
from swbuild.planning.singles import place_single
from swbuild.planning.sizes import Sizes, assumed_sizes, where_launched
from swbuild.planning.tilings import Choice, Estimated, Infeasible, Known, Placed, Tiling

__all__ = ["Dearer", "Limit", "alone", "kernel_cycles", "mean_of", "order_cycles", "place_order"]

#: takes what is tried on the way, in its order
Record = Callable[[Ordered | Estimated | Tiling | Choice], None]


@dataclass(frozen=True, slots=True)
class Limit:
    """Kernels are of use together where they take less than ``cycles``; each takes no less than ``least``."""

    cycles: float
    least: Callable[[Placed], float]


@dataclass(frozen=True, slots=True)
class Dearer:
    """Kernels that certainly take as long as their limit."""


@dataclass(frozen=True, slots=True)
class _Means:
    """Geometric means of cycles over the assumed sizes."""

    total: float
    computing: float


@dataclass(frozen=True, slots=True)
class _Task:
    """What is placed, and at which sizes it is estimated."""

    scop: Scop
    options: KernelOptions
    sizes: Sizes
    record: Record

    def placed(self, order: Order, kernel: Kernel, known: Known | None = None) -> Placed | Infeasible:
        """Return ``kernel`` of ``order`` with tiles and buffers; so much is ``known`` of it."""
        scop, options, record = self.scop, self.options, self.record
        sizes = where_launched(self.sizes, kernel.launched)
        if kernel.single:
            return place_single(scop, options, order, kernel, sizes, record)
        return place_kernel(scop, options, order.scheduled, kernel, order.split, sizes, record, known)

    def parts(self, order: Order, placed: Placed) -> _Means:
        """Return what a kernel of ``order`` takes without its spawn, all of it and what it computes."""
        kernel = counted(self.scop, placed, order.scheduled.private, self.options)
        found = [kernel.at(sizes).cycles for sizes in self.sizes.orders]
        total = geometric_mean(max(1.0, each.total - each.control) for each in found)
        return _Means(total, geometric_mean(max(1.0, each.computing) for each in found))

    def cycles(self, order: Order, placed: Mapping[str, Placed]) -> float:
        """Return what kernels of ``order`` take, as a geometric mean over the assumed sizes."""
        return mean_of(
            [kernel_cycles(self.scop, self.options, order, p, self.sizes) for p in placed.values()]
        )


def kernel_cycles(
    scop: Scop, options: KernelOptions, order: Order, placed: Placed, sizes: Sizes
) -> tuple[float, ...]:
    """Return what the kernel ``placed`` of ``order`` takes at each of ``sizes``.

    Spawns count where each launch is one, else the barriers between them.
    """
    barrier = load(options.machine).control.sync_cycles
    kernel = counted(scop, placed, order.scheduled.private, options)
    found = [kernel.at(each) for each in sizes.orders]
    together = options.spawn is Spawn.REGION
    control = [each.launches * barrier if together else each.cycles.control for each in found]
    pairs = zip(found, control, strict=True)
    return tuple(each.cycles.total - each.cycles.control + extra for each, extra in pairs)


def mean_of(kernels: Sequence[tuple[float, ...]]) -> float:
    """Return what ``kernels`` take together, each at several sizes, as a geometric mean over these."""
    if not kernels:
        return 1.0
    return geometric_mean(max(1.0, fsum(costs)) for costs in zip(*kernels, strict=True))


def place_order(
    scop: Scop,
    options: KernelOptions,
    order: Order,
    record: Record,
    before: Sequence[Placed] = (),
    limit: Limit | None = None,
) -> tuple[Order, tuple[Placed, ...]] | Infeasible | Dearer:
    """Return the kernels of ``order`` with tiles and buffers, or why there are none.

    Those that all CPEs share are as they were found ``before`` where one of their names was; where none was,
    nests that have more parallel loops apart than together are divided where that is estimated to take less.
    No more kernels are looked at once those that are placed reach the ``limit``.
    """
    task = _Task(scop, options, assumed_sizes(scop, options), record)
    made = _in_parts(task, order, before, limit)
    if isinstance(made, tuple) and options.share is Share.AUTO and any(map(_is_for_sharing, made[1])):
        return made[0], tuple(_alone_if_better(task, made[0], place) for place in made[1])
    return made


def order_cycles(scop: Scop, options: KernelOptions, order: Order, placed: Sequence[Placed]) -> float:
    """Return what the kernels ``placed`` of ``order`` take, as a geometric mean over the assumed sizes."""
    task = _Task(scop, options, assumed_sizes(scop, options), lambda _: None)
    return task.cycles(order, {place.tiled.kernel.name: place for place in placed})


def alone(
    scop: Scop,
    options: KernelOptions,
    order: Order,
    record: Record,
    placed: Sequence[Placed],
    names: Set[str],
) -> tuple[Placed, ...]:
    """Return the kernels ``placed`` of ``order``, those of ``names`` with tiles that CPEs get for themselves.

    Where there are none, they stay as they are.
    """
    task = _Task(scop, options, assumed_sizes(scop, options), record)
    return tuple(_alone(task, order, p) or p if p.tiled.kernel.name in names else p for p in placed)


def _alone(task: _Task, order: Order, placed: Placed) -> Placed | None:
    """Return the kernel ``placed`` with tiles that every CPE gets for itself, None where there are none."""
    private = replace(task, options=replace(task.options, share=Share.NEVER))
    found = private.placed(order, placed.tiled.kernel, placed.known)
    return found if isinstance(found, Placed) else None


def _is_for_sharing(placed: Placed) -> bool:
    """Return whether boxes of ``placed`` are handed on, or its tiles were chosen as if they could be."""
    chosen = placed.among.best[:1] if placed.among else ()
    return bool(placed.handed) or any(estimate.hands_on for estimate in chosen)


def _alone_if_better(task: _Task, order: Order, placed: Placed) -> Placed:
    """Return the kernel ``placed``, or with tiles for each CPE alone, if that may well take less time.

    Transfers are estimated better than what is computed.  So boxes are only shared where that saves time even
    if what is computed took longer for it by twice as much as estimated.
    """
    other = _alone(task, order, placed) if _is_for_sharing(placed) else None
    if other is None:
        return placed
    here, there = (task.parts(order, each) for each in (placed, other))
    longer = max(0.0, here.computing - there.computing)
    return placed if here.total + longer < there.total else other


def _in_parts(
    task: _Task, order: Order, before: Sequence[Placed], limit: Limit | None
) -> tuple[Order, tuple[Placed, ...]] | Infeasible | Dearer:
    """Return the same as :func:`place_order`, with boxes shared wherever the search for tiles does so."""
    other = None if before else _divided(task, order)
    if other is None:
        return _placed(task, order, {place.tiled.kernel.name: place for place in before}, limit)
    here, there = _of_difference(task, order, other), _of_difference(task, other, order)
    wins = not isinstance(there, Infeasible) and (
        isinstance(here, Infeasible) or task.cycles(other, there) < task.cycles(order, here)
    )
    task.record(Ordered(other, Judgement.CHEAPER if wins else Judgement.DEARER))
    if wins:
        order, here = other, there
    return here if isinstance(here, Infeasible) else _placed(task, order, here, limit)


def _placed(
    task: _Task, order: Order, known: Mapping[str, Placed], limit: Limit | None
) -> tuple[Order, tuple[Placed, ...]] | Infeasible | Dearer:
    """Return all kernels of ``order``, of which ``known`` are placed."""
    placed, cycles = [], 0.0
    for kernel in order.tree.kernels:
        found = None if kernel.single else known.get(kernel.name)
        place = found or task.placed(order, kernel)
        if not isinstance(place, Placed):
            return place
        placed.append(place)
        cycles += limit.least(place) if limit else 0.0
        if limit and cycles >= limit.cycles:
            return Dearer()
    return order, tuple(placed)


def _of_difference(task: _Task, order: Order, other: Order) -> dict[str, Placed] | Infeasible:
    """Return the kernels of ``order`` that ``other`` does not have, by their names."""
    same = {frozenset(kernel.statements) for kernel in other.tree.kernels}
    placed = {}
    for kernel in order.tree.kernels:
        if frozenset(kernel.statements) not in same:
            place = task.placed(order, kernel)
            if not isinstance(place, Placed):
                return place
            placed[kernel.name] = place
    return placed


def _divided(task: _Task, order: Order) -> Order | None:
    """Return ``order`` with nests divided that have more parallel loops so, None where there are none."""
    options, scheduled = task.options, order.scheduled
    chosen = options.transform or options.tile or options.fusion is not None
    fixed = scheduled.front or order.alone or all(kernel.parallel > 1 for kernel in order.tree.kernels)
    fixed = fixed or any(kernel.keeps_order for kernel in order.tree.kernels)
    if chosen or fixed or options.preset is Preset.CLASSIC:
        return None
    apart = replace(scheduled, schedule=divided(scheduled.schedule, scheduled.kept))
    tree = split_tree(task.scop, apart)
    fits = len(tree.kernels) > len(order.tree.kernels) and set(tree.statements) == set(order.tree.statements)
    if not (fits and all_stay_home(task.scop, scheduled.private, tree)):
        return None
    return replace(order, scheduled=apart, tree=tree)
