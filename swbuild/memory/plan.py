"""Which data of a kernel live in the LDM, where they are loaded and how they go back.

The rules (they keep the result right whatever the sizes):

* a buffer holds the bounding box of a group of overlapping references, at the outermost level
  where the box has a constant bound and fits;
* references that read nothing of what others write earlier in a visit may have a buffer of their own;
  of elements that both write, that buffer is stored in which they are written last;
* it is loaded when something in it is read before being written at that level, or when more is
  stored than was written; only what is read before that, row by row, where that is little of it and
  all the rest that is read or stored is written before;
* what is stored is exactly what was written; the box may be stored in its place only when no
  other tile touches the rest of it;
* an array that the kernel writes is either buffered everywhere or accessed in main memory
  everywhere, so that DMA and direct stores never meet;
* a box that is only read may have a copy beside it, with another dimension last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import reduce
from math import prod
from typing import Protocol

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.statements import is_unconditional
from swbuild.frontend.scop import Scop
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.apart import timing_of
from swbuild.memory.box import bounding_box
from swbuild.memory.budget import Option, within
from swbuild.memory.buffers import ALIGNMENT, Buffer, Direct, Exchange, MemoryPlan, Store, Turned
from swbuild.memory.groups import Group, Grouping, hull_group
from swbuild.memory.hazards import is_reloaded, is_steady
from swbuild.memory.levels import Level, Reference, find_levels, footprint, references
from swbuild.memory.rivals import others_write
from swbuild.memory.rows import Interval, filled_rows, is_rowwise, rows_within, whole_rows
from swbuild.memory.tables import table_extents
from swbuild.memory.words import in_whole_words, is_small, words_of
from swbuild.names import distinct
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.islutil import coalesced, constant_of, index_range, maps_of, union_maps
from swbuild.polyhedral.privatise import Private

__all__ = [
    "LONGEST_ROW",
    "Care",
    "Needed",
    "Overflow",
    "Price",
    "Turns",
    "is_expandable",
    "is_little",
    "least_buffers",
    "plan_memory",
    "writes_in_part",
]

#: Below so many bytes for a buffer there is no use in trying.
_SMALLEST_LIMIT = 64

#: More bytes than any buffer takes.
_NO_LIMIT = 1 << 62

#: What is missing of a box is got by itself if its requests are one of so many, at most.
_LITTLE = 4

#: The bytes that main memory moves at a time, roughly.
_REQUEST = 128


#: The bytes that a strided transfer can leave out between two rows: an ``int`` on all machines.
LONGEST_ROW = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Needed:
    """The bytes that a buffer of ``array`` takes at ``level``, the innermost one that it may be at."""

    array: str
    level: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Overflow:
    """Buffers that do not fit: what a tile touches of each of ``arrays`` takes more than ``limit`` bytes.

    Without ``arrays``, all buffers together take more than the budget however far inside they are placed.
    """

    arrays: tuple[str, ...]
    limit: int


class Price(Protocol):
    """What accesses cost in the kernel, in cycles."""

    def of_buffer(self, level: Level, group: Group) -> float:
        """Return what it costs to move the box of ``group`` at every visit of ``level``."""

    def of_direct(self, statement: str) -> float:
        """Return what it costs to access main memory once in every instance of ``statement``."""


#: References, by their statements and numbers, whose boxes are to be turned: the dimension that comes last.
Turns = Mapping[tuple[str, int], int]


class Care(Enum):
    """Of which boxes the ends are looked for before all have their places."""

    ALL = "those that may be taken"
    LARGE = "those that take too much"
    TAKEN = "none"


@dataclass(frozen=True, slots=True)
class _Task:
    scop: Scop
    tiled: TiledKernel
    dependences: Dependences
    refs: tuple[Reference, ...]
    expanded: frozenset[str]
    limit: int
    grouping: Grouping
    smallest: bool
    care: Care
    turns: Turns = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)

    def may_take(self, group: Group) -> bool:
        """Return whether the box of ``group`` may be that of a buffer, as far as it is looked at."""
        return group.box.bound is not None and (self.care is not Care.ALL or group.box.is_usable)

    def is_large(self, group: Group) -> bool:
        """Return whether the box of ``group``, which takes too much, might be taken else."""
        return self.care is Care.TAKEN or group.box.is_usable

    @property
    def arrays(self) -> list[str]:
        return sorted({ref.array for ref in self.refs})

    @property
    def too_large(self) -> str:
        """Why an array that is too large for the LDM has no buffer."""
        return _TOO_LARGE_AT_ALL if self.smallest else _TOO_LARGE


def plan_memory(
    scop: Scop,
    tiled: TiledKernel,
    dependences: Dependences,
    private: Private,
    expanded: frozenset[str],
    budget: int,
    price: Price | None = None,
    *,
    smallest: bool = False,
    care: Care = Care.ALL,
    turns: Turns | None = None,
    limits: Mapping[str, int] | None = None,
) -> MemoryPlan | Overflow:
    """Return a plan whose buffers take at most ``budget`` bytes, or why the tiles are too large for one.

    ``expanded`` are private variables that live in the LDM, one copy per iteration of the tile.
    ``smallest``: there are no smaller tiles; an array with too large a part in one stays in main memory.
    Boxes of references in ``turns`` have turned copies unless something is written in them.  A buffer of an
    array in ``limits`` takes at most so many bytes.

    Buffers are placed as far out as they fit; where that is not possible for all, those move inwards that
    lose least by ``price``.  Without prices a limit per buffer is halved until the sum fits.

    Boxes whose ends isl does not find have no buffers.  As it takes long over them, and finds those of most
    boxes, ``care`` says of which they are looked for before all have their places.
    """
    top = find_levels(tiled)
    refs = tuple(references(scop, tiled, private, expanded))
    grouping = _grouping(scop, tiled)
    task = _Task(
        scop, tiled, dependences, refs, expanded, budget, grouping, smallest, care, turns or {}, limits or {}
    )
    homes = _homes(task, top, budget, price)
    if not isinstance(homes, Overflow) and not all(home.is_usable for home in homes):
        task = replace(task, care=Care.ALL)
        homes = _homes(task, top, budget, price)
    return homes if isinstance(homes, Overflow) else _plan(task, top, homes)


def _grouping(scop: Scop, tiled: TiledKernel) -> Grouping:
    timing = (lambda: timing_of(scop, tiled.schedule)) if tiled.mapping.apart else None
    return Grouping(timing, loose=tiled.kernel.pieces is not None)


def _homes(task: _Task, top: Level, budget: int, price: Price | None) -> list[_Home] | Overflow:
    """Return homes of all arrays that take at most ``budget`` bytes."""
    return _evenly(task, top, budget) if price is None else _priced(task, top, budget, price)


def _evenly(task: _Task, top: Level, budget: int) -> list[_Home] | Overflow:
    """Return the homes of all arrays under the largest common limit of ``budget``, its half, and so on."""
    while task.limit >= _SMALLEST_LIMIT:
        homes = [_home(task, top, array) for array in task.arrays]
        large = tuple(home.array for home in homes if home.too_large)
        if large:
            return Overflow(large, task.limit)
        if sum(home.bytes(task) for home in homes) <= budget:
            return homes
        task = replace(task, limit=task.limit // 2)
    return Overflow((), task.limit)


def _priced(task: _Task, top: Level, budget: int, price: Price) -> list[_Home] | Overflow:
    """Return homes of all arrays that take at most ``budget`` bytes, the cheapest places given up last."""
    homes = [_home(task, top, array) for array in task.arrays]
    large = tuple(home.array for home in homes if home.too_large)
    if large:
        return Overflow(large, task.limit)
    if sum(home.bytes(task) for home in homes) <= budget:
        return homes
    options = [_options(task, top, home, price) for home in homes]
    chosen = within(options, budget)
    if chosen is None:
        return Overflow((), task.limit)
    return [some[k].home for some, k in zip(options, chosen, strict=True)]


@dataclass(frozen=True, slots=True)
class _Place(Option):
    """One home of an array."""

    home: _Home


def _options(task: _Task, top: Level, home: _Home, price: Price) -> list[_Place]:
    """Return ``home`` and those of its array that are further inside, from the outermost on."""
    homes = [home, *_further_inside(task, top, home)]
    return [_Place(home.bytes(task), home.cycles(price), home) for home in homes]


def _further_inside(task: _Task, top: Level, home: _Home) -> Iterator[_Home]:
    """Yield homes of the array of ``home``, the largest buffer further inside from one to the next."""
    while home.groups:
        limit = max(_bytes(task, group) for _, group in home.groups) - 1
        home = _home(replace(task, limit=limit), top, home.array)
        if home.too_large:
            return
        yield home


def least_buffers(
    scop: Scop, tiled: TiledKernel, dependences: Dependences, private: Private, expanded: frozenset[str]
) -> tuple[Needed, ...]:
    """Return what the buffers of each array take where they are smallest, whatever the budget."""
    top = find_levels(tiled)
    refs = tuple(references(scop, tiled, private, expanded))
    grouping = _grouping(scop, tiled)
    task = _Task(scop, tiled, dependences, refs, expanded, _NO_LIMIT, grouping, False, Care.ALL)
    found = []
    for array in task.arrays:
        first = _home(task, top, array)
        *_, last = first, *_further_inside(task, top, first)
        found += [Needed(array, level.number, _bytes(task, group)) for level, group in last.groups]
    return tuple(found)


_TOO_LARGE = "its tile is larger than the LDM budget"
_TOO_LARGE_AT_ALL = "its part in the smallest tile is larger than the LDM budget"


@dataclass(frozen=True, slots=True)
class _Home:
    """Where the references to one array go: groups with their level, and what stays in main memory."""

    array: str
    groups: tuple[tuple[Level, Group], ...]
    direct: tuple[Direct, ...]

    @property
    def too_large(self) -> bool:
        return any(d.reason == _TOO_LARGE for d in self.direct)

    @property
    def is_usable(self) -> bool:
        return all(group.box.is_usable for _, group in self.groups)

    def bytes(self, task: _Task) -> int:
        return sum(_bytes(task, group) for _, group in self.groups)

    def cycles(self, price: Price) -> float:
        buffers = sum(price.of_buffer(level, group) for level, group in self.groups)
        return buffers + sum(price.of_direct(d.statement) for d in self.direct)


def _plan(task: _Task, top: Level, homes: list[_Home]) -> MemoryPlan:
    buffers: list[Buffer] = []
    taken = {home.array for home in homes}
    for home in homes:
        further = [distinct(f"{home.array}_{k + 2}", taken.__contains__) for k in range(len(home.groups) - 1)]
        taken.update(further)
        names = [home.array, *further][: len(home.groups)]
        pairs = zip(names, home.groups, strict=True)
        placed = [_buffer(task, name, level, group) for name, (level, group) in pairs]
        placed = [replace(b, steady=is_steady(b, task.refs)) for b in placed]
        buffers += [replace(b, reloaded=is_reloaded(b, placed)) for b in placed]
    direct = tuple(d for home in homes for d in home.direct)
    return MemoryPlan(top, tuple(buffers), direct, sum(b.total for b in buffers))


def writes_in_part(scop: Scop, plan: MemoryPlan) -> frozenset[str]:
    """Return the arrays of small elements that ``plan`` does not put back in whole words of memory."""
    small = {array.name for array in scop.arrays if is_small(array)}
    bare = {d.array for d in plan.direct if d.array in small and d.array in scop.written_by({d.statement})}
    parts = (b.array for b in plan.buffers if b.array in small and b.store in (Store.ROWS, Store.ELEMENTS))
    return frozenset(bare.union(parts))


def _home(task: _Task, top: Level, array: str) -> _Home:
    """Return the home of an array; a reference that is never made (``0 ? A[i] : x``) needs none."""
    refs = [ref for ref in task.refs if ref.array == array]
    task = replace(task, limit=min(task.limit, task.limits.get(array, task.limit)))
    if array in task.expanded:
        return _place_expanded(task, top, refs)
    never = [ref for ref in refs if not ref.happens]
    if not never:
        return _place_array(task, top, array, refs)
    refs = [ref for ref in refs if ref not in never]
    home = _place_array(task, top, array, refs) if refs else _Home(array, (), ())
    idle = tuple(_direct(ref, "it is never accessed there") for ref in never)
    return replace(home, direct=(*home.direct, *idle))


def _place_array(task: _Task, top: Level, array: str, refs: list[Reference]) -> _Home:
    reason = _unbufferable(task.scop, array, refs, task.tiled.kernel.statements)
    if reason:
        return _Home(array, (), tuple(_direct(ref, reason) for ref in refs))
    groups, left = _place(task, top, refs)
    home = _Home(array, tuple(groups), tuple(left))
    if any(ref.writes for ref in refs) and left and not home.too_large:
        why = "another reference to the written array has no bounded tile"
        rest = [_direct(ref, why) for _, group in groups for ref in group.refs]
        return _Home(array, (), (*left, *rest))
    return home


def _place_expanded(task: _Task, top: Level, refs: list[Reference]) -> _Home:
    """Give a private variable one buffer for all its copies; nothing of it comes from or goes to memory.

    Its accesses that are never made are written as accesses to the buffer, too.
    """
    level, copies = _level_of_copies(top, [ref for ref in refs if ref.happens])
    group = replace(copies, refs=tuple(refs))
    array = refs[0].array
    if not task.may_take(group) or _bytes(task, group) > task.limit:
        return _Home(array, (), tuple(_direct(ref, _TOO_LARGE) for ref in refs))
    return _Home(array, ((level, group),), ())


def _level_of_copies(top: Level, refs: list[Reference]) -> tuple[Level, Group]:
    """Return where the copies of a private variable have a buffer, and their box there.

    That is the outermost level at which they are bounded in number, the tile if none is.  It has all
    references to them below, and each copy is used in one visit of it: its value need not outlive that.
    """
    first = level, group = top, hull_group(top, refs)
    while not group.box.is_usable:
        inside = [c for c in level.children if all(ref.statement in c.statements for ref in refs)]
        if not inside or not _in_one_visit(inside[0], refs):
            return first
        level, group = inside[0], hull_group(inside[0], refs)
    return level, group


def _in_one_visit(level: Level, refs: list[Reference]) -> bool:
    """Return whether each element that ``refs`` access is accessed in one visit of ``level`` alone."""
    touched = footprint(level, refs)  # visit -> element
    return bool(touched.is_injective())


def is_expandable(scop: Scop, tiled: TiledKernel, private: Private, name: str) -> bool:
    """Return whether a buffer holds the copies of the private variable ``name``, bounded in number."""
    present = set(tiled.kernel.statements)
    components = {
        expansion.component
        for (statement, array), expansion in private.expansions.items()
        if array == name and statement in present
    }
    if len(components) != 1:
        return False
    refs = [ref for ref in references(scop, tiled, private, frozenset({name})) if ref.array == name]
    refs = [ref for ref in refs if ref.happens]
    return bool(refs) and _level_of_copies(find_levels(tiled), refs)[1].box.is_usable


def _unbufferable(scop: Scop, array: str, refs: list[Reference], statements: Iterable[str]) -> str:
    """Return why no reference to ``array`` in ``statements`` may be buffered, or the empty string."""
    if not all(ref.affine for ref in refs) and table_extents(scop, array, {*statements}) is None:
        return "a subscript is not affine"
    if is_small(scop.array(array)) and words_of(scop, scop.array(array)) is None:
        return "DMA moves words of 4 bytes: `assume` that its rows are whole ones, if they are"
    if _longest_row(scop, array) > LONGEST_ROW:
        return "its rows are longer than a transfer can skip"
    return ""


def _longest_row(scop: Scop, name: str) -> int:
    """Return the bytes of a row of an array with several dimensions, 0 where only the sizes tell."""
    array = scop.array(name)
    row = array.extents[-1] if len(array.extents) > 1 else None
    count = None if row is None else constant_of(row)
    return (count or 0) * array.element.size


def _direct(ref: Reference, reason: str) -> Direct:
    return Direct(ref.statement, ref.ref, ref.array, reason)


def _place(
    task: _Task, level: Level, refs: list[Reference]
) -> tuple[list[tuple[Level, Group]], list[Direct]]:
    """Place ``refs``, all of one array, at ``level`` or below; return the groups and what is left over."""
    placed: list[tuple[Level, Group]] = []
    deferred: list[Reference] = []
    too_large: list[Group] = []

    def fits(group: Group) -> bool:
        return group.box.bound is not None and _bytes(task, group) <= task.limit and task.may_take(group)

    for group in task.grouping.groups(level, refs, fits, careful=task.care is Care.ALL):
        if fits(group):
            placed.append((level, group))
        else:
            too_large += [group] if group.box.bound is not None else []
            deferred += group.refs
    direct: list[Direct] = []
    for child in level.children:
        inside = [ref for ref in deferred if ref.statement in child.statements]
        if inside:
            below, left = _place(task, child, inside)
            placed += below
            direct += left
    covered = frozenset[str]().union(*(child.statements for child in level.children))
    last = [ref for ref in deferred if ref.statement not in covered]
    large = bool(last) and any(task.is_large(group) for group in too_large)
    reason = task.too_large if large else "its footprint has no constant bound"
    return placed, [*direct, *(_direct(ref, reason) for ref in last)]


def _bytes(task: _Task, group: Group) -> int:
    """Return the bytes that a buffer for ``group`` takes, with the turned box if it has one."""
    turned = _turned(task, group)
    return _box_bytes(task, group) + (turned.bytes if turned else 0)


def _box_bytes(task: _Task, group: Group) -> int:
    return group.box.elements() * task.scop.array(group.refs[0].array).element.size


def _turned(task: _Task, group: Group) -> Turned | None:
    """Return the copy that the box of ``group`` has besides, None where it has none."""
    bound, size = group.box.bound, task.scop.array(group.refs[0].array).element.size
    asked = [task.turns.get((ref.statement, ref.ref)) for ref in group.refs]
    dimension = next((each for each in asked if each is not None), None)
    if dimension is None or bound is None or any(ref.writes for ref in group.refs):
        return None
    unit = ALIGNMENT // size
    pitch = -(-bound[dimension] // unit) * unit
    rows = prod(side for k, side in enumerate(bound) if k != dimension)
    return Turned(dimension, pitch, rows * pitch * size)


def _buffer(task: _Task, name: str, level: Level, group: Group) -> Buffer:
    if group.refs[0].array in task.expanded:
        identity = tuple((ref.statement, ref.ref) for ref in group.refs)
        box, size = group.box.simplified(), _box_bytes(task, group)
        return Buffer(name, name, level.number, identity, box, False, Store.NONE, None, size)
    if task.grouping.loose and group.refs[0].words is None:
        group = replace(group, box=group.box.within(_in_the_array(task, group)))
    writers = [ref for ref in group.refs if ref.writes]
    written = _stored(task, level, group) if writers else None
    store, whole, rows = Store.NONE, False, None
    if written is not None:
        around = group.box.as_map(written.get_space())
        _normalise(written, around)
        whole = bool(around.is_subset(written))
        store = Store.BOX if whole else _store(task, level, group, around, written)
    load = _reads_old_values(task, level, group) or any(ref.may_write for ref in writers)
    load = load or (store is Store.BOX and not whole)
    new = kept = written
    if written is not None and store is Store.BOX:
        kept = around
    if written is not None and store in (Store.ROWS, Store.ELEMENTS):
        filled = _in_rows(task, level, group, around, written, store, load)
        if filled is not None:
            (written, rows), store, load = filled, Store.ROWS, True
            kept = written
    identity = tuple((ref.statement, ref.ref) for ref in group.refs)
    array, box, size = group.refs[0].array, group.box.simplified(), _box_bytes(task, group)
    turned = _turned(task, group) if load else None
    missing = (
        _missing(task, level, group, new, kept) if load and new is not None and kept is not None else None
    )
    return Buffer(
        name, array, level.number, identity, box, load, store, written, size,
        turned=turned, missing=missing, rows=rows,
    )  # fmt: skip


def _in_rows(
    task: _Task, level: Level, group: Group, box: isl.Map, written: isl.Map, store: Store, load: bool
) -> tuple[isl.Map, Interval | None] | None:
    """Return intervals of rows that hold all that is ``written`` and may be put for it; None for none.

    All else in them has to have been loaded, so rows that are put as they are remain so unless the box is
    loaded in any case: there, all of its rows in an interval have simpler bounds than many intervals.
    """
    rows = whole_rows(task.scop, group.refs[0].array, task.tiled.kernel.launched) if load else None
    if rows is not None:
        moved = rows_within(box, rows)
        if written.is_subset(moved) and not others_write(task.refs, task.tiled, level, group, moved, written):
            return moved, rows
    if store is Store.ROWS:
        return None
    filled = filled_rows(written)
    usable = is_rowwise(filled) and not others_write(task.refs, task.tiled, level, group, filled, written)
    return (filled, None) if usable else None


def _in_the_array(task: _Task, group: Group) -> list[isl.Set]:
    """Return, per dimension, the indices of the array of ``group``, or those accessed where it has no end.

    These are the indices that the statements access in the region: in the kernel, isl would have to tell
    apart which of them belong to which tile.
    """
    refs, scop = {(ref.statement, ref.ref) for ref in group.refs}, task.scop
    accessed = (a.relation for s in scop.statements for a in s.accesses if (s.name, a.ref) in refs)
    touched = reduce(isl.Set.union, (relation.range() for relation in accessed))
    touched = touched.intersect_params(scop.context).coalesce()
    extents = scop.array(group.refs[0].array).extents
    return [
        index_range(touched, k).coalesce()
        if extent is None
        else isl.Set.from_pw_aff(extent).apply(isl.Map("{ [n] -> [x] : 0 <= x < n }"))
        for k, extent in enumerate(extents)
    ]


def _stored(task: _Task, level: Level, group: Group) -> isl.Map:
    """Return what of the elements written by ``group`` it has to store, per visit: all it writes last."""
    written, timing = footprint(level, [ref for ref in group.refs if ref.writes]), task.grouping.timing
    array = group.refs[0].array
    others = [r for r in task.refs if r.array == array and r.writes and r.happens and r not in group.refs]
    others = [ref for ref in others if ref.statement in level.statements]
    if timing is None or not others:
        return written
    superseded = timing.superseded(level, group.refs, others)
    return written.subtract(superseded.extract_map(written.get_space())).coalesce()


def _normalise(written: isl.Map, like: isl.Map) -> None:
    """Have isl leave out of ``written`` what follows from the rest of it, so that stores have simple bounds.

    It does so, in place, to what is taken from another relation in the space of ``like``.
    """
    isl.Map.empty(like.get_space()).subtract(written)


def _missing(task: _Task, level: Level, group: Group, written: isl.Map, stored: isl.Map) -> Exchange | None:
    """Return what a visit has to get of the box of ``group``, if that is little of it, in intervals of rows.

    That is what it reads of the values from before it.  All else that it reads or that is ``stored`` is
    ``written`` by then, for certain.
    """
    array = task.scop.array(group.refs[0].array)
    old = (
        None
        if is_small(array) or any(ref.may_write for ref in group.refs)
        else _old_values(task, level, group)
    )
    by_visit = [] if old is None else maps_of(level.prefix.reverse().apply_range(old))
    if len(by_visit) != 1:
        return None
    wanted = coalesced(by_visit[0])
    box, size = bounding_box(wanted), array.element.size
    whole = group.box.bound
    if not box.is_usable or box.bound is None or whole is None or not is_little(box.bound, whole, size):
        return None
    if not stored.is_subset(written.union(wanted)) or not is_rowwise(wanted):
        return None
    return Exchange(wanted, box.simplified(), whole=False)


def is_little(part: Sequence[int], whole: Sequence[int], element: int) -> bool:
    """Return whether ``part`` of a box is got by itself, not the ``whole``; both are given by their sides.

    Its elements have so many bytes.
    """
    return _LITTLE * _requests(part, element) <= _requests(whole, element)


def _requests(sides: Sequence[int], element: int) -> int:
    """Return about how many requests the rows of a box with these ``sides`` take."""
    *rows, last = sides
    return prod(rows) * (1 + last * element // _REQUEST)


def _reads_old_values(task: _Task, level: Level, group: Group) -> bool:
    """Return whether something in the group is read that the same visit has not certainly written."""
    return _old_values(task, level, group) is not None


def _old_values(task: _Task, level: Level, group: Group) -> isl.UnionMap | None:
    """Return what is read (instance -> element), not certainly written in the same visit; None: nothing."""
    readers = [ref for ref in group.refs if ref.reads]
    if not readers:
        return None
    # Of each element that a visit reads, some read is the first.  If a write of the same visit certainly made
    # its value, that write came first, so the buffer holds it: nothing old is needed exactly if that is so of
    # all reads.  Reads whose producer is not known are not in ``sourced``, and make the buffer be loaded.
    reads = union_maps(ref.relation for ref in readers)  # instance -> element
    # [reading instance -> element] -> visit of the producing instance
    producers = task.dependences.sourced.reverse().apply_range(level.prefix)
    same_visit = reads.range_product(level.prefix)  # instance -> [element -> its own visit]
    pieces = [m for m in maps_of(producers) if m.domain_is_wrapping()]
    sourced = union_maps(m.curry() for m in pieces).intersect(same_visit)
    old = reads.subtract(sourced.range_factor_domain())
    return None if old.is_empty() else old


def _store(task: _Task, level: Level, group: Group, box: isl.Map, written: isl.Map) -> Store:
    """Return the cheapest way to put back exactly what was ``written``, which is not all of ``box``.

    The rest of the box is only touched when it certainly lies inside the array: the last row of
    an array of unknown length may end early, unless the region shows that it is there or the visit accesses
    all of it.
    """
    array = task.scop.array(group.refs[0].array)
    whole = not is_small(array) or in_whole_words(task.scop, array)
    bounded = whole and task.scop.has_rows(array.name, index_range(box.range(), 0))
    inside = bounded or _certainly_accessed(task, level, group, box)
    if inside and not others_write(task.refs, task.tiled, level, group, box, written):
        return Store.BOX
    return Store.ROWS if is_rowwise(written) else Store.ELEMENTS


def _certainly_accessed(task: _Task, level: Level, group: Group, box: isl.Map) -> bool:
    """Return whether ``group`` accesses all elements of ``box`` whatever the data are."""
    plain = {ref.statement: is_unconditional(task.scop.statement(ref.statement).body) for ref in group.refs}
    sure = [ref for ref in group.refs if ref.happens and plain[ref.statement] and not ref.may_write]
    return bool(sure) and bool(box.is_subset(footprint(level, sure)))
