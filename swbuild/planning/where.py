"""Where a region runs, on the host or on the core group: by what both are estimated to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, prod, sqrt

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.islnumbers import int_of, val_of
from swbuild.machine import load
from swbuild.mapping.regiontree import HostTree, Kernel
from swbuild.options import KernelOptions
from swbuild.planning.estimates import Counted, Estimate, counted
from swbuild.planning.host import Home, at_home
from swbuild.planning.singles import private_in
from swbuild.planning.sizes import Sizes, assumed_sizes
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.islutil import apart, bounded_effort, ran_out, sets_of
from swbuild.polyhedral.privatise import Private
from swbuild.timings import step

__all__ = ["Comparison", "Offload", "Sides", "Threshold", "compared", "cycles_left", "least_cycles"]

#: isl steps for all estimates of a region.
_EFFORT = 3_000_000

#: Seconds of processor time for what isl does not count in steps.
_SECONDS = 2

#: From one pair of estimates to the next, sizes grow or shrink by this; and how often they may.
_STRIDE, _STEPS = 2.0, 5

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Threshold:
    """A test of the sizes: the host takes less time where the loops ``lengths`` make fewer iterations.

    These are the loops of ``kernel`` around one of its statements, each by its number of iterations.
    """

    kernel: str
    lengths: tuple[isl.PwAff, ...]
    iterations: int


@dataclass(frozen=True, slots=True)
class Offload:
    """What leaves the host: kernels ``placed``, the ``tree`` of what it runs around and beside them.

    ``sharing`` says of kernels, by their names, how many share their spawn, in how many of the host's loops.
    """

    private: Private
    tree: HostTree
    placed: Sequence[Placed]
    sharing: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Sides:
    """A kernel: what it takes on the core group, and what its ``statements`` take on the host, in cycles."""

    statements: tuple[str, ...]
    kernel: Estimate
    host: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a region is estimated to take, in cycles of the CPEs, on the host and on the core group.

    Both are at ``sizes``; ``left`` is what the host keeps beside ``kernels``.  ``threshold``: the sizes
    decide at run time; without it, ``at_home`` says who runs the region at all sizes.  ``short`` are
    kernels that take longer than their statements on the host at all sizes there can be, ``given_up`` those
    that for this reason are none.
    """

    sizes: dict[str, int]
    host: float
    left: float
    kernels: tuple[Sides, ...]
    at_home: bool
    short: tuple[Sides, ...] = ()
    given_up: tuple[Sides, ...] = ()
    threshold: Threshold | None = None

    @property
    def cpes(self) -> float:
        return self.left + sum(sides.kernel.cycles.total for sides in self.kernels)


@dataclass(frozen=True, slots=True)
class _Rivals:
    """A region on the core group, with what the host keeps of it, and all of it on the host.

    ``homes`` are the statements of each kernel there.
    """

    kernels: tuple[Counted, ...]
    homes: tuple[Home, ...]
    left: Home
    home: Home
    #: how many kernels share the spawn of one, by its name, and in how many of the host's loops
    sharing: Mapping[str, tuple[int, int]]

    def estimates(self, sizes: Mapping[str, int]) -> Iterator[Estimate]:
        return (self._spawned(kernel, kernel.at(sizes)) for kernel in self.kernels)

    def _spawned(self, kernel: Counted, found: Estimate) -> Estimate:
        """Return the estimate of a kernel with what its spawns take: its part of them, and barriers.

        The host's loops around it are taken to make as many iterations each.
        """
        if found.kernel not in self.sharing:
            return found
        members, around = self.sharing[found.kernel]
        times, loops = kernel.machine.control, len(kernel.placed.tiled.kernel.host_loops)
        spawns = found.launches ** (around / loops) if loops else 1.0
        control = spawns * (times.spawn_cycles + times.join_cycles) / members
        control += found.launches * times.sync_cycles
        return replace(found, cycles=replace(found.cycles, control=control))

    def sides(self, sizes: Mapping[str, int]) -> tuple[Sides, ...]:
        return tuple(
            Sides(kernel.placed.tiled.kernel.statements, found, home.cycles(sizes))
            for kernel, found, home in zip(self.kernels, self.estimates(sizes), self.homes, strict=True)
        )

    def home_wins(self, sizes: Mapping[str, int]) -> bool:
        home, kernels = self.home.cycles(sizes), list[float]()
        for found in self.estimates(sizes):
            kernels.append(found.cycles.total)
            if home <= sum(kernels):
                return True
        return home <= sum(kernels) + self.left.cycles(sizes)


@step("host or core group")
def compared(scop: Scop, options: KernelOptions, offload: Offload, below: float = inf) -> Comparison | None:
    """Return what the kernels of ``offload`` take beside the loops of ``scop`` on the host.

    Where they do not take less than ``below``, no more is found out about other sizes.
    None where isl takes too long over it.
    """
    try:
        with bounded_effort(_EFFORT):
            return _compared(scop, options, offload, below)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def least_cycles(
    scop: Scop, options: KernelOptions, private: Private, sizes: Mapping[str, int], place: Placed
) -> float:
    """Return a lower bound of what :func:`compared` finds for a kernel, whatever kernels share its spawn.

    It leaves out spawns, joins and barriers, and is 0 where isl does not find it.
    """
    try:
        with bounded_effort(_EFFORT):
            return replace(_kernel(scop, place, private, options).at(sizes).cycles, control=0.0).total
    except isl.Error:
        return 0.0


def cycles_left(scop: Scop, options: KernelOptions, tree: HostTree, sizes: Mapping[str, int]) -> float:
    """Return what the host takes for its part of ``tree``, 0 where isl does not find it."""
    try:
        with bounded_effort(_EFFORT):
            return at_home(scop, tree.statements, load(options.machine)).cycles(sizes)
    except isl.Error:
        return 0.0


def _compared(scop: Scop, options: KernelOptions, offload: Offload, below: float) -> Comparison:
    placed, rivals = offload.placed, _rivals(scop, offload, options)
    assumed = assumed_sizes(scop, options)
    sizes = assumed.values
    found = _at_sizes(rivals, sizes)
    if found.cpes >= below:
        return found
    found = replace(found, short=_short(placed, found, assumed))
    largest = max(range(len(placed)), key=lambda k: found.kernels[k].kernel.cycles.total)
    lengths = _lengths(scop, placed[largest], assumed)
    if not lengths:
        return found
    between = _turning_point(rivals, assumed, found)
    if between is None:
        return found
    iterations = round(prod(max(0, _value(length, between)) for length in lengths))
    kernel = placed[largest].tiled.kernel.name
    threshold = Threshold(kernel, lengths, _rounded(iterations))
    return replace(found, at_home=False, threshold=threshold) if iterations > 1 else found


def _at_sizes(rivals: _Rivals, sizes: dict[str, int]) -> Comparison:
    host, left, kernels = rivals.home.cycles(sizes), rivals.left.cycles(sizes), rivals.sides(sizes)
    found = Comparison(sizes, host, left, kernels, at_home=False)
    return replace(found, at_home=host <= found.cpes)


def _short(placed: Sequence[Placed], found: Comparison, assumed: Sizes) -> tuple[Sides, ...]:
    """Return the kernels that are slower than the host at sizes that are known, or grow no further.

    At smaller ones, spawns and joins are a larger part of what a kernel takes.  Kernels of a single CPE are
    there for the sake of others.
    """
    settled = replace(assumed, known=assumed.known | assumed.limits)
    pairs = [(place.tiled.kernel, sides) for place, sides in zip(placed, found.kernels, strict=True)]
    shared = [pair for pair in pairs if not pair[0].single]
    slower = [pair for pair in shared if pair[1].host <= pair[1].kernel.cycles.total]
    return tuple(sides for kernel, sides in slower if not _is_open(kernel, settled))


def _is_open(kernel: Kernel, assumed: Sizes) -> bool:
    """Return whether a loop of a launch of ``kernel`` depends on a size that is not known.

    How often it is launched does not matter: that counts on the host as well.  A kernel of which isl does not
    find that soon is taken for one that grows.
    """
    if assumed.values.keys() <= assumed.known:
        return False
    pieces = sets_of(kernel.domain)

    def grows() -> bool:
        lengths = (_length(piece, k) for piece in pieces for k in range(piece.dim(isl.dim_type.set)))
        return any(_depends(length, assumed) for length in lengths)

    if not any(basic.dim(isl.dim_type.div) for piece in pieces for basic in piece.get_basic_sets()):
        return grows()
    # the ends of loops over quotients may take isl minutes, which it does not count as steps
    return apart(lambda: str(grows()), _SECONDS) != str(False)


def _rivals(scop: Scop, offload: Offload, options: KernelOptions) -> _Rivals:
    machine = load(options.machine)
    kernels = _kernels(scop, offload, options)
    homes = tuple(at_home(scop, place.tiled.kernel.statements, machine) for place in offload.placed)
    left = at_home(scop, offload.tree.statements, machine)
    everything = at_home(scop, [statement.name for statement in scop.statements], machine)
    return _Rivals(kernels, homes, left, everything, offload.sharing)


def _kernels(scop: Scop, offload: Offload, options: KernelOptions) -> tuple[Counted, ...]:
    return tuple(_kernel(scop, place, offload.private, options) for place in offload.placed)


def _kernel(scop: Scop, place: Placed, private: Private, options: KernelOptions) -> Counted:
    return counted(scop, place, private_in(private, place.tiled.kernel), options)


def _turning_point(rivals: _Rivals, assumed: Sizes, known: Comparison) -> dict[str, int] | None:
    """Return sizes at which host and core group take about as long, None where one of them always wins."""
    factor = _STRIDE if known.at_home else _guess(rivals, known)
    first = rivals.home_wins(_scaled(assumed, factor))
    stride = _STRIDE if known.at_home or first else 1 / _STRIDE
    for _ in range(_STEPS):
        sizes = _scaled(assumed, factor * stride)
        if sizes == _scaled(assumed, factor):
            return None
        if rivals.home_wins(sizes) != first:
            return _scaled(assumed, factor * sqrt(stride))
        factor *= stride
    return None


def _guess(rivals: _Rivals, known: Comparison) -> float:
    """Return by what to multiply sizes so that the host takes as long as all spawns and joins."""
    control = sum(sides.kernel.cycles.control for sides in known.kernels)
    depth = max(run.bounds.dimensions - run.bounds.outer for run in rivals.home.runs)
    return float(min(1.0, control / known.host) ** (1 / max(1, depth)))


def _scaled(assumed: Sizes, factor: float) -> dict[str, int]:
    """Return sizes of another order; those that are known, or limited by arrays, stay or grow no further."""

    def scaled(name: str, value: int) -> int:
        fixed = name in assumed.known or (factor > 1 and name in assumed.limits)
        return value if fixed else max(1, round(value * factor))

    return {name: scaled(name, value) for name, value in assumed.values.items()}


def _lengths(scop: Scop, placed: Placed, assumed: Sizes) -> tuple[isl.PwAff, ...]:
    """Return how many iterations the loops of a kernel make that depend on sizes that are not known.

    They are those around its deepest statement, without those of the host.  Without any, the sizes say
    nothing of who wins.
    """
    kernel = placed.tiled.kernel
    statements = [scop.statement(name) for name in kernel.statements]
    deepest = max(statements, key=lambda statement: len(statement.iterators))
    hosts = len(kernel.host_loops)
    dimensions = range(min(hosts, len(deepest.iterators) - 1), len(deepest.iterators))
    lengths = [_length(deepest.domain, k) for k in dimensions]
    return tuple(length for length in lengths if _depends(length, assumed))


def _length(domain: isl.Set, position: int) -> isl.PwAff:
    """Return how many values a loop of ``domain`` has from its first to its last."""
    last, first = domain.dim_max(position), domain.dim_min(position)
    length = last.sub(first).add_constant_val(isl.Val(1))
    return _simplified(length)


def _simplified(length: isl.PwAff) -> isl.PwAff:
    """Return ``length`` in fewer words where it is defined; as it is where isl fails over that."""
    try:
        return length.coalesce().gist(length.domain())
    except isl.Error as error:
        if ran_out(error):
            raise
        return length  # isl has been seen to lose count of the divisions of a piece


def _depends(length: isl.PwAff, assumed: Sizes) -> bool:
    names = [length.get_dim_name(_PARAM, k) for k in range(length.dim(_PARAM))]
    return any(
        length.involves_dims(_PARAM, k, 1) and name not in assumed.known for k, name in enumerate(names)
    )


def _value(length: isl.PwAff, sizes: Mapping[str, int]) -> int:
    place = isl.Point.zero(length.domain().get_space())
    for name, size in sizes.items():
        position = length.find_dim_by_name(_PARAM, name)
        if position >= 0:
            place = place.set_coordinate_val(_PARAM, position, val_of(size))
    found = length.eval(place)
    value: int = int_of(found) if found.is_int() else 0
    return value


def _rounded(number: int) -> int:
    """Return ``number`` to two digits: an estimate says no more."""
    unit = int("1" + "0" * max(0, len(str(number)) - 2))
    return unit * (number // unit)
