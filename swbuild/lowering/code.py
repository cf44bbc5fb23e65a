"""What the printers are given: one value per region and per kernel, everything decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from swbuild.classes import dataclass
from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.nodes import Node
from swbuild.kernelir.tiles import Tile
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.buffers import Buffer, MemoryPlan
from swbuild.memory.partials import Partial
from swbuild.names import own
from swbuild.options import KernelOptions
from swbuild.planning.where import Threshold

__all__ = ["ARGUMENTS", "THREAD", "KernelCode", "RegionCode", "SpawnCode", "residents_of", "symbol_stem"]

#: A kernel's argument struct, on either side, and the number of the CPE that runs it.
ARGUMENTS = own("sw_args")
THREAD = own("sw_thread")


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: ``body`` is what each thread runs; ``private`` its variables of one copy per CPE.

    ``values`` are scalars that the kernel only reads: they travel in the argument struct but for those
    ``changing``, which another kernel of the spawn writes, so that each run looks at them anew.
    ``pointers`` is what it accesses through memory, ``carried`` scalars that a single CPE loads at the
    beginning and stores at the end, ``partials`` what each CPE accumulates for itself.
    """

    tiled: TiledKernel
    plan: MemoryPlan
    body: Node
    partials: tuple[Partial, ...]
    private: tuple[Array, ...]
    values: tuple[Array, ...]
    pointers: tuple[Array, ...]
    carried: tuple[Array, ...]
    parameters: tuple[str, ...]
    #: names in the emitted code of the host loops around the launch
    loops: tuple[str, ...]
    #: the family of the spawns that it is a phase of, if it has none of its own
    spawn: str | None = None
    changing: frozenset[str] = frozenset()
    #: the nests that are computed in register tiles
    tiles: tuple[Tile, ...] = ()
    #: the buffers whose boxes were to be handed on and are not, with the reasons
    unshared: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> tuple[Array, ...]:
        """What the argument struct has the values of."""
        return tuple(array for array in self.values if array.name not in self.changing)

    @property
    def in_memory(self) -> tuple[str, ...]:
        """The names of what the kernel accesses in main memory."""
        return tuple(array.name for array in (*self.values, *self.pointers, *self.carried))

    @property
    def addresses(self) -> tuple[Array, ...]:
        """What the argument struct has the addresses of."""
        changing = (array for array in self.values if array.name in self.changing)
        return (*self.pointers, *self.carried, *changing)

    @property
    def name(self) -> str:
        return self.tiled.kernel.name

    @property
    def function(self) -> str:
        """The name of its function."""
        return own(self.name)

    @property
    def struct(self) -> str:
        """The tag of the struct that its arguments travel in."""
        return own(f"{self.spawn or self.name}_args")


@dataclass(frozen=True, slots=True)
class SpawnCode:
    """Kernels that share a spawn: ``body`` is what every CPE runs, loops around their phases and barriers.

    ``loops`` are the names of the host's loops around it; the rest is as in :class:`KernelCode`.  Spawns that
    run the same kernel are of one ``family``, called after its first: they have one argument struct, with
    ``members`` for the loops of them all.
    """

    name: str
    body: Node
    kernels: tuple[str, ...]
    family: str
    members: tuple[str, ...]
    passed: tuple[Array, ...]
    addresses: tuple[Array, ...]
    parameters: tuple[str, ...]
    loops: tuple[str, ...]
    #: what barriers are for: arrays and scalars, the kernels that write them, and those that only read them
    shared: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    #: CPEs store without DMA, too, what has to be visible after a barrier
    stores: bool

    @property
    def function(self) -> str:
        """The name of its function."""
        return own(self.name)

    @property
    def struct(self) -> str:
        """The tag of the struct that its arguments travel in."""
        return own(f"{self.family}_args")


@dataclass(frozen=True, slots=True)
class RegionCode:
    """One region: ``host`` is what the entry runs; ``locals`` the variables that only it knows.

    Without ``host`` the entry always leaves the work to the original text.
    """

    scop: Scop
    options: KernelOptions
    host: Node | None
    kernels: tuple[KernelCode, ...]
    locals: tuple[Array, ...]
    #: (array or scalar, read, written) in the order of the entry's arguments
    arguments: tuple[tuple[Array, bool, bool], ...]
    report: dict[str, object]
    #: what decides at run time whether the host is faster, where sizes do
    threshold: Threshold | None = None
    #: every sum is computed in the order of the source
    exact: bool = True
    spawns: tuple[SpawnCode, ...] = ()
    #: kernels, the first before the other, between which no CPEs meet, as each goes on with what it has
    owned: frozenset[tuple[str, str]] = frozenset()

    @property
    def entry(self) -> str:
        """The name of the function on the host that runs it."""
        return own(f"sw_{self.scop.symbol}", "entry")

    @property
    def sharing(self) -> dict[str, tuple[int, int]]:
        """How many kernels share the spawn of a kernel, in how many loops of the host, where others do."""
        return {
            kernel: (len(spawn.kernels), len(spawn.loops))
            for spawn in self.spawns
            for kernel in spawn.kernels
        }

    @property
    def spawned(self) -> tuple[KernelCode | SpawnCode, ...]:
        """What the host spawns: kernels, and kernels that share a spawn."""
        return (*(kernel for kernel in self.kernels if kernel.spawn is None), *self.spawns)


def symbol_stem(regions: tuple[RegionCode, ...]) -> str:
    """Return what tells the file of ``regions`` from all others of a program."""
    return regions[0].scop.symbol


def residents_of(region: RegionCode, spawn: SpawnCode) -> tuple[Buffer, ...]:
    """Return the buffers of ``spawn`` that stay in the LDM over its phases, one for each array."""
    kernels = (kernel for kernel in region.kernels if kernel.name in spawn.kernels)
    found = {b.array: b for kernel in kernels for b in kernel.plan.buffers if b.residency is not None}
    return tuple(found.values())
