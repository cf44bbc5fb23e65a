"""What a user may choose for one kernel: the value that travels from the manifest to the stages.

The manifest's loader fills these from YAML, ``swbuild check file.c`` from the command line; no
stage behind the front end sees anything else of the manifest.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.machine import DEFAULT_MACHINE, load

__all__ = [
    "Distribution",
    "Fusion",
    "KernelOptions",
    "Prefetch",
    "Preset",
    "Resident",
    "Share",
    "Spawn",
    "Step",
    "StepKind",
    "Turn",
    "Vectorize",
    "Where",
]


class Fusion(Enum):
    """How eagerly the scheduler fuses loop nests: ``max`` as far as legal, ``min`` not at all."""

    MAX = "max"
    MIN = "min"


class Distribution(Enum):
    """How tiles go to threads: block-cyclic (any size) or one block each (balanced for known sizes).

    So each loop has its own part of the threads.  ``joint``: tiles of several loops are numbered together and
    dealt in turn to all threads, so that no loop has to have many.
    """

    CYCLIC = "cyclic"
    BLOCK = "block"
    JOINT = "joint"


class Preset(Enum):
    """``default`` is the best that swbuild does; ``classic`` the published baseline algorithm."""

    DEFAULT = "default"
    CLASSIC = "classic"


class Where(Enum):
    """Who runs a region: its loops on the host, kernels on the CPEs, or whoever is estimated to be faster."""

    AUTO = "auto"
    HOST = "host"
    CPES = "cpes"


class Spawn(Enum):
    """What a spawn is for: all kernels of a region that can follow each other, or one run of a kernel."""

    REGION = "region"
    KERNEL = "kernel"


class Vectorize(Enum):
    """Whether point loops are computed in register tiles, in vectors where the machine has them."""

    AUTO = "auto"
    NEVER = "never"


class Prefetch(Enum):
    """Whether boxes are got one iteration ahead, and stored one later, where the LDM has room for them."""

    AUTO = "auto"
    NEVER = "never"


class Share(Enum):
    """Whether boxes that are equal along rows or columns of the mesh are got once and handed on.

    ``ALWAYS``: wherever that is possible, whatever it is estimated to take.
    """

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Resident(Enum):
    """Whether tiles of an array may stay in the LDMs over all phases of a spawn.

    ``ALWAYS``: wherever that is possible, whatever it is estimated to take.
    """

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Turn(Enum):
    """Whether tiles are copied in the LDM such that what vectors take at once lies side by side.

    ``ALWAYS``: wherever a vector would be gathered else, whatever it is estimated to take.
    """

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class StepKind(Enum):
    """The transformations that a user may ask for; the value is the manifest's key."""

    INTERCHANGE = "interchange"
    REVERSE = "reverse"
    SKEW = "skew"
    SCALE = "scale"
    SHIFT = "shift"
    FUSE = "fuse"
    DISTRIBUTE = "distribute"
    TILE = "tile"
    STRIP_MINE = "strip-mine"
    UNROLL = "unroll"


@dataclass(frozen=True, slots=True)
class Step:
    """One transformation of a region's loops.

    ``loops`` are names of loops, the one to change first; ``amounts`` its numbers: a factor
    (``skew``: how often the second loop's counter is added; ``scale``), a distance (``shift``), or a
    size per loop (``tile``, ``strip-mine``, ``unroll``).  ``statements`` restrict ``shift``, and tell
    ``distribute`` before which ones to cut.
    ``span`` is the step's place in the manifest.
    """

    kind: StepKind
    loops: tuple[str, ...]
    amounts: tuple[int, ...] = ()
    statements: tuple[str, ...] = ()
    span: Span = field(default=Span(""), compare=False)


#: Buffers get no less than one of so many shares of the LDM; with more files, budgets have to be given.
_MOST_SHARES = 8


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """Options of one region.

    ``machine`` is the name of one that :func:`swbuild.machine.load` knows; ``threads`` are the
    rows and columns of the thread grid, as many as it has CPEs at most (none given: chosen by cost,
    as is ``distribution``).
    ``tile`` gives sizes in iterations, outermost mapped loop first (empty: chosen by cost);
    ``ldm_budget`` is in bytes (``None``: the machine file's, shared by the ``files`` of the program, whose
    buffers all lie in the LDM at fixed places); ``params`` fixes symbolic sizes to
    constants, ``typical`` are sizes to plan for where any can come, ``assume`` holds C conditions over
    the sizes that the caller guarantees; ``arrays`` gives the extents, as C expressions, of pointers whose
    shape the source does not show.
    ``transform`` are steps on the region's own loops, in order; with any, swbuild keeps the order
    that they lead to instead of looking for one.  ``reassociate`` allows sums, products, minima and
    maxima to be taken in another order, in parts, ``contract`` sums of products to be multiply-adds, which
    round once.  ``where`` is left to the estimates only where it says so, as it does for who writes nothing
    into the manifest: others who ask for kernels get them.  Where the estimates leave a whole region to the
    host, it has kernels ``regardless`` if that is set.
    """

    machine: str = DEFAULT_MACHINE
    threads: tuple[int, int] = (0, 0)
    tile: tuple[int, ...] = ()
    distribution: Distribution | None = None
    #: None: ``max``, or ``min`` where that is estimated to take less time
    fusion: Fusion | None = None
    preset: Preset = Preset.DEFAULT
    ldm_budget: int | None = None
    params: dict[str, int] = field(default_factory=dict)
    typical: dict[str, int] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    transform: tuple[Step, ...] = ()
    reassociate: bool = False
    contract: bool = False
    where: Where = Where.CPES
    regardless: bool = False
    spawn: Spawn = Spawn.REGION
    vectorize: Vectorize = Vectorize.AUTO
    prefetch: Prefetch = Prefetch.AUTO
    share: Share = Share.AUTO
    resident: Resident = Resident.AUTO
    turn: Turn = Turn.AUTO
    files: int = 1

    @property
    def budget(self) -> int:
        """The bytes that the buffers of one kernel may take together."""
        if self.ldm_budget is not None:
            return self.ldm_budget
        whole = load(self.machine).ldm_budget
        shares = 1 if self.preset is Preset.CLASSIC else min(self.files, _MOST_SHARES)
        return whole // shares

    @property
    def tiles_registers(self) -> bool:
        """Whether point loops may be computed in register tiles."""
        return self.preset is not Preset.CLASSIC and self.vectorize is Vectorize.AUTO

    @property
    def fusing(self) -> Fusion:
        """How eagerly nests are fused at first; without a choice of the user's, other orders compete."""
        return self.fusion or Fusion.MAX

    @property
    def gets_ahead(self) -> bool:
        """Whether boxes may be got one iteration ahead."""
        return self.preset is not Preset.CLASSIC and self.prefetch is Prefetch.AUTO

    @property
    def hands_on(self) -> bool:
        """Whether a CPE may get boxes for others: tiles are dealt in turn, and it can pass them on."""
        wanted = self.preset is not Preset.CLASSIC and self.share is not Share.NEVER
        dealt = self.distribution in (None, Distribution.CYCLIC)
        return wanted and dealt and load(self.machine).shares_tiles

    @property
    def keeps_residents(self) -> bool:
        """Whether tiles of arrays may stay in the LDMs, which takes tiles and threads of their own."""
        chosen = self.tile or self.shaped or self.transform or self.distribution is not None
        free = self.preset is not Preset.CLASSIC and self.spawn is Spawn.REGION
        return free and not chosen and self.resident is not Resident.NEVER

    @property
    def shaped(self) -> bool:
        """Whether ``threads`` are given."""
        return all(self.threads)

    @property
    def grid(self) -> tuple[int, int]:
        """The thread grid that is given, else the whole mesh."""
        return self.threads if self.shaped else load(self.machine).mesh

    def for_kernels(self) -> KernelOptions:
        """Return the options with kernels also where the host is faster: to see whether they are right."""
        return replace(self, regardless=True) if self.where is Where.AUTO else self
