"""Whether references to the same elements of an array may have buffers of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import Assignment, Step
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.trees import walk
from swbuild.frontend.scop import Scop, Statement
from swbuild.memory.levels import Level, Reference
from swbuild.polyhedral.islutil import bounded_effort, maps_of, union_maps

__all__ = ["Timing", "timing_of"]

#: isl steps for telling what is accessed before what.
MAX_OPERATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Timing:
    """When a kernel runs what: ``order`` gives the time of every instance.

    An instance of one of ``plain`` writes once, after all that it reads; another one may hold a loop, in
    which it writes before it reads.
    """

    order: isl.UnionMap
    plain: frozenset[str]

    def may_part(self, level: Level, a: Sequence[Reference], b: Sequence[Reference]) -> bool:
        """Return whether ``a`` and ``b``, of one array, may have buffers of their own at ``level`` or below.

        They may if neither reads what the other writes earlier in the visit: what it reads then is in its own
        buffer, or in main memory from visits that are over.  A write that comes later in the visit goes to
        the other buffer, where it is not seen.  Other tiles write nothing that this one reads: no dependence
        leads from tile to tile.  Of elements that both write, all last values have to be certain, and in one
        of the buffers; the other one must not store them (:meth:`superseded`).
        """
        try:
            with bounded_effort(MAX_OPERATIONS):
                if _write_nothing_of(level, a, b) and _write_nothing_of(level, b, a):
                    return True
                return not self._reads_newer(level, a, b) and self._has_one_last(level, a, b)
        except isl.Error:
            return False

    def superseded(
        self, level: Level, refs: Sequence[Reference], others: Sequence[Reference]
    ) -> isl.UnionMap:
        """Return visit -> element: what ``refs`` write, and ``others`` later in the same visit."""
        first, second = (_elements(r for r in some if r.writes).reverse() for some in (refs, others))
        earlier = self._ordered(self._writes(level, refs, others))
        meeting = first.range_product(second).intersect_range(earlier.wrap())  # element -> [earlier -> later]
        return level.prefix.reverse().apply_range(meeting.range_factor_domain().reverse())

    def _reads_newer(self, level: Level, a: Sequence[Reference], b: Sequence[Reference]) -> bool:
        return self._is_newer(level, a, b) or self._is_newer(level, b, a)

    def _is_newer(self, level: Level, writers: Sequence[Reference], readers: Sequence[Reference]) -> bool:
        """Return whether a read of ``readers`` comes later in a visit than a write of its element."""
        written = [ref for ref in writers if ref.writes]
        reads = _elements(ref for ref in readers if ref.reads)
        plain = _elements(ref for ref in written if ref.statement in self.plain)
        other = _elements(ref for ref in written if ref.statement not in self.plain)
        return self._is_ordered(_meeting(level, plain, reads), strictly=True) or self._is_ordered(
            _meeting(level, other, reads), strictly=False
        )

    def _has_one_last(self, level: Level, a: Sequence[Reference], b: Sequence[Reference]) -> bool:
        """Return whether all common elements are certainly written last by ``a``, or all by ``b``."""
        for first, last in ((a, b), (b, a)):
            pairs = self._writes(level, last, first)
            if not self._is_ordered(pairs, strictly=False):
                certain = not any(ref.may_write for ref in last)
                return certain or self._writes(level, first, last).is_empty()
        return False

    def _writes(self, level: Level, a: Sequence[Reference], b: Sequence[Reference]) -> isl.UnionMap:
        """Return the pairs of writes of ``a`` and ``b`` to one element in one visit."""
        first, second = (_elements(ref for ref in refs if ref.writes) for refs in (a, b))
        return _meeting(level, first, second)

    def _ordered(self, pairs: isl.UnionMap) -> isl.UnionMap:
        """Return those of ``pairs`` of which the first comes first."""
        first, second = (self.order.intersect_domain(ends) for ends in (pairs.domain(), pairs.range()))
        return pairs.intersect(first.lex_lt_union_map(second))

    def _is_ordered(self, pairs: isl.UnionMap, *, strictly: bool) -> bool:
        """Return whether the first of some of ``pairs`` comes first or, not ``strictly``, is the second.

        Their times (time -> time) are compared number by number, which takes isl a tenth of what it takes for
        the pairs themselves.
        """
        times = pairs.apply_domain(self.order).apply_range(self.order)
        return any(_rises(each, strictly=strictly) for each in maps_of(times))


def _rises(times: isl.Map, *, strictly: bool) -> bool:
    """Return whether ``times`` leads anywhere from a time to a later one or, not ``strictly``, to itself."""
    for k in range(times.dim(isl.dim_type.in_)):
        number = (isl.dim_type.in_, k, isl.dim_type.out, k)
        if not times.order_lt(*number).is_empty():
            return True
        times = times.equate(*number)
        if times.is_empty():
            return False
    return not strictly and not times.is_empty()


def timing_of(scop: Scop, schedule: isl.Schedule) -> Timing:
    """Return when the statements of ``scop`` run in ``schedule``."""
    plain = frozenset(s.name for s in scop.statements if _writes_last(s))
    return Timing(schedule.get_map(), plain)


def _writes_last(statement: Statement) -> bool:
    """Return whether the statement is one assignment, without another one in it."""
    body = statement.body.expression if isinstance(statement.body, Evaluation) else statement.body
    if not isinstance(body, Assignment):
        return False
    return not any(isinstance(node, Assignment | Step) for node in walk(body) if node is not body)


def _write_nothing_of(level: Level, refs: Sequence[Reference], others: Sequence[Reference]) -> bool:
    """Return whether ``refs`` write no element that one of ``others`` accesses in the same visit."""
    written = level.prefix.reverse().apply_range(_elements(ref for ref in refs if ref.writes))
    return bool(written.is_disjoint(level.prefix.reverse().apply_range(_elements(others))))


def _elements(refs: Iterable[Reference]) -> isl.UnionMap:
    return union_maps(ref.relation for ref in refs)


def _meeting(level: Level, first: isl.UnionMap, second: isl.UnionMap) -> isl.UnionMap:
    """Return the pairs of instances in one visit of ``level`` that access one element."""
    # instance -> [visit -> element]
    here, there = (level.prefix.range_product(accesses) for accesses in (first, second))
    return here.apply_range(there.reverse())
