"""What a placed kernel will take: its loops and transfers counted at given sizes, then priced."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine import MachineModel
from swbuild.machine.cost.blocks import turn_cycles
from swbuild.machine.cost.launches import Cycles, Launch, launch_cycles
from swbuild.planning.computing import body_of
from swbuild.planning.loops import Nest, loops_of
from swbuild.planning.sharing import share_of
from swbuild.planning.tilings import Placed
from swbuild.planning.traffic import ARGUMENTS, Sight, moved_by
from swbuild.polyhedral.privatise import Private

__all__ = ["Counted", "Estimate", "counted", "estimate"]

#: Cycles for the way into and out of an innermost loop.
_ENTRY = 20.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What all launches of a kernel take; ``busy`` CPEs have work in one on average.

    ``bytes`` are those that cross the bus, ``ldm`` those that buffers and parts take of the LDM.
    """

    kernel: str
    launches: float
    cycles: Cycles
    bytes: float
    busy: float
    ldm: int


@dataclass(frozen=True, slots=True)
class _Work:
    """The cycles of an instance of a statement, and its accesses to main memory."""

    cycles: float
    direct: float


@dataclass(frozen=True, slots=True)
class Counted:
    """A placed kernel that can be estimated at any sizes: its loops, and what its statements compute."""

    placed: Placed
    machine: MachineModel
    sight: Sight
    works: dict[str, _Work]

    def at(self, sizes: Mapping[str, int]) -> Estimate:
        """Return what the kernel takes at ``sizes``."""
        loops, placed = self.sight.loops, self.placed
        before = tuple(sizes[name] for name in loops.sizes)
        cycles = Cycles(0, 0, 0, 0, 0)
        launches = moved = busy = 0.0
        for sample in loops.top.sample(len(loops.outer), before):
            if not loops.top.count(sample.point):
                continue
            launch = _launch(self.sight, placed, self.works, sample.point)
            cycles = cycles.plus(launch_cycles(launch, self.machine).times(sample.weight))
            launches += sample.weight
            moved += sample.weight * launch.busy * launch.mean * sum(m.bytes for m in launch.moved)
            busy += sample.weight * launch.busy
        ldm = placed.plan.bytes + sum(part.bytes for part in placed.partials)
        return Estimate(placed.tiled.kernel.name, launches, cycles, moved, busy / (launches or 1), ldm)


def counted(scop: Scop, placed: Placed, private: Private, machine: MachineModel) -> Counted:
    """Return ``placed``, with variables ``private`` to iterations, ready to be estimated on ``machine``."""
    loops = loops_of(placed, [parameter.name for parameter in scop.parameters])
    works = {name: _work(scop, placed, private, name, nest, machine) for name, nest in loops.nests.items()}
    return Counted(placed, machine, Sight(scop, loops, {}), works)


def estimate(
    scop: Scop, placed: Placed, private: Private, sizes: Mapping[str, int], machine: MachineModel
) -> Estimate:
    """Return what ``placed``, with variables ``private`` to iterations, takes at ``sizes`` on ``machine``."""
    return counted(scop, placed, private, machine).at(sizes)


def _work(
    scop: Scop, placed: Placed, private: Private, name: str, nest: Nest, machine: MachineModel
) -> _Work:
    direct = {found.ref for found in placed.plan.direct if found.statement == name}
    registers = private.names - placed.expanded
    body = body_of(scop, scop.statement(name), machine, nest.step, registers, direct)
    return _Work(turn_cycles(body.block, machine), body.direct)


def _launch(sight: Sight, placed: Placed, works: Mapping[str, _Work], outer: tuple[int, ...]) -> Launch:
    """Return the launch at the values ``outer`` of sizes and the host's loops."""
    weights = {name: work.cycles for name, work in works.items()}
    share = share_of(sight.loops, placed.tiled.mapping, weights, outer)
    computing = direct = 0.0
    for name, nest in sight.loops.nests.items():
        instances = share.largest * nest.bounds.count(outer)
        entries = share.largest * _entries(nest, outer)
        computing += instances * works[name].cycles + entries * _ENTRY
        direct += instances * works[name].direct
    buffers = placed.plan.buffers
    moved = (ARGUMENTS, *(m for buffer in buffers for m in moved_by(sight, buffer, outer, share.largest)))
    return Launch(share.busy, computing, moved, direct, min(1.0, 1 / (share.largest * share.busy)))


def _entries(nest: Nest, outer: tuple[int, ...]) -> float:
    """Return how often the innermost loop around a statement is entered."""
    around = max(len(outer), nest.bounds.dimensions - 1)
    return sum(sample.weight for sample in nest.bounds.sample(around, outer))
