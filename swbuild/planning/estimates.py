"""What a placed kernel will take: its loops and transfers counted at given sizes, then priced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine import MachineModel, load
from swbuild.machine.cost.blocks import turn_cycles
from swbuild.machine.cost.launches import Cycles, Launch, Moved, launch_cycles
from swbuild.memory.buffers import Buffer
from swbuild.options import KernelOptions
from swbuild.planning.computing import body_of
from swbuild.planning.handing import Alike, alike_in, sharers_of
from swbuild.planning.loops import Nest, loops_of, row_of
from swbuild.planning.sharing import Share, share_of
from swbuild.planning.slots import Room, slotted
from swbuild.planning.tilecosts import Lengths, Tileable, TileCosts, TurnedCosts, even_lengths, tile_costs
from swbuild.planning.tilings import Placed
from swbuild.planning.traffic import ARGUMENTS, Sight, moved_by
from swbuild.polyhedral.privatise import Private

__all__ = ["Counted", "Estimate", "counted", "estimate"]

#: Cycles for the way into and out of an innermost loop.
_ENTRY = 20.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What all launches of a kernel take; ``busy`` CPEs have work in one on average.

    ``bytes`` are those that cross the bus, ``bytes_alone`` if each CPE got all boxes itself; ``ldm`` are
    those that buffers and parts take of the LDM.
    """

    kernel: str
    launches: float
    cycles: Cycles
    bytes: float
    busy: float
    ldm: int
    bytes_alone: float = 0.0


@dataclass(frozen=True, slots=True)
class _Work:
    """The cycles of an instance of a statement, and its accesses to main memory.

    ``costs`` are those of register tiles, for nests whose loops have tiles of ``tile``.
    """

    cycles: float
    direct: float
    costs: TileCosts | TurnedCosts | None = None
    tile: tuple[int | None, ...] = ()

    def at(self, nest: Nest, outer: tuple[int, ...]) -> float:
        """Return the cycles of an instance at the values ``outer`` of sizes and the host's loops."""
        if self.costs is None:
            return self.cycles
        count = len(self.tile)
        return self.costs.per_iteration(
            [_lengths(size, trips) for size, trips in zip(self.tile, nest.trips(count, outer), strict=True)],
            self.cycles,
        )


def _lengths(size: int | None, trips: float) -> Lengths:
    """Return how long runs of a loop are that have ``trips`` on average, in tiles of ``size``."""
    return even_lengths(size, trips) if size is not None else ((1.0, max(1, round(trips))),)


@dataclass(frozen=True, slots=True)
class _Alone:
    """What the CPEs do in a launch, by who does what, but for what they move."""

    share: Share
    computing: float
    direct: float


@dataclass(frozen=True, slots=True)
class _Grounds:
    """What estimates of a ``placed`` kernel rest on, whatever is handed on and comes ahead.

    These are its loops, and what its statements compute.  ``launches`` are those that were looked at, by the
    values of sizes and the host's loops, ``moves`` what each buffer moves in them, ahead or not.
    """

    placed: Placed
    sight: Sight
    works: dict[str, _Work]
    launches: dict[tuple[int, ...], _Alone] = field(default_factory=dict)
    moves: dict[tuple[str, bool, tuple[int, ...]], tuple[Moved, ...]] = field(default_factory=dict)

    def launch(self, outer: tuple[int, ...]) -> _Alone:
        """Return the launch at the values ``outer`` of sizes and the host's loops."""
        if outer not in self.launches:
            self.launches[outer] = self._launched(outer)
        return self.launches[outer]

    def _launched(self, outer: tuple[int, ...]) -> _Alone:
        loops, works = self.sight.loops, self.works
        weights = {name: work.at(loops.nests[name], outer) for name, work in works.items()}
        share = share_of(loops, self.placed.tiled.mapping, weights, outer)
        computing = direct = 0.0
        for name, nest in loops.nests.items():
            instances = share.largest * nest.bounds.count(outer)
            entries = 0.0 if works[name].costs else share.largest * _entries(nest, outer)
            computing += instances * weights[name] + entries * _ENTRY
            direct += instances * works[name].direct
        return _Alone(share, computing, direct)

    def moved(self, buffer: Buffer, outer: tuple[int, ...], *, ahead: bool) -> tuple[Moved, ...]:
        """Return what the busiest CPE moves for ``buffer`` in that launch, if it gets all boxes itself."""
        key = buffer.name, ahead, outer
        if key not in self.moves:
            largest = self.launch(outer).share.largest
            self.moves[key] = tuple(moved_by(self.sight, buffer, outer, largest, ahead=ahead))
        return self.moves[key]


@dataclass(frozen=True, slots=True)
class Counted:
    """A placed kernel that can be estimated at any sizes.

    Boxes of the buffers ``early`` are got one iteration ahead, those of ``handed`` by one CPE for others; the
    LDM has ``room`` for further slots.  ``found`` are the estimates so far.
    """

    placed: Placed
    machine: MachineModel
    grounds: _Grounds
    early: frozenset[str]
    handed: Alike
    room: int = 0
    found: dict[tuple[int, ...], Estimate] = field(default_factory=dict, compare=False)

    def at(self, sizes: Mapping[str, int]) -> Estimate:
        """Return what the kernel takes at ``sizes``."""
        before = tuple(sizes[name] for name in self.grounds.sight.loops.sizes)
        if before not in self.found:
            self.found[before] = self._estimated(before)
        return self.found[before]

    def _estimated(self, before: tuple[int, ...]) -> Estimate:
        loops, placed = self.grounds.sight.loops, self.placed
        cycles = Cycles(0, 0, 0, 0, 0)
        launches = moved = alone = busy = 0.0
        for sample in loops.top.sample(len(loops.outer), before):
            if not loops.top.count(sample.point):
                continue
            launch = self._launch(sample.point)
            cycles = cycles.plus(launch_cycles(launch, self.machine).times(sample.weight))
            launches += sample.weight
            working = launch.busy * launch.mean
            moved += sample.weight * working * sum(m.bytes for m in launch.moved)
            alone += sample.weight * working * sum(m.bytes * m.sharers for m in launch.moved)
            busy += sample.weight * launch.busy
        ldm = placed.bytes
        return Estimate(placed.tiled.kernel.name, launches, cycles, moved, busy / (launches or 1), ldm, alone)

    def _launch(self, outer: tuple[int, ...]) -> Launch:
        """Return the launch at the values ``outer`` of sizes and the host's loops.

        Where boxes are handed on by RMA, all CPEs meet in each round of tiles, and wait for its busiest.
        """
        found = self.grounds.launch(outer)
        share = found.share
        meet = self.handed and self.machine.dialect.broadcasts.begin_row
        longer = share.in_step / share.largest if meet else 1.0
        moved = [m for buffer in self.placed.plan.buffers for m in self._moved(buffer, outer)]
        if longer > 1.0:
            moved = [replace(m, visits=longer * m.visits) for m in moved]
        mean = min(1.0, 1 / (share.largest * share.busy)) / longer
        return Launch(share.busy, longer * found.computing, (ARGUMENTS, *moved), longer * found.direct, mean)

    def _moved(self, buffer: Buffer, outer: tuple[int, ...]) -> Sequence[Moved]:
        """Return what the busiest CPE moves for ``buffer`` in that launch; of its sharers, one gets a box."""
        moved = self.grounds.moved(buffer, outer, ahead=buffer.name in self.early)
        if buffer.name not in self.handed:
            return moved
        loops, mapping = self.grounds.sight.loops, self.placed.tiled.mapping
        sharers = sharers_of(self.handed[buffer.name], loops, mapping, outer)
        ahead = buffer.name in self._handed_ahead()
        return [m if m.is_put else replace(m, sharers=sharers, handed_ahead=ahead) for m in moved]

    def handing(self, names: frozenset[str]) -> Counted:
        """Return the same with only those of ``names`` handed on."""
        handed = {name: used for name, used in self.handed.items() if name in names}
        return replace(self, handed=handed, found={})

    def _handed_ahead(self) -> frozenset[str]:
        """Return the buffers that are handed on one iteration ahead: all of the innermost loop, or none."""
        buffers = [b for b in self.placed.plan.buffers if b.name in self.early]
        if not buffers or not self.machine.dialect.broadcasts.begin_row:
            return frozenset()
        level = max(b.level for b in buffers)
        here = [b for b in buffers if b.level == level]
        needed = sum(2 * slotted(b).bytes for b in here)
        alike = all(b.name in self.handed for b in here)
        return frozenset(b.name for b in here) if alike and needed <= self.room else frozenset()


def counted(scop: Scop, placed: Placed, private: Private, options: KernelOptions) -> Counted:
    """Return ``placed``, with variables ``private`` to iterations, to be estimated under ``options``."""
    known = placed.known.counted
    key = id(placed.plan), placed.handed, private.names, options.share
    if key not in known:
        known[key] = _counted(scop, placed, private, options)
    found: Counted = known[key]
    return found


def _counted(scop: Scop, placed: Placed, private: Private, options: KernelOptions) -> Counted:
    known, key = placed.known.grounds, (id(placed.plan), private.names)
    if key not in known:
        known[key] = _grounds(scop, placed, private, options)
    room = Room(placed)
    early = _early(placed, room) if options.gets_ahead else frozenset[str]()
    alike = alike_in(scop, placed, options) if placed.handed else {}
    handed = {
        name: used
        for name, used in alike.items()
        if name in placed.handed and (name in early or room.take_to_hand_on(name))
    }
    return Counted(placed, load(options.machine), known[key], early, handed, room.left)


def _grounds(scop: Scop, placed: Placed, private: Private, options: KernelOptions) -> _Grounds:
    machine = load(options.machine)
    loops = loops_of(placed, scop.numbers)
    copies = private.depths(placed.expanded)
    turned = {b.name: b.turned.dimension for b in placed.plan.buffers if b.turned}
    tiles = tile_costs(scop, placed.tiled.schedule, copies, placed.plan.names(), options, turned)
    works = {
        name: _work(scop, placed, private, name, nest, machine, tiles.get(name))
        for name, nest in loops.nests.items()
    }
    return _Grounds(placed, Sight(scop, loops, {}), works)


def _early(placed: Placed, room: Room) -> frozenset[str]:
    """Return the buffers that have a second slot, the innermost being asked first."""
    buffers = sorted((b for b in placed.plan.buffers if b.load), key=lambda b: -b.level)
    return frozenset(buffer.name for buffer in buffers if room.take_for_gets(buffer.name))


def estimate(
    scop: Scop, placed: Placed, private: Private, sizes: Mapping[str, int], options: KernelOptions
) -> Estimate:
    """Return what ``placed``, with variables ``private`` to iterations, takes at ``sizes``."""
    return counted(scop, placed, private, options).at(sizes)


def _work(
    scop: Scop,
    placed: Placed,
    private: Private,
    name: str,
    nest: Nest,
    machine: MachineModel,
    tiles: Tileable | None,
) -> _Work:
    direct = {found.ref for found in placed.plan.direct if found.statement == name}
    registers = private.names - placed.expanded
    body = body_of(scop, scop.statement(name), machine, nest.inner, registers, direct)
    cycles = turn_cycles(body.block, machine)
    if tiles is None:
        return _Work(cycles, body.direct)
    count = len(scop.statement(name).iterators)
    sizes = [_size(placed, loop, name, count) for loop in tiles.counted]
    return _Work(cycles, body.direct, tiles.costs, tuple(sizes))


def _size(placed: Placed, loop: isl.UnionPwAff, name: str, count: int) -> int | None:
    """Return the size of the tiles of ``loop``, None where a statement of ``count`` iterators has none."""
    factors = row_of(loop, name, count)
    for other, size in zip(placed.tiled.loops, placed.tiled.sizes, strict=True):
        if factors is not None and row_of(other, name, count) == factors:
            return size
    return None


def _entries(nest: Nest, outer: tuple[int, ...]) -> float:
    """Return how often the innermost loop around a statement is entered."""
    around = max(len(outer), nest.bounds.dimensions - 1)
    return sum(sample.weight for sample in nest.bounds.sample(around, outer))
