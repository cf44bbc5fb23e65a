"""Arrays whose tiles stay in the LDMs over all phases of a spawn: which, in what tiles, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import AccessKind, Scop
from swbuild.machine import MachineModel, load
from swbuild.mapping.regiontree import Kernel, with_fixed_loops
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import TiledKernel, tile_kernel
from swbuild.memory.buffers import ALIGNMENT, Buffer, Store
from swbuild.memory.levels import Reference, references
from swbuild.memory.residency import Layout, Member, Traffic, is_near, resident_buffers, traffic_of
from swbuild.memory.words import is_small
from swbuild.options import Distribution, KernelOptions, Resident, Share
from swbuild.planning.dividing import kernel_cycles, mean_of
from swbuild.planning.mappings import first_mapping
from swbuild.planning.ordering import Order
from swbuild.planning.placing import place_as, place_kernel, with_handing
from swbuild.planning.singles import place_single, private_in
from swbuild.planning.sizes import Sizes, assumed_sizes
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.dataflow import producers, relations
from swbuild.polyhedral.islutil import index_range, sets_of, union_maps
from swbuild.timings import step

__all__ = ["with_residents"]

#: One of so many parts of the LDM is for all that does not stay, at most.
_OTHERS = 4

#: Buffers that do not stay may have so many slots.
_SLOTS = 4

#: Tiles that are tried, small ones first: indices of the dimension that is shared out, if it is the last one,
#: or another, and of two that are.
_LAST, _OTHER = (8, 16, 32), (2, 4, 8)
_BOTH = ((16, 16), (16, 32), (32, 32))

#: What tiles that stay have to save: estimates are not exact, and boxes are handed on less often beside them.
_SAVING = 0.9

#: How many times longer kernels may take at a size where tiles leave the LDM than with none that stay.
_LONGER = 2.5

#: The LDM has room for so many tiles at least.
_FEWEST = 5

#: Indices of a tile in dimensions that are not shared out.
_LONG = 256


@dataclass(frozen=True, slots=True)
class _Task:
    """A region in an order, with its kernels ``placed``; ``names`` are those of them that share a spawn.

    ``smaller`` are kernels, by their names, as they fit the LDM beside what stays, None for those that do
    not; ``costs`` what kernels as they are placed were estimated to take at each of ``sizes``.
    """

    scop: Scop
    options: KernelOptions
    order: Order
    placed: tuple[Placed, ...]
    names: frozenset[str]
    sizes: Sizes
    smaller: dict[str, Placed | None]
    costs: dict[int, tuple[Placed, tuple[float, ...]]]

    @property
    def machine(self) -> MachineModel:
        return load(self.options.machine)

    @property
    def others(self) -> int:
        """The bytes of LDM for what does not stay, at most."""
        return self.options.budget // _OTHERS

    def cycles(self, placed: Sequence[Placed]) -> float:
        """Return what the kernels ``placed`` take together, as a geometric mean over the assumed sizes."""
        return mean_of([self._kernel_cycles(place) for place in placed])

    def takes_too_long(self, placed: Sequence[Placed]) -> bool:
        """Return whether the kernels ``placed`` take far longer at one of the assumed sizes than before.

        What no size is known of may be run at sizes at which only a part of the tiles stay.
        """
        before, after = (
            [sum(cycles) for cycles in zip(*map(self._kernel_cycles, some), strict=True)]
            for some in (self.placed, placed)
        )
        return any(new > _LONGER * old for new, old in zip(after, before, strict=True))

    def _kernel_cycles(self, place: Placed) -> tuple[float, ...]:
        if id(place) not in self.costs:
            found = kernel_cycles(self.scop, self.options, self.order, place, self.sizes)
            self.costs[id(place)] = (place, found)
        return self.costs[id(place)][1]

    @property
    def together(self) -> tuple[Placed, ...]:
        """The kernels that share the spawn."""
        return tuple(place for place in self.placed if place.tiled.kernel.name in self.names)


@step("resident arrays")
def with_residents(
    scop: Scop, options: KernelOptions, order: Order, placed: tuple[Placed, ...], names: frozenset[str]
) -> tuple[Placed, ...] | None:
    """Return the kernels ``placed`` of ``order`` with tiles of an array that stay in the LDMs.

    ``names`` are kernels that run as phases of one spawn, of which there is one in a run of the region.  Of
    several ways, the one is taken that is estimated to take least, as a geometric mean over the assumed
    sizes; None where none takes clearly less than ``placed`` do, unless tiles are always to stay.
    """
    task = _Task(scop, options, order, placed, names, assumed_sizes(scop, options), {}, {})
    found = [best for array in _worked_on(task) if (best := _best_of(task, array)) is not None]
    best = min(found, key=lambda each: each.cycles, default=None)
    if best is None:
        return None
    always = options.resident is Resident.ALWAYS
    return best.placed if always or best.cycles < _SAVING * task.cycles(placed) else None


@dataclass(frozen=True, slots=True)
class _Made:
    """The kernels of an order with tiles in ``layout``, and what they are estimated to take."""

    layout: Layout
    placed: tuple[Placed, ...]
    cycles: float


def _worked_on(task: _Task) -> Iterator[str]:
    """Yield the arrays that kernels inside loops of the spawn read or change in place, through buffers."""
    found = dict.fromkeys(
        buffer.array
        for place in task.together
        for buffer in place.plan.buffers
        if place.tiled.kernel.host_loops and buffer.load
    )
    for name in found:
        small = is_small(task.scop.array(name))  # tiles would share words
        if name not in task.order.scheduled.private.names and not small:
            yield name


@dataclass(frozen=True, slots=True)
class _Worker:
    """A kernel that accesses an array by loops of its own, one for each dimension.

    Dimensions in which a launch accesses a single index have loops of one iteration in ``kernel``.
    """

    placed: Placed
    kernel: Kernel
    fixed: tuple[int, ...]  # these dimensions
    shared: tuple[bool, ...]  # whether that loop is parallel


def _best_of(task: _Task, array: str) -> _Made | None:
    """Return the kernels with tiles of ``array`` that stay, in the best of the layouts that are tried.

    Some kernels work on whole tiles.  What works on a line of a tile is for its owner alone, or for all CPEs
    by way of memory: that is tried in the best layout.  Of kernels that only read the array, one may keep
    its tiles as well, while the others get theirs from memory.
    """
    sourced = producers(relations(task.scop), task.scop.schedule, array)
    workers = [worker for place in task.together if (worker := _worker(task, place, array)) is not None]
    plain = [worker for worker in workers if not worker.fixed]
    if not plain or sourced is None:
        return None
    best = _in_best_layout(task, array, _Trial(task, workers, sourced, {}))
    others: list[_Made | None] = []
    if len(plain) < len(workers):
        trial = _Trial(task, plain, sourced, {})
        others.append(trial.made(best.layout) if best else _in_best_layout(task, array, trial))
    if len(plain) > 1 and best is None and not _is_written(task.scop, array):
        others += [_in_best_layout(task, array, _Trial(task, [one], sourced, {})) for one in plain]
    found = (made for made in (best, *others) if made is not None)
    return min(found, key=lambda made: made.cycles, default=None)


def _is_written(scop: Scop, array: str) -> bool:
    accesses = (access for statement in scop.statements for access in statement.accesses)
    return any(access.array == array and access.kind is not AccessKind.READ for access in accesses)


def _in_best_layout(task: _Task, array: str, trial: _Trial) -> _Made | None:
    """Return the best of what ``trial`` makes of some layouts.

    Of each way to deal the array out, one size of tiles is tried, and the others of the best way.
    """
    shared = tuple(all(flags) for flags in zip(*(worker.shared for worker in trial.workers), strict=True))
    most = (task.options.budget - task.others) // (_FEWEST * task.scop.array(array).element.size)
    ways = [(trial.made(first), others) for first, *others in _layouts(array, shared, task.machine, most)]
    usable = [(made, others) for made, others in ways if made is not None]
    if not usable:
        return None
    first, layouts = min(usable, key=lambda way: way[0].cycles)
    others = map(trial.made, layouts)
    return min([first, *(made for made in others if made is not None)], key=lambda made: made.cycles)


def _layouts(
    array: str, shared: tuple[bool, ...], machine: MachineModel, most: int
) -> Iterator[tuple[Layout, ...]]:
    """Yield ways to deal ``array`` out by one of the dimensions that may be ``shared``, or by two of them.

    Each is in middle tiles first, then in smaller and larger ones, of ``most`` elements at most.
    """
    rank, (rows, columns) = len(shared), machine.mesh
    dimensions = [k for k in range(rank) if shared[k]]

    def layout(tiles: dict[int, int], threads: dict[int, int], long: int = _LONG) -> Layout:
        tile = [tiles.get(k, long) for k in range(rank)]
        while prod(tile) > max(1, most):
            longest = max(range(rank), key=lambda k: tile[k])
            tile[longest] = -(-tile[longest] // 2)
        return Layout(array, tuple(tile), tuple(threads.get(k, 1) for k in range(rank)))

    for one in dimensions[:1]:  # rows are moved at once, parts of rows piece by piece
        sizes = _LAST if one == rank - 1 else _OTHER
        small, middle, large = ({one: size} for size in sizes)
        threads = {one: rows * columns}
        found = [layout(tile, threads) for tile in (middle, small, large)]
        yield tuple(dict.fromkeys((*found, layout(middle, threads, _LONG // 2))))
    for one, other in combinations(dimensions, 2):
        threads = {one: rows, other: columns}
        small, middle, large = ({one: a, other: b} for a, b in _BOTH)
        yield tuple(layout(tile, threads) for tile in (middle, small, large))


def _worker(task: _Task, place: Placed, array: str) -> _Worker | None:
    """Return the kernel ``place`` if it works on ``array`` by loops of its own, again and again."""
    kernel, refs = place.tiled.kernel, _refs_in(task, place.tiled, place, array)
    if kernel.in_front or not kernel.host_loops or place.partials or not refs:
        return None
    if kernel.single and not _may_be_shared(task, kernel):
        return None
    loops, alone = _loops(place.tiled, refs), kernel.single
    fixed = {k: _fixed(refs, k) for k, loop in enumerate(loops) if loop is None or alone}
    values = {k: value for k, value in fixed.items() if value is not None}
    followed = all(k in values or loop is not None for k, loop in enumerate(loops))
    if not followed or (alone and not values):
        return None
    parallel = [loop is not None and loop < kernel.parallel and not alone for loop in loops]
    shared = tuple(k in values or flag for k, flag in enumerate(parallel))
    return _Worker(place, with_fixed_loops(kernel, values) if values else kernel, tuple(values), shared)


def _may_be_shared(task: _Task, kernel: Kernel) -> bool:
    """Return whether what a single CPE runs may be for whichever CPE owns what it works on.

    Scalars and private arrays are where one CPE knows of them.
    """
    names = task.order.scheduled.private.names
    used = {a.array for name in kernel.statements for a in task.scop.statement(name).accesses}
    return not any(name in names or task.scop.array(name).is_scalar for name in used)


def _refs_in(task: _Task, tiled: TiledKernel, place: Placed, array: str) -> list[Reference]:
    """Return the references in ``tiled`` that the buffer of ``array`` serves in ``place``."""
    buffer = _buffer(place, array)
    if buffer is None:
        return []
    private = private_in(task.order.scheduled.private, tiled.kernel)
    return [r for r in references(task.scop, tiled, private) if (r.statement, r.ref) in buffer.refs]


def _loops(tiled: TiledKernel, refs: list[Reference]) -> list[int | None]:
    """Return for each dimension of the array of ``refs`` the loop of ``tiled`` that counts its indices.

    None for those without one; no loop is for two.
    """
    found: list[int | None] = []
    for dimension in range(refs[0].relation.dim(isl.dim_type.out)):
        free = (k for k in range(len(tiled.loops)) if k not in found)
        found.append(next((k for k in free if _follows(tiled, refs, k, dimension)), None))
    return found


def _fixed(refs: list[Reference], dimension: int) -> isl.Aff | None:
    """Return the only index of ``dimension`` in a launch, as a formula of what a launch is given."""
    indices = union_maps(ref.relation for ref in refs).range()
    (touched,) = sets_of(indices)
    index = index_range(touched, dimension)
    if not isl.Map.from_range(index).is_single_valued():  # by what a launch is given
        return None
    pieces = index.dim_min(0).coalesce().gist(index.params()).get_pieces()
    return pieces[0][1] if len(pieces) == 1 else None


def _buffer(place: Placed, array: str) -> Buffer | None:
    """Return the buffer of ``array`` that the kernel stores, or the largest that it loads."""
    of_array = [b for b in place.plan.buffers if b.array == array]
    stored = [b for b in of_array if b.store is not Store.NONE]
    if stored:
        return stored[0] if len(stored) == 1 else None
    return max((b for b in of_array if b.load), key=lambda b: b.bytes, default=None)


def _follows(tiled: TiledKernel, refs: list[Reference], loop: int, dimension: int) -> bool:
    """Return whether the index of ``dimension`` is the iteration of ``loop`` in all of ``refs``."""
    values = isl.UnionMap.from_union_pw_aff(tiled.loops[loop])
    for ref in refs:
        plain = ref.relation.reset_tuple_id(isl.dim_type.out)
        rank = plain.dim(isl.dim_type.out)
        index = plain.project_out(isl.dim_type.out, dimension + 1, rank - dimension - 1)
        index = index.project_out(isl.dim_type.out, 0, dimension)
        if not index.to_union_map().is_subset(values):
            return False
    return True


#: buffers by the names of their kernels and the references that they serve
_Names = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class _Trial:
    """Tries layouts of an array for ``workers``; ``traffic`` is what was found so far, by references."""

    task: _Task
    workers: Sequence[_Worker]
    sourced: isl.UnionMap
    traffic: dict[tuple[_Names, _Names], Traffic | None]

    def made(self, layout: Layout) -> _Made | None:
        """Return the kernels with tiles of the array that stay as ``layout`` says, None without such."""
        task = self.task
        element = task.scop.array(layout.array).element.size
        tile = _aligned(layout.elements * element)
        made = [_replaced(task, worker, layout, tile) for worker in self.workers]
        members = [_member(place, layout.array) for place in made if place is not None]
        there = [member for member in members if member is not None]
        mine = frozenset(member.tiled.kernel.name for member in there)
        others = [_smaller(task, p) for p in task.together if p.tiled.kernel.name not in mine]
        beside = {place.tiled.kernel.name: place for place in (*made, *others) if place is not None}
        if len(there) < len(self.workers) or len(beside) < len(task.together):
            return None
        needed = [member.plan.bytes - member.buffer.total for member in there]
        needed += [place.bytes for place in others if place is not None]
        left = min(task.others, _SLOTS * max(needed))
        room = (task.options.budget - left) // tile - 1
        buffers = self._buffers(there, layout, room) if room > 0 else None
        if buffers is None:
            return None
        places = (beside.get(place.tiled.kernel.name, place) for place in task.placed)
        found = tuple(_beside(task, place, buffers.get(place.tiled.kernel.name), left) for place in places)
        always = task.options.resident is Resident.ALWAYS
        if not always and task.takes_too_long(found):
            return None
        return _Made(layout, found, task.cycles(found))

    def _buffers(
        self, members: Sequence[Member], layout: Layout, room: int
    ) -> dict[str, dict[str, Buffer]] | None:
        """Return the buffers that stay, and those that are near, by their kernels' names and their own."""
        scop, private = self.task.scop, self.task.order.scheduled.private
        beside = [
            other
            for member in members
            for buffer in member.plan.buffers
            if buffer.array == layout.array and buffer.name != member.buffer.name
            if is_near(scop, private, other := replace(member, buffer=buffer), layout)
        ]
        near, traffic = beside, self._traffic(members, beside, layout.array)
        if traffic is None and beside:
            near, traffic = [], self._traffic(members, (), layout.array)
        if traffic is None:
            return None
        made = resident_buffers(scop, traffic, private, members, near, layout, room)
        if made is None:
            return None
        found: dict[str, dict[str, Buffer]] = {}
        for member, buffer in zip((*members, *near), chain(*made), strict=True):
            found.setdefault(member.tiled.kernel.name, {})[buffer.name] = buffer
        return found

    def _traffic(self, members: Sequence[Member], near: Sequence[Member], array: str) -> Traffic | None:
        key = (_names_of(members), _names_of(near))
        if key not in self.traffic:
            private = self.task.order.scheduled.private
            found = traffic_of(self.task.scop, self.sourced, private, members, near, array)
            self.traffic[key] = found
        return self.traffic[key]


def _names_of(members: Sequence[Member]) -> _Names:
    return tuple((member.tiled.kernel.name, member.buffer.refs) for member in members)


def _replaced(task: _Task, worker: _Worker, layout: Layout, tile: int) -> Placed | None:
    """Return the kernel of ``worker`` in the threads and tiles of ``layout``.

    Nothing is known there of how long loops are: else, a visit would work on as many tiles as there is room
    for.  Where it does so all the same, as the loops have constant ends, its buffer takes no more than one.
    """
    kernel, before = worker.kernel, worker.placed.tiled.sizes
    budget = task.others + tile
    options = replace(task.options, distribution=Distribution.CYCLIC, ldm_budget=budget, share=Share.NEVER)
    mapping = replace(first_mapping(kernel, options), from_first=False)
    tiled = tile_kernel(kernel, mapping, task.order.scheduled.kept, AccessStrides(task.scop))
    refs = _refs_in(task, tiled, worker.placed, layout.array)
    loops = [loop for loop in _loops(tiled, refs) if loop is not None]
    if len(loops) < len(layout.tile):
        return None
    sizes = list(before if len(before) == len(tiled.sizes) else tiled.sizes)
    threads = [1] * len(mapping.threads)
    for dimension, loop in enumerate(loops):
        sizes[loop] = layout.tile[dimension]
        if layout.threads[dimension] > 1:
            if loop >= len(threads):
                return None
            threads[loop] = layout.threads[dimension]
    mapping = replace(mapping, tile=tuple(sizes), threads=tuple(threads))
    scop = replace(task.scop, assumptions=isl.Set.universe(task.scop.assumptions.get_space()))
    found = place_as(scop, options, task.order.scheduled, kernel, task.sizes, mapping)
    buffer = None if found is None else _buffer(found, layout.array)
    sides = (1 if k in worker.fixed else side for k, side in enumerate(layout.tile))
    most = _aligned(prod(sides) * task.scop.array(layout.array).element.size)
    if buffer is None or buffer.bytes <= most:
        return found
    return place_as(scop, options, task.order.scheduled, kernel, task.sizes, mapping, {layout.array: most})


def _aligned(size: int) -> int:
    """Return the bytes that a box of ``size`` takes of the LDM."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _member(place: Placed, array: str) -> Member | None:
    buffer = _buffer(place, array)
    return None if buffer is None else Member(place.tiled, place.plan, buffer)


def _beside(task: _Task, place: Placed, changed: Mapping[str, Buffer] | None, left: int) -> Placed:
    """Return ``place`` with its buffers ``changed`` (they stay, or are near), or in the bytes ``left``."""
    if not changed:
        return replace(place, budget=left) if place.tiled.kernel.name in task.names else place
    buffers = tuple(changed.get(b.name, b) for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=sum(b.total for b in buffers))
    staying = replace(place, plan=plan, budget=task.options.budget)
    made = with_handing(task.scop, task.options, task.order.scheduled, task.sizes, staying)
    return replace(made, handed=made.handed - set(changed))


def _smaller(task: _Task, place: Placed) -> Placed | None:
    """Return the kernel of ``place`` with buffers for which there always is room."""
    name = place.tiled.kernel.name
    if name not in task.smaller:
        task.smaller[name] = place if place.bytes <= task.others else _placed_smaller(task, place)
    return task.smaller[name]


def _placed_smaller(task: _Task, place: Placed) -> Placed | None:
    scop, order, kernel = task.scop, task.order, place.tiled.kernel
    options = replace(task.options, ldm_budget=task.others)
    if kernel.single:
        found = place_single(scop, options, order, kernel, task.sizes, lambda _: None)
    else:
        found = place_kernel(scop, options, order.scheduled, kernel, order.split, task.sizes, lambda _: None)
    return found if isinstance(found, Placed) else None
