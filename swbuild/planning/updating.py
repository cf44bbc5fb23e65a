"""Updates that come in any order, in front of the tiles of wavefronts that they belong to.

Where an element takes the largest of many values (:mod:`swbuild.polyhedral.updates`), each value may come as
soon as what it is computed from is there.  In wavefronts of tiles, that is before the tile for most of them:
their operands are in tiles of earlier fronts.  They become statements of their own, and in each front a
kernel of their own before its tiles, parallel in all but the updates of one element, as a product of
matrices is.  What is left to a tile are the updates with operands of the tile itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import AccessKind, Scop, Statement
from swbuild.mapping.early import fronts_behind
from swbuild.mapping.wavefront import from_heavy_ends, front_band, tile_numbers
from swbuild.options import KernelOptions
from swbuild.planning.ordering import Order, all_stay_home, split_tree
from swbuild.polyhedral.islutil import bounded_effort, ran_out, union_sets
from swbuild.polyhedral.parting import in_parts, renamed, renamed_dependences, renaming
from swbuild.polyhedral.scheduling import Origin, permutable_schedule
from swbuild.polyhedral.updates import Updates, find_updates, free_pairs, update_pairs

__all__ = ["Divided", "with_early_updates"]

#: Iterations of a tile in each loop: a power of two, of which tiles of other sizes are parts.
_EDGE = 16

#: isl steps to find an order.
_EFFORT = 1_000_000


@dataclass(frozen=True, slots=True)
class Divided:
    """A region with updates in parts, and an order of it."""

    scop: Scop
    order: Order


@dataclass(frozen=True, slots=True)
class _Parts:
    """The instances of a statement with no operand of their own tile, and the others, by which they have."""

    early: tuple[isl.Set, ...]
    others: tuple[isl.Set, ...]


def with_early_updates(scop: Scop, options: KernelOptions, order: Order) -> Divided | None:
    """Return ``scop`` in wavefronts of tiles, with all updates before a tile that need nothing of it.

    None where it has no such updates, where they are not all of one array, or use private variables.
    """
    private, found = order.scheduled.private, find_updates(scop)
    if len(found) != 1 or any(scop.users(name) & found[0].statements for name in private.names):
        return None
    deep = permutable_schedule(scop, private, options.fusing, order.scheduled.kept)
    try:
        with bounded_effort(_EFFORT):
            band = None if deep is None else _band(scop, found[0], deep)
            return None if band is None else _divided(scop, order, found[0], band)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def _band(scop: Scop, updates: Updates, deep: isl.Schedule) -> isl.ScheduleNode | None:
    """Return the band of ``deep`` to tile, None if it has none with loops of ``updates`` inside."""
    band = front_band(deep)
    if band is None:
        return None
    most = max(len(scop.statement(name).iterators) for name in updates.statements)
    if band.band_n_member() >= most > 2:
        band = band.band_split(most - 1)
    return from_heavy_ends(band) if band.band_n_member() < most else None


def _divided(scop: Scop, order: Order, updates: Updates, band: isl.ScheduleNode) -> Divided | None:
    parts = _all_parts(scop, updates, band)
    early = [piece for each in parts.values() for piece in each.early]
    if not early:
        return None
    pieces = {name: (*each.early, *each.others) for name, each in parts.items()}
    names = renaming(scop, pieces)
    first = union_sets(early).apply(names)
    kept = _kept(scop, order, updates, names, first)
    schedule = _schedule(band, names, first, kept)
    if schedule is None:
        return None
    scheduled = replace(
        order.scheduled,
        schedule=schedule,
        dependences=renamed_dependences(order.scheduled.dependences, names),
        kept=kept,
        peeled=(),
        front=(_EDGE,),
        block=_EDGE,
        origin=Origin.UPDATES,
    )
    found = in_parts(scop, pieces)
    tree = split_tree(found, scheduled)
    if tree.statements or not all_stay_home(found, scheduled.private, tree):
        return None
    return Divided(found, replace(order, scheduled=scheduled, tree=tree, alone=frozenset()))


def _schedule(
    band: isl.ScheduleNode, names: isl.UnionMap, first: isl.UnionSet, kept: isl.UnionMap
) -> isl.Schedule | None:
    """Return the schedule of ``band`` in wavefronts of instances called as ``names`` says.

    None if it does not keep the pairs ``kept``.
    """
    backwards = isl.UnionPwMultiAff.from_union_map(names.reverse())
    whole = front_band(band.get_schedule().pullback_union_pw_multi_aff(backwards))
    if whole is None:
        return None
    schedule = fronts_behind(whole, (_EDGE,), first, kept)
    times = schedule.get_map()
    return schedule if kept.is_subset(times.lex_lt_union_map(times)) else None


def _all_parts(scop: Scop, updates: Updates, band: isl.ScheduleNode) -> Mapping[str, _Parts]:
    """Return the parts of all updates that are in more loops than ``band`` has."""
    tiles = isl.UnionMap.from_multi_union_pw_aff(tile_numbers(band, (_EDGE,)))
    written = _written(scop, updates, tiles)
    return {
        statement.name: _parts(scop, statement, updates, written, tiles)
        for statement in scop.statements
        if statement.name in updates.statements and len(statement.iterators) > band.band_n_member()
    }


def _written(scop: Scop, updates: Updates, tiles: isl.UnionMap) -> isl.UnionMap:
    """Return element -> [numbers of the tiles] (instance -> [numbers]: ``tiles``) in which it is written.

    Formulas go for all elements, also those that nobody writes: parts then have simple ends.
    """
    found = isl.UnionMap("{ }")
    for statement in sorted(scop.statements, key=lambda s: -len(s.iterators)):
        for access in statement.accesses:
            if access.array == updates.array and access.kind is not AccessKind.READ:
                writers = access.relation.intersect_domain(statement.domain).reverse().to_union_map()
                numbers = writers.apply_range(tiles)
                if not numbers.is_subset(found):
                    found = found.union(numbers.gist_domain(numbers.domain()))
    return found.coalesce()


def _parts(
    scop: Scop, statement: Statement, updates: Updates, written: isl.UnionMap, tiles: isl.UnionMap
) -> _Parts:
    """Return the parts of ``statement``; ``written`` says in which of the ``tiles`` elements are written."""
    own = dict(updates.refs)[statement.name]
    everywhere = statement.domain.intersect_params(scop.context)
    near: list[isl.Set] = []
    for access in statement.accesses:
        if access.array == updates.array and access.ref not in own:
            inside = access.relation.to_union_map().apply_range(written).intersect(tiles).domain()
            found = inside.extract_set(everywhere.get_space()).intersect(everywhere)
            if not any(found.is_equal(other) for other in near):
                near.append(found)
    pieces: dict[bool, list[isl.Set]] = {False: [], True: []}
    for sides in product((False, True), repeat=len(near)):
        piece = everywhere
        for side, found in zip(sides, near, strict=True):
            piece = piece.intersect(found) if side else piece.subtract(found)
        if not piece.is_empty():
            pieces[any(sides)].append(piece.coalesce().gist_params(scop.context))
    return _Parts(tuple(pieces[False]), tuple(pieces[True]))


def _kept(
    scop: Scop, order: Order, updates: Updates, names: isl.UnionMap, first: isl.UnionSet
) -> isl.UnionMap:
    """Return the pairs to keep: of two updates of one element, those of ``first`` come before the others.

    All else, and updates on the same side, stay in the order that they have.
    """
    free = free_pairs(scop, order.scheduled.private.expansions, updates)
    same = renamed(update_pairs(scop, updates), names)
    turned = same.intersect_range(first).subtract_domain(first)
    return renamed(free, names).union(same.subtract(turned)).union(turned.reverse()).coalesce()
