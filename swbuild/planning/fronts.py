"""Wavefronts for nests that would stay on the host: tiles of which shape, by what they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from math import inf

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.mapping.regiontree import HostTree
from swbuild.mapping.wavefront import front_depth, wavefronts
from swbuild.options import KernelOptions
from swbuild.planning.dividing import order_cycles, place_order
from swbuild.planning.ordering import Judgement, Order, Ordered, all_stay_home, split_tree, strays
from swbuild.planning.tilings import Choice, Estimated, Placed, Tiling
from swbuild.polyhedral.islutil import bounded_effort, ran_out, sets_of
from swbuild.polyhedral.scheduling import Origin, permutable_schedule

__all__ = ["NoFronts", "in_fronts", "runs_along_diagonals"]

_PARAM, _SET, _DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div

#: Of so many loops, the outermost is cut, too.
_CUT = 3

#: Tiles from which the search starts, else and of these: from the first that fit the LDM.
_FLAT = ((1, 32, 32), (1, 16, 16), (1, 8, 8), (1, 4, 4))
_DEEP = ((4, 8, 128), (4, 8, 32), (2, 8, 16), *_FLAT)

#: The least and the most iterations of a tile in one loop, but for the outermost of three or more.
_LEAST, _MOST = 4, 512

#: Shapes that are tried, at most, else and of these: it takes isl longer to say what they write.
_TRIED, _TRIED_DEEP = 12, 8

#: isl steps to place and to price tiles of one shape.
_EFFORT = 1_000_000


@dataclass(frozen=True, slots=True)
class NoFronts:
    """No wavefronts: there is no schedule with deep bands, or (``scheduled``) it has none that take tiles."""

    scheduled: bool


#: takes what is tried on the way, in its order
Record = Callable[[NoFronts | Ordered | Estimated | Tiling | Choice], None]

#: Tiles of the outermost of three loops or more, of those between, and of the innermost.
_Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Search:
    """What stays the same for tiles of all shapes; ``found`` are those with buffers, and what they take."""

    scop: Scop
    options: KernelOptions
    order: Order
    deep: isl.Schedule
    record: Record
    tried: dict[_Shape, float] = field(default_factory=dict)
    found: dict[_Shape, tuple[Order, tuple[Placed, ...]]] = field(default_factory=dict)

    @property
    def is_deep(self) -> bool:
        """Whether all of three loops are cut.

        Of more, the outermost is not: what such a tile writes has too many corners to be stored by few
        transfers.
        """
        return front_depth(self.deep) == _CUT

    def front(self, tile: tuple[int, ...]) -> Order:
        """Return the wavefronts over tiles of this size."""
        schedule = wavefronts(self.deep, tile)
        waves = replace(
            self.order.scheduled, schedule=schedule, peeled=(), front=tile, origin=Origin.WAVEFRONTS
        )
        return replace(self.order, scheduled=waves, tree=split_tree(self.scop, waves))

    def cycles(self, shape: _Shape) -> float:
        """Return what tiles of this shape take, infinity where they have no buffers."""
        if shape not in self.tried:
            self.tried[shape] = self._priced(shape)
        return self.tried[shape]

    def has_buffers(self, shape: _Shape) -> bool:
        """Return whether some kernel over the tiles of this ``shape``, which was found, has buffers."""
        return any(kernel.plan.buffers for kernel in self.found[shape][1])

    def _priced(self, shape: _Shape) -> float:
        outermost, *others = shape
        if not (1 <= outermost <= _MOST and all(_LEAST <= edge <= _MOST for edge in others)):
            return inf
        if len(self.tried) >= (_TRIED_DEEP if self.is_deep else _TRIED):
            return inf
        front = self.front(_tile_of(shape, front_depth(self.deep)))
        if strays(self.scop, front.scheduled.private, front.tree):
            return inf
        self.record(Ordered(front, Judgement.USABLE))
        try:
            with bounded_effort(_EFFORT):
                made = place_order(self.scop, self.options, front, self.record)
                if not isinstance(made, tuple):
                    return inf
                self.found[shape] = made
                return order_cycles(self.scop, self.options, *made)
        except isl.Error as error:
            if not ran_out(error):
                raise
            return inf


def in_fronts(
    scop: Scop, options: KernelOptions, order: Order, record: Record
) -> Iterator[tuple[Order, tuple[Placed, ...]]]:
    """Yield orders with loop nests in wavefronts of tiles and their kernels, the cheapest first.

    Where no tiles are found to fit the LDM, or where they are the user's, one order comes without kernels.
    """
    scheduled = order.scheduled
    deep = permutable_schedule(scop, scheduled.private, options.fusing, scheduled.kept)
    if deep is None or front_depth(deep) < 2:
        record(NoFronts(scheduled=deep is not None))
        return
    search = _Search(scop, options, order, deep, record)
    first = search.front(options.tile or _tile_of(_FLAT[-1], front_depth(deep)))
    judged = _judged(scop, order, first)
    if options.tile or judged is not Judgement.USABLE:
        record(Ordered(first, judged))
    if judged is not Judgement.USABLE:
        return
    if not options.tile:
        _climb(search)
    for shape in sorted(search.found, key=search.cycles):
        yield search.found[shape]
    if not search.found:
        yield first, ()


def runs_along_diagonals(tree: HostTree) -> bool:
    """Return whether a kernel of ``tree`` is launched for each diagonal of a nest, iteration by iteration.

    A loop of the host around it then counts sums of the nest's iterators, not of its tiles.
    """
    return any(
        _is_sum(constraint, piece.find_dim_by_name(_PARAM, loop))
        for kernel in tree.parallel
        for piece in sets_of(kernel.domain)
        for domain in piece.get_basic_sets()
        for constraint in domain.get_constraints()
        for loop in kernel.host_loops
    )


def _is_sum(constraint: isl.Constraint, parameter: int) -> bool:
    """Return whether ``constraint`` says that ``parameter`` is a sum of iterators, without quotients."""
    return (
        parameter >= 0
        and constraint.is_equality()
        and constraint.involves_dims(_PARAM, parameter, 1)
        and not constraint.involves_dims(_DIV, 0, constraint.dim(_DIV))
        and sum(constraint.involves_dims(_SET, k, 1) for k in range(constraint.dim(_SET))) > 1
    )


def _tile_of(shape: _Shape, loops: int) -> tuple[int, ...]:
    """Return the sizes of the tiles of a band of so many ``loops``."""
    outermost, others, innermost = shape
    return (others, innermost) if loops < 3 else (outermost, *(others,) * (loops - 2), innermost)


def _climb(search: _Search) -> None:
    """Try tiles of one shape after the other: from the first that fits, go on to what takes less.

    Where no tiles have buffers, all is accessed in main memory, whatever their shape.
    """
    starts = _DEEP if search.is_deep else _FLAT
    shape = next(
        (start for start in starts if search.cycles(start) < inf and search.has_buffers(start)), None
    )
    beside = _beside_deep if search.is_deep else _beside
    while shape is not None:
        best = search.cycles(shape)
        shape = next((other for other in beside(shape) if search.cycles(other) < best), None)


def _beside(shape: _Shape) -> Sequence[_Shape]:
    """Return shapes near to ``shape``: first the flatter ones."""
    _, others, innermost = shape
    return (
        (1, others // 2, 2 * innermost),
        (1, others, 2 * innermost),
        (1, others // 2, innermost),
        (1, 2 * others, innermost),
        (1, others, innermost // 2),
    )


def _beside_deep(shape: _Shape) -> Sequence[_Shape]:
    """Return shapes of three loops that are all cut near to ``shape``: first those that reach further."""
    outermost, others, innermost = shape
    return (
        (2 * outermost, others, innermost),
        (outermost, others // 2, 2 * innermost),
        (outermost, others // 2, innermost),
        (outermost // 2, others, innermost),
        (outermost, others, innermost // 2),
    )


def _judged(scop: Scop, order: Order, front: Order) -> Judgement:
    """Return whether the wavefronts ``front`` win anything over ``order``."""
    fewer = set(order.tree.statements) > set(front.tree.statements)
    if not (fewer or runs_along_diagonals(order.tree)):
        return Judgement.GAINS_NOTHING
    home = all_stay_home(scop, front.scheduled.private, front.tree)
    return Judgement.USABLE if home else Judgement.STRAYS
