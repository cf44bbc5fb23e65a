"""Rounds and conditions of CPEs of which some have more tiles than others: what holds for any of them.

What is written is found in the expressions; isl says whether it is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import reduce

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.linear import factor_of, plus, without_term
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Min, Name, Select
from swbuild.expressions.trees import names_in, substituted, transformed, walk, without_zeros
from swbuild.kernelir.affine import as_set, as_value, least_of, remainder_of, without_names
from swbuild.kernelir.expressions import to_tree
from swbuild.polyhedral.islutil import bounded_effort, ran_out

__all__ = ["Crowd", "ahead_of", "least_or"]

#: isl steps for the least number of a round; those of the examples take some milliseconds.
_EFFORT = 20_000


@dataclass(frozen=True, slots=True)
class Crowd:
    """The CPEs, told apart by ``threads`` with the number of values that each has, and their rounds.

    ``rounds`` gives, by the iterators of loops that all of them run, their first values and their steps.
    ``given`` are the sizes, and the values of the host's loops, for which they run at all; None: any.
    """

    threads: Mapping[str, int]
    rounds: Mapping[str, tuple[Expression, int]] = field(default_factory=dict)
    given: isl.Set | None = None

    def with_rounds(self, name: str, first: Expression, step: int) -> Crowd:
        """Return the same inside the loop over ``name``, which is ``first`` to begin with."""
        return replace(self, rounds={**self.rounds, name: (first, step)})

    def where(self, conditions: Iterable[Expression]) -> isl.Set:
        """Return where all ``conditions`` hold for a CPE; raise :class:`NotAffine` if isl cannot say it.

        They are in terms of the threads' names and of what all CPEs have in common.
        """
        bounds = [
            bound
            for name, count in self.threads.items()
            for bound in (
                Binary(BinaryOperator.GE, Name(name), Constant(0)),
                Binary(BinaryOperator.LT, Name(name), Constant(count)),
            )
        ]
        sets = [as_set(condition) for condition in (*bounds, *conditions)]
        for name, (first, step) in self.rounds.items():
            behind = Binary(BinaryOperator.SUB, Name(name), first)
            number = Binary(BinaryOperator.MOD, behind, Constant(step))
            sets.append(as_set(Binary(BinaryOperator.EQ, number, Constant(0))))
            sets.append(as_set(Binary(BinaryOperator.GE, behind, Constant(0))))
        sets += [] if self.given is None else [self.given]
        return reduce(isl.Set.intersect, sets)

    def always(self, here: isl.Set) -> bool:
        """Return whether all that the tree is run for is ``here``, wherever in it."""
        return self.given is not None and bool(self.given.is_subset(here))

    def first_round(
        self, name: str, here: isl.Set, rest: int, step: int, first: Expression | None = None
    ) -> Expression | None:
        """Return the least of the numbers ``name`` that any CPE has ``here``; None where that has cases.

        They leave ``rest`` when divided by ``step``, and are ``first`` and more, if that is given.  Where it
        takes a division to say it, it is what ``first`` is for the CPE with the least numbers, or None.
        None, too, where it is not soon found.
        """
        try:
            with bounded_effort(_EFFORT):
                return self._first_round(name, here, rest, step, first)
        except isl.Error as error:
            if not ran_out(error):
                raise
            return None

    def _first_round(
        self, name: str, here: isl.Set, rest: int, step: int, first: Expression | None
    ) -> Expression | None:
        number = Binary(BinaryOperator.MOD, Name(name), Constant(step))
        here = here.intersect(as_set(Binary(BinaryOperator.EQ, number, Constant(rest))))
        found = least_of(without_names(here, self.threads), name)
        least = found.gist(found.domain())  # rounds of loops around it are multiples of their steps
        if least.n_piece() != 1:
            return None
        value = least.get_pieces()[0][1]
        if value.dim(isl.dim_type.div):
            own = None if first is None else _without(first, self.threads)
            return own if own is not None and found.ne_set(as_value(own)).is_empty() else None
        build = isl.AstBuild.from_context(isl.Set("{ : }"))
        return to_tree(build.expr_from_pw_aff(isl.PwAff.from_aff(value)))

    def rest_of(self, first: Expression, step: int) -> int | None:
        """Return what the values of a loop that begins with ``first`` leave when divided by its ``step``.

        None where that differs from CPE to CPE, or isl cannot say it.
        """
        for name, (start, size) in reversed(tuple(self.rounds.items())):
            steps = Binary(BinaryOperator.MUL, Constant(size), Name(name))  # so many from the first one on
            first = substituted(first, {name: Binary(BinaryOperator.ADD, start, steps)})
        value = as_value(first)
        for name in self.threads:
            following = substituted(first, {name: Binary(BinaryOperator.ADD, Name(name), Constant(1))})
            if remainder_of(as_value(following).sub(value), step) != 0:
                return None
        return remainder_of(value, step)

    def widest(self, condition: Expression, names: Iterable[str]) -> tuple[Expression, ...] | None:
        """Return conditions without the threads ``names`` that hold where ``condition`` does for any of them.

        They may hold elsewhere, too.  None where none is found.
        """
        found = []
        names = tuple(names)
        for lower, operator, upper in _less(condition):
            left, right = _with_remainders(lower, names, 1), _with_remainders(upper, names, -1)
            values: dict[str, Expression] = {}
            for name in names:
                factors = factor_of(left, name), factor_of(right, name)
                if factors[0] is None or factors[1] is None:
                    return None
                rises = factors[1] > factors[0]
                values[name] = Constant(self.threads[name] - 1 if rises else 0)
            sides = (plus(substituted(side, values), 0) for side in (left, right))
            found.append(Binary(operator, *sides))
        return tuple(found) or None

    def last_round(self, condition: Expression, name: str) -> Expression | None:
        """Return the condition that ``condition``, which speaks of the number ``name``, holds for any CPE."""
        found = self.widest(condition, self.threads)
        if found is None:
            return None
        ends = []
        for part in found:
            assert isinstance(part, Binary)
            if factor_of(part.left, name) != 1 or factor_of(part.right, name) != 0:
                return None
            rest = substituted(part.left, {name: Constant(0)})
            end = plus(Binary(BinaryOperator.SUB, part.right, rest), 0)
            ends.append(end if part.operator is BinaryOperator.LE else plus(end, -1))
        last = ends[0] if len(ends) == 1 else Min(tuple(ends))
        if len(ends) == 1 and isinstance(found[0], Binary) and found[0].operator is BinaryOperator.LT:
            return Binary(BinaryOperator.LT, Name(name), plus(last, 1))
        return Binary(BinaryOperator.LE, Name(name), last)

    def is_for_any(self, here: isl.Set, names: frozenset[str], conditions: Iterable[Expression]) -> bool:
        """Return whether a CPE is ``here`` for some of the threads ``names`` where all ``conditions`` hold.

        These are without the names.
        """
        others = replace(self, threads={k: v for k, v in self.threads.items() if k not in names})
        return bool(others.where(conditions).is_subset(without_names(here, names)))


def _less(condition: Expression) -> list[tuple[Expression, BinaryOperator, Expression]]:
    """Return ``condition`` as comparisons that something is less than, or at most, something else."""
    turned = {BinaryOperator.GT: BinaryOperator.LT, BinaryOperator.GE: BinaryOperator.LE}
    if not isinstance(condition, Binary):
        return []
    left, operator, right = condition.left, condition.operator, condition.right
    if operator in turned:
        left, operator, right = right, turned[operator], left
    if operator not in turned.values():
        return []
    ends = right.operands if isinstance(right, Min) else (right,)
    return [(left, operator, end) for end in ends]


def _with_remainders(value: Expression, names: Iterable[str], sign: int) -> Expression:
    """Return the least (``sign`` is 1) or the largest (-1) that ``value`` may be for any remainders in it.

    Remainders are those of what depends on ``names``.
    """
    for term in walk(value):
        if not isinstance(term, Binary) or term.operator is not BinaryOperator.MOD:
            continue
        if not names_in(term) & {*names} or not isinstance(term.right, Constant):
            continue
        found = without_term(value, term)
        if found is not None:
            rest, factor = found
            value = plus(rest, factor * (term.right.value - 1) if sign * factor < 0 else 0)
    return value


def least_or(value: Expression) -> Expression:
    """Return the least of both values that ``value`` chooses from; ``value`` if it does not choose."""
    return Min((value.then, value.otherwise)) if isinstance(value, Select) else value


def ahead_of(first: Expression, step: int, threads: Mapping[str, int]) -> tuple[Expression, int] | None:
    """Return how far ahead of a round's number a CPE's tile is that begins with ``first``.

    Tiles of a CPE are ``step`` apart.  The second number is what the numbers of rounds leave when they are
    divided by the step.  None where a CPE may have several tiles in a round.
    """
    value, found, widest = as_value(first), None, 0
    for name, count in threads.items():
        following = as_value(substituted(first, {name: Binary(BinaryOperator.ADD, Name(name), Constant(1))}))
        factor = remainder_of(following.sub(value), step)
        if factor is None:
            return None
        widest += factor * (count - 1)
        if factor:
            term = Binary(BinaryOperator.MUL, Constant(factor), Name(name))
            found = term if found is None else Binary(BinaryOperator.ADD, found, term)
    if found is None or widest >= step:
        return None
    rest = remainder_of(value.sub(as_value(found)), step)
    return None if rest is None else (found, rest)


def _without(expression: Expression, threads: Iterable[str]) -> Expression:
    """Return the value of ``expression`` where the names ``threads`` are 0, without what is 0 for it."""
    zero = Constant(0)

    def change(node: Expression) -> Expression:
        multiplied = isinstance(node, Binary) and node.operator is BinaryOperator.MUL
        return zero if multiplied and zero in node.children else node

    return without_zeros(transformed(substituted(expression, dict.fromkeys(threads, zero)), change))
