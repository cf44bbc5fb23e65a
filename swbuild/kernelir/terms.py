"""What is known at a place of a kernel's tree of how CPEs differ there: their own values and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.conditions import both, parts_of
from swbuild.expressions.linear import at_zero, distance, factor_of, plus, times, without_term
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name, Select
from swbuild.expressions.trees import names_in, substituted, transformed, walk
from swbuild.kernelir.affine import NotAffine, as_set, as_value, most_of
from swbuild.kernelir.nodes import Guard, Loop, Node
from swbuild.kernelir.prefetching import following
from swbuild.kernelir.uneven import Crowd, ahead_of, least_or
from swbuild.names import own, plain_name

__all__ = ["Around", "under"]


def under(conditions: tuple[Expression, ...], node: Node) -> Node:
    """Return ``node`` where all ``conditions`` hold."""
    return Guard(both(conditions), node) if conditions else node


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a place that all CPEs come to together.

    ``crowd`` has the names by which they differ, ``values`` gives the iterators that differ in terms of
    these.  A CPE has work there where ``conditions``, which differ, hold; ``known`` hold for all.  Of the
    conditions, those ``begun`` say that a CPE has come to its first tile: they hold for its later ones, too.
    """

    crowd: Crowd
    values: Mapping[str, Expression] = field(default_factory=dict)
    conditions: tuple[Expression, ...] = ()
    known: frozenset[Expression] = frozenset()
    begun: frozenset[Expression] = frozenset()

    @property
    def threads(self) -> tuple[str, ...]:
        """The names by which CPEs differ."""
        return tuple(self.crowd.threads)

    def seen(self, expression: Expression) -> Expression:
        """Return ``expression`` in terms of what all CPEs have in common, and of ``threads``."""
        return substituted(expression, self.values)

    def differing(self, expression: Expression) -> frozenset[str]:
        """Return the names of threads that ``expression`` depends on."""
        return names_in(self.seen(expression)) & frozenset(self.threads)

    def where(self, condition: Expression) -> tuple[tuple[Expression, ...], Around]:
        """Return the parts of ``condition`` that are equal for all, and what is around what it guards."""
        parts = parts_of(condition)
        common = tuple(part for part in parts if not self.differing(part))
        own_ones = tuple(part for part in parts if part not in common)
        inside = replace(self, conditions=(*self.conditions, *own_ones), known=self.known | {*common})
        return common, inside

    def certainly(self, conditions: Iterable[Expression]) -> Around:
        """Return the same with more ``conditions``, whoever they are equal for."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def inside(self, loop: Loop) -> tuple[Loop, Around] | None:
        """Return ``loop`` as all CPEs run it equally often, without its body, and what is around that.

        The tiles of a CPE become those of rounds that are the same for all, in which it need not have one.
        None where such rounds are not found.  The loop's body belongs into :func:`filled`.
        """
        if loop.first is None:
            return None
        if loop.condition is None:
            values = {**self.values, loop.iterator: self.seen(loop.first)}
            return loop, replace(self, values=values)
        if not self.differing(loop.condition) and not self.differing(loop.first):
            crowd = self.crowd.with_rounds(loop.iterator, loop.first, loop.step)
            return loop, replace(self, crowd=crowd, known=self.known | {loop.condition})
        try:
            return self._in_step(loop) or self._rounds(loop)
        except NotAffine:
            return None

    def _in_step(self, loop: Loop) -> tuple[Loop, Around] | None:
        """Return what :meth:`inside` does for a loop that has the same values for all CPEs that run it.

        It begins with the first value that any of them has and lasts as long as it may for one; the others
        wait for their first value, or are done.
        """
        assert loop.first is not None and loop.condition is not None
        first, condition = self.seen(loop.first), self.seen(loop.condition)
        rest = self.crowd.rest_of(first, loop.step)
        common = None if rest is None else self.crowd.last_round(condition, loop.iterator)
        if rest is None or common is None:
            return None
        if not self.differing(loop.first):
            return replace(loop, condition=common), self._stepping(loop, loop.first, (), common)
        begun = Binary(BinaryOperator.LE, loop.first, Name(loop.iterator))
        here = self.crowd.where([*self._all_seen(), condition, self.seen(begun)])
        least = self.crowd.first_round(loop.iterator, here, rest, loop.step, first)
        if least is None:
            return None
        made = replace(loop, first=least, condition=common)
        return made, self._stepping(loop, least, (begun,), common)

    def _stepping(
        self, loop: Loop, first: Expression, begun: tuple[Expression, ...], common: Expression
    ) -> Around:
        """Return what is around the body of ``loop``, begun with ``first`` while ``common`` holds."""
        assert loop.condition is not None
        return replace(
            self,
            crowd=self.crowd.with_rounds(loop.iterator, first, loop.step),
            conditions=(*self.conditions, *begun, loop.condition),
            known=self.known | {common},
            begun=self.begun | {*begun},
        )

    def _rounds(self, loop: Loop) -> tuple[Loop, Around] | None:
        assert loop.first is not None and loop.condition is not None
        first, condition = self.seen(loop.first), loop.condition
        start = _start(first, self.threads) or _wrapped(first, loop.step, self.threads)
        if not _is_below(condition, loop.iterator):
            return None
        if start is None or self.differing(condition):
            return self._uneven_rounds(loop)
        name = own(f"{plain_name(loop.iterator)}_round", "loop")
        common = substituted(condition, {loop.iterator: Name(name)})
        value = Binary(BinaryOperator.ADD, Name(name), start.ahead)
        single = replace(loop, first=value, condition=None, step=1)
        rounds = replace(loop, iterator=name, first=start.first, condition=common, body=single)
        begun = () if start.after is None else (Binary(BinaryOperator.LT, start.after, Name(loop.iterator)),)
        inside = replace(
            self,
            crowd=self.crowd.with_rounds(name, start.first, loop.step),
            values={**self.values, loop.iterator: value},
            conditions=(*self.conditions, *begun, condition),
            known=self.known | {common},
            begun=self.begun | {*begun},
        )
        return rounds, inside

    def _uneven_rounds(self, loop: Loop) -> tuple[Loop, Around] | None:
        """Return what :meth:`inside` does for CPEs of which some begin or end in other rounds than others.

        Rounds begin with the first in which any of them has a tile and last as long as one may.
        """
        assert loop.first is not None and loop.condition is not None
        first = self.seen(loop.first)
        found = ahead_of(first, loop.step, self.crowd.threads)
        if found is None:
            return None
        ahead, rest = found
        name = own(f"{plain_name(loop.iterator)}_round", "loop")
        value = Binary(BinaryOperator.ADD, Name(name), ahead)
        condition = substituted(self.seen(loop.condition), {loop.iterator: value})
        common = self.crowd.last_round(condition, name)
        begun = Binary(BinaryOperator.LE, first, value)
        any_round = self.crowd.where([*self._all_seen(), condition, begun])
        least = self.crowd.first_round(name, any_round, rest, loop.step)
        if common is None or least is None:
            return None
        single = replace(loop, first=value, condition=None, step=1)
        rounds = replace(loop, iterator=name, first=least, condition=common, body=single)
        crowd = self.crowd.with_rounds(name, least, loop.step)
        always = crowd.where([*self._all_seen(), condition]).is_subset(as_set(begun))
        own_ones = () if always else (Binary(BinaryOperator.LE, loop.first, Name(loop.iterator)),)
        others = [c for c in self.conditions if c not in self.begun or not self._follows(c, condition, crowd)]
        inside = replace(
            self,
            crowd=crowd,
            values={**self.values, loop.iterator: value},
            conditions=(*others, *own_ones, loop.condition),
            known=self.known | {common},
            begun=self.begun | {*own_ones},
        )
        return rounds, inside

    def entering(self, loop: Loop, made: Loop, inside: Around) -> Around:
        """Return what is known before ``loop`` of CPEs that have a tile in the first of the rounds ``made``.

        ``inside`` is around the loop's body.
        """
        assert made.first is not None
        value = inside.values.get(loop.iterator, Name(loop.iterator))
        tile = substituted(value, {made.iterator: made.first})
        begun = [substituted(c, {loop.iterator: tile}) for c in inside.begun_since(self)]
        return replace(self, conditions=(*self.conditions, *begun), begun=self.begun | {*begun})

    def next_round(self, loop: Loop, outer: Around) -> Around:
        """Return the same for CPEs that come to their first tile of ``loop`` in the next round at the latest.

        ``outer`` is around the loop.
        """
        soon = {c: substituted(c, {loop.iterator: following(loop)}) for c in self.begun_since(outer)}
        conditions = tuple(soon.get(c, c) for c in self.conditions)
        return replace(self, conditions=conditions, begun=self.begun - soon.keys() | {*soon.values()})

    def begun_since(self, outer: Around) -> list[Expression]:
        """Return the conditions that a CPE has come to its first tile of the loops inside ``outer``."""
        return [c for c in self.conditions if c in self.begun and c not in outer.begun]

    def _follows(self, begun: Expression, condition: Expression, crowd: Crowd) -> bool:
        """Return whether a CPE has come to its first tile wherever the other conditions and one more hold."""
        others = (self.seen(known) for known in (*self.known, *self.conditions) if known != begun)
        return bool(crowd.where([*others, condition]).is_subset(as_set(self.seen(begun))))

    def _all_seen(self) -> list[Expression]:
        """Return all that is known to hold for a CPE with work, in terms of what all have in common."""
        return [self.seen(condition) for condition in (*self.known, *self.conditions)]

    def without(self, dropped: frozenset[str]) -> tuple[Expression, ...] | None:
        """Return when there is work for some CPEs that differ in ``dropped`` alone.

        That is when the one that is 0 there has some: so they have to have it where any other has.  None
        where that is not certain.  Whether a CPE has come to its first tile does not count where that depends
        on ``dropped`` alone: for one of them at least, rounds begin with that.  It counts where tiles tell
        how long loops inside run: those of that one may be shorter.
        """
        found = []
        for condition in self.conditions:
            seen = self.seen(condition)
            names = names_in(seen) & dropped
            if names and condition in self.begun:
                if self.differing(condition) - dropped or self._ends_inside(dropped):
                    return self._for_any(dropped)
                continue
            if not all(_falls(seen, name) for name in names):
                return self._for_any(dropped)
            here = at_zero(seen, tuple(names)) if names else condition
            found += [here] if here not in self.known else []
        return tuple(found)

    def _ends_inside(self, dropped: frozenset[str]) -> bool:
        """Return whether loops that all CPEs run in step end earlier for some that differ in ``dropped``."""
        own_ones = frozenset[str]().union(*map(names_in, self.values.values()))
        inside = self.crowd.rounds.keys() - own_ones
        seen = [
            names_in(self.seen(condition)) for condition in self.conditions if condition not in self.begun
        ]
        return any(names & dropped and names & inside for names in seen)

    def _for_any(self, dropped: frozenset[str]) -> tuple[Expression, ...] | None:
        """Return what :meth:`without` does where it takes different ones of the CPEs to have some work."""
        values = {name: value for name, value in self.values.items() if names_in(value) & dropped}
        found: list[Expression] = []
        for condition in self.conditions:
            seen = substituted(condition, values)
            if not names_in(seen) & dropped:
                found.append(condition)
            elif condition not in self.begun:
                widest = self.crowd.widest(seen, dropped)
                if widest is None:
                    return None
                found += widest
        try:
            here = self.crowd.where(self._all_seen())
            wanted = [self.seen(condition) for condition in found]
            known = [self.seen(condition) for condition in self.known]
            if not self.crowd.is_for_any(here, dropped, [*known, *wanted]):
                found += self._limits(here, dropped)
                wanted = [self.seen(condition) for condition in found]
                if not self.crowd.is_for_any(here, dropped, [*known, *wanted]):
                    return None
            open_ones = [c for c in found if c not in self.known and not self.crowd.always(as_set(c))]
        except NotAffine:
            return None
        return tuple(dict.fromkeys(open_ones))

    def _limits(self, here: isl.Set, dropped: frozenset[str]) -> list[Expression]:
        """Return the largest values ``here`` of iterators and host's loops that do not differ in ``dropped``.

        Conditions that limit them may have been left out, as they follow from those of other iterators, or
        from where the host's loops end.
        """
        named = [name for name in here.get_var_names(isl.dim_type.param) if name is not None]
        others = {name: Name(name) for name in named if name not in {*self.threads, *self.crowd.rounds}}
        values: Mapping[str, Expression] = {**others, **self.values}
        found: list[Expression] = []
        for name, value in values.items():
            most = None if names_in(value) & dropped else most_of(here, as_value(self.seen(value)))
            found += [] if most is None else [Binary(BinaryOperator.LE, Name(name), Constant(most))]
        return found

    def alike(self, value: Expression) -> Expression:
        """Return ``value`` in terms of as few of the threads as one finds, equal where a CPE has work."""
        differing = self.differing(value)
        names = [name for name in self.values if name in names_in(value)] if differing else []
        kept = [name for name in self.crowd.rounds if name in names_in(value)]  # of loops that go in step
        kept += names if len(names) > 1 and len(differing) > 1 else []
        others = [transformed(value, self._without_threads)] if differing else []
        others += [least_or(substituted(value, {name: Name(each) for name in names})) for each in kept]
        others = [other for other in others if other != value]
        try:
            return next((other for other in others if self._are_equal(other, value)), value)
        except NotAffine:
            return value

    def _are_equal(self, one: Expression, other: Expression) -> bool:
        """Return whether two values are equal where a CPE has work; raise :class:`NotAffine` if unknown."""
        here = self.crowd.where(self._all_seen())
        equal = as_value(self.seen(one)).eq_set(as_value(self.seen(other)))
        return bool(equal.params().intersect(here).is_equal(here))

    def _without_threads(self, node: Expression) -> Expression:
        """Return a choice without those of several conditions that differ from CPE to CPE, or what it is."""
        parts = parts_of(node.condition) if isinstance(node, Select) else ()
        common = [part for part in parts if not self.differing(part)]
        if not isinstance(node, Select) or not common or len(common) == len(parts):
            return node
        return replace(node, condition=both(common))


@dataclass(frozen=True, slots=True)
class _Start:
    """Where rounds start, how far ahead a CPE's tile is in one, and what its first tile comes after."""

    first: Expression
    ahead: Expression
    after: Expression | None = None


def _start(first: Expression, threads: tuple[str, ...]) -> _Start | None:
    """Return the start of rounds of CPEs that all begin in the first one; None where there is no such."""
    ahead = _ahead(first, threads)
    return None if ahead is None else _Start(at_zero(first, threads), ahead)


def _wrapped(first: Expression, step: int, threads: tuple[str, ...]) -> _Start | None:
    """Return the start of rounds of CPEs that begin with the first of their tiles ``after`` somewhere.

    That is ``last - size * (rest % count)`` where ``size * rest`` is ``last`` less what the CPE is ahead: a
    number that is equal to what it is ahead up to a multiple of the ``step``, which is ``size * count``, and
    is one of ``step`` numbers up to ``last``.  The last of as many CPEs as a step has tiles begins earliest.
    """
    for term in walk(first):
        if not isinstance(term, Binary) or term.operator is not BinaryOperator.MOD:
            continue
        found = without_term(first, term)
        if found is None or not isinstance(term.right, Constant):
            continue
        last, size, count = found[0], -found[1], term.right.value
        rest, (name, *more) = term.left, sorted(names_in(term.left) & {*threads}) or [""]
        factor = factor_of(rest, name)
        if size <= 0 or size * count != step or factor is None or factor >= 0 or more or count % -factor:
            continue
        ahead = times(Name(name), -factor * size)
        beyond = distance(Binary(BinaryOperator.ADD, times(rest, size), ahead), last)
        if beyond is None or names_in(last) & {*threads}:
            continue
        least = plus(at_zero(rest, (name,)), -factor - count)
        begin = Binary(BinaryOperator.SUB, least, Binary(BinaryOperator.MOD, least, term.right))
        return _Start(plus(times(begin, size), beyond), ahead, plus(last, -step))
    return None


def _ahead(first: Expression, threads: tuple[str, ...]) -> Expression | None:
    """Return how far ``first`` is behind that of the CPE 0: a sum of multiples of ``threads``."""
    found: Expression | None = None
    for name in threads:
        factor = factor_of(first, name)
        if factor is None or factor < 0:
            return None
        if factor:
            term: Expression = Binary(BinaryOperator.MUL, Constant(factor), Name(name))
            found = term if found is None else Binary(BinaryOperator.ADD, found, term)
    return found


def _is_below(condition: Expression, iterator: str) -> bool:
    """Return whether ``condition`` is that ``iterator`` is less than something without it."""
    return (
        isinstance(condition, Binary)
        and condition.operator in (BinaryOperator.LT, BinaryOperator.LE)
        and condition.left == Name(iterator)
        and iterator not in names_in(condition.right)
    )


def _falls(condition: Expression, name: str) -> bool:
    """Return whether ``condition`` holds for all smaller values of ``name`` where it holds for one."""
    if not isinstance(condition, Binary):
        return False
    less = condition.operator in (BinaryOperator.LT, BinaryOperator.LE)
    more = condition.operator in (BinaryOperator.GT, BinaryOperator.GE)
    left, right = factor_of(condition.left, name), factor_of(condition.right, name)
    if left is None or right is None or not (less or more):
        return False
    return left >= right if less else left <= right
