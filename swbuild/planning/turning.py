"""Whether it pays to turn boxes in the LDM, so that vectors are loaded from them as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from swbuild.classes import dataclass
from swbuild.expressions.c import Call
from swbuild.expressions.trees import names_in
from swbuild.frontend.scop import AccessKind, Scop
from swbuild.kernelir.nests import Nest
from swbuild.kernelir.turning import gathered_in
from swbuild.kernelir.vectors import lanes_of
from swbuild.machine import load
from swbuild.options import KernelOptions, Turn
from swbuild.planning.apart import Buffers

__all__ = ["TURNED_CYCLES", "Turnable", "pays", "turnable_in", "unused_loops", "written_in"]

#: Cycles to copy an element of a box to where it is in the turned one.
TURNED_CYCLES = 2.0

#: How many jammed iterations share a vector that is gathered.
_JAMMED = 4

#: For a loop of which nothing is known.
_UNKNOWN = 64.0


def turnable_in(nest: Nest, fixed: frozenset[str], options: KernelOptions) -> Mapping[Call, int]:
    """Return what ``nest`` gathers vectors of, but for buffers ``fixed``, with the dimension along them."""
    gathers = load(options.machine).dialect.vectors.gather_double
    if not gathers or options.turn is Turn.NEVER:
        return {}
    found = gathered_in(nest, lanes_of(options))
    return {read: dimension for read, dimension in found.items() if read.function not in fixed}


def written_in(scop: Scop, buffers: Buffers) -> frozenset[str]:
    """Return those of ``buffers`` in which something is written."""
    writes = (
        (statement.name, access.ref)
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    )
    return frozenset(buffers[ref] for ref in writes if ref in buffers)


def unused_loops(read: Call, nest: Nest) -> list[int]:
    """Return the positions of the loops of ``nest`` that ``read`` does not depend on."""
    used = frozenset[str]().union(*map(names_in, read.arguments))
    return [k for k, loop in enumerate(nest.loops) if loop.iterator not in used]


def pays(unused: Sequence[float]) -> bool:
    """Return whether turning a box takes less than gathering, for what is read in all of loops so long."""
    return prod(unused) > _JAMMED


@dataclass(frozen=True, slots=True)
class Turnable:
    """The ``dimension`` that is last when a box is turned, and the loops of a tile that all read it alike.

    These are numbers of tiled loops, None for others.
    """

    dimension: int
    unused: tuple[int | None, ...]

    def pays(self, tile: Sequence[int]) -> bool:
        """Return whether to turn boxes where the loops have tiles of these sizes."""
        return pays([_UNKNOWN if k is None else float(tile[k]) for k in self.unused])
