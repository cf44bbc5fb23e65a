"""What is measured of a region at one size, and the bound that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic
from swbuild.machine import MachineModel, load

__all__ = ["Figures", "Influence", "Measured", "bound_cycles"]


def bound_cycles(machine: MachineModel, operations: int, compulsory: int) -> float:
    """Return the cycles that no program can beat: one spawn and join, and the larger of two times.

    These are that of ``operations`` with a multiply-add on all lanes of all CPEs in every cycle, and that of
    ``compulsory`` bytes in whole requests.
    """
    peak = 2 * machine.simd.double_lanes * machine.cpes
    width = machine.dma.request_bytes / machine.memory.get_request
    control = machine.control
    return control.spawn_cycles + control.join_cycles + max(operations / peak, compulsory / width)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one profiled run says; times are model cycles, memory is in bytes.

    ``read`` are the distinct bytes of main memory that were read before they were written, ``written`` those
    that were written, ``moved`` what CPEs moved in all, ``ldm`` is what the fullest CPE used.  ``computing``,
    ``waiting`` and ``idle`` are shares of the CPEs' time in kernels, ``host`` is the host's of all time.
    """

    cycles: float
    host: float
    spawns: int
    read: int
    written: int
    moved: int
    ldm: int
    computing: float
    waiting: float
    idle: float


@dataclass(frozen=True, slots=True)
class Influence:
    """What a number of the machine does to model time: the change, as a share, with half and twice of it.

    None stands where the number has no half, or the machine cannot be like that.
    """

    number: str
    value: float
    halved: float | None
    doubled: float | None

    @property
    def strength(self) -> float:
        """The larger of both changes."""
        return max(abs(self.halved or 0.0), abs(self.doubled or 0.0))


@dataclass(frozen=True, slots=True)
class Measured:
    """A region at one size: ``figures`` of its run and its ``operations``, or why there are none.

    ``budget`` is what its buffers may take of a CPE's LDM.
    """

    name: str
    source: str
    machine: str
    sizes: Mapping[str, int]
    figures: Figures | None = None
    operations: int | None = None
    budget: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    influences: tuple[Influence, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What two measurements must have in common to be compared."""
        return self.name, self.machine, tuple(sorted(self.sizes.items()))

    @property
    def compulsory(self) -> int:
        """The bytes that have to cross the bus of the main memory."""
        return self.figures.read + self.figures.written if self.figures else 0

    @property
    def bound(self) -> float | None:
        """The cycles that no program can beat, None if the operations are not known."""
        if self.operations is None:
            return None
        return bound_cycles(load(self.machine), self.operations, self.compulsory)

    @property
    def x_bound(self) -> float | None:
        """How many times the bound the model time is."""
        return self.figures.cycles / self.bound if self.figures and self.bound else None

    @property
    def moved_ratio(self) -> float | None:
        """How many times the compulsory bytes were moved."""
        return self.figures.moved / self.compulsory if self.figures and self.compulsory else None
