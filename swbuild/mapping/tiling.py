"""Tiles and threads: the device tree of a kernel as it will run on each CPE.

The tree that :func:`tile_kernel` builds is, from the top::

    filter   the instances whose tile belongs to this thread (parameters rid, cid)
    band     the mapped loops, in steps of a tile            LevelMark(0)
    …        one band per further tiled loop                 LevelMark(n), below each
    band     the loops inside the tile, iterators in global coordinates

Statements beside further tiled loops have marks of their own, numbered behind the others.
A transfer may be placed at each mark: everything above it is fixed there.
"""

from __future__ import annotations

from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.marks import LevelMark, inserted
from swbuild.mapping.regiontree import Kernel, multi_union
from swbuild.names import own
from swbuild.options import Distribution
from swbuild.polyhedral.islutil import is_constant, loop_values, maps_of, over_parameters, sets_of, varies

__all__ = [
    "broken",
    "Mapping",
    "TiledKernel",
    "distances",
    "given_names",
    "in_any_launch",
    "open_pairs",
    "telling_names",
    "thread_parameters",
    "tile_kernel",
    "values_of_loops",
]

_NODE, _IN, _PARAM = isl.schedule_node_type, isl.dim_type.in_, isl.dim_type.param

#: Elements that the host's loops step by, at least, where tiles begin with a launch's first iteration.
_BLOCK = 16

#: Sets of more pieces are not asked for their least value: hardly ever is it one formula.
_PIECES = 32

#: Of a first value by more formulas than that, one for some sizes each, isl is not asked for a single one.
_FORMULAS = 4


@dataclass(frozen=True, slots=True)
class Mapping:
    """The choices for one kernel.

    ``tile`` gives the tile size per loop in the order met from the top (the last one serves all
    further loops); ``threads`` the threads per mapped loop, one or two numbers.  Loops that are dealt out
    together may be more: the first number is that of all threads, the others are 1.
    """

    threads: tuple[int, ...]
    tile: tuple[int, ...]
    distribution: Distribution
    #: distribute inner loops over statements
    restructure: bool = True
    #: order the loops inside a tile for unit strides
    reorder: bool = True
    #: give what only reads values from before a visit a buffer of its own
    apart: bool = True
    #: begin with a launch's first iteration; else each iteration is in the same tile in all launches
    from_first: bool = True
    #: where loops are distributed, tile all parallel ones for all statements, not only those shared out
    together: bool = False
    #: distribute loops that are not parallel, too, all or the inner ones; each statement has them for itself
    sequential: bool = False

    @property
    def is_joint(self) -> bool:
        """Whether the tiles of all mapped loops are dealt out together."""
        return self.distribution is Distribution.JOINT

    @property
    def grid(self) -> tuple[int, ...]:
        """The threads in the directions in which they are counted: one of all, where loops share them."""
        return self.threads[:1] if self.is_joint else self.threads


@dataclass(frozen=True, slots=True, eq=False)
class TiledKernel:
    """A kernel with its tiled tree; each is a value of its own, by which caches may know it.

    ``schedule`` is the tree *without* the thread filter; ``filter`` the instances of one thread,
    over the parameters of :func:`thread_parameters`; ``coordinates`` maps every instance to the
    first iteration of its tile in the mapped loops; ``sizes`` are the tile sizes used, mapped
    loops first, then the others from the top; ``loops`` gives, for each of them, the iteration that
    every instance belongs to; ``begins`` where the tiles of mapped loops begin, None for at zero.
    """

    kernel: Kernel
    mapping: Mapping
    schedule: isl.Schedule
    filter: isl.UnionSet
    coordinates: isl.MultiUnionPwAff
    sizes: tuple[int, ...]
    loops: tuple[isl.UnionPwAff, ...]
    begins: tuple[isl.UnionPwAff | None, ...]

    @property
    def counted(self) -> tuple[isl.UnionPwAff, ...]:
        """The ``loops``, those whose tiles do not begin at zero from where they do."""
        behind = (None,) * (len(self.loops) - len(self.begins))
        pairs = zip(self.loops, (*self.begins, *behind), strict=True)
        return tuple(loop if begin is None else loop.sub(begin) for loop, begin in pairs)


@lru_cache(maxsize=100)
def values_of_loops(tiled: TiledKernel) -> isl.UnionMap:
    """Return, for every instance of ``tiled``, the values of the loops around it, outermost first."""
    return loop_values(tiled.schedule)


def thread_parameters(mapping: Mapping) -> tuple[str, ...]:
    """Return the names of the parameters that say which thread this is, per mapped loop.

    Where loops are dealt out together, they are the numbers of a tile that is this thread's.
    """
    if mapping.is_joint:
        return tuple(own(f"sw_t{k}") for k in range(len(mapping.threads)))
    if mapping.distribution is Distribution.BLOCK:
        return tuple(own(f"sw_{edge}{k}") for k in range(len(mapping.threads)) for edge in ("first", "last"))
    return (own("sw_rid"), own("sw_cid"))[: len(mapping.threads)]


def telling_names(mapping: Mapping) -> dict[str, int]:
    """Return the names by which threads differ in a kernel without blocks, and how many values each has."""
    pairs = zip(thread_parameters(mapping), mapping.threads, strict=False)
    return {name: count for name, count in pairs if count > 1}


def given_names(mapping: Mapping) -> tuple[str, ...]:
    """Return the names of what a thread knows of itself before it runs the kernel's loops."""
    return (own("sw_rid"),) if mapping.is_joint else thread_parameters(mapping)


def in_any_launch(instances: isl.Set, tiled: TiledKernel) -> isl.Set:
    """Return ``instances`` of one launch for all launches of the kernel."""
    for name in tiled.kernel.host_loops:
        position = instances.find_dim_by_name(_PARAM, name)
        if position >= 0:
            instances = instances.project_out(_PARAM, position, 1)
    return instances


def tile_kernel(
    kernel: Kernel, mapping: Mapping, dependences: isl.UnionMap, strides: StrideScore | None = None
) -> TiledKernel:
    """Return ``kernel`` tiled and bound to threads as ``mapping`` says.

    ``dependences`` (instance -> instance) guard every restructuring: what would break one is not done.
    """
    top = kernel.schedule.get_root().child(0)
    members = top.band_get_partial_schedule()
    domain = kernel.domain
    mapped = [members.get_at(k).gist(domain) for k in range(len(mapping.threads))]
    begins = tuple(_begin(kernel, mapping, value) for value in mapped)
    tiles = [_tile(value, _size(mapping, k), begins[k]) for k, value in enumerate(mapped)]
    coordinates = multi_union(tiles)
    parallel = [bool(top.band_member_get_coincident(k)) for k in range(len(mapped))]
    node = _flagged(top.insert_partial_schedule(coordinates), parallel).child(0)
    if kernel.for_owners:
        node = _without_fixed(node)
    sizes = [_size(mapping, k) for k in range(len(mapped))]
    builder = _Builder(mapping, dependences, mapped, strides, sizes, [*mapped])
    node, inside = _restructured(node, dependences, mapping)
    node = inserted(LevelMark(0), builder.over(inside, node)).child(0)
    node = _descended(node, 2 * (len(builder.loops) - len(mapped)))
    node = builder.below(node) if kernel.pieces is None else builder.pieces(node, kernel.pieces)
    if mapping.apart:
        node, _ = _marked_beside(node, len(builder.loops) + 1)
    return TiledKernel(
        kernel,
        mapping,
        node.get_schedule(),
        _thread_filter(mapping, tiles, begins),
        coordinates.intersect_domain(domain),
        tuple(builder.sizes),
        tuple(builder.loops),
        begins,
    )


def _size(mapping: Mapping, position: int) -> int:
    return mapping.tile[min(position, len(mapping.tile) - 1)]


def _tile(value: isl.UnionPwAff, size: int, begin: isl.UnionPwAff | None = None) -> isl.UnionPwAff:
    """Return the first value of the tile of ``value``: ``begin``, or zero, and a multiple of ``size``."""
    if begin is not None:
        return _tile(value.sub(begin), size).add(begin)
    factor = isl.Val(size)
    return value.scale_down_val(factor).floor().scale_val(factor)


def _begin(kernel: Kernel, mapping: Mapping, value: isl.UnionPwAff) -> isl.UnionPwAff | None:
    """Return the first ``value`` of a loop in a launch, where the host's loops run in blocks and tell it.

    With tiles from there on, all rounds of a launch are the same for all threads.  None for tiles from zero
    on: a thread then has the same in all launches, as waves of tiles need it; and where the host steps by
    less than ``_BLOCK``, rows of tiles begin where transfers are fast.
    """
    names = set(kernel.host_loops)
    cyclic = mapping.distribution is Distribution.CYCLIC
    if not names or kernel.in_front or not (cyclic and mapping.from_first):
        return None
    values = isl.UnionMap.from_union_pw_aff(value).intersect_domain(kernel.domain).range()
    (taken,) = sets_of(values)
    if taken.n_basic_set() > _PIECES or taken.is_empty() or not taken.dim_is_bounded(isl.dim_type.set, 0):
        return None
    least = taken.dim_min(0).coalesce()
    if least.n_piece() > _FORMULAS:
        return None
    least = least.gist(taken.params()).coalesce()
    if least.n_piece() != 1:
        return None
    ((_, first),) = least.get_pieces()
    count = first.dim(_PARAM)
    used = {first.get_dim_name(_PARAM, k) for k in range(count) if first.involves_dims(_PARAM, k, 1)}
    if not used & names or first.dim(isl.dim_type.div) or not _is_multiple(first, _BLOCK):
        return None
    return isl.UnionPwAff.aff_on_domain(value.domain(), first)


def _is_multiple(value: isl.Aff, number: int) -> bool:
    """Return whether ``value``, a formula of parameters, is a multiple of ``number`` whatever they are.

    Where values only are integers for the parameters that there are, its factors may be fractions.
    """
    factors = [value.get_coefficient_val(_PARAM, k) for k in range(value.dim(_PARAM))]
    parts = [value.get_constant_val(), *factors]
    return all(part.is_int() and part.is_divisible_by(isl.Val(number)) for part in parts)


def _thread_filter(
    mapping: Mapping, tiles: list[isl.UnionPwAff], begins: tuple[isl.UnionPwAff | None, ...]
) -> isl.UnionSet:
    """Return the instances whose tile this thread runs, in terms of the thread parameters."""
    names = thread_parameters(mapping)
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    result: isl.UnionSet | None = None
    for k, tile in enumerate(tiles):
        begin = begins[k]
        begun = tile if begin is None else tile.sub(begin)
        index = begun.scale_down_val(isl.Val(_size(mapping, k)))  # instance -> number of its tile
        if mapping.is_joint:
            condition = f"x = p{k}"
        elif mapping.distribution is Distribution.BLOCK:
            condition = f"p{2 * k} <= x < p{2 * k + 1}"
        else:
            condition = f"x mod {mapping.threads[k]} = p{k}"
        mine = over_parameters(
            f"{{ [x] : {condition} }}", names
        )  # numbers of tiles; each is one thread's alone
        order = isl.UnionMap.from_union_pw_aff(index)
        owned = order.intersect_range(mine.to_union_set()).domain()
        result = owned if result is None else result.intersect(owned)
    return isl.UnionSet.empty(space) if result is None else result


def _flagged(band: isl.ScheduleNode, coincident: list[bool]) -> isl.ScheduleNode:
    """Return ``band`` with its members marked as coincident or not."""
    for member, flag in enumerate(coincident):
        band = band.band_member_set_coincident(member, int(flag))
    return band


def _without_fixed(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """Return ``band`` without members of which a launch is told the only iteration, unless it has no others.

    They only say whose iterations the others are; inside another loop, they would be in its way.
    """
    partial = band.band_get_partial_schedule().intersect_domain(band.get_domain())
    members = range(band.band_n_member())
    kept = [member for member in members if not _is_told(partial.get_at(member))]
    if not kept or len(kept) == len(members):
        return band
    flags = [bool(band.band_member_get_coincident(member)) for member in kept]
    permutable = band.band_get_permutable()
    below = band.delete().insert_partial_schedule(multi_union([partial.get_at(member) for member in kept]))
    return _flagged(below, flags).band_set_permutable(int(permutable))


def _is_told(value: isl.UnionPwAff) -> bool:
    """Return whether ``value`` is a formula of parameters alone, the same for all iterations of a launch."""
    pieces = value.get_pw_aff_list()
    formulas = (aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces())
    return varies(value) and not any(aff.involves_dims(_IN, 0, aff.dim(_IN)) for aff in formulas)


def _descended(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
    for _ in range(depth):
        node = node.child(0)
    return node


def _restructured(
    node: isl.ScheduleNode, dependences: isl.UnionMap, mapping: Mapping
) -> tuple[isl.ScheduleNode, list[isl.UnionPwAff]]:
    """Return ``node`` (a band) in the order that a tile is to run in, and the loops that went inside others.

    The result stands at the same position of the tree: a sequence or a band.
    """
    if not mapping.restructure or node.child(0).get_type() == _NODE.leaf:
        return node, []
    sunk = _sunk(node, dependences)
    if sunk is not None:
        # no dependence leads from one iteration of a parallel loop to another: tiles of it may be outside
        return sunk, _members(node, parallel=True) if mapping.together else []
    inside = _parallel_inside(node, dependences) if mapping.reorder else None
    return inside or (node, [])


def _members(node: isl.ScheduleNode, *, parallel: bool) -> list[isl.UnionPwAff]:
    """Return the loops of ``node`` (a band) that are ``parallel``, or those that are not."""
    partial = node.band_get_partial_schedule().intersect_domain(node.get_domain())
    count = node.band_n_member()
    return [partial.get_at(k) for k in range(count) if bool(node.band_member_get_coincident(k)) == parallel]


def _sunk(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.ScheduleNode | None:
    """Return ``node`` (a band) distributed over the statements below it, None where that is not legal."""
    sunk = node.band_sink()
    return _reflagged(sunk, dependences) if respects(sunk, dependences) else None


def _by_statement(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.ScheduleNode | None:
    """Return ``node`` (a band) as one band per statement below it, None where they cannot be apart.

    One follows another if none of its instances has to come first.
    """
    domains = {domain.get_tuple_name(): domain for domain in sets_of(node.get_domain())}
    before: dict[str, set[str]] = {name: set() for name in sorted(domains)}
    for pairs in maps_of(open_pairs(node, dependences)):
        one, other = (pairs.get_tuple_name(kind) for kind in (_IN, isl.dim_type.out))
        if one != other:
            before[other].add(one)
    try:
        order = [*TopologicalSorter({name: sorted(before[name]) for name in before}).static_order()]
    except CycleError:
        return None
    if len(order) < 2:
        return None
    parts = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(order))
    for name in order:
        parts = parts.add(domains[name].to_union_set())
    apart = node.insert_sequence(parts)
    return _reflagged(apart, dependences) if respects(apart, dependences) else None


def _parallel_inside(
    node: isl.ScheduleNode, dependences: isl.UnionMap
) -> tuple[isl.ScheduleNode, list[isl.UnionPwAff]] | None:
    """Return ``node`` (a band) with its parallel loops inside all others, and these loops; None if none go.

    No dependence leads from one iteration of such a loop to another, so a tile may run the others one by one
    around whole tiles of it.
    """
    parallel, others = (_members(node, parallel=flag) for flag in (True, False))
    if not (parallel and others and node.band_get_permutable()):
        return None
    below = _banded(node.delete(), parallel, coincident=True).band_sink()
    found = _banded(below, others, coincident=False)
    return (found, parallel) if respects(found, dependences) else None


def _banded(node: isl.ScheduleNode, members: list[isl.UnionPwAff], *, coincident: bool) -> isl.ScheduleNode:
    """Return a permutable band of ``members`` above ``node``."""
    band = node.insert_partial_schedule(multi_union(members))
    return _flagged(band, [coincident] * len(members)).band_set_permutable(1)


def _marked_beside(node: isl.ScheduleNode, number: int) -> tuple[isl.ScheduleNode, int]:
    """Return ``node`` with a mark above the loops of statements that stand beside marks; and the next number.

    What they access may be moved for them alone, where a box for all that stands there has no bound.
    """
    several = node.get_type() in (_NODE.sequence, _NODE.set)
    marked = [_holds(node.child(k), _NODE.mark) for k in range(node.n_children())]
    for position in range(node.n_children()):
        child = node.child(position)
        if marked[position]:
            child, number = _marked_beside(child, number)
        elif several and any(marked):
            child = inserted(LevelMark(number), child.child(0)).parent()
            number += 1
        node = child.parent()
    return node, number


def _holds(node: isl.ScheduleNode, kind: isl.schedule_node_type) -> bool:
    """Return whether ``node``, or one below it, is of ``kind``."""
    return node.get_type() == kind or any(_holds(node.child(k), kind) for k in range(node.n_children()))


def _reflagged(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.ScheduleNode | None:
    """Return ``node``, a tree that a band was sunk in, with no loop marked as parallel that is not.

    What the band was above may have become its outside: loops that were permutable, or parallel, because the
    band kept dependences for them.  None where those of a band are not permutable any more.
    """
    if node.get_type() == _NODE.band and node.child(0).get_type() != _NODE.leaf:
        parallel = [bool(node.band_member_get_coincident(k)) for k in range(node.band_n_member())]
        several = bool(node.band_get_permutable()) and len(parallel) > 1
        if several or any(parallel):
            found = distances(node.band_get_partial_schedule(), open_pairs(node, dependences))
            if several and not all(each.is_subset(isl.Set("{ [d] : d >= 0 }")) for each in found):
                return None
            same = isl.Set("{ [0] }")
            pairs = zip(parallel, found, strict=True)
            node = _flagged(node, [flag and each.is_subset(same) for flag, each in pairs])
    for position in range(node.n_children()):
        below = _reflagged(node.child(position), dependences)
        if below is None:
            return None
        node = below.parent()
    return node


def distances(members: isl.MultiUnionPwAff, pairs: isl.UnionMap) -> list[isl.Set]:
    """Return, per loop of ``members``, how far apart ``pairs`` are in it."""
    found = []
    for member in range(members.dim(isl.dim_type.set)):
        value = isl.UnionMap.from_union_pw_aff(members.get_at(member))  # instance -> [counter]
        counters = maps_of(pairs.apply_domain(value).apply_range(value))  # [counter] -> [later counter]
        found.append(counters[0].deltas() if counters else isl.Set("{ [d] : false }"))
    return found


def open_pairs(node: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.UnionMap:
    """Return the pairs of instances below ``node`` that everything above leaves at the same time."""
    before = node.get_prefix_schedule_union_map()  # instance -> [loops above]
    inside = node.get_domain()
    pairs = dependences.intersect_domain(inside).intersect_range(inside)
    return pairs.intersect(before.apply_range(before.reverse()))


def respects(node: isl.ScheduleNode, dependences: isl.UnionMap) -> bool:
    """Return whether the order of the subtree at ``node`` keeps ``dependences`` that it alone decides.

    Those are the pairs of instances that everything above ``node`` leaves at the same time.
    """
    pairs = open_pairs(node, dependences)
    if pairs.is_empty():
        return True
    order = node.get_subtree_schedule_union_map()
    return bool(pairs.is_subset(order.lex_lt_union_map(order)))


def broken(tiled: TiledKernel, dependences: isl.UnionMap) -> str | None:
    """Return how ``tiled`` breaks one of the ``dependences`` (instance -> instance), None where it keeps all.

    Within a launch each has to lead on in the order of the tiled tree and, unless a single CPE runs all
    tiles, from a tile to the same tile: others may be those of other CPEs, at the same time.
    """
    whole = tiled.schedule.get_root().child(0)
    if not respects(whole, dependences):
        return "back in its order"
    tiles = isl.UnionMap.from_multi_union_pw_aff(tiled.coordinates)  # instance -> [first of its tile]
    alone = tiled.kernel.single or open_pairs(whole, dependences).is_subset(
        tiles.apply_range(tiles.reverse())
    )
    return None if alone else "from one tile to another"


class StrideScore:
    """Says how well a loop serves as the innermost one."""

    def score(self, member: isl.UnionPwAff) -> int:
        """Return a number that grows with the unit-stride accesses of ``member``."""
        raise NotImplementedError


@dataclass(slots=True)
class _Builder:
    """Rewrites the bands below the mapped loops, top down, counting the levels."""

    mapping: Mapping
    dependences: isl.UnionMap
    mapped: list[isl.UnionPwAff]
    strides: StrideScore | None
    sizes: list[int]
    loops: list[isl.UnionPwAff]

    def below(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Return ``node``'s position in a tree whose subtree at ``node`` is strip-mined."""
        if node.get_type() == _NODE.band:
            node, depth = self._band(node)
            inner = node
            for _ in range(depth):
                inner = inner.child(0)
            return self._up(self.below(inner), depth)
        for position in range(node.n_children()):
            node = self.below(node.child(position)).parent()
        return node

    def pieces(self, node: isl.ScheduleNode, bands: int) -> isl.ScheduleNode:
        """Return the node below the band of tiles and so many ``bands`` that count pieces of them.

        These are strip-mined, and what follows is not.
        """
        for _ in range(1 + bands):
            node, depth = self._band(node)
            node = _descended(node, depth)
        return node

    @staticmethod
    def _up(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
        for _ in range(depth):
            node = node.parent()
        return node

    def over(self, members: list[isl.UnionPwAff], node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Return ``node`` below the tiles of parallel loops ``members``, each with its mark.

        Their iterations are in ``node`` already.
        """
        domain, first = node.get_domain(), len(self.sizes)
        tiled = [m for m in members if varies(m) and not self._is_mapped(m, domain)]
        self.sizes += [_size(self.mapping, first + k) for k in range(len(tiled))]
        self.loops += tiled
        self.mapped = [*self.mapped, *tiled]
        for k in reversed(range(len(tiled))):
            node = self._strip(node, tiled[k], True, first + k)
        return node

    def _band(self, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, int]:
        """Replace the band ``node`` by tile bands, marks and a point band; return it and their number.

        Where all its loops are parallel, or it is asked for, the point bands go below what it was above, if
        that is legal.
        """
        domain = node.get_domain()
        partial = node.band_get_partial_schedule().intersect_domain(domain)
        flags = [bool(node.band_member_get_coincident(m)) for m in range(node.band_n_member())]
        members = [partial.get_at(m) for m in range(node.band_n_member())]
        pairs = [(m, flag) for m, flag in zip(members, flags, strict=True) if not is_constant(m)]
        members = [member for member, _ in pairs]
        permutable = bool(node.band_get_permutable())
        node = node.delete()
        if not members:
            return node, 0
        outer = [pair for pair in pairs if varies(pair[0]) and not self._is_mapped(pair[0], domain)]
        inner = self._ordered(members, permutable)
        node = node.insert_partial_schedule(multi_union(inner))
        node = _flagged(node, [next(flag for m, flag in pairs if m is member) for member in inner])
        added = 1
        if permutable or len(members) == 1:
            all_parallel = all(flag for _, flag in pairs)
            sunk = self._inside(node) if outer and (all_parallel or self.mapping.sequential) else None
            if sunk is not None:
                node, added = sunk, 0
                self.mapped = [*self.mapped, *(member for member, _ in outer)]
            first = len(self.sizes)
            self.sizes += [_size(self.mapping, first + k) for k in range(len(outer))]
            self.loops += [member for member, _ in outer]
            for k in reversed(range(len(outer))):
                node = self._strip(node, *outer[k], first + k)
                added += 2
        return node, added

    def _inside(self, points: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """Return the band ``points`` distributed over what is below it, None where it stays where it is.

        Of loops that are not parallel, the first ones may stay where they are, around statements that have
        the others for themselves.
        """
        if self.mapping.restructure and self.mapping.reorder and points.child(0).get_type() != _NODE.leaf:
            return _sunk(points, self.dependences)
        for count in range(1, points.band_n_member()) if self.mapping.sequential else ():
            below = _by_statement(points.band_split(count).child(0), self.dependences)
            if below is not None:
                return below.parent()
        return None

    def _strip(
        self, node: isl.ScheduleNode, member: isl.UnionPwAff, coincident: bool, position: int
    ) -> isl.ScheduleNode:
        tile = isl.MultiUnionPwAff.from_union_pw_aff(_tile(member, self.sizes[position]))
        return _flagged(inserted(LevelMark(position + 1), node).insert_partial_schedule(tile), [coincident])

    def _is_mapped(self, member: isl.UnionPwAff, domain: isl.UnionSet) -> bool:
        return any(
            domain.is_subset(member.sub(value.intersect_domain(domain)).zero_union_set())
            for value in self.mapped
        )

    def _ordered(self, members: list[isl.UnionPwAff], permutable: bool) -> list[isl.UnionPwAff]:
        """Move the loop with the most unit strides to the inside, where the order is free."""
        if self.strides is None or not (permutable and self.mapping.restructure and self.mapping.reorder):
            return members
        scores = [self.strides.score(member) for member in members]
        best = max(range(len(members)), key=lambda k: (scores[k], k))
        return members[:best] + members[best + 1 :] + [members[best]]
