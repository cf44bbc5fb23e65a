"""How long one launch of a kernel takes, from what its busiest CPE moves and computes.

The CPEs of a kernel run in step: they ask for their data at the same time, wait until the controller has
served them all, and compute.  Computing hides what is got one iteration ahead, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import fsum, gcd

from swbuild.classes import dataclass
from swbuild.machine.cost.broadcasts import HandedOn, round_cycles
from swbuild.machine.cost.requests import Requests, requests_of
from swbuild.machine.cost.transfers import earliest_finish, exposed, work
from swbuild.machine.model import MachineModel, Memory

__all__ = ["Cycles", "Launch", "Moved", "Shape", "cycles_alone", "launch_cycles"]

#: Bytes of the smallest elements that are moved.
_LEAST = 4

#: Cycles that the last CPE comes later than others to a round in which all meet, to hand boxes on, at most:
#: replays of products have 100 to 500, those of triangles about 1,000.
_LATE = 1000.0

#: What part that is of what is computed where rounds are short, and the same in triangles.
_UNEVEN = 0.1, 0.2


@dataclass(frozen=True, slots=True)
class Shape:
    """One operation of DMA: ``rows`` pieces of ``row_bytes``, the starts of two ``pitch`` bytes apart.

    Where it begins is a multiple of ``alignment`` bytes in main memory, and nothing more is known of it.
    """

    rows: int
    row_bytes: int
    pitch: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What the busiest CPE gets or puts for one buffer during a launch.

    It does so in ``visits`` turns of ``operations`` transfers each.  Transfers of one ``level`` and direction
    are waited for together.  The part ``ahead`` of the visits gets what the next one needs.
    Of so many ``sharers``, who need the same, one moves it and hands it on to the others; ``handed_ahead``:
    what it gets ahead is handed on one visit ahead as well.  An ``element`` has so many bytes.
    """

    level: int
    is_put: bool
    visits: float
    operations: float
    shape: Shape
    ahead: float = 0.0
    sharers: float = 1.0
    handed_ahead: bool = False
    element: int = 8

    @property
    def bytes(self) -> float:
        """The bytes of main memory that are moved in the launch, per CPE that needs them."""
        return self.visits * self.box / self.sharers

    @property
    def box(self) -> float:
        """The bytes that a CPE has after a visit."""
        return self.operations * self.shape.rows * self.shape.row_bytes


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: ``busy`` CPEs have work; the busiest takes ``computing`` cycles for its own.

    ``direct`` is the number of its loads and stores of main memory; ``mean`` the share of the busiest CPE's
    work that a CPE does on average.  ``triangle``: some of its tiles lie on a diagonal.
    """

    busy: float
    computing: float
    moved: tuple[Moved, ...]
    direct: float = 0.0
    mean: float = 1.0
    triangle: bool = False


@dataclass(frozen=True, slots=True)
class Cycles:
    """The cycles of a launch by what they are spent on; ``idle`` is part of the others, not of the sum.

    ``handing`` is what CPEs take to hand boxes on.
    """

    control: float
    computing: float
    get: float
    put: float
    direct: float
    idle: float = 0.0
    handing: float = 0.0

    @property
    def total(self) -> float:
        """The cycles from the spawn to the join's end."""
        return self.control + self.computing + self.get + self.put + self.direct + self.handing

    def times(self, launches: float) -> Cycles:
        """Return the cycles of so many launches."""
        parts = (self.control, self.computing, self.get, self.put, self.direct, self.idle, self.handing)
        return Cycles(*(launches * part for part in parts))

    def plus(self, other: Cycles) -> Cycles:
        """Return the cycles of both, one after the other."""
        return Cycles(
            self.control + other.control,
            self.computing + other.computing,
            self.get + other.get,
            self.put + other.put,
            self.direct + other.direct,
            self.idle + other.idle,
            self.handing + other.handing,
        )


def launch_cycles(launch: Launch, machine: MachineModel) -> Cycles:
    """Return what the launch takes on ``machine``, spawn and join included."""
    control = machine.control.spawn_cycles + machine.control.join_cycles
    gets = _waited(launch, [m for m in launch.moved if not m.is_put], machine)
    puts = _waited(launch, [m for m in launch.moved if m.is_put], machine)
    direct = launch.direct * machine.control.direct_cycles
    handing = _handing(launch, machine) + (_late(launch, machine) if gets < launch.computing else 0.0)
    working = launch.computing + gets + puts + direct + handing
    idle = (1.0 - launch.mean * launch.busy / machine.cpes) * working
    return Cycles(control, launch.computing, gets, puts, direct, max(0.0, idle), handing)


def cycles_alone(moved: Moved, machine: MachineModel) -> float:
    """Return the cycles of a launch in which all CPEs do nothing else than ``moved``."""
    control = machine.control.spawn_cycles + machine.control.join_cycles
    return control + _group(machine.cpes, (moved,), machine)


def _waited(launch: Launch, moved: Sequence[Moved], machine: MachineModel) -> float:
    """Return how long the busiest CPE waits for transfers of one direction."""
    if not moved:
        return 0.0
    sharing = launch.busy * launch.mean
    total = hidden = 0.0
    for group in _groups(moved):
        taken = _group(sharing, group, machine)
        total += taken
        hidden += group[0].ahead * min(taken, launch.computing)
    return total - min(hidden, launch.computing)


def _handing(launch: Launch, machine: MachineModel) -> float:
    """Return how long boxes are handed on; where that is done ahead, computing hides all but the meeting."""
    shared = [m for m in launch.moved if m.sharers > 1 and m.visits > 0]
    total, hidden, side = 0.0, 0.0, max(machine.mesh)
    for group in _groups(shared):
        visits = max(m.visits for m in group)
        boxes = [
            HandedOn(launch.busy / m.sharers * m.visits / visits, m.box, m.element, m.sharers > side)
            for m in group
        ]
        taken = visits * round_cycles(boxes, machine)
        total += taken
        if all(m.handed_ahead for m in group):
            meeting = visits * machine.control.sync_cycles
            hidden += group[0].ahead * min(taken - meeting, launch.computing)
    return total - min(hidden, launch.computing)


def _late(launch: Launch, machine: MachineModel) -> float:
    """Return how much later than others the last CPE comes to all rounds in which boxes are handed on.

    Who waits for transfers does not wait for CPEs as well; and who sends messages does not meet the others.
    """
    if not machine.dialect.broadcasts.row:
        return 0.0
    shared = [m for m in launch.moved if m.sharers > 1 and m.visits > 0]
    rounds = sum(max(m.visits for m in group) for group in _groups(shared))
    return min(_LATE * rounds, _UNEVEN[launch.triangle] * launch.computing)


def _groups(moved: Iterable[Moved]) -> list[list[Moved]]:
    """Return what is waited for together: of one level and one part that comes ahead, in their order."""
    found: dict[tuple[int, float], list[Moved]] = {}
    for each in moved:
        found.setdefault((each.level, each.ahead), []).append(each)
    return [found[key] for key in sorted(found)]


def _group(busy: float, group: Iterable[Moved], machine: MachineModel) -> float:
    """Return what the transfers of one level and direction take, all visits together."""
    present = [m for m in group if m.visits > 0 and m.operations > 0]
    if not present:
        return 0.0
    memory = machine.memory
    visits = max([m.visits for m in present])
    served = operations = earliest = exposed = 0.0
    for each in present:
        cost = _priced(each.shape, each.is_put, machine)
        share = each.visits * each.operations / visits
        operations += share
        served += share / each.sharers * cost.work
        earliest = max(earliest, cost.earliest)
        exposed = cost.exposed
    taken = busy * served / _rate(busy, present, memory) + exposed
    return visits * max(taken, memory.issue_cycles * operations + earliest)


def _rate(busy: float, group: Sequence[Moved], memory: Memory) -> float:
    return 1.0 / (1.0 + memory.put_interleave * busy) if group[0].is_put else 1.0


@dataclass(frozen=True, slots=True)
class _Price:
    """The cycles of one transfer: the controller's, those behind it, and those that it takes at least."""

    work: float
    exposed: float
    earliest: float


@lru_cache(maxsize=16384)
def _priced(shape: Shape, is_put: bool, machine: MachineModel) -> _Price:
    """Return the means over the places at which a transfer of ``shape`` may begin."""
    found = _counts(shape, machine.dma.request_bytes)
    return _Price(*(_mean(cost, machine.memory, is_put, found) for cost in (work, exposed, earliest_finish)))


def _mean(
    cost: Callable[[Memory, bool, Requests], float], memory: Memory, is_put: bool, found: Sequence[Requests]
) -> float:
    known = {counts: cost(memory, is_put, counts) for counts in set(found)}
    return fsum([known[counts] for counts in found]) / len(found)


def _counts(shape: Shape, request: int) -> list[Requests]:
    """Return the requests of a transfer of ``shape`` for each place in a request at which it may begin."""
    step = gcd(max(_LEAST, shape.alignment), request)
    length, gap = shape.rows * shape.row_bytes, max(0, shape.pitch - shape.row_bytes)
    return [requests_of(start, length, shape.row_bytes, gap, request) for start in range(0, request, step)]
