"""What is known at a place of a kernel's tree of how CPEs differ there: their own values and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from swbuild.classes import dataclass
from swbuild.expressions.linear import at_zero, factor_of
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.trees import names_in, substituted
from swbuild.kernelir.nodes import Guard, Loop, Node
from swbuild.names import own, plain_name

__all__ = ["Around", "both", "parts_of", "under"]


def parts_of(condition: Expression) -> tuple[Expression, ...]:
    """Return the conditions that all hold where ``condition`` does."""
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.AND:
        return (*parts_of(condition.left), *parts_of(condition.right))
    return (condition,)


def both(conditions: Iterable[Expression]) -> Expression:
    """Return the condition that all ``conditions``, one at least, hold."""
    first, *rest = dict.fromkeys(conditions)
    for condition in rest:
        first = Binary(BinaryOperator.AND, first, condition)
    return first


def under(conditions: tuple[Expression, ...], node: Node) -> Node:
    """Return ``node`` where all ``conditions`` hold."""
    return Guard(both(conditions), node) if conditions else node


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a place that all CPEs come to together.

    ``threads`` are the names by which they differ, ``values`` gives the iterators that differ in terms of
    these.  A CPE has work there where ``conditions``, which differ, hold; ``known`` hold for all.
    """

    threads: tuple[str, ...]
    values: Mapping[str, Expression] = field(default_factory=dict)
    conditions: tuple[Expression, ...] = ()
    known: frozenset[Expression] = frozenset()

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
            return loop, replace(self, known=self.known | {loop.condition})
        return self._rounds(loop)

    def _rounds(self, loop: Loop) -> tuple[Loop, Around] | None:
        assert loop.first is not None and loop.condition is not None
        first, condition = self.seen(loop.first), loop.condition
        ahead = _ahead(first, self.threads)
        if ahead is None or self.differing(condition) or not _is_below(condition, loop.iterator):
            return None
        name = own(f"{plain_name(loop.iterator)}_round", "loop")
        common = substituted(condition, {loop.iterator: Name(name)})
        value = Binary(BinaryOperator.ADD, Name(name), ahead)
        single = replace(loop, first=value, condition=None, step=1)
        rounds = replace(
            loop, iterator=name, first=at_zero(first, self.threads), condition=common, body=single
        )
        inside = replace(
            self,
            values={**self.values, loop.iterator: value},
            conditions=(*self.conditions, condition),
            known=self.known | {common},
        )
        return rounds, inside

    def without(self, dropped: frozenset[str]) -> tuple[Expression, ...] | None:
        """Return when there is work for some CPEs that differ in ``dropped`` alone.

        That is when the one that is 0 there has some: so they have to have it where any other has.  None
        where that is not certain.
        """
        found = []
        for condition in self.conditions:
            seen = self.seen(condition)
            names = names_in(seen) & dropped
            if not all(_falls(seen, name) for name in names):
                return None
            here = at_zero(seen, tuple(names)) if names else condition
            found += [here] if here not in self.known else []
        return tuple(found)


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
