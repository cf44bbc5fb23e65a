"""Which boxes of a kernel are turned in the LDM."""

from __future__ import annotations

from swbuild.frontend.scop import Scop
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.plan import Turns
from swbuild.options import KernelOptions, Turn
from swbuild.planning.apart import Buffers
from swbuild.planning.loops import row_of
from swbuild.planning.pointnests import Copied, PointNest, point_nests
from swbuild.planning.turning import pays, turnable_in, unused_loops, written_in

__all__ = ["turns_in"]

#: For a loop of which nothing is known.
_UNKNOWN = 64.0


def turns_in(
    scop: Scop, tiled: TiledKernel, buffers: Buffers, copies: Copied, options: KernelOptions
) -> Turns:
    """Return the references of a tiled kernel whose boxes are to be turned, with the dimension that is last.

    Accesses that meet in a launch are in one of ``buffers``: it is not turned where one of them writes.
    Private variables have ``copies`` in buffers.
    """
    if not options.tiles_registers:
        return {}
    fixed = written_in(scop, buffers)
    named = {ref: name if name in fixed else f"{name} {ref[0]} {ref[1]}" for ref, name in buffers.items()}
    refs = {name: ref for ref, name in named.items()}
    found: dict[tuple[str, int], int] = {}
    for each in point_nests(scop, tiled.schedule, named, copies):
        for read, dimension in turnable_in(each.nest, fixed, options).items():
            unused = [_size(scop, tiled, each, position) for position in unused_loops(read, each.nest)]
            if options.turn is Turn.ALWAYS or pays(unused):
                found[refs[read.function]] = dimension
    return found


def _size(scop: Scop, tiled: TiledKernel, nest: PointNest, position: int) -> float:
    """Return the size of the tiles of a loop of ``nest``, as much as may be if it has none."""
    statement = scop.statement(nest.statements[0])
    count = len(statement.iterators)
    row = row_of(nest.counted[position], statement.name, count)
    for other, size in zip(tiled.loops, tiled.sizes, strict=True):
        if row is not None and row_of(other, statement.name, count) == row:
            return float(size)
    return _UNKNOWN
