"""Wavefronts: parallelism among loops that all carry a dependence, but may be tiled.

A tile of such a band depends on tiles before it in some of its loops and on none that is after it in any.
So tiles whose numbers have the same sum do not depend on each other: :func:`wavefronts` makes
that sum a sequential loop, and the numbers of the tiles inside it parallel ones.
"""

from __future__ import annotations

import islpy as isl

from swbuild.mapping.marks import FrontMark, inserted
from swbuild.mapping.regiontree import is_loop, multi_union, parallel_first
from swbuild.polyhedral.islutil import sets_of

__all__ = [
    "front_band",
    "front_depth",
    "front_of",
    "from_heavy_ends",
    "in_tiles",
    "is_front",
    "tile_numbers",
    "wavefronts",
]

_NODE = isl.schedule_node_type
_SET, _PARAM, _DIV = isl.dim_type.set, isl.dim_type.param, isl.dim_type.div


def wavefronts(schedule: isl.Schedule, tile: tuple[int, ...]) -> isl.Schedule:
    """Return ``schedule`` with its outermost bands of several sequential loops run in wavefronts of tiles.

    ``tile`` gives the iterations of a tile per loop of a band, the last one for all further loops.  What a
    permutable band keeps in order stays in order.  Without such bands the schedule stays as it is.
    """
    return _below(schedule.get_root(), tile).get_schedule()


def front_depth(schedule: isl.Schedule) -> int:
    """Return the number of loops of the deepest band that :func:`wavefronts` changes, 0 without one."""
    return _deepest(schedule.get_root())


def is_front(node: isl.ScheduleNode) -> bool:
    """Return whether the band ``node`` has several loops, all of them sequential, that may be tiled."""
    loops = sum(is_loop(node, member) for member in range(node.band_n_member()))
    return bool(node.band_get_permutable()) and loops > 1 and not parallel_first(node)


def _deepest(node: isl.ScheduleNode) -> int:
    """Return the number of members of the largest band to change at or below ``node``, 0 without one."""
    if node.get_type() == _NODE.band and is_front(node):
        return int(node.band_n_member())
    if node.get_type() == _NODE.band and parallel_first(node):
        return 0
    return max((_deepest(node.child(k)) for k in range(node.n_children())), default=0)


def _below(node: isl.ScheduleNode, tile: tuple[int, ...]) -> isl.ScheduleNode:
    """Return ``node``'s position in the tree with the bands at and below it changed."""
    if node.get_type() == _NODE.band and is_front(node):
        return _wavefront(node, tile)
    if node.get_type() == _NODE.band and parallel_first(node):
        return node
    for position in range(node.n_children()):
        node = _below(node.child(position), tile).parent()
    return node


def _wavefront(node: isl.ScheduleNode, tile: tuple[int, ...]) -> isl.ScheduleNode:
    """Return the band ``node`` replaced by the wavefronts, the tiles in one, and the points of a tile."""
    numbers = tile_numbers(node, tile)
    return in_tiles(node, numbers).insert_partial_schedule(front_of(numbers))


def tile_numbers(band: isl.ScheduleNode, tile: tuple[int, ...]) -> isl.MultiUnionPwAff:
    """Return the numbers of the tiles of ``tile`` iterations in which the instances of ``band`` are."""
    partial = band.band_get_partial_schedule()
    sizes = [isl.Val(tile[min(k, len(tile) - 1)]) for k in range(band.band_n_member())]
    return multi_union([partial.get_at(k).scale_down_val(size).floor() for k, size in enumerate(sizes)])


def from_heavy_ends(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """Return ``band`` with loops that have most to do in their last iterations counted from there.

    Tiles are then whole where there is most to do, and cut off where there is least.  A loop is shifted by
    one number for all its instances, so that their order stays.
    """
    domain, partial = band.get_domain(), band.band_get_partial_schedule()
    members = [_from_heavy_end(partial.get_at(k), domain) for k in range(band.band_n_member())]
    flags = [int(band.band_member_get_coincident(k)) for k in range(len(members))]
    permutable = int(band.band_get_permutable())
    band = band.delete().insert_partial_schedule(multi_union(members)).band_set_permutable(permutable)
    for k, flag in enumerate(flags):
        band = band.band_member_set_coincident(k, flag)
    return band


def _from_heavy_end(member: isl.UnionPwAff, domain: isl.UnionSet) -> isl.UnionPwAff:
    """Return ``member``, less what follows its last iteration if that leaves more loops free than the first.

    A triangle has a row at one end, and a point at the other.
    """
    (taken,) = sets_of(isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain).range())
    if not taken.dim_is_bounded(_SET, 0):
        return member
    first, last = taken.dim_min(0), taken.dim_max(0)
    if last.n_piece() > 1 or first.n_piece() > 1 or last.is_cst():
        return member
    if _loops_left(member, domain, last) <= _loops_left(member, domain, first):
        return member
    end = last.add_constant_val(isl.Val(1))
    return member.sub(isl.UnionPwAff.pw_aff_on_domain(domain, end))


def _loops_left(member: isl.UnionPwAff, domain: isl.UnionSet, value: isl.PwAff) -> int:
    """Return in how many directions the instances of ``domain`` extend in which ``member`` is ``value``."""
    there = isl.Set.from_pw_aff(value).to_union_set()
    order = isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain)
    return max(map(_dimensions, sets_of(order.intersect_range(there).domain())), default=0)


def _dimensions(instances: isl.Set) -> int:
    equations = instances.affine_hull().equalities_matrix(_SET, _DIV, _PARAM, isl.dim_type.cst)
    return int(instances.dim(_SET) - equations.rows())


def front_of(numbers: isl.MultiUnionPwAff) -> isl.MultiUnionPwAff:
    """Return the number of the front in which a tile of these ``numbers`` is."""
    # In a permutable band no dependence goes down in any loop, so in no number of a tile either (floor is
    # monotone): between two tiles one number grows, and so does the sum.  Within a tile the band's own order
    # stays.  The sum and all numbers but the first tell the tile.
    front = numbers.get_at(0)
    for k in range(1, numbers.dim(isl.dim_type.set)):
        front = front.add(numbers.get_at(k))
    return isl.MultiUnionPwAff.from_union_pw_aff(front)


def in_tiles(band: isl.ScheduleNode, numbers: isl.MultiUnionPwAff) -> isl.ScheduleNode:
    """Return the mark of the tiles of one front, which are put above the points of ``band``."""
    others = [numbers.get_at(k) for k in range(1, numbers.dim(isl.dim_type.set))]
    points = _points(band)
    tiles = points.insert_partial_schedule(multi_union(others)).band_set_permutable(1)
    for member in range(tiles.band_n_member()):
        tiles = tiles.band_member_set_coincident(member, 1)
    return inserted(FrontMark(), tiles)


def _points(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """Return ``band`` as the points of a tile are to run, which is small enough not to be tiled again.

    Those of a lone statement go along the diagonals of its two innermost loops: points of one do not depend
    on each other (as tiles of one front do not), so that a processor need not wait for one before the next.
    """
    loops = band.band_n_member()
    if band.child(0).get_type() != _NODE.leaf or band.get_domain().n_set() > 1:
        return band.band_set_permutable(0)
    partial = band.band_get_partial_schedule()
    one, other = partial.get_at(loops - 2), partial.get_at(loops - 1)
    members = [*(partial.get_at(k) for k in range(loops - 2)), one.add(other), one]
    return band.delete().insert_partial_schedule(multi_union(members)).band_set_permutable(0)


def front_band(schedule: isl.Schedule) -> isl.ScheduleNode | None:
    """Return the first band of ``schedule`` that :func:`wavefronts` changes, None without one."""
    return _first(schedule.get_root())


def _first(node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    if node.get_type() == _NODE.band:
        if is_front(node):
            return node
        if parallel_first(node):
            return None
    found = (_first(node.child(k)) for k in range(node.n_children()))
    return next((band for band in found if band is not None), None)
