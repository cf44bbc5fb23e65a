"""One pass over an array of which several statements read the rows, with sums in parts.

``q[i] += A[i][j] * p[j]; s[j] += A[i][j] * r[i];`` reads ``A`` twice where sums keep their order: by rows
for ``q`` and by columns for ``s``.  Where ``s`` may be added up in parts (:mod:`swbuild.polyhedral.ownsums`),
each CPE takes rows of its own, each of them once, and another kernel adds up the parts of ``s``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import groupby
from math import prod
from operator import itemgetter
from typing import TypeVar

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop, Statement
from swbuild.islnumbers import int_of
from swbuild.options import KernelOptions, Preset, Spawn
from swbuild.planning.ordering import Order, all_stay_home, split_tree
from swbuild.planning.rowpasses import RowPass, best_pass
from swbuild.polyhedral.dataflow import analyse, relations
from swbuild.polyhedral.islutil import bounded_effort, ran_out, sets_of
from swbuild.polyhedral.looptree import (
    Leaf,
    Loop,
    Tree,
    banded,
    domain_below,
    leaves,
    loop_tree,
    loops,
    parts_of,
    plain,
)
from swbuild.polyhedral.looptree import Sequence as Parts
from swbuild.polyhedral.ownsums import Blocks, in_blocks, own_sum, with_own_sum
from swbuild.polyhedral.privatise import find_private
from swbuild.polyhedral.scheduling import Origin, Scheduled

__all__ = ["in_one_pass"]

_Found = TypeVar("_Found")

#: isl steps to find an order.
_EFFORT = 2_000_000

#: Rows of a block where nothing bounds their number: few, as short arrays keep most CPEs idle.
_SHORT = 16

_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class _Stage:
    """What is done in each row of a block, or in each row of each of its ``columns``."""

    body: Tree
    columns: bool


def in_one_pass(scop: Scop, options: KernelOptions) -> Iterator[tuple[Scop, Order]]:
    """Yield ``scop`` with sums in parts where that saves passes over an array, with orders of it.

    Sums may be in parts where the user says `reassociate`, and chooses neither the order nor tiles.
    """
    chosen = options.transform or options.tile or options.spawn is Spawn.KERNEL
    if not options.reassociate or chosen or options.preset is Preset.CLASSIC:
        return
    found = _within_effort(lambda: best_pass(scop, find_private(scop).expansions))
    if found is None:
        return
    for stages in _orders(scop, found):
        made = _within_effort(partial(_ordered, scop, options, found, stages))
        if made is not None:
            yield made


def _within_effort(work: Callable[[], _Found | None]) -> _Found | None:
    """Return what ``work`` does, None where isl takes too long over it."""
    try:
        with bounded_effort(_EFFORT):
            return work()
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None


def _ordered(
    scop: Scop, options: KernelOptions, found: RowPass, stages: Sequence[_Stage]
) -> tuple[Scop, Order] | None:
    """Return ``scop`` with the sums of ``found`` in parts, each block in ``stages``, and its order.

    None where that order is not legal, or leaves something to the host.
    """
    made = _with_sums(scop, found, stages, prod(options.grid))
    if made is None:
        return None
    other, tree, names = made
    keeps = _keeps(names.apply_range(other.schedule.get_map()), found.kept)
    return _usable(other, tree, found) if keeps else None


def _keeps(times: isl.UnionMap, pairs: isl.UnionMap) -> bool:
    """Return whether ``pairs`` (instance -> instance) go forward in ``times`` (instance -> time)."""
    return bool(pairs.is_subset(times.lex_lt_union_map(times)))


def _usable(scop: Scop, tree: Tree, found: RowPass) -> tuple[Scop, Order] | None:
    """Return ``scop``, with the sums of ``found`` in parts, in the order ``tree``.

    None where that order is not legal, or leaves something to the host.
    """
    private = find_private(scop)
    dependences = analyse(relations(scop, private.expansions), scop.schedule)
    if not _keeps(plain(tree).get_map(), dependences.all):
        return None
    scheduled = Scheduled(
        banded(tree, dependences.all), dependences, dependences.all, private, origin=Origin.ONE_PASS
    )
    host = split_tree(scop, scheduled)
    if host.statements or not all_stay_home(scop, private, host):
        return None
    kernels = tuple(replace(k, keeps_order=bool(found.rows.keys() & set(k.statements))) for k in host.kernels)
    return scop, Order(scheduled, replace(host, kernels=kernels), found.sums)


def _orders(scop: Scop, found: RowPass) -> Iterator[tuple[_Stage, ...]]:
    """Yield what a block may do, in turn, with all of its rows.

    Either columns are around rows, for statements that have both, and others have the rows before and after
    them: so a piece of what is added to stays while rows go by.  Or all is done with one row after another,
    with statements in loops of their own or in those of the source.
    """
    nests = parts_of(loop_tree(scop))[found.begin : found.end]
    rows = _union(scop, found.rows)
    body = _sequence([_without(nest, rows) for nest in nests])
    if found.columns:
        columns = _union(scop, found.columns)
        parts = [(name in found.columns, name) for name in found.rows]
        groups = [(both, {name for _, name in some}) for both, some in groupby(parts, key=itemgetter(0))]
        if [both for both, _ in groups].count(True) == 1:
            trees = ((both, _only(body, names)) for both, names in groups)
            yield tuple(_Stage(_without(tree, columns) if both else tree, both) for both, tree in trees)
    yield (_Stage(_distributed(body), columns=False),)
    if any(len(leaves(loop)) > 1 for loop in loops(body)):
        yield (_Stage(body, columns=False),)


def _with_sums(
    scop: Scop, found: RowPass, stages: Sequence[_Stage], parts: int
) -> tuple[Scop, Tree, isl.UnionMap] | None:
    """Return ``scop`` with a work array for each sum, an order of it, and the new names of its instances.

    First comes what is before the pass, then part by part the pass, then the parts added up, and the rest.
    In the model's own order a part does what belongs to its rows as the source does it.  So each read of a
    variable meets the write that it met: both are in one row, and nothing has come between them.  The second
    value is the order in ``stages``, which is yet to be compared with the dependences of that.
    """
    blocks = _blocks(scop, found, parts)
    if blocks is None:
        return None
    nests = parts_of(loop_tree(scop))
    scop, names = in_blocks(scop, found.rows, blocks)
    first: list[Tree] = []
    last: list[Tree] = []
    begun: list[str] = []
    for reduction in found.sums:
        own = own_sum(scop, reduction, parts)
        if own is None:
            return None
        scop = with_own_sum(scop, own)
        first.append(_nest(scop, own.first, 1))
        last.append(_nest(scop, own.last, 0))
        begun.append(own.first)
    numbers = _union(scop, dict.fromkeys([*found.rows, *begun], 0))
    source = [_renamed(nest, names) for nest in nests[found.begin : found.end]]
    staged = [_staged(scop, found, stage, names, blocks) for stage in stages]
    plainly, tree = (
        _sequence(
            [
                *nests[: found.begin],
                Loop("part", 0, numbers, _sequence([*first, *inside])),
                *last,
                *nests[found.end :],
            ]
        )
        for inside in (source, staged)
    )
    return replace(scop, schedule=plain(plainly)), tree, names


def _staged(scop: Scop, found: RowPass, stage: _Stage, names: isl.UnionMap, blocks: Blocks) -> Tree:
    """Return ``stage`` in its loops over rows, and columns; ``names`` leads to ``scop`` with ``blocks``."""
    tree = _renamed(stage.body, names)
    here, depth = [leaf.statement for leaf in leaves(tree)], blocks.depth
    tree = Loop("row", 0, _union(scop, {name: found.rows[name] + depth for name in here}), tree)
    if blocks.turns:
        tree = Loop("turn", 0, _union(scop, dict.fromkeys(here, 1)), tree)
    if stage.columns:
        tree = Loop("column", 0, _union(scop, {name: found.columns[name] + depth for name in here}), tree)
    return tree


def _distributed(tree: Tree) -> Tree:
    """Return ``tree`` with each statement in loops of its own."""
    return _sequence([_only(tree, {leaf.statement}) for leaf in leaves(tree)])


def _only(tree: Tree, names: Set[str]) -> Tree:
    """Return the part of ``tree`` with the statements ``names``."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Parts):
        kept = (part for part in tree.parts if names & {leaf.statement for leaf in leaves(part)})
        return _sequence([_only(part, names) for part in kept])
    body = _only(tree.body, names)
    return replace(tree, value=tree.value.intersect_domain(domain_below(body)), body=body)


def _blocks(scop: Scop, found: RowPass, parts: int) -> Blocks | None:
    """Return the rows of ``found`` in blocks, None where they may have negative numbers.

    Where a number bounds them, each part has one block, else short ones in turn.
    """
    ranges = [_range(scop, scop.statement(name), loop) for name, loop in found.rows.items()]
    if not all(first.is_nonneg() for first, _ in ranges):
        return None
    if not all(last.is_int() for _, last in ranges):
        return Blocks(parts, _SHORT, turns=True)
    rows = 1 + max(int_of(last) for _, last in ranges)
    return Blocks(parts, -(-rows // parts), turns=False)


def _range(scop: Scop, statement: Statement, loop: int) -> tuple[isl.Val, isl.Val]:
    """Return the least and the largest value of the counter of ``loop`` at any sizes."""
    values = statement.domain.intersect_params(scop.context).project_out_all_params()
    return values.dim_min_val(loop), values.dim_max_val(loop)


def _renamed(tree: Tree, names: isl.UnionMap) -> Tree:
    """Return ``tree`` with its instances called as ``names`` says."""
    if isinstance(tree, Leaf):
        (domain,) = sets_of(tree.domain.to_union_set().apply(names))
        return Leaf(tree.statement, domain)
    if isinstance(tree, Parts):
        return Parts(tuple(_renamed(part, names) for part in tree.parts))
    body = _renamed(tree.body, names)
    back = isl.UnionPwMultiAff.from_union_map(names.reverse().intersect_domain(domain_below(body)))
    return replace(tree, value=tree.value.pullback_union_pw_multi_aff(back), body=body)


def _sequence(parts: Sequence[Tree]) -> Tree:
    flat = tuple(each for part in parts for each in parts_of(part))
    return flat[0] if len(flat) == 1 else Parts(flat)


def _nest(scop: Scop, name: str, depth: int) -> Tree:
    """Return the statement ``name`` in its loops below ``depth``."""
    statement = scop.statement(name)
    domain = statement.domain.intersect_params(scop.context)
    tree: Tree = Leaf(name, domain)
    for k in reversed(range(depth, len(statement.iterators))):
        value = _loop(statement, k).intersect_domain(domain.to_union_set())
        tree = Loop(statement.iterators[k].name, 0, value, tree)
    return tree


def _loop(statement: Statement, loop: int) -> isl.UnionPwAff:
    """Return instance -> the counter of a loop around ``statement``."""
    space = isl.LocalSpace.from_space(statement.domain.get_space())
    return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(isl.Aff.var_on_domain(space, _SET, loop)))


def _union(scop: Scop, loops: Mapping[str, int]) -> isl.UnionPwAff:
    """Return instance -> the counter of the loop that ``loops`` says, by statements."""
    first, *rest = (_loop(scop.statement(name), loop) for name, loop in loops.items())
    for value in rest:
        first = first.union_add(value)
    return first


def _without(tree: Tree, row: isl.UnionPwAff) -> Tree:
    """Return ``tree`` without the loops whose counter is ``row``, upwards or downwards."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Parts):
        return _sequence([_without(part, row) for part in tree.parts])
    body = _without(tree.body, row)
    inside = domain_below(body)
    value, here = tree.value.intersect_domain(inside), row.intersect_domain(inside)
    maps = [isl.UnionMap.from_union_pw_aff(each) for each in (value, here, here.neg())]
    same = any(maps[0].is_equal(other) for other in maps[1:])
    return body if same else replace(tree, body=body)
