"""The code of a region: the attempts at it, in turn, and which of them takes the least time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from math import inf

import islpy as isl

from swbuild.attempt import (
    MAX_OPERATIONS,
    Attempt,
    Outcome,
    Record,
    RegionResult,
    Task,
    attempted,
    bounded,
    check_order,
    code_of,
    dropped,
    in_code,
    on_host,
)
from swbuild.codegen.report import comparison_report
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.expressions.contraction import contracted
from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import TOO_MANY_CASES
from swbuild.kernelir.nodes import Launch, Loop
from swbuild.kernelir.passes import walk
from swbuild.lowering.region import Assembled, NoCode
from swbuild.mapping.regiontree import HostTree
from swbuild.memory.partials import Inseparable
from swbuild.memory.words import SharedWords, is_small, with_whole_words
from swbuild.options import KernelOptions, Preset, Resident, Spawn, Where
from swbuild.planning.alternatives import may_change, may_run_in_blocks, other_orders
from swbuild.planning.fronts import in_fronts, runs_along_diagonals
from swbuild.planning.onepass import in_one_pass
from swbuild.planning.ordering import (
    Judgement,
    Order,
    Ordered,
    choose_order,
    split_tree,
)
from swbuild.planning.residency import with_residents
from swbuild.planning.singles import with_singles
from swbuild.planning.tilings import DoesNotFit
from swbuild.planning.updating import with_early_updates
from swbuild.planning.where import Comparison, Offload, compared
from swbuild.polyhedral.accumulators import in_elements
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.dataflow import analyse, relations
from swbuild.polyhedral.exact import exact_reductions
from swbuild.polyhedral.islutil import bounded_effort, ran_out
from swbuild.polyhedral.joining import joined
from swbuild.polyhedral.privatise import NotPrivate, Private, find_private
from swbuild.polyhedral.reductions import Reduction, find_reductions
from swbuild.polyhedral.scheduling import Origin
from swbuild.polyhedral.workspace import Workspace, find_workspace, with_copies

__all__ = ["compile_region"]

#: Why an order has no code with tiles that stay.
_NONE_STAYS = "no tiles of its arrays can stay in the LDMs"

#: How many times more has to be won at some sizes than is lost at others.
_FAR = 4.0


def compile_region(scop: Scop, options: KernelOptions, record: Record) -> RegionResult:
    """Return the code of the region ``scop`` under ``options``; ``record`` takes what is tried for it.

    Raise :class:`SwbuildError` when the options cannot be met (a tile that does not fit the LDM, …).
    """
    scop = lightened(_in_multiply_adds(scop) if options.contract else scop)
    if options.where is Where.HOST:
        return _left_alone(scop, options, "`where: host` says so")
    found, comparison = _in_best_statements(scop, options, record)
    return _for_the_faster(scop, options, found, comparison, record)


def _in_best_statements(
    scop: Scop, options: KernelOptions, record: Record
) -> tuple[RegionResult, Comparison | None]:
    """Return the code of ``scop``, or that of statements in fewer parts where it is estimated to be faster.

    Parts of a statement may be put in an order each, but also take buffers of an array each.
    """
    found, comparison = _with_all(scop, options, record)
    whole = joined(scop, convex=False) if comparison is not None else scop
    if comparison is None or len(whole.statements) == len(joined(scop).statements):
        return found, comparison
    other, its = _with_all(whole, options, record)
    return (found, comparison) if its is None or its.cpes >= comparison.cpes else (other, its)


def _with_all(scop: Scop, options: KernelOptions, record: Record) -> tuple[RegionResult, Comparison | None]:
    """Return the code of ``scop`` with all that is estimated to save time, and what was compared at last."""
    found = _on_core_group(scop, options, record)
    found, comparison = _in_best_order(options, *_with_singles(options, found, record), record)
    return _with_residents(options, found, comparison, record)


def _in_multiply_adds(scop: Scop) -> Scop:
    """Return ``scop`` with its sums of products contracted, as it is where the reference cannot be so."""
    if not scop.contracted:
        return scop
    return replace(scop, statements=tuple(replace(s, body=contracted(s.body)) for s in scop.statements))


def _with_singles(
    options: KernelOptions, found: RegionResult, record: Record
) -> tuple[RegionResult, Comparison | None]:
    """Return ``found`` with single kernels if they are estimated to save time, and what was compared."""
    if options.preset is Preset.CLASSIC or not found.placed:
        return found, None
    before = _compared(options, found)
    order = with_singles(found.assembled.code.scop, found.order)
    if before is None or order is None or order.unrolls or options.spawn is Spawn.KERNEL:
        return found, before
    task = Task(options, Attempt(found.assembled.code.scop, order.scheduled.private, ()), record)
    made = bounded(partial(code_of, task, order, found.placed, before.cpes))
    after = _compared(options, made, before.cpes) if isinstance(made, RegionResult) else None
    if after is None or not isinstance(made, RegionResult) or after.cpes >= before.cpes:
        return found, before
    return made, after


def _in_best_order(
    options: KernelOptions, found: RegionResult, comparison: Comparison | None, record: Record
) -> tuple[RegionResult, Comparison | None]:
    """Return ``found`` and its ``comparison``, or those of another order, estimated to take less time."""
    if comparison is None:
        return found, comparison
    for task, order in _others(options, found, record):
        made = bounded(partial(code_of, task, order, below=comparison.cpes))
        other = _compared(options, made, comparison.cpes) if isinstance(made, RegionResult) else None
        wins = other is not None and other.cpes < comparison.cpes
        record(Ordered(order, Judgement.FASTER if wins else Judgement.SLOWER))
        if isinstance(made, RegionResult) and other is not None and wins:
            found, comparison = made, other
            if order.scheduled.origin is Origin.DIAMONDS:  # others do not run several steps at a time
                break
    return found, comparison


def _with_residents(
    options: KernelOptions, found: RegionResult, comparison: Comparison | None, record: Record
) -> tuple[RegionResult, Comparison | None]:
    """Return ``found`` with tiles that stay in the LDMs if that is estimated to save time; and estimates."""
    names = _in_one_spawn(found.assembled)
    # in these orders, elements have their values from other instances than in the source
    other = found.order.split or found.order.scheduled.origin is Origin.UPDATES
    if comparison is None or not names or not options.keeps_residents or other:
        return found, comparison
    task = Task(options, Attempt(found.assembled.code.scop, found.order.scheduled.private, ()), record)
    made = bounded(partial(_kept_in_place, task, found, names))
    if not isinstance(made, RegionResult) or _in_one_spawn(made.assembled) != names:
        return found, comparison
    if options.resident is Resident.ALWAYS:
        return made, _compared(options, made)
    after = _compared(options, made, comparison.cpes)
    if after is None or after.cpes >= comparison.cpes:
        return found, comparison
    return made, after


def _in_one_spawn(assembled: Assembled) -> frozenset[str]:
    """Return the kernels of a spawn with a loop that runs once, if that is the only spawn; else none."""
    spawns = assembled.code.spawns
    if len(spawns) != 1 or spawns[0].loops or assembled.host is None:
        return frozenset()
    launches = [n for n in walk(assembled.host.result) if isinstance(n, Launch)]
    once = sum(launch.kernel == spawns[0].name for launch in launches) == 1
    loops = any(isinstance(node, Loop) for node in walk(spawns[0].body))
    return frozenset(spawns[0].kernels) if once and loops else frozenset()


def _kept_in_place(task: Task, found: RegionResult, names: frozenset[str]) -> Outcome:
    """Return the code of ``found`` with tiles of an array that stay in the LDMs."""
    placed = with_residents(task.scop, task.options, found.order, found.placed, names)
    if placed is None:
        return NoCode(_NONE_STAYS)
    check_order(found.order, placed)
    return in_code(task, found.order, placed)


def _others(options: KernelOptions, found: RegionResult, record: Record) -> Iterator[tuple[Task, Order]]:
    """Yield the orders to compare with that of ``found``.

    Where scalars may be in elements of arrays, they are: orders without that are not looked for.
    """
    first, scop = found.order, found.assembled.code.scop
    for once, its in in_one_pass(scop, options):
        yield Task(options, Attempt(once, its.scheduled.private, ()), record), its
    copies = any(not scop.array(name).is_scalar for name in first.scheduled.private.names)
    wanted = may_change(options, first) or may_run_in_blocks(scop, options, first)
    other = in_elements(scop) if wanted and not copies else None
    if other is None:
        divided = with_early_updates(scop, options, first) if may_change(options, first) else None
        if divided is not None:
            yield Task(options, Attempt(divided.scop, first.scheduled.private, ()), record), divided.order
        task = Task(options, Attempt(scop, first.scheduled.private, ()), record)
        if divided is None and may_change(options, first) and runs_along_diagonals(first.tree):
            yield from ((task, front) for front, _ in islice(in_fronts(scop, options, first, record), 1))
        yield from ((task.of(some), order) for some, order in other_orders(scop, options, first))
        return
    other = joined(other)
    task = Task(options, Attempt(other, find_private(other), ()), record)
    order = _chosen(task)
    if order is not None:
        more = tuple(other_orders(other, options, order))
        if not more and may_change(options, first):
            more = ((other, with_singles(other, order) or order),)
        yield from ((task.of(some), each) for some, each in more)


def _chosen(task: Task) -> Order | None:
    """Return the order that is found first for ``task``, None where there is none with kernels in time."""
    task.record(task.attempt)
    try:
        with bounded_effort(MAX_OPERATIONS):
            order = choose_order(task.scop, task.options, task.attempt.private, (), task.record)
    except isl.Error as error:
        if not ran_out(error):
            raise
        return None
    return order if order.tree.kernels else None


def _for_the_faster(
    scop: Scop, options: KernelOptions, found: RegionResult, comparison: Comparison | None, record: Record
) -> RegionResult:
    """Return the code that runs ``scop`` where it is estimated to take less time; ``found`` has kernels."""
    if options.where is not Where.AUTO:
        return found
    found, comparison = _without_short(options, found, comparison, record)
    if comparison is None:
        return found
    if options.regardless:
        comparison = replace(comparison, at_home=False, threshold=None)
    if comparison.at_home:
        found = _left_alone(scop, options, "it is estimated to take less time there")
    code = found.assembled.code
    report = {**code.report, "where": comparison_report(comparison)}
    code = replace(code, threshold=comparison.threshold, report=report)
    return replace(found, assembled=replace(found.assembled, code=code))


def _compared(options: KernelOptions, found: RegionResult, below: float = inf) -> Comparison | None:
    """Return what the kernels of ``found`` take beside the host, None if there are none or isl gives up.

    Where they do not take less than ``below``, only that is found out.
    """
    if not found.placed:
        return None
    order, code = found.order, found.assembled.code
    offload = Offload(order.scheduled.private, order.tree, found.placed, code.sharing)
    return compared(code.scop, options, offload, below)


def _without_short(
    options: KernelOptions, found: RegionResult, comparison: Comparison | None, record: Record
) -> tuple[RegionResult, Comparison | None]:
    """Return ``found`` and its ``comparison`` with the host running the short kernels, if it can."""
    shared = [place for place in found.placed if not place.tiled.kernel.single]
    if comparison is None or not comparison.short or len(comparison.short) == len(shared):
        return found, comparison
    if any(buffer.residency is not None for place in shared for buffer in place.plan.buffers):
        return found, comparison  # tiles stay in one spawn, of all kernels
    kept = frozenset(name for sides in comparison.short for name in sides.statements)
    fewer = _keeping(options, found, kept, record)
    again = _compared(options, fewer) if fewer else None
    if fewer is None or again is None or again.cpes >= comparison.cpes:  # kernels may share a spawn
        return found, comparison
    return fewer, replace(again, given_up=comparison.short)


def _keeping(
    options: KernelOptions, found: RegionResult, kept: frozenset[str], record: Record
) -> RegionResult | None:
    """Return ``found`` with the statements ``kept`` of its kernels on the host, None where that cannot be.

    Orders that are found for kernels alone (the user's, wavefronts, blocks, sums in parts) stay as they are,
    and so does what has work space for each iteration, of which the host would need a copy.
    """
    order, scop = found.order, found.assembled.code.scop
    spaces = {array.name for array in scop.arrays if not array.is_scalar} & order.scheduled.private.names
    scheduled = order.scheduled
    special = options.transform or order.split or scheduled.front or scheduled.block
    if special or any(kept & scop.users(name) for name in spaces):
        return None
    task = Task(options, Attempt(scop, order.scheduled.private, ()), record)
    tree = split_tree(scop, order.scheduled, kept, order.alone)
    made = bounded(lambda: code_of(task, replace(order, tree=tree)))
    return made if isinstance(made, RegionResult) else None


def _on_core_group(scop: Scop, options: KernelOptions, record: Record) -> RegionResult:
    """Return the code of ``scop`` with kernels for all that may leave the host.

    Where nothing may since small elements are written, it may at those sizes at which they are whole words.
    So it is where they are read one by one, and moving them would save far more than the host takes longer
    at other sizes.
    """
    found = _at_all_sizes(scop, options, record)
    one_by_one = any(is_small(scop.array(d.array)) for place in found.placed for d in place.plan.direct)
    asked = not found.placed or (one_by_one and options.where is Where.AUTO)
    whole = with_whole_words(scop) if asked and options.preset is not Preset.CLASSIC else None
    if whole is None:
        return found
    other = _at_all_sizes(whole, options, record)
    return other if other.placed and _saves_far_more(options, other, found) else found


def _saves_far_more(options: KernelOptions, other: RegionResult, found: RegionResult) -> bool:
    """Return whether ``other``, for some sizes, gains far more than the host loses at the others."""
    if not found.placed:
        return True
    one, two = _compared(options, found), _compared(options, other)
    if one is None or two is None:
        return False
    gained, lost = one.cpes / max(1.0, two.cpes), one.host / max(1.0, one.cpes)
    return gained > _FAR and lost < gained / _FAR


def _at_all_sizes(scop: Scop, options: KernelOptions, record: Record) -> RegionResult:
    """Return the code of ``scop`` with kernels for all that may leave the host at all sizes that it knows."""
    found = _with_workspace(scop, options, record) or _in_fewer_statements(scop, options, record)
    if found is not None:
        return found
    outcome = _searched(scop, options, record, frozenset())
    assert not isinstance(outcome, NotPrivate), "variables that need not be private"
    return outcome if isinstance(outcome, RegionResult) else _given_up(scop, options, outcome)


def _in_fewer_statements(scop: Scop, options: KernelOptions, record: Record) -> RegionResult | None:
    """Return the code of ``scop`` in fewer statements, None where that is none of them, or leaves no kernels.

    The user's steps, and the published algorithm, go by the statements of the source.
    """
    if options.transform or options.preset is Preset.CLASSIC:
        return None
    whole = joined(scop)
    found = None if whole is scop else _searched(whole, options, record, frozenset())
    return found if isinstance(found, RegionResult) and found.placed else None


def _with_workspace(scop: Scop, options: KernelOptions, record: Record) -> RegionResult | None:
    """Return the code of ``scop`` with copies of the arrays that iterations use as work space.

    None where there are no such arrays, or where copies of them take no loops from the host.
    """
    if options.transform or options.preset is Preset.CLASSIC:
        return None  # the user's steps, and the published algorithm, go by the statements of the source
    found = find_workspace(scop)
    while found:
        copies = frozenset(work.copy for work in found)
        outcome = _searched(with_copies(scop, found), options, record, copies)
        if isinstance(outcome, RegionResult):
            idle = frozenset(work.copy for work in found if not _gains(outcome.order.tree, work))
            if not idle:
                return outcome
            outcome = NotPrivate(idle)
        if not isinstance(outcome, NotPrivate):
            return None
        found = tuple(work for work in found if work.copy not in outcome.names)
    return None


def _gains(tree: HostTree, work: Workspace) -> bool:
    """Return whether a kernel runs one of the loops of ``work``, which no kernel could do without a copy."""
    users = [kernel for kernel in tree.kernels if work.statements <= set(kernel.statements)]
    return any(len(kernel.host_loops) < work.depth for kernel in users)


def _searched(
    scop: Scop, options: KernelOptions, record: Record, copies: frozenset[str]
) -> RegionResult | DoesNotFit | NoCode | NotPrivate:
    """Return the code of ``scop``, or why there is none.

    Variables are given up as private, and reductions as split, until there is one; ``copies`` have to be
    private.
    """
    private = find_private(scop)
    attempt = Attempt(scop, private, _divisible(scop, options, private))
    if not copies <= attempt.private.names:
        return NotPrivate(copies - attempt.private.names)
    while True:
        record(attempt)
        outcome = bounded(partial(attempted, Task(options, attempt, record)))
        if isinstance(outcome, RegionResult):
            return outcome
        record(dropped(outcome))
        if isinstance(outcome, DoesNotFit | NoCode):
            return outcome
        if isinstance(outcome, NotPrivate) and outcome.names & copies:
            return outcome
        attempt = _without(attempt, outcome)


def _divisible(scop: Scop, options: KernelOptions, private: Private) -> tuple[Reduction, ...]:
    """Return the reductions that may be computed in parts; the user's order of loops is kept unless asked."""
    if options.reassociate:
        return find_reductions(scop)
    own = options.transform or options.preset is Preset.CLASSIC
    return () if own else exact_reductions(scop, private.names)


def _without(attempt: Attempt, lost: NotPrivate | Inseparable | SharedWords) -> Attempt:
    """Return the attempt to make after ``attempt`` has failed by ``lost``."""
    if isinstance(lost, SharedWords):
        written = attempt.scop.host_written | lost.arrays
        return replace(attempt, scop=replace(attempt.scop, host_written=written))
    if isinstance(lost, NotPrivate):
        return replace(attempt, private=attempt.private.without(lost.names))
    return replace(attempt, reductions=tuple(r for r in attempt.reductions if r not in lost.reductions))


def _given_up(scop: Scop, options: KernelOptions, problem: DoesNotFit | NoCode) -> RegionResult:
    """Return the region left alone for ``problem``.

    Raise :class:`SwbuildError` where the user's wishes lead to it.
    """
    if isinstance(problem, DoesNotFit):
        if options.tile or options.ldm_budget or options.transform:
            raise SwbuildError(_too_large(scop, options, problem))
        kernel = f"the buffers of its kernel {problem.kernel}"
        return _left_alone(scop, options, f"{kernel} do not fit the LDM, even with the smallest tiles")
    if options.transform:
        raise SwbuildError(_too_complicated(options, problem))
    why = f"no C for its kernels was found: {problem.reason}"
    fewer = problem.reason == TOO_MANY_CASES and scop.parameters
    hint = " (fewer are left where `assume:` says what the sizes are at least)" if fewer else ""
    return _left_alone(scop, options, why + hint)


def _left_alone(scop: Scop, options: KernelOptions, note: str) -> RegionResult:
    """Return the code of a region that stays on the host as it is; ``note`` says why."""
    found = on_host(scop, options, analyse(relations(scop, find_private(scop).expansions), scop.schedule))
    code = found.assembled.code
    code = replace(code, report={**code.report, "note": note})
    return replace(found, assembled=replace(found.assembled, code=code))


def _too_large(scop: Scop, options: KernelOptions, problem: DoesNotFit) -> Diagnostic:
    """Return what to tell a user who chose the tiles or the budget."""
    tile = " x ".join(map(str, options.tile)) if options.tile else "the smallest tile"
    budget = f"the LDM budget of {problem.budget} bytes"
    needed = ", ".join(f"{n.array} {n.bytes} bytes at level {n.level}" for n in problem.needed)
    message = f"the buffers of kernel {problem.kernel} with {tile} do not fit {budget}: {needed}"
    return Diagnostic("SW302", message, scop.span, "give smaller 'tile' sizes, or a larger 'ldm-budget'")


def _too_complicated(options: KernelOptions, problem: NoCode) -> Diagnostic:
    return Diagnostic(
        "SW313",
        f"the loops that `transform` leads to are too complicated to be written as C: {problem.reason}",
        options.transform[0].span,
        "take fewer steps: tiles of tiles, and strips of skewed, scaled or reversed loops, multiply",
    )
