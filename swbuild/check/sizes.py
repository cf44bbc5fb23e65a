"""Which sizes to try when the user names none: those that reach the goals of a region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import islpy as isl

from swbuild.check.goals import Goal, GoalKind, feasible_sizes
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.expressions.c import Assignment, Operation, ParameterRef
from swbuild.expressions.trees import walk
from swbuild.frontend.scop import Scop
from swbuild.polyhedral.nearest import nearest

__all__ = ["UNKNOWN_SIZE", "Sizes", "choose_sizes", "complete_sizes", "permitted_sizes"]

#: The code of the one mistake that a user can make here.
UNKNOWN_SIZE = "SW504"

#: A value for every parameter of a region.
Sizes = dict[str, int]

#: What sizes are to be near where no goal says otherwise, in turn.
_BASES = (7, 33, 2, 65)

#: Sizes that are tried in any case: all loops run, and fit nothing.
_PLAIN = (7, 33)

#: How many sets of sizes a region gets at most for its goals.
_MOST = 16

#: Added to the base for one parameter after the other, so that no two sizes are equal.
_SPREAD = (0, 4, -2, 6, -4, 10, -6, 14)


def choose_sizes(
    scop: Scop, goals: Sequence[Goal], permitted: isl.Set, affordable: Callable[[Sizes], bool]
) -> tuple[Sizes, ...]:
    """Return sizes of the ``permitted`` ones that together reach what can be reached of ``goals``.

    ``affordable`` says whether a check at these sizes is worth its cost; sizes for which it is false are
    not chosen, whatever they would reach.  Where such sizes are all that there are, or all that give the
    region anything to do, the smallest of them are the answer.
    """
    names = [parameter.name for parameter in scop.parameters]
    left, chosen = list(goals), list[Sizes]()
    for turn in range(_MOST):
        sizes = _reaching(scop, left, permitted, unequal(names, _BASES[turn % len(_BASES)]), affordable)
        if sizes is None:
            break
        chosen.append(sizes)
        point = scop.at(sizes)
        left = [goal for goal in left if not goal.reached_at(point)]
    for base in _PLAIN:
        extra = nearest(permitted, unequal(names, base))
        if extra is not None and extra not in chosen and affordable(extra):
            chosen.append(extra)
    work = [goal for goal in goals if goal.kind is GoalKind.STATEMENTS and not goal.where.is_empty()]
    points = [scop.at(sizes) for sizes in chosen]
    if chosen and (not work or any(goal.reached_at(point) for goal in work for point in points)):
        return tuple(chosen)
    last = nearest(work[0].where if work else permitted, unequal(names, 1))
    return () if last is None else (last,)


def permitted_sizes(scop: Scop, fixed: Mapping[str, int]) -> isl.Set:
    """Return the sizes that the model of ``scop`` covers, those in ``fixed`` as they are there.

    A size that a statement may divide by is positive.
    """
    names, fixed = [parameter.name for parameter in scop.parameters], _in_model(scop, fixed)
    conditions = [f"{name} = {fixed[name]}" for name in names if name in fixed]
    conditions += [f"{name} >= 1" for name in _divisors(scop)]
    return feasible_sizes(scop).intersect(_where(names, conditions)).coalesce()


def complete_sizes(scop: Scop, given: Mapping[str, int], fixed: Mapping[str, int]) -> Sizes:
    """Return ``given`` with a value for each parameter that it leaves out, such that the model covers them.

    Raise :class:`SwbuildError` when it names sizes and none of them is the region's: the check would
    run at other sizes than the user believes.
    """
    names = [parameter.name for parameter in scop.parameters]
    given, fixed = _in_model(scop, given), _in_model(scop, fixed)
    if given and names and not set(given) & set(names):
        unknown = ", ".join(f"'{name}'" for name in given)
        raise SwbuildError(
            Diagnostic(
                UNKNOWN_SIZE,
                f"region {scop.name} has no size called {unknown}; it has {', '.join(names)}",
                scop.span,
                f"give '-p {names[0]}=64', or 'sizes: {{{names[0]}: 64}}' in the manifest",
            )
        )
    known = {name: value for name, value in {**given, **fixed}.items() if name in names}
    near = unequal(names, 33)
    found = None if set(known) == set(names) else nearest(permitted_sizes(scop, known), near)
    return found or {**near, **known}


def _in_model(scop: Scop, sizes: Mapping[str, int]) -> Sizes:
    """Return ``sizes`` by the names of the model, which are the source's where those are free."""
    names = {parameter.expression: parameter.name for parameter in scop.parameters}
    return {names.get(name, name): value for name, value in sizes.items()}


def unequal(names: Sequence[str], base: int) -> Sizes:
    """Return sizes near ``base`` that all differ (from 7 on: below that they all are ``base``)."""
    if base < 7:
        return dict.fromkeys(names, base)
    return {name: max(1, base + _SPREAD[i % 8] + 16 * (i // 8)) for i, name in enumerate(names)}


def _divisors(scop: Scop) -> Iterator[str]:
    """Yield the sizes that occur in statements which divide."""
    for statement in scop.statements:
        nodes = list(walk(statement.body))
        if any(isinstance(n, (Operation, Assignment)) and n.operator[0] in "/%" for n in nodes):
            yield from (node.name for node in nodes if isinstance(node, ParameterRef))


def _reaching(
    scop: Scop, goals: Sequence[Goal], permitted: isl.Set, near: Sizes, affordable: Callable[[Sizes], bool]
) -> Sizes | None:
    """Return affordable sizes that reach as many of ``goals`` as go together, the first ones first."""
    within = permitted
    best: Sizes | None = None
    busy = False
    for goal in goals:
        if busy and goal.kind.idle:
            continue
        here = None if best is None else scop.at(best)
        for part in map(isl.Set.from_basic_set, goal.where.get_basic_sets()):
            narrower = within.intersect(part)
            as_is = here is not None and not part.intersect(here).is_empty()
            sizes = best if as_is else _affordable(narrower, near, affordable)
            if sizes is not None:
                within, best, busy = narrower, sizes, busy or not goal.kind.idle
                break
    return best


def _affordable(within: isl.Set, near: Sizes, affordable: Callable[[Sizes], bool]) -> Sizes | None:
    """Return sizes in ``within`` that are close to ``near``, or to 1 where that would cost too much."""
    if within.is_empty():
        return None
    tried = (nearest(within, wanted) for wanted in (near, dict.fromkeys(near, 1)))
    return next((sizes for sizes in tried if sizes is not None and affordable(sizes)), None)


def _where(names: Sequence[str], conditions: Sequence[str]) -> isl.Set:
    return isl.Set(f"[{', '.join(names)}] -> {{ : {' and '.join(conditions) or 'true'} }}")
