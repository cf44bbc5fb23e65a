"""Buffers that keep what they hold over all phases of a spawn: tiles of an array, dealt out over the LDMs.

An element then has two places: main memory, and the LDM of the CPE that owns its tile.  *Members* are the
buffers, of one or more kernels, that work on the tiles; all else in the region goes by main memory.  What
either side needs of the other follows from the data flow:

* before a visit, the owner gets what it reads there and what somebody else wrote last;
* after a visit, it puts what it wrote there and what somebody else reads, or what nobody writes later.

A tile comes whole when it is first visited, from what was in memory before any member has written it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import AccessKind, Scop
from swbuild.mapping.tiling import TiledKernel, thread_parameters
from swbuild.memory.box import bounding_box
from swbuild.memory.buffers import Buffer, Exchange, MemoryPlan, Residency, Store
from swbuild.memory.levels import Level, Reference, references
from swbuild.memory.rows import is_rowwise
from swbuild.options import Distribution
from swbuild.polyhedral.dataflow import access_relation
from swbuild.polyhedral.islutil import index_range, maps_of, over_parameters, sets_of, union_maps
from swbuild.polyhedral.privatise import Private

__all__ = ["Layout", "Member", "Traffic", "resident_buffers", "traffic_of"]

#: What is exchanged of a box is put together of so many rectangles at most.
_MOST_PARTS = 6

_PARAM, _SET, _OUT = isl.dim_type.param, isl.dim_type.set, isl.dim_type.out


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
    read by somebody else or left in memory at the end.  ``alone``: nobody but members writes the array.
    """

    fresh: isl.UnionMap
    wanted: isl.UnionMap
    sides: tuple[isl.Set, ...]
    alone: bool


def traffic_of(
    scop: Scop, sourced: isl.UnionMap, private: Private, members: Sequence[Member], array: str
) -> Traffic | None:
    """Return what goes by main memory where ``members`` keep the parts of ``array`` that they work on.

    ``sourced`` is ``producer -> [reader -> element]`` of the array; ``members`` all run in one spawn, of
    which there is one in a run of the region.  None where accesses are not known exactly.
    """
    uses = _uses(scop, private, members, array)
    sides = None if uses is None else _sides(uses)
    if uses is None or sides is None:
        return None
    from_others = sourced.intersect_range_factor_range(uses.other_writes)
    fresh = from_others.range().unwrap().intersect(uses.reads)
    to_others = sourced.intersect_range(uses.other_reads.wrap())
    last = _last(scop, uses.writes.union(uses.other_writes))
    wanted = to_others.range_factor_range().union(last).intersect(uses.writes)
    return Traffic(fresh.coalesce(), wanted.coalesce(), sides, bool(uses.other_writes.is_empty()))


def resident_buffers(
    scop: Scop, traffic: Traffic, private: Private, members: Sequence[Member], layout: Layout, room: int
) -> tuple[Buffer, ...] | None:
    """Return the buffers of ``members`` as they stay in ``layout``, with room for so many tiles besides one.

    None where a member works on elements of others, or on more than one tile in a visit.
    """
    settled = []
    for member in members:
        found = _Settled.of(scop, private, member, layout, traffic.sides)
        if found is None:
            return None
        settled.append(found)
    backwards = [all(each.shrinks(k) for each in settled) for k in range(len(layout.tile))]
    buffers = [each.buffer(scop, traffic, room, backwards) for each in settled]
    kept = tuple(buffer for buffer in buffers if buffer is not None)
    return kept if len(kept) == len(members) else None


@dataclass(frozen=True, slots=True)
class _Uses:
    """The accesses to an array, instance -> element: those of members, and of all others."""

    reads: isl.UnionMap
    writes: isl.UnionMap
    other_reads: isl.UnionMap
    other_writes: isl.UnionMap


def _uses(scop: Scop, private: Private, members: Sequence[Member], array: str) -> _Uses | None:
    """Return the accesses of the region to ``array``, None where some are not known exactly.

    Or where nobody knows how many rows it has: the last one may end before a tile of it does.
    """
    if scop.array(array).extents[0] is None:
        return None
    covered: dict[tuple[str, int], isl.Set] = {}
    for member in members:
        for ref in member.references(scop, private):
            here = _whenever(ref.relation.domain(), member.tiled)
            key = (ref.statement, ref.ref)
            covered[key] = covered[key].union(here) if key in covered else here
    found: dict[tuple[bool, bool], list[isl.Map]] = {(a, b): [] for a in (False, True) for b in (False, True)}
    for statement in scop.statements:
        for access in (a for a in statement.accesses if a.array == array):
            if not access.affine or access.kind is AccessKind.MAY_WRITE:
                return None
            relation = access_relation(scop, statement, access, {})
            writes = access.kind is not AccessKind.READ
            inside = covered.get((statement.name, access.ref))
            if inside is not None:
                found[writes, True].append(relation.intersect_domain(inside))
                relation = relation.subtract_domain(inside)
            found[writes, False].append(relation)
    sides = ((False, True), (True, True), (False, False), (True, False))
    return _Uses(*(union_maps(found[side]).coalesce() for side in sides))


def _whenever(domain: isl.Set, tiled: TiledKernel) -> isl.Set:
    """Return the instances in ``domain`` of all launches of the kernel."""
    for name in tiled.kernel.host_loops:
        position = domain.find_dim_by_name(_PARAM, name)
        if position >= 0:
            domain = domain.project_out(_PARAM, position, 1)
    return domain


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

    def buffer(self, scop: Scop, traffic: Traffic, room: int, backwards: Sequence[bool]) -> Buffer | None:
        """Return the buffer as it stays, None where what it has to get and to put is not in whole rows."""
        old = self.member.buffer
        fresh, wanted = (_in_parts(_visited(self.member, moved)) for moved in (traffic.fresh, traffic.wanted))
        whole = traffic.alone and old.written is not None and not self._shows(scop)
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
            store=Store.BOX if whole else old.store,
            turned=None,  # there is no room for more than its tiles
        )

    def _shows(self, scop: Scop) -> bool:
        """Return whether the kernel accesses the array by the buffer and besides."""
        member = self.member
        return any(
            access.array == member.buffer.array and (name, access.ref) not in member.buffer.refs
            for name in member.tiled.kernel.statements
            for access in scop.statement(name).accesses
        )


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


def _numbers(touched: isl.Map, layout: Layout) -> tuple[isl.PwAff, ...] | None:
    """Return the numbers of the tile that a visit is on, if it is one of a loop above, or the only one.

    ``touched`` is prefix -> element.
    """
    visits = isl.Set.universe(touched.domain().get_space())
    numbers = []
    for k, tile in enumerate(layout.tile):
        index = _index(touched, k)
        number = next((n for n in _guesses(visits, tile) if _lies_in(index, n, tile)), None)
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
