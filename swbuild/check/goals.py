"""What the sizes of a check should bring about in a region, each as the set of sizes that do.

Goals come from the model alone: every statement runs, in every part of its domain; every bound and
condition on the sizes is seen from both sides; loops run once and often; tiled loops have several
tiles, a ragged last one and an even one, and mapped loops more tiles than there are threads.  Sizes
are chosen for these sets, and coverage is membership in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import product
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend.scop import Scop, Statement
from swbuild.mapping.grid import Grid, TiledLoop
from swbuild.options import Distribution
from swbuild.polyhedral.islutil import bounded_effort, ran_out

__all__ = ["Goal", "GoalKind", "feasible_sizes", "region_goals"]

#: isl's steps for the goals of one kind, and parts of a domain that become goals of their own.
_EFFORT = 2_000_000
_PARTS = 8

_PARAM, _SET, _DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div


class GoalKind(Enum):
    """The kinds of goals, the hardest to reach first."""

    ROUNDS = "rounds"
    TILES = "tiles"
    EDGES = "edges"
    STATEMENTS = "statements"
    CASES = "cases of statements"
    REPEATED = "repeated loops"
    SIDES = "sides of conditions"
    SINGLE = "single iterations"

    @property
    def of_sizes(self) -> bool:
        """Whether the kind is of interest only where the sizes have a say in it."""
        return self in (GoalKind.REPEATED, GoalKind.SIDES, GoalKind.SINGLE)

    @property
    def idle(self) -> bool:
        """Whether sizes that reach such a goal tend to leave the region little work."""
        return self in (GoalKind.SIDES, GoalKind.SINGLE)


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal: what it is, in words that follow "not reached:", its line, and the sizes that reach it."""

    kind: GoalKind
    what: str
    line: int
    where: isl.Set

    def reached_at(self, point: isl.Set) -> bool:
        """Return whether the sizes in ``point`` reach it."""
        return not self.where.intersect(point).is_empty()


def feasible_sizes(scop: Scop) -> isl.Set:
    """Return the sizes that the model of ``scop`` covers."""
    known = _plain(scop.context.params()).intersect(_plain(scop.assumptions.params()))
    return scop.tied(known).coalesce()


def region_goals(region: RegionUnit, feasible: isl.Set) -> tuple[Goal, ...]:
    """Return the goals of ``region`` that some of the ``feasible`` sizes reach.

    Statements are goals in any case: one that no sizes reach is worth to be told.  Sides, and numbers
    of iterations, are goals where the sizes have a say in them.
    """
    found: list[Goal] = []
    sources = [_kernel_goals(grid, region.scop) for grid in region.grids]
    sources += [_statement_goals(statement) for statement in region.scop.statements]
    for goals in [*sources, _loop_goals(region.scop)]:
        found += _bounded(goals, feasible)
    order = list(GoalKind)
    return tuple(sorted(_merged(found), key=lambda goal: order.index(goal.kind)))


def _bounded(goals: Iterator[Goal], feasible: isl.Set) -> list[Goal]:
    """Return those of ``goals`` that are worth to be kept, as far as a limit on isl's work allows."""
    kept: list[Goal] = []
    try:
        with bounded_effort(_EFFORT):
            for goal in goals:
                where = goal.where.intersect(feasible).coalesce()
                if _worthwhile(goal.kind, where, feasible):
                    kept.append(replace(goal, where=where))
    except isl.Error as error:
        if not ran_out(error):
            raise
    return kept


def _worthwhile(kind: GoalKind, where: isl.Set, feasible: isl.Set) -> bool:
    if kind is GoalKind.STATEMENTS:
        return True
    return not where.is_empty() and not (kind.of_sizes and feasible.is_subset(where))


def _merged(goals: Sequence[Goal]) -> list[Goal]:
    """Return ``goals`` with those of the same words made one, which any of their sizes reach."""
    kept: dict[tuple[GoalKind, str], Goal] = {}
    for goal in goals:
        key = (goal.kind, goal.what)
        known = kept.get(key)
        where = goal.where if known is None else known.where.union(goal.where).coalesce()
        kept[key] = replace(goal, where=where)
    return list(kept.values())


def _statement_goals(statement: Statement) -> Iterator[Goal]:
    line = statement.span.line
    names = [iterator.name for iterator in statement.iterators]
    domain = _named(_plain(statement.domain).coalesce(), names)
    runs = domain.params().coalesce()
    yield Goal(GoalKind.STATEMENTS, f"the statement in line {line}", line, runs)
    parts = domain.get_basic_sets()
    if 1 < len(parts) <= _PARTS:
        for part in parts:
            where = isl.Set.from_basic_set(part).params()
            yield Goal(GoalKind.CASES, f"the case {_text(part)} of the statement in line {line}", line, where)
    for whole in (isl.Set.from_params(runs), domain):
        for part in whole.get_basic_sets()[:_PARTS]:
            for text, outside in _other_sides(part, whole):
                what = f"the side {text} of a bound or condition of the statement in line {line}"
                yield Goal(GoalKind.SIDES, what, line, outside.params())


def _other_sides(part: isl.BasicSet, whole: isl.Set) -> Iterator[tuple[str, isl.Set]]:
    """Yield, for each condition of ``part``, what lies on its other side only, and not in ``whole``."""
    constraints = part.get_constraints()
    for group in _together(constraints):
        relaxed = isl.BasicSet.universe(part.get_space())
        alone = isl.BasicSet.universe(part.get_space())
        for k, constraint in enumerate(constraints):
            if k in group:
                alone = alone.add_constraint(constraint)
            else:
                relaxed = relaxed.add_constraint(constraint)
        if not relaxed.is_bounded():
            continue  # the only bound of a loop on this side: no iteration lies beyond it
        other = isl.Set.from_basic_set(alone).complement()
        yield _text(other), isl.Set.from_basic_set(relaxed).intersect(other).subtract(whole)


def _together(constraints: Sequence[isl.Constraint]) -> list[set[int]]:
    """Return groups of positions in ``constraints``: those that share a quotient make one condition."""
    groups: list[set[int]] = []
    shared: set[int] = set()
    for k, constraint in enumerate(constraints):
        if constraint.involves_dims(_DIV, 0, constraint.dim(_DIV)):
            shared.add(k)
        else:
            groups.append({k})
    return [*groups, shared] if shared else groups


def _loop_goals(scop: Scop) -> Iterator[Goal]:
    """Yield, for each loop of the source, that it runs once and that it runs more often.

    Iterators that the source does not have are the first ones of a statement.  A loop of a function that is
    called several times may be one at several depths.
    """
    loops: dict[tuple[int, int, str, int], isl.Set] = {}
    for statement in scop.statements:
        made = [iterator.made for iterator in statement.iterators].count(True)
        domain = _plain(statement.domain).project_out(_SET, 0, made)
        for depth, iterator in enumerate(statement.iterators[made:]):
            key = (iterator.span.line, iterator.span.column, iterator.name, depth)
            inner = domain.dim(_SET) - depth - 1
            values = domain.project_out(_SET, depth + 1, inner).set_tuple_name("L")
            known = loops.get(key)
            loops[key] = values if known is None else known.union(values)
    for (line, _, name, depth), values in sorted(loops.items(), key=lambda item: item[0]):
        per_visit = _last_of(values.coalesce(), depth)
        often = _with_greater(per_visit, 1)
        where = f"of the loop over {name} in line {line}"
        yield Goal(GoalKind.REPEATED, f"several iterations {where}", line, often.params())
        yield Goal(GoalKind.SINGLE, f"a single iteration {where}", line, _only_one(per_visit, often))


def _only_one(per_visit: isl.Map, often: isl.Set) -> isl.Set:
    return per_visit.domain().subtract(often).params()


def _last_of(values: isl.Set, depth: int) -> isl.Map:
    """Return the map from the first ``depth`` dimensions of ``values`` to the next one."""
    flat = values.reset_tuple_id() if values.has_tuple_id() else values
    return isl.Map.from_range(flat).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, depth)


def _with_greater(values: isl.Map, distance: int) -> isl.Set:
    """Return the visits with two values that are at least ``distance`` apart."""
    apart = isl.Map(f"{{ [x] -> [y] : y >= x + {distance} }}")
    return values.apply_range(apart).intersect(values).domain()


def _kernel_goals(grid: Grid, scop: Scop) -> Iterator[Goal]:
    lines = [scop.statement(name).span.line for name in grid.statements]
    joint = grid.distribution is Distribution.JOINT
    if joint:
        yield _joint_goal(grid, min(lines, default=0))
    for loop in (*grid.mapped, *grid.inner):
        hosts = grid.hosts
        yield from _tile_goals(
            grid.kernel, loop, _last_of(_plain(loop.values), hosts), min(lines, default=0), joint=joint
        )


def _joint_goal(grid: Grid, line: int) -> Goal:
    """Return that threads have several tiles: some lie at the corners of a box that has enough of them."""
    count = len(grid.mapped)
    names = [f"v{k}" for k in range(count)]
    tiles = [f"floor({name}/{loop.tile})" for name, loop in zip(names, grid.mapped, strict=True)]
    values = _last_of(_plain(grid.points), grid.hosts)
    found = values.apply_range(isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(tiles)}] }}"))
    side = next(n for n in range(1, prod(grid.threads) + 1) if (n + 1) ** count > prod(grid.threads))
    corners = found
    for corner in product((0, side), repeat=count):
        moved = ", ".join(f"{name} - {step}" for name, step in zip(names, corner, strict=True))
        corners = corners.intersect(found.apply_range(isl.Map(f"{{ [{', '.join(names)}] -> [{moved}] }}")))
    what = f"a second round (more tiles than the {prod(grid.threads)} threads) of {grid.kernel}"
    return Goal(GoalKind.ROUNDS, what, line, corners.domain().params())


def _tile_goals(kernel: str, loop: TiledLoop, values: isl.Map, line: int, *, joint: bool) -> Iterator[Goal]:
    tiles = values.apply_range(isl.Map(f"{{ [v] -> [floor(v/{loop.tile})] }}")).coalesce()
    several = _with_greater(tiles, 1)
    where = f"of the loop over {loop.name} in {kernel}"
    yield Goal(GoalKind.TILES, f"a second tile {where}", line, several.params())
    if loop.threads > 1 and not joint:
        rounds = _with_greater(tiles, loop.threads)
        what = f"a second round (more tiles than the {loop.threads} threads) {where}"
        yield Goal(GoalKind.ROUNDS, what, line, rounds.params())
    if loop.tile > 1:
        whole = isl.Map(f"{{ [t] -> [v] : {loop.tile}t <= v < {loop.tile}t + {loop.tile} }}")
        ragged = tiles.apply_range(whole).subtract(values).domain()
        what = f"a ragged tile beside others {where}"
        yield Goal(GoalKind.EDGES, what, line, several.intersect(ragged).params())
        yield Goal(GoalKind.EDGES, f"only full tiles {where}", line, several.subtract(ragged).params())


def _named(values: isl.Set, names: Sequence[str]) -> isl.Set:
    for k, name in enumerate(names):
        values = values.set_dim_name(_SET, k, name)
    return values


def _text(values: isl.Set | isl.BasicSet) -> str:
    """Return the conditions of a set as isl writes them, without its space."""
    text = str(values)
    return f"`{text[text.rindex(': ') + 2 : -1].strip()}`" if ": " in text else "`true`"


def _plain(values: isl.Set) -> isl.Set:
    """Return the same set with parameters that are identified by their names alone."""
    return isl.Set(str(values))
