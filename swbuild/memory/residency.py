"""Buffers that keep what they hold over all phases of a spawn: tiles of an array, dealt out over the LDMs.

An element then has two places: main memory, and the LDM of the CPE that owns its tile.  *Members* are the
buffers, of one or more kernels, that work on the tiles; all else in the region goes by main memory.  What
either side needs of the other follows from the data flow:

* before a visit, the owner gets what it reads there and what somebody else wrote last;
* after a visit, it puts what it wrote there and what somebody else reads, or what nobody writes later.

A tile comes whole when it is first visited, from what was in memory before any member has written it.

Other buffers that only load elements of one tile of their own CPE, which only members write, are *near*:
their boxes are copied from the tile, if it is there, and come from memory else.  It is not there before its
first visit, when no member has written it yet, nor if it does not stay, when each visit puts all that it has
written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import AccessKind, Scop
from swbuild.mapping.tiling import TiledKernel, in_any_launch, thread_parameters
from swbuild.memory.box import bounding_box
from swbuild.memory.buffers import Buffer, Exchange, InTile, MemoryPlan, Residency, Store
from swbuild.memory.levels import Level, Reference, references
from swbuild.memory.rows import is_rowwise
from swbuild.options import Distribution
from swbuild.polyhedral.dataflow import access_relation
from swbuild.polyhedral.islutil import index_range, maps_of, over_parameters, sets_of, union_maps
from swbuild.polyhedral.privatise import Private

__all__ = ["Layout", "Member", "Traffic", "is_near", "resident_buffers", "traffic_of"]

#: What is exchanged of a box is put together of so many rectangles at most.
_MOST_PARTS = 6

_SET, _PARAM, _IN, _OUT = isl.dim_type.set, isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array is dealt out: per dimension the indices of a tile, and the CPEs that tiles go to in turn.

    CPEs are numbered row by row: those of the last dimension are next to each other.
    """

    array: str
    tile: tuple[int, ...]
    threads: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The elements of a tile."""
        return prod(self.tile)

    def owners(self) -> isl.Map:
        """Return ``element -> [the number of the CPE that owns it]``."""
        factors = [prod(self.threads[k + 1 :]) for k in range(len(self.threads))]
        pairs = zip(self.tile, self.threads, factors, strict=True)
        terms = [f"{f} * ((floor(e{k} / {t})) mod {n})" for k, (t, n, f) in enumerate(pairs) if n > 1]
        indices = ", ".join(f"e{k}" for k in range(len(self.tile)))
        found = isl.Map(f"{{ [{indices}] -> [{' + '.join(terms) or '0'}] }}")
        return found.set_tuple_name(isl.dim_type.in_, self.array)

    def numbers(self) -> isl.Map:
        """Return ``element -> [the number of its tile along each dimension]``."""
        indices = ", ".join(f"e{k}" for k in range(len(self.tile)))
        found = isl.Map(
            f"{{ [{indices}] -> [{', '.join(f'floor(e{k}/{t})' for k, t in enumerate(self.tile))}] }}"
        )
        return found.set_tuple_name(isl.dim_type.in_, self.array)


@dataclass(frozen=True, slots=True)
class Member:
    """A buffer that may stay, the kernel that it belongs to, and the kernel's plan."""

    tiled: TiledKernel
    plan: MemoryPlan
    buffer: Buffer

    @property
    def level(self) -> Level:
        """The level that the buffer is at."""
        return next(level for level in self.plan.top.walk() if level.number == self.buffer.level)

    def references(self, scop: Scop, private: Private) -> list[Reference]:
        """Return the references that the buffer serves."""
        return [r for r in references(scop, self.tiled, private) if (r.statement, r.ref) in self.buffer.refs]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What members and others need of each other (instance -> element), and the indices that members access.

    ``fresh`` is read by a member and was written by somebody else; ``wanted`` is written by a member, and
    read by somebody else or left in memory at the end; ``read`` are those of it that somebody else reads.
    """

    fresh: isl.UnionMap
    wanted: isl.UnionMap
    read: isl.UnionMap
    sides: tuple[isl.Set, ...]


def traffic_of(
    scop: Scop,
    sourced: isl.UnionMap,
    private: Private,
    members: Sequence[Member],
    near: Sequence[Member],
    array: str,
) -> Traffic | None:
    """Return what goes by main memory where ``members`` keep the parts of ``array`` that they work on.

    ``sourced`` is ``producer -> [reader -> element]`` of the array; ``members`` all run in one spawn, of
    which there is one in a run of the region.  What buffers that are ``near`` read is found in the tiles.
    None where accesses are not known exactly, where the last row may end before a tile of it does, or such a
    buffer reads what others than members write, or what is in no tile, as no member accesses anything there.
    """
    uses = _uses(scop, private, members, near, array)
    sides = None if uses is None else _sides(uses)
    if uses is None or sides is None or not scop.has_rows(array, sides[0]):
        return None
    from_others = sourced.intersect_range_factor_range(uses.other_writes)
    if not from_others.range().unwrap().intersect(uses.near).is_empty() or not _is_inside(uses.near, sides):
        return None
    fresh = from_others.range().unwrap().intersect(uses.reads)
    to_others = sourced.intersect_range(uses.other_reads.wrap())
    last = _last(scop, uses.writes.union(uses.other_writes))
    read = to_others.range_factor_range()
    wanted = read.union(last).intersect(uses.writes)
    return Traffic(fresh.coalesce(), wanted.coalesce(), read.intersect(uses.writes).coalesce(), sides)


def resident_buffers(
    scop: Scop,
    traffic: Traffic,
    private: Private,
    members: Sequence[Member],
    near: Sequence[Member],
    layout: Layout,
    room: int,
) -> tuple[tuple[Buffer, ...], tuple[Buffer, ...]] | None:
    """Return the buffers of ``members`` as they stay in ``layout``, and those that are ``near``.

    There is room for so many tiles besides one.  None where a member works on elements of others, or on more
    than one tile in a visit.
    """
    settled, inside = (
        [s for member in some if (s := _Settled.of(scop, private, member, layout, traffic.sides)) is not None]
        for some in (members, near)
    )
    if len(settled) < len(members) or len(inside) < len(near):
        return None
    backwards = [all(each.shrinks(k) for each in settled) for k in range(len(layout.tile))]
    buffers = [each.buffer(scop, private, traffic, room, backwards) for each in settled]
    kept = tuple(buffer for buffer in buffers if buffer is not None)
    if len(kept) < len(members):
        return None
    return kept, tuple(each.inside(room, backwards) for each in inside)


def is_near(scop: Scop, private: Private, member: Member, layout: Layout) -> bool:
    """Return whether the buffer of ``member`` only loads, in each visit from one tile of its own CPE."""
    buffer, refs = member.buffer, member.references(scop, private)
    if not (buffer.load and buffer.store is Store.NONE and buffer.turned is None and refs):
        return False
    if not _is_owner(member.tiled, refs, layout):
        return False
    touched = _visited(member, union_maps(ref.relation for ref in refs))
    return touched is not None and _numbers(touched, layout) is not None


@dataclass(frozen=True, slots=True)
class _Uses:
    """The accesses to an array, instance -> element: those of members, of what is near, and of all others."""

    reads: isl.UnionMap
    writes: isl.UnionMap
    near: isl.UnionMap
    other_reads: isl.UnionMap
    other_writes: isl.UnionMap


def _uses(
    scop: Scop, private: Private, members: Sequence[Member], near: Sequence[Member], array: str
) -> _Uses | None:
    """Return the accesses of the region to ``array``, None where some are not known exactly."""
    served = {"members": _covered(scop, private, members), "near": _covered(scop, private, near)}
    found: defaultdict[tuple[bool, str], list[isl.Map]] = defaultdict(list)
    for statement in scop.statements:
        for access in (a for a in statement.accesses if a.array == array):
            if not access.affine or access.kind is AccessKind.MAY_WRITE:
                return None
            relation = access_relation(scop, statement, access, {})
            writes = access.kind is not AccessKind.READ
            for side, domains in served.items():
                inside = domains.get((statement.name, access.ref))
                if inside is not None:
                    found[writes, side].append(relation.intersect_domain(inside))
                    relation = relation.subtract_domain(inside)
            found[writes, "others"].append(relation)

    def of(writes: bool, side: str) -> isl.UnionMap:
        return union_maps(found[writes, side]).coalesce()

    return _Uses(
        reads=of(False, "members"),
        writes=of(True, "members"),
        near=of(False, "near"),
        other_reads=of(False, "others"),
        other_writes=of(True, "others"),
    )


def _covered(scop: Scop, private: Private, members: Sequence[Member]) -> dict[tuple[str, int], isl.Set]:
    """Return, for the references that the buffers of ``members`` serve, the instances for which they do."""
    covered: dict[tuple[str, int], isl.Set] = {}
    for member in members:
        for ref in member.references(scop, private):
            here = in_any_launch(ref.relation.domain(), member.tiled)
            key = (ref.statement, ref.ref)
            covered[key] = covered[key].union(here) if key in covered else here
    return covered


def _last(scop: Scop, writes: isl.UnionMap) -> isl.UnionMap:
    """Return those of ``writes`` (instance -> element) that no other one comes after in the source."""
    time = scop.schedule.get_map().intersect_domain(writes.domain())
    latest = writes.reverse().apply_range(time).lexmax()  # element -> the time of its last write
    return latest.apply_range(time.reverse()).reverse().intersect(writes)


def _sides(uses: _Uses) -> tuple[isl.Set, ...] | None:
    """Return, per dimension, the indices that members access, None where isl sees no end of them."""
    touched = sets_of(uses.reads.union(uses.writes).range())
    if len(touched) != 1:
        return None
    sides = tuple(_whole(index_range(touched[0], k)) for k in range(touched[0].dim(_SET)))
    return sides if all(side.dim_is_bounded(_SET, 0) for side in sides) else None


def _is_inside(near: isl.UnionMap, sides: Sequence[isl.Set]) -> bool:
    """Return whether all indices that are accessed ``near`` are among the ``sides`` of the tiles."""
    return all(
        index_range(touched, k).is_subset(side)
        for touched in sets_of(near.range())
        for k, side in enumerate(sides)
    )


def _whole(side: isl.Set) -> isl.Set:
    """Return the indices ``side`` in one piece, if they are one."""
    hull = side.simple_hull().to_set()
    return hull if hull.intersect_params(side.params()).is_equal(side) else side


@dataclass(frozen=True, slots=True)
class _Settled:
    """A member with the tile that it works on in a visit: its number per dimension, and its ends.

    All are functions of the loops above; tiles per dimension are numbered from ``begins`` to ``ends``.
    """

    member: Member
    layout: Layout
    numbers: tuple[isl.PwAff, ...]
    begins: tuple[isl.PwAff, ...]
    ends: tuple[isl.PwAff, ...]
    low: tuple[isl.PwAff, ...]
    high: tuple[isl.PwAff, ...]

    @staticmethod
    def of(
        scop: Scop, private: Private, member: Member, layout: Layout, sides: tuple[isl.Set, ...]
    ) -> _Settled | None:
        """Return ``member`` as it works on tiles of its own CPE, None where it does not, or on several."""
        refs = member.references(scop, private)
        if not refs or not _is_owner(member.tiled, refs, layout):
            return None
        visits = member.buffer.box.visits
        touched = _visited(member, union_maps(ref.relation for ref in refs))
        numbers = None if touched is None else _numbers(touched, layout)
        if numbers is None:
            return None
        first, last = zip(*(_ends(side, visits) for side in sides), strict=True)
        starts = [number.scale_val(_val(t)) for number, t in zip(numbers, layout.tile, strict=True)]
        low = (start.max(end) for start, end in zip(starts, first, strict=True))
        high = (
            start.add_constant_val(_val(t - 1)).min(end)
            for start, end, t in zip(starts, last, layout.tile, strict=True)
        )
        begins, ends = (tuple(map(_number, side, layout.tile)) for side in (first, last))
        sides_of = (tuple(v.gist(visits).coalesce() for v in side) for side in (low, high))
        return _Settled(member, layout, numbers, begins, ends, *sides_of)

    def shrinks(self, dimension: int) -> bool:
        """Return whether the first tile along ``dimension`` is no longer worked on while others are."""
        visits = self.member.buffer.box.visits
        first = visits.intersect(self.numbers[dimension].eq_set(self.begins[dimension]))
        return not visits.params().is_subset(first.params())

    def _counted(self, backwards: Sequence[bool]) -> tuple[tuple[isl.PwAff, ...], tuple[isl.PwAff, ...]]:
        """Return how a CPE counts its tiles per dimension, and how many it has at most.

        Those that come first may stay.  Dimensions that are shared out are before others, since some CPEs
        have fewer tiles along them.  ``backwards``: the last tile comes first, as it is longest in use.
        """
        turns, lengths = [], []
        for k in sorted(range(len(self.numbers)), key=lambda k: self.layout.threads[k] == 1):
            threads, number, end = _val(self.layout.threads[k]), self.numbers[k], self.ends[k]
            turns.append((end.sub(number) if backwards[k] else number).scale_down_val(threads).floor())
            lengths.append(end.scale_down_val(threads).floor().add_constant_val(_val(1)))
        return self._simplified(turns), self._simplified(lengths)

    def _simplified(self, formulas: Iterable[isl.PwAff]) -> tuple[isl.PwAff, ...]:
        visits = self.member.buffer.box.visits
        return tuple(formula.gist(visits).coalesce() for formula in formulas)

    def buffer(
        self, scop: Scop, private: Private, traffic: Traffic, room: int, backwards: Sequence[bool]
    ) -> Buffer | None:
        """Return the buffer as it stays, None where what it has to get and to put is not in whole rows."""
        old = self.member.buffer
        fresh, wanted = _in_parts(_visited(self.member, traffic.fresh)), self._wanted(traffic)
        whole = self._puts_tiles(scop, private)
        written = () if old.written is None or whole else (old.written,)
        by_row = (*written, *(part.moved for part in (*fresh, *wanted) if not part.whole))
        if not all(map(is_rowwise, by_row)):
            return None
        size = self.layout.elements * scop.array(old.array).element.size
        residency = Residency(room, *self._counted(backwards), fresh, wanted)
        return replace(
            old,
            box=replace(old.box, bound=self.layout.tile, ends=lambda: (self.low, self.high)),
            load=True,
            reloaded=True,
            bytes=-(-size // old.alignment) * old.alignment,
            slots=room + 1,
            residency=residency,
            store=old.store if old.written is None else Store.BOX if whole else Store.ROWS,
            turned=None,  # there is no room for more than its tiles
            missing=None,
        )

    def _wanted(self, traffic: Traffic) -> tuple[Exchange, ...]:
        """Return what a visit puts: what others read of it, and what is left of the tile at the end.

        Visits that put nothing else leave the latter to the last one that writes any of it, if that is in
        rectangles: nobody needs it earlier, and lines of a tile are not put one by one.
        """
        read = _visited(self.member, traffic.read)
        late = self._late(_visited(self.member, traffic.wanted.subtract(traffic.read)), read)
        return (*_in_parts(read), *late) if late else _in_parts(_visited(self.member, traffic.wanted))

    def _late(self, left: isl.Map | None, read: isl.Map | None) -> tuple[Exchange, ...]:
        """Return what is ``left`` as the last visits put it, () where that is not simple or of no use."""
        if left is None or left.n_basic_map() > _MOST_PARTS:
            return ()
        if read is not None and not left.domain().is_disjoint(read.domain()):
            return ()
        last = self._at_last_visit(left)
        if last.n_basic_map() > _MOST_PARTS or last.is_equal(left):
            return ()
        found = _in_parts(last.coalesce())
        return found if all(part.whole for part in found) else ()

    def _at_last_visit(self, moved: isl.Map) -> isl.Map:
        """Return ``moved`` (prefix -> element) with all of a tile at its last visit, of any launch."""
        loops = self.member.tiled.kernel.host_loops
        if any(moved.find_dim_by_name(_PARAM, name) < 0 for name in loops):
            return moved
        tile_of = self.layout.numbers()  # element -> [number of its tile per dimension]
        everywhere = _with_loops(moved, loops)  # [loops of the host, prefix] -> element
        visits = everywhere.apply_range(tile_of)  # [loops of the host, prefix] -> [number]
        last = visits.reverse().lexmax().reverse()
        elements = tile_of.reverse().intersect_range(everywhere.range())  # [number] -> element
        return _without_loops(last.apply_range(elements), loops, moved.get_space())

    def inside(self, room: int, backwards: Sequence[bool]) -> Buffer:
        """Return the buffer as one that finds its boxes in tiles that stay."""
        found = InTile(room, *self._counted(backwards), self.low, self.high)
        return replace(self.member.buffer, in_tile=found)

    def _puts_tiles(self, scop: Scop, private: Private) -> bool:
        """Return whether the tile of a visit that does not stay is put as a whole.

        What it has not written it has got at its beginning; nobody else in the kernel may access that.  Of
        tiles on which it writes a line each, only that is put.
        """
        member, written = self.member, self.member.buffer.written
        if written is None:
            return False
        own = {(ref.statement, ref.ref) for ref in member.references(scop, private)}
        others = [
            ref.relation.range()
            for ref in references(scop, member.tiled, private)
            if ref.array == member.buffer.array and (ref.statement, ref.ref) not in own
        ]
        if any(_index(written, k).is_single_valued() for k, t in enumerate(self.layout.tile) if t > 1):
            return False
        box = replace(member.buffer.box, bound=self.layout.tile, ends=lambda: (self.low, self.high))
        unwritten = box.as_map(written.get_space()).subtract(written).range()
        return all(unwritten.is_disjoint(touched) for touched in others)


def _in_parts(moved: isl.Map | None) -> tuple[Exchange, ...]:
    """Return ``moved`` in disjoint rectangles, as far as it is made of few."""
    if moved is None:
        return ()
    parts = moved.make_disjoint().coalesce()
    basics = [part.to_map() for part in parts.get_basic_maps()]
    found = [_exchange(part) for part in basics] if len(basics) <= _MOST_PARTS else []
    return tuple(found) if found and all(part.whole for part in found) else (_exchange(moved),)


def _exchange(moved: isl.Map) -> Exchange:
    box = bounding_box(moved)
    whole = box.is_usable and bool(box.as_map(moved.get_space()).is_subset(moved))
    return Exchange(moved, box, whole)


def _is_owner(tiled: TiledKernel, refs: Iterable[Reference], layout: Layout) -> bool:
    """Return whether each CPE, by ``refs``, accesses elements of tiles that are its own alone."""
    mapping = tiled.mapping
    if tiled.kernel.single or mapping.distribution is not Distribution.CYCLIC:
        return False
    own = union_maps(ref.relation for ref in refs).intersect_domain(tiled.filter)
    owned = own.range().apply(layout.owners().to_union_map())  # [number of the owner], by the thread
    names = thread_parameters(mapping)
    columns = mapping.threads[1] if len(mapping.threads) > 1 else 1
    number = f"{columns} * p0 + p1" if len(names) > 1 else "p0"
    return bool(owned.is_subset(over_parameters(f"{{ [{number}] }}", names).to_union_set()))


def _visited(member: Member, accessed: isl.UnionMap) -> isl.Map | None:
    """Return ``prefix -> element`` of what is ``accessed`` (instance -> element), None where nothing is."""
    here = member.level.prefix.reverse().apply_range(accessed)
    found = [m for m in maps_of(here) if not m.is_empty()]
    assert len(found) < 2, "elements of one array"
    return found[0].coalesce() if found else None


def _with_loops(moved: isl.Map, loops: Sequence[str]) -> isl.Map:
    """Return ``moved`` (prefix -> element) as ``[loops, prefix] -> element``: loops were parameters."""
    for position, name in enumerate(loops):
        moved = moved.move_dims(_IN, position, _PARAM, moved.find_dim_by_name(_PARAM, name), 1)
    return moved


def _without_loops(moved: isl.Map, loops: Sequence[str], space: isl.Space) -> isl.Map:
    """Return ``moved`` ([loops, prefix] -> element) as prefix -> element of ``space``, the opposite."""
    for name in loops:
        parameter = moved.dim(_PARAM)
        moved = moved.move_dims(_PARAM, parameter, _IN, 0, 1).set_dim_name(_PARAM, parameter, name)
    return moved.align_params(space)


def _numbers(touched: isl.Map, layout: Layout) -> tuple[isl.PwAff, ...] | None:
    """Return the numbers of the tile that a visit is on, if it is one of a loop above, or one index's.

    ``touched`` is prefix -> element.
    """
    visits = isl.Set.universe(touched.domain().get_space())
    numbers = []
    for k, tile in enumerate(layout.tile):
        index = _index(touched, k)
        guesses = chain(_guesses(visits, tile), _of_single(index, tile))
        number = next((n for n in guesses if _lies_in(index, n, tile)), None)
        if number is None:
            return None
        numbers.append(number)
    return tuple(numbers)


def _guesses(visits: isl.Set, tile: int) -> Iterable[isl.PwAff]:
    """Yield what the number of a tile may be: 0, or that of the tile that one of the loops above is at."""
    space = isl.LocalSpace.from_space(visits.get_space())
    yield isl.PwAff.from_aff(isl.Aff.zero_on_domain(space))
    for position in range(visits.dim(_SET)):
        value = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, _SET, position))
        yield value.scale_down_val(_val(tile)).floor()


def _of_single(index: isl.Map, tile: int) -> Iterable[isl.PwAff]:
    """Yield the number of the tile that the ``index`` of a visit is in, if that is a single one."""
    if index.is_single_valued():
        value = isl.PwMultiAff.from_map(index).get_pw_aff(0).coalesce().gist(index.domain())
        if value.n_piece() == 1:
            yield value.scale_down_val(_val(tile)).floor()


def _index(touched: isl.Map, position: int) -> isl.Map:
    """Return ``prefix -> [index]`` of one dimension of ``touched``."""
    plain = touched.reset_tuple_id(_OUT)
    others = plain.project_out(_OUT, position + 1, plain.dim(_OUT) - position - 1)
    return others.project_out(_OUT, 0, position)


def _lies_in(index: isl.Map, number: isl.PwAff, tile: int) -> bool:
    """Return whether ``index`` (prefix -> [index]) always is in the tile of this ``number``."""
    begin = isl.Map.from_pw_aff(number.scale_val(_val(tile)))
    inside = begin.apply_range(isl.Map(f"{{ [x] -> [y] : x <= y < x + {tile} }}"))
    return bool(index.is_subset(inside))


def _ends(side: isl.Set, visits: isl.Set) -> tuple[isl.PwAff, isl.PwAff]:
    """Return the first and the last of the indices ``side``, on ``visits``."""
    everywhere = isl.Map.from_domain_and_range(isl.Set.universe(visits.get_space()), side)
    return everywhere.dim_min(0), everywhere.dim_max(0)


def _number(index: isl.PwAff, tile: int) -> isl.PwAff:
    """Return the number of the tile in which ``index`` lies."""
    return index.scale_down_val(_val(tile)).floor()


def _val(number: int) -> isl.Val:
    return isl.Val(number)
