"""Partial results: what every CPE accumulates on its own, for the host to combine."""

from __future__ import annotations

from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.box import bounding_box
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.reductions import Operator, Reduction, accesses_to

__all__ = ["Inseparable", "Partial", "find_partials"]

#: The bytes of a line: parts begin at multiples of it, as vectors do.
_LINE = 64

#: A part larger than this leaves too little LDM for the rest, and the host too much to combine.
LARGEST_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Inseparable:
    """Reductions that cannot be computed in parts after all."""

    reductions: frozenset[Reduction]


@dataclass(frozen=True, slots=True)
class Partial:
    """One CPE's part of ``array`` in one launch of a kernel.

    A part spans all that the CPEs together touch: per dimension from index ``low`` to ``high`` (over the
    parameters and the host's loops), at most ``bound`` of them.  A scalar has no dimensions.
    ``element`` is the size of one in bytes.
    """

    array: str
    operator: Operator
    statements: frozenset[str]
    low: tuple[isl.PwAff, ...]
    high: tuple[isl.PwAff, ...]
    bound: tuple[int, ...]
    element: int

    @property
    def count(self) -> int:
        """The number of elements of a part, such that parts in a row begin at whole lines."""
        if not self.bound:
            return 1
        return -(-prod(self.bound) * self.element // _LINE) * _LINE // self.element

    @property
    def bytes(self) -> int:
        """The bytes of LDM that a part takes; that of a scalar is a variable."""
        return self.count * self.element if self.bound else 0


def find_partials(
    scop: Scop, tiled: TiledKernel, reductions: tuple[Reduction, ...]
) -> tuple[Partial, ...] | Inseparable:
    """Return a part for each of ``reductions`` that the threads of the kernel compute together.

    Inseparable are those whose array the kernel also accesses otherwise, or of which it touches more
    than fits.
    """
    here = frozenset(tiled.kernel.statements)
    cut = [r for r in reductions if r.statements & here and _is_cut(scop, tiled, r)]
    found = {r: _partial(scop, tiled, r) for r in cut}
    stuck = frozenset(r for r, partial in found.items() if partial is None)
    if stuck:
        return Inseparable(stuck)
    return tuple(partial for partial in found.values() if partial is not None)


def _own(scop: Scop, tiled: TiledKernel, reduction: Reduction) -> isl.UnionMap:
    return accesses_to(scop, reduction.array, reduction.statements).intersect_domain(tiled.kernel.domain)


def _is_cut(scop: Scop, tiled: TiledKernel, reduction: Reduction) -> bool:
    """Return whether two tiles may accumulate into one element."""
    own = _own(scop, tiled, reduction)
    tile = isl.UnionMap.from_multi_union_pw_aff(tiled.coordinates)
    # instance -> element -> instance: pairs that accumulate into one element.  While both ends of all of them
    # are in one tile, one CPE runs them, one after the other, and no parts are needed.
    together = own.apply_range(own.reverse())
    return not together.is_subset(tile.apply_range(tile.reverse()))


def _partial(scop: Scop, tiled: TiledKernel, reduction: Reduction) -> Partial | None:
    array = scop.array(reduction.array)
    everything = accesses_to(scop, reduction.array, None).intersect_domain(tiled.kernel.domain)
    own = _own(scop, tiled, reduction)
    if not everything.is_subset(own):
        return None
    (touched,) = sets_of(own.range())
    box = bounding_box(isl.Map.from_domain_and_range(isl.Set("{ [] }"), touched))
    if box.bound is None or not box.is_usable:
        return None
    low, high = (tuple(value.project_domain_on_params() for value in side) for side in (box.low, box.high))
    here = reduction.statements & frozenset(tiled.kernel.statements)
    partial = Partial(array.name, reduction.operator, here, low, high, box.bound, array.element.size)
    return partial if partial.bytes <= LARGEST_BYTES else None
