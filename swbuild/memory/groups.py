"""Groups of references that share one buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from itertools import takewhile

import islpy as isl

from swbuild.classes import dataclass
from swbuild.memory.apart import Timing
from swbuild.memory.box import Box, bounding_box, loose_box
from swbuild.memory.levels import Level, Reference, footprint
from swbuild.memory.words import in_words
from swbuild.polyhedral.islutil import constant_of

__all__ = ["Group", "Grouping", "hull_group"]

#: The number of a level and places in the text.
_Key = tuple[int, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """References to one array and the box around what they touch per visit."""

    refs: tuple[Reference, ...]
    box: Box

    @property
    def writes(self) -> bool:
        return any(ref.writes for ref in self.refs)


class Grouping:
    """Computes groups, each only once per level and set of references.

    ``timing`` says when the kernel runs what; without it nothing is told from that.  ``loose``: boxes may be
    larger than the smallest ones for simple ends.
    """

    def __init__(self, timing: Callable[[], Timing] | None, *, loose: bool = False) -> None:
        self._timing = timing
        self.loose = loose
        self._pairs: dict[tuple[_Key, _Key], _Pair] = {}
        self._families: dict[_Key, list[Group]] = {}
        self._known: dict[tuple[_Key, bool, bool], list[Group]] = {}

    @cached_property
    def timing(self) -> Timing | None:
        """When the kernel runs what."""
        return None if self._timing is None else self._timing()

    def pair(self, level: Level, a: Group, b: Group) -> _Pair:
        """Return what is known of two groups at ``level``."""
        key = _key(level, a.refs), _key(level, b.refs)
        if key not in self._pairs:
            self._pairs[key] = _Pair(self, level, a, b)
        return self._pairs[key]

    def groups(
        self, level: Level, refs: list[Reference], fits: Callable[[Group], bool], *, careful: bool
    ) -> list[Group]:
        """Return the groups of ``refs``, all of one array, at ``level``.

        References that may touch a common element in one visit share a group when one of them
        writes; read-only ones when the common box is no larger than the boxes apart, and, ``careful``, isl
        finds its ends.  Where it is larger, or more of the groups than of those with the common one ``fits``,
        they are groups of their own, too, if neither reads what the other has written in the visit
        (:class:`Timing`).
        """
        found = self._groups(level, refs, careful=careful, parted=False)
        if all(fits(group) for group in found if group.writes):
            return found
        parted = self._groups(level, refs, careful=careful, parted=True)
        return parted if sum(map(fits, parted)) > sum(map(fits, found)) else found

    def _groups(self, level: Level, refs: list[Reference], *, careful: bool, parted: bool) -> list[Group]:
        """Return groups, those as ``parted`` as they may be that a common box would not be larger for."""
        key = _key(level, refs)
        if key not in self._families:
            self._families[key] = _uniform(level, refs, loose=self.loose)
        if (key, careful, parted) not in self._known:
            merging = _Merging(self, level, careful, parted)
            self._known[key, careful, parted] = _merged(merging, self._families[key])
        return self._known[key, careful, parted]


def _key(level: Level, refs: Iterable[Reference]) -> _Key:
    return level.number, tuple((ref.statement, ref.ref) for ref in refs)


class _Pair:
    """Two groups of references to one array at a level; each question about them is answered once."""

    def __init__(self, grouping: Grouping, level: Level, a: Group, b: Group) -> None:
        self._grouping, self._level, self._a, self._b = grouping, level, a, b
        self.refs = tuple(sorted((*a.refs, *b.refs), key=lambda r: (r.statement, r.ref)))

    @cached_property
    def box(self) -> Box:
        """A box around those of both, a loose one where a smaller one takes isl long."""
        box = self._a.box.hull(self._b.box)
        words = self._a.refs[0].words or self._b.refs[0].words
        unbounded = self._a.box.bound is None or self._b.box.bound is None
        if not self._grouping.loose or words is not None or unbounded or box.is_usable:
            return box
        return loose_box(footprint(self._level, list(self.refs)))

    @cached_property
    def is_disjoint(self) -> bool:
        """Whether no element is in both footprints of a visit."""
        first, second = (footprint(self._level, list(group.refs)) for group in (self._a, self._b))
        return bool(first.is_disjoint(second))

    @cached_property
    def may_part(self) -> bool:
        """Whether the two, which touch common elements, may have buffers of their own."""
        timing = self._grouping.timing
        return timing is not None and timing.may_part(self._level, self._a.refs, self._b.refs)

    @cached_property
    def is_filled(self) -> bool:
        """Whether both together write all of their box, which goes back in one transfer then."""
        both = self._a.writes and self._b.writes
        return both and self.box.bound is not None and _fills(self._level, self.refs, self.box)

    @cached_property
    def is_no_larger(self) -> bool:
        """Whether the common box takes no more elements than the two apart."""
        return _is_no_larger(self.box, self._a.box, self._b.box)


def hull_group(level: Level, refs: list[Reference]) -> Group:
    """Return all of ``refs`` as one group."""
    groups = _uniform(level, refs)
    box = groups[0].box
    for group in groups[1:]:
        box = box.hull(group.box)
    return Group(tuple(refs), box)


def _uniform(level: Level, refs: list[Reference], *, loose: bool = False) -> list[Group]:
    """Group references of one statement whose subscripts differ by constants (a stencil's neighbours)."""
    families: list[list[tuple[Reference, tuple[int, ...]]]] = []
    for ref in refs:
        for family in families:
            offset = _offset(family[0][0], ref)
            if offset is not None:
                family.append((ref, offset))
                break
        else:
            families.append([(ref, (0,) * ref.relation.dim(isl.dim_type.out))])
    boxed = loose_box if loose and refs[0].words is None else bounding_box
    return [_family_group(level, family, boxed) for family in families]


def _offset(base: Reference, other: Reference) -> tuple[int, ...] | None:
    """Return the constant difference of the subscripts of ``other`` and ``base``, or None."""
    if base.statement != other.statement or base.array != other.array:
        return None
    if base.words is not None:
        return None  # a shifted copy begins elsewhere in a word
    if not base.relation.domain().is_equal(other.relation.domain()):
        return None  # one of them runs under a condition: its footprint is no shifted copy
    if not (base.relation.is_single_valued() and other.relation.is_single_valued()):
        return None  # a subscript that is data
    first, second = (isl.PwMultiAff.from_map(ref.relation) for ref in (base, other))
    difference = []
    for k in range(first.dim(isl.dim_type.out)):
        value = second.get_pw_aff(k).sub(first.get_pw_aff(k)).coalesce()
        constant = constant_of(value.gist(value.domain()))
        if constant is None:
            return None
        difference.append(constant)
    fixed = [_is_fixed(first.get_pw_aff(k)) for k in range(len(difference))]
    planes = takewhile(lambda k: fixed[k], range(len(difference)))
    if not fixed[-1] and any(difference[k] for k in planes) and (base.writes or other.writes):
        return None  # one plane is computed from another: they have no element in common
    return tuple(difference)


def _is_fixed(subscript: isl.PwAff) -> bool:
    """Return whether ``subscript`` is one number in all instances."""
    return constant_of(subscript.gist(subscript.domain())) is not None


def _family_group(
    level: Level, family: list[tuple[Reference, tuple[int, ...]]], boxed: Callable[[isl.Map], Box]
) -> Group:
    first = family[0][0]
    box = boxed(in_words(footprint(level, [first]), first.words))
    by_dimension = list(zip(*(offset for _, offset in family), strict=True))
    least = tuple(min(values) for values in by_dimension)
    most = tuple(max(values) for values in by_dimension)
    return Group(tuple(ref for ref, _ in family), box.widened(least, most))


@dataclass(frozen=True, slots=True)
class _Merging:
    """How groups at ``level`` are merged.

    ``careful``: those that are only read are, if isl finds the ends of the common box.  ``parted``: those
    that may have buffers of their own are not, though the common box is no larger.
    """

    grouping: Grouping
    level: Level
    careful: bool
    parted: bool


def _merged(how: _Merging, groups: list[Group]) -> list[Group]:
    """Merge pairs until no pair has to or should share a buffer.

    What is written comes first: a group that is only read, merged for its small box, would take all of it
    along into the buffer of what is written.
    """
    groups = _filling(how.level, groups)
    for written in (True, False):
        groups = _merged_pairs(how, groups, written)
    return sorted(groups, key=lambda g: (g.refs[0].statement, g.refs[0].ref))


def _filling(level: Level, groups: list[Group]) -> list[Group]:
    """Return ``groups`` with those that write as one where all of them together fill its box, but no two do.

    Such are the statements that each write every second element of every second row.
    """
    writers = [group for group in groups if group.writes]
    if len(writers) < 3:  # pairs are looked at anyway
        return groups
    box = reduce(Box.hull, [group.box for group in writers])
    refs = [ref for group in writers for ref in group.refs]
    if not (_is_no_larger(box, *(group.box for group in writers)) and _fills(level, refs, box)):
        return groups
    return [Group(tuple(refs), box), *(group for group in groups if not group.writes)]


def _merged_pairs(how: _Merging, groups: list[Group], written: bool) -> list[Group]:
    """Merge pairs of ``groups``, only those of which one is ``written`` if that is set."""
    position = 0
    while position < len(groups):
        for other in range(position + 1, len(groups)):
            a, b = groups[position], groups[other]
            skipped = written and not (a.writes or b.writes)
            union = None if skipped else _merge(how, a, b)
            if union is not None:
                groups = [g for k, g in enumerate(groups) if k not in (position, other)] + [union]
                position = -1
                break
        position += 1
    return groups


def _merge(how: _Merging, a: Group, b: Group) -> Group | None:
    pair, writes = how.grouping.pair(how.level, a, b), a.writes or b.writes
    if writes and pair.is_disjoint:
        wanted = pair.is_filled
    elif not (writes and how.parted) and pair.is_no_larger:
        wanted = writes or not how.careful or pair.box.is_usable
    else:
        wanted = writes and not pair.may_part
    return Group(pair.refs, pair.box) if wanted else None


def _fills(level: Level, refs: Sequence[Reference], box: Box) -> bool:
    """Return whether ``refs`` together write all of ``box``, which is bounded."""
    if not box.is_usable:
        return False
    written = footprint(level, [ref for ref in refs if ref.writes])
    return bool(box.as_map(written.get_space()).is_subset(written))


def _is_no_larger(box: Box, *others: Box) -> bool:
    """Return whether ``box``, the common one, takes no more elements than the ``others`` apart."""
    if box.bound is None or any(other.bound is None for other in others):
        return False
    return box.elements() <= sum(other.elements() for other in others)
