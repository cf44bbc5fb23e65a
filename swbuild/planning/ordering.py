"""The order in which a region's statements run, and with it who runs them: the host, or kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Array, Scop
from swbuild.mapping.regiontree import HostTree, split_region
from swbuild.memory.words import is_small, words_of
from swbuild.options import Fusion, KernelOptions, Preset
from swbuild.polyhedral.dataflow import Dependences, analyse, relations
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.looptree import banded, loop_tree
from swbuild.polyhedral.privatise import (
    Private,
    contraction_is_safe,
    has_whole_copies,
    stays_in_a_launch,
)
from swbuild.polyhedral.reductions import Reduction, relaxed
from swbuild.polyhedral.scheduling import Origin, Scheduled, compute_schedule
from swbuild.transform.apply import Unroll, apply_steps

__all__ = ["Judgement", "Order", "Ordered", "all_stay_home", "choose_order", "split_tree", "strays"]


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a region's statements, with who runs what in it.

    ``split`` are the reductions computed in parts; ``unrolls`` what the user wants unrolled; ``alone`` the
    statements that a single CPE may run.
    """

    scheduled: Scheduled
    tree: HostTree
    split: tuple[Reduction, ...]
    unrolls: tuple[Unroll, ...] = ()
    alone: frozenset[str] = frozenset()


class Judgement(Enum):
    """What was found of an order that was looked at."""

    TAKEN = "taken"
    USABLE = "usable"
    NO_KERNELS = "no parallel loops that may leave the host"
    STRAYS = "values of private variables would leave a kernel"
    NO_FEWER_KERNELS = "not fewer kernels than the order before"
    LOSES_LOOPS = "a statement would have fewer parallel loops, or more launches"
    HOLDS_BACK = "loops stay on the host for reductions, which are split next"
    CHEAPER = "more kernels with more parallel loops, which are estimated to take less time"
    DEARER = "more kernels with more parallel loops, which are estimated to take more time"
    FASTER = "another order of the whole region, which is estimated to take less time"
    SLOWER = "another order of the whole region, which is not estimated to take less time"
    GAINS_NOTHING = "nothing that the host would run becomes a kernel"


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order that was looked at, and what was found; ``names`` says of what: variables or reductions."""

    order: Order
    judgement: Judgement
    names: tuple[str, ...] = ()


#: takes what is found on the way, in its order
Record = Callable[[Ordered], None]


def choose_order(
    scop: Scop, options: KernelOptions, private: Private, reductions: tuple[Reduction, ...], record: Record
) -> Order:
    """Return the order to run ``scop`` in; ``record`` takes those that are looked at.

    Of ``reductions``, those are split that would keep a loop on the host; all of them where the user
    chooses the order.
    """
    dependences = analyse(relations(scop, private.expansions), scop.schedule)
    possible = tuple(r for r in reductions if r.array not in private.names)
    split = possible if options.transform else ()
    while True:
        kept = relaxed(scop, private.expansions, split) if split else dependences.all
        order = _improved(scop, options, _scheduled(scop, options, private, dependences, kept, split), record)
        more = tuple(r for r in possible if r not in split and _holds_back(scop, order.tree, r))
        if not more:
            record(Ordered(order, Judgement.TAKEN))
            return order
        record(Ordered(order, Judgement.HOLDS_BACK, tuple(r.array for r in more)))
        split += more


def _scheduled(
    scop: Scop,
    options: KernelOptions,
    private: Private,
    dependences: Dependences,
    kept: isl.UnionMap,
    split: tuple[Reduction, ...],
) -> Order:
    """Return an order of ``scop`` that keeps the pairs ``kept``, the user's if there are steps."""
    if not options.transform:
        scheduled = compute_schedule(scop, private, options.fusing, dependences, kept)
        return Order(scheduled, split_tree(scop, scheduled), split)
    asked = apply_steps(scop, options.transform, dependences, kept)
    scheduled = Scheduled(banded(asked.tree, kept), dependences, kept, private, origin=Origin.STEPS)
    return Order(scheduled, split_tree(scop, scheduled), split, asked.unrolls)


def _improved(scop: Scop, options: KernelOptions, order: Order, record: Record) -> Order:
    """Return the order of the source where it is better than ``order``, else ``order``."""
    found = Judgement.USABLE if options.transform else _judged(scop, order)
    record(Ordered(order, found))
    if found is not Judgement.USABLE:
        return _as_written(scop, order, record) or order
    if _may_fuse(options) and _divides_nests(scop, order.tree):
        return _in_whole_nests(scop, order, record)
    return order


def _judged(scop: Scop, order: Order) -> Judgement:
    if not order.tree.kernels:
        return Judgement.NO_KERNELS
    home = all_stay_home(scop, order.scheduled.private, order.tree)
    return Judgement.USABLE if home else Judgement.STRAYS


def _as_written(scop: Scop, order: Order, record: Record) -> Order | None:
    """Return the order of the source if it has kernels that private variables survive, else None."""
    other = _of_source(scop, order)
    found = _judged(scop, other)
    record(Ordered(other, found))
    return other if found is Judgement.USABLE else None


def _of_source(scop: Scop, order: Order) -> Order:
    schedule = banded(loop_tree(scop), order.scheduled.kept)
    plain = replace(order.scheduled, schedule=schedule, peeled=(), origin=Origin.SOURCE)
    return replace(order, scheduled=plain, tree=split_tree(scop, plain))


def _in_whole_nests(scop: Scop, order: Order, record: Record) -> Order:
    """Return the order of the source if it has fewer kernels and no statement loses by it.

    isl has no reason to keep statements together that do not depend on each other; a launch costs as much
    as thousands of iterations, and statements of one nest often share their data.
    """
    other = _of_source(scop, order)
    found = _judged(scop, other)
    if found is Judgement.USABLE:
        found = _compared(order.tree, other.tree)
    record(Ordered(other, found))
    return other if found is Judgement.USABLE else order


def _compared(tree: HostTree, other: HostTree) -> Judgement:
    """Return whether ``other`` has fewer kernels than ``tree``, and no statement in it is worse off."""
    before, after = _mapped_loops(tree), _mapped_loops(other)
    if not (len(other.kernels) < len(tree.kernels) and before.keys() <= after.keys()):
        return Judgement.NO_FEWER_KERNELS
    kept = all(after[name] >= best for name, best in before.items())
    return Judgement.USABLE if kept else Judgement.LOSES_LOOPS


def _may_fuse(options: KernelOptions) -> bool:
    free = not options.transform and options.preset is not Preset.CLASSIC
    return free and options.fusion is not Fusion.MIN


def _divides_nests(scop: Scop, tree: HostTree) -> bool:
    """Return whether statements that share a loop of the source run in different kernels."""
    nests = [
        {loop.span for name in kernel.statements for loop in scop.statement(name).iterators[:1]}
        for kernel in tree.kernels
    ]
    return sum(map(len, nests)) > len(set().union(*nests))


def _mapped_loops(tree: HostTree) -> dict[str, tuple[int, int]]:
    """Return how well each statement of a kernel is spread: few launches first, then parallel loops."""
    return {
        name: (-len(kernel.host_loops), min(kernel.parallel, 2))
        for kernel in tree.kernels
        for name in kernel.statements
    }


def _holds_back(scop: Scop, tree: HostTree, reduction: Reduction) -> bool:
    """Return whether loops stay on the host, alone or around kernels, for the sake of ``reduction``."""
    around = {name for kernel in tree.kernels if kernel.host_loops for name in kernel.statements}
    sequential = around | set(tree.statements)
    return any(scop.statement(name).iterators for name in reduction.statements & sequential)


def split_tree(
    scop: Scop,
    scheduled: Scheduled,
    kept: frozenset[str] = frozenset(),
    alone: frozenset[str] = frozenset(),
) -> HostTree:
    """Return who runs what in the order ``scheduled``; the host keeps the statements ``kept``.

    Of what it would run beside kernels in a loop, a single CPE may get the statements ``alone``.
    """

    def accept(domain: isl.UnionSet) -> bool:
        names = {str(piece.get_tuple_name()) for piece in sets_of(domain)}
        return not names & kept and _may_leave(scop, names, scheduled.private.names)

    def alone_may(domain: isl.UnionSet) -> bool:
        names = {str(piece.get_tuple_name()) for piece in sets_of(domain)}
        return names <= alone and _may_leave(scop, names)

    return split_region(scheduled.schedule, scop.kernels, accept, alone_may)


def _may_leave(scop: Scop, names: set[str], private: frozenset[str] = frozenset()) -> bool:
    """Return whether a band over the statements ``names``, with variables ``private``, may run on the CPEs.

    Elements of less than 4 bytes share memory words: two CPEs that write neighbours would lose one.  Those
    that are put back in whole words do not.
    """
    shared = (scop.array(name) for name in scop.written_by(names) - private)
    return all(_leaves_words_whole(scop, array) for array in shared)


def _leaves_words_whole(scop: Scop, array: Array) -> bool:
    """Return whether elements of ``array`` may go back in whole words; plans tell whether they do."""
    if not is_small(array):
        return True
    there = not array.is_scalar and array.name not in scop.host_written
    return there and words_of(scop, array) is not None


def strays(scop: Scop, private: Private, tree: HostTree) -> frozenset[str]:
    """Return the private variables whose values would have to leave a kernel of ``tree``."""
    return frozenset(name for name in private.names if not _stays_home(scop, private, name, tree))


def all_stay_home(scop: Scop, private: Private, tree: HostTree) -> bool:
    """Return whether no value of a private variable has to leave a kernel of ``tree``."""
    return all(_stays_home(scop, private, name, tree) for name in private.names)


def _stays_home(scop: Scop, private: Private, name: str, tree: HostTree) -> bool:
    """Return whether statements that hand values of ``name`` to each other run in one place."""
    by_component: dict[str, set[str]] = {}
    for statement in scop.users(name):
        by_component.setdefault(private.expansions[(statement, name)].component, set()).add(statement)
    for members in by_component.values():
        homes = [kernel for kernel in tree.parallel if members & set(kernel.statements)]
        if homes and not (len(homes) == 1 and members <= set(homes[0].statements)):
            return False
        for home in homes:
            if not stays_in_a_launch(scop, private, name, home.domain, home.host_loops):
                return False
            split = members & tree.in_order
            if split and not has_whole_copies(scop, private, name, home.domain, home.host_loops):
                return False
    return contraction_is_safe(scop, private, name, tree.schedule)
