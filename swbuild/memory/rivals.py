"""What other tiles, and other groups of references, write of a box."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.groups import Group
from swbuild.memory.levels import Level, Reference, footprint
from swbuild.polyhedral.islutil import maps_of, union_maps

__all__ = ["others_write"]


def others_write(
    refs: Sequence[Reference],
    tiled: TiledKernel,
    level: Level,
    group: Group,
    box: isl.Map,
    written: isl.Map,
) -> bool:
    """Return whether another tile or group may write elements of ``box`` that are not ``written``.

    Both are prefix -> element; ``refs`` are all references of the kernel ``tiled``.
    """
    array = group.refs[0].array
    writers = [ref for ref in refs if ref.array == array and ref.writes]
    mapped = len(tiled.mapping.threads)
    # A tile runs on one CPE, one visit after the other, each with what is in memory then.  So the rest of the
    # box is safe from all but other tiles (the leading ``mapped`` loops above the level say which tile it
    # is) and, within the visit, from what has another buffer below the level.
    tile_of = isl.UnionMap.from_multi_union_pw_aff(tiled.coordinates)  # instance -> [tile]
    # [tile] -> element
    by_tile = tile_of.reverse().apply_range(union_maps(ref.relation for ref in writers))
    for found in maps_of(by_tile):
        # visit -> other tiles -> what they write
        elsewhere = _other_tiles(box.domain().get_space(), mapped).apply_range(found)
        if not _inside(elsewhere, box, written):
            return True
    below = [ref for ref in writers if ref.statement in level.statements]
    others = [ref for ref in below if ref.happens and ref not in group.refs]
    return bool(others) and not _inside(footprint(level, others), box, written)


def _inside(accessed: isl.Map, box: isl.Map, written: isl.Map) -> bool:
    """Return whether all of ``box`` that is ``accessed`` is also ``written``.

    It takes isl far longer to say what of the box is not written, and that in many pieces.  Of a box in many
    pieces, the first that is not may do.
    """
    return all(
        isl.Map.from_basic_map(piece.intersect(other)).is_subset(written)
        for piece in accessed.get_basic_maps()
        for other in box.get_basic_maps()
    )


def _other_tiles(prefix: isl.Space, mapped: int) -> isl.Map:
    """Return ``{ [c…, rest…] -> [c'…] : c' != c }`` for the first ``mapped`` dimensions ``c``."""
    depth = prefix.dim(isl.dim_type.set)
    space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, depth, mapped)
    result = isl.Map.empty(space)
    for k in range(mapped):
        differs = isl.Map.universe(space)
        equal = differs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        result = result.union(differs.subtract(equal))
    return result.coalesce()
