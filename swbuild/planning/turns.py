"""Which boxes of a kernel are turned in the LDM."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.frontend.scop import Scop
from swbuild.mapping.tiling import TiledKernel
from swbuild.options import KernelOptions
from swbuild.planning.apart import Buffers
from swbuild.planning.loops import row_of
from swbuild.planning.pointnests import Copied, PointNest, point_nests
from swbuild.planning.turning import Turnable, turnable_in, unused_loops, written_in

__all__ = ["turnable_refs"]


def turnable_refs(
    scop: Scop, tiled: TiledKernel, buffers: Buffers, copies: Copied, options: KernelOptions
) -> Mapping[tuple[str, int], Turnable]:
    """Return the references of a tiled kernel whose boxes may be turned, whatever the sizes of its tiles.

    Accesses that meet in a launch are in one of ``buffers``: it is not turned where one of them writes.
    Private variables have ``copies`` in buffers.
    """
    if not options.tiles_registers:
        return {}
    fixed = written_in(scop, buffers)
    named = {ref: name if name in fixed else f"{name} {ref[0]} {ref[1]}" for ref, name in buffers.items()}
    refs = {name: ref for ref, name in named.items()}
    found: dict[tuple[str, int], Turnable] = {}
    for each in point_nests(scop, tiled.schedule, named, copies):
        for read, dimension in turnable_in(each.nest, fixed, options).items():
            unused = (_number(scop, tiled, each, position) for position in unused_loops(read, each.nest))
            found[refs[read.function]] = Turnable(dimension, tuple(unused))
    return found


def _number(scop: Scop, tiled: TiledKernel, nest: PointNest, position: int) -> int | None:
    """Return which of the tiled loops a loop of ``nest`` is, None for none of them."""
    statement = scop.statement(nest.statements[0])
    count = len(statement.iterators)
    row = row_of(nest.counted[position], statement.name, count)
    if row is None:
        return None
    rows = (row_of(other, statement.name, count) for other in tiled.loops)
    return next((number for number, other in enumerate(rows) if other == row), None)
