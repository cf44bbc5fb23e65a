"""From the model of one region to everything the printers need: the stages in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from swbuild.codegen.assembly import assemble, leave_alone
from swbuild.codegen.plan import RegionCode
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import TooComplicated
from swbuild.mapping.regiontree import HostTree, split_region
from swbuild.mapping.wavefront import wavefronts
from swbuild.memory.partials import Inseparable
from swbuild.memory.placing import DoesNotFit, Placed, place_kernel
from swbuild.options import Fusion, KernelOptions, Preset
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.dataflow import Dependences, analyse, relations
from swbuild.polyhedral.islutil import bounded_effort, ran_out, sets_of
from swbuild.polyhedral.looptree import banded, loop_tree
from swbuild.polyhedral.privatise import (
    NotPrivate,
    Private,
    contraction_is_safe,
    find_private,
    stays_in_a_launch,
)
from swbuild.polyhedral.reductions import Reduction, find_reductions, relaxed
from swbuild.polyhedral.scheduling import Scheduled, compute_schedule, permutable_schedule
from swbuild.transform.apply import Unroll, apply_steps

__all__ = ["generate_region"]

#: isl steps for one attempt at a region, besides those that have limits of their own.
MAX_OPERATIONS = 3_000_000

#: Edges of the tiles of a wavefront, in the order in which they are tried.
EDGES = (32, 16, 8, 4)


@dataclass(frozen=True, slots=True)
class _Order:
    """An order of a region's statements, with who runs what in it.

    ``split`` are the reductions computed in parts; ``unrolls`` what the user wants unrolled.
    """

    scheduled: Scheduled
    tree: HostTree
    split: tuple[Reduction, ...]
    unrolls: tuple[Unroll, ...] = ()


def generate_region(scop: Scop, options: KernelOptions) -> RegionCode:
    """Return the code of the region ``scop`` under ``options``.

    Raise :class:`SwbuildError` when the options cannot be met (a tile that does not fit the LDM, …).
    """
    scop = lightened(scop)
    private = find_private(scop)
    reductions = find_reductions(scop) if options.reassociate else ()
    while True:
        try:
            return _bounded(scop, options, private, reductions)
        except NotPrivate as unsafe:
            private = private.without(unsafe.names)
        except Inseparable as inseparable:
            reductions = tuple(r for r in reductions if r not in inseparable.reductions)
        except DoesNotFit as large:
            if options.tile or options.ldm_budget or options.transform:
                raise SwbuildError(large.diagnostic(scop, options)) from None
            return _left_alone(scop, options, large.note)
        except TooComplicated as problem:
            if options.transform:
                raise SwbuildError(_too_complicated(options, problem)) from None
            return _left_alone(scop, options, f"no C for its kernels was found: {problem.reason}")


def _bounded(
    scop: Scop, options: KernelOptions, private: Private, reductions: tuple[Reduction, ...]
) -> RegionCode:
    """Return what :func:`_attempt` does; raise :class:`TooComplicated` where isl takes too long over it."""
    try:
        with bounded_effort(MAX_OPERATIONS):
            return _attempt(scop, options, private, reductions)
    except isl.Error as error:
        if not ran_out(error):
            raise
        raise TooComplicated from None


def _attempt(
    scop: Scop, options: KernelOptions, private: Private, reductions: tuple[Reduction, ...]
) -> RegionCode:
    """Return the code with the variables ``private`` privatised."""
    order = _order(scop, options, private, reductions)
    free = not options.transform and options.preset is not Preset.CLASSIC
    if free and _leaves_nests(scop, order.tree):
        code = _in_wavefronts(scop, options, order)
        if code is not None:
            return code
    if not (order.tree.kernels or options.transform):
        return _unmoved(scop, options, order.scheduled.dependences)
    return _placed(scop, options, order)


def _leaves_nests(scop: Scop, tree: HostTree) -> bool:
    """Return whether the host runs whole loop nests: wavefronts may be found in them."""
    deep = any(len(scop.statement(name).iterators) > 1 for name in tree.statements)
    return deep and not any(kernel.host_loops for kernel in tree.kernels)


def _placed(scop: Scop, options: KernelOptions, order: _Order) -> RegionCode:
    """Return the code of ``order`` with tiles and buffers for its kernels."""
    _check_homes(scop, order.scheduled.private, order.tree)
    placed = _places(scop, options, order)
    code = assemble(scop, options, order.scheduled, order.tree, placed, order.unrolls)
    return replace(code, exact=not order.split)


def _places(scop: Scop, options: KernelOptions, order: _Order) -> tuple[Placed, ...]:
    return tuple(place_kernel(scop, options, order.scheduled, k, order.split) for k in order.tree.kernels)


def _order(
    scop: Scop, options: KernelOptions, private: Private, reductions: tuple[Reduction, ...]
) -> _Order:
    """Return the order to run ``scop`` in.

    Of ``reductions``, those are split that would keep a loop on the host; all of them where the user
    chooses the order.
    """
    dependences = analyse(relations(scop, private.depth_of), scop.schedule)
    possible = tuple(r for r in reductions if r.array not in private.names)
    split = possible if options.transform else ()
    while True:
        kept = relaxed(scop, private.depth_of, split) if split else dependences.all
        scheduled, unrolls = _schedule(scop, options, private, dependences, kept)
        tree = _split(scop, scheduled)
        if not options.transform and not (tree.kernels and _all_stay_home(scop, private, tree)):
            scheduled, tree = _as_written(scop, scheduled, tree)
        elif _may_fuse(options) and _divides_nests(scop, tree):
            scheduled, tree = _in_whole_nests(scop, scheduled, tree)
        more = tuple(r for r in possible if r not in split and _holds_back(scop, tree, r))
        if not more:
            return _Order(scheduled, tree, split, unrolls)
        split += more


def _as_written(scop: Scop, scheduled: Scheduled, tree: HostTree) -> tuple[Scheduled, HostTree]:
    """Return the order of the source if it has kernels that private variables survive, else ``scheduled``."""
    plain = replace(scheduled, schedule=banded(loop_tree(scop), scheduled.kept), peeled=())
    other = _split(scop, plain)
    usable = other.kernels and _all_stay_home(scop, scheduled.private, other)
    return (plain, other) if usable else (scheduled, tree)


def _in_whole_nests(scop: Scop, scheduled: Scheduled, tree: HostTree) -> tuple[Scheduled, HostTree]:
    """Return the order of the source if it has fewer kernels and no statement loses by it.

    isl has no reason to keep statements together that do not depend on each other; a launch costs as much
    as thousands of iterations, and statements of one nest often share their data.
    """
    plain, other = _as_written(scop, scheduled, tree)
    before, after = _mapped_loops(tree), _mapped_loops(other)
    fewer = len(other.kernels) < len(tree.kernels) and before.keys() <= after.keys()
    kept = fewer and all(after[name] >= best for name, best in before.items())
    return (plain, other) if kept else (scheduled, tree)


def _may_fuse(options: KernelOptions) -> bool:
    free = not options.transform and options.preset is not Preset.CLASSIC
    return free and options.fusion is Fusion.MAX


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


def _in_wavefronts(scop: Scop, options: KernelOptions, order: _Order) -> RegionCode | None:
    """Return the code that runs tiles of loop nests in wavefronts, or None where nothing is won by it.

    Tiles of the user's have to fit the LDM (:class:`DoesNotFit`), others are made smaller until they do.
    """
    scheduled = order.scheduled
    deep = permutable_schedule(scop, scheduled.private, options.fusion, scheduled.kept)
    if deep is None:
        return None
    for edge in EDGES:
        fronts = wavefronts(deep, edge, options.tile or ())
        if fronts is None:
            return None
        waves = replace(scheduled, schedule=fronts.schedule, peeled=(), front=fronts.tile)
        tree = _split(scop, waves)
        gained = set(order.tree.statements) > set(tree.statements)
        if not (gained and _all_stay_home(scop, scheduled.private, tree)):
            return None
        try:
            return _placed(scop, options, replace(order, scheduled=waves, tree=tree))
        except (TooComplicated, NotPrivate):
            return None
        except DoesNotFit:
            if options.tile:
                raise
    return None


def _left_alone(scop: Scop, options: KernelOptions, note: str) -> RegionCode:
    """Return the code of a region that stays on the host as it is; ``note`` says why."""
    code = _unmoved(scop, options, analyse(relations(scop, find_private(scop).depth_of), scop.schedule))
    return replace(code, report={**code.report, "note": note})


def _unmoved(scop: Scop, options: KernelOptions, dependences: Dependences) -> RegionCode:
    """Return the code of a region of which nothing leaves the host: the order of the source."""
    scheduled = Scheduled(scop.schedule, dependences, dependences.all, Private(frozenset(), {}))
    tree = split_region(scop.schedule, f"{scop.symbol}_k", lambda _: False)
    return leave_alone(scop, options, scheduled, tree)


def _holds_back(scop: Scop, tree: HostTree, reduction: Reduction) -> bool:
    """Return whether loops stay on the host, alone or around kernels, for the sake of ``reduction``."""
    around = {name for kernel in tree.kernels if kernel.host_loops for name in kernel.statements}
    sequential = around | set(tree.statements)
    return any(scop.statement(name).iterators for name in reduction.statements & sequential)


def _split(scop: Scop, scheduled: Scheduled) -> HostTree:
    return split_region(scheduled.schedule, f"{scop.symbol}_k", lambda domain: _may_leave(scop, domain))


def _schedule(
    scop: Scop, options: KernelOptions, private: Private, dependences: Dependences, kept: isl.UnionMap
) -> tuple[Scheduled, tuple[Unroll, ...]]:
    """Return an order of ``scop`` that keeps the pairs ``kept``, the user's if there are steps.

    Also return what to unroll.
    """
    if not options.transform:
        return compute_schedule(scop, private, options.fusion, dependences, kept), ()
    asked = apply_steps(scop, options.transform, dependences, kept)
    return Scheduled(banded(asked.tree, kept), dependences, kept, private), asked.unrolls


def _check_homes(scop: Scop, private: Private, tree: HostTree) -> None:
    """Raise :class:`NotPrivate` for private variables whose values would have to leave a kernel."""
    unsafe = {name for name in private.names if not _stays_home(scop, private, name, tree)}
    if unsafe:
        raise NotPrivate(frozenset(unsafe))


def _all_stay_home(scop: Scop, private: Private, tree: HostTree) -> bool:
    return all(_stays_home(scop, private, name, tree) for name in private.names)


def _stays_home(scop: Scop, private: Private, name: str, tree: HostTree) -> bool:
    """Return whether statements that hand values of ``name`` to each other run in one place."""
    by_label: dict[str, set[str]] = {}
    for statement in scop.users(name):
        by_label.setdefault(private.depth_of[(statement, name)][0], set()).add(statement)
    for members in by_label.values():
        homes = [kernel for kernel in tree.kernels if members & set(kernel.statements)]
        if homes and not (len(homes) == 1 and members <= set(homes[0].statements)):
            return False
        if homes and not stays_in_a_launch(scop, private, name, homes[0].domain, homes[0].host_loops):
            return False
    return contraction_is_safe(scop, private, name, tree.schedule)


def _may_leave(scop: Scop, domain: isl.UnionSet) -> bool:
    """Return whether a parallel band over ``domain`` may run on the CPEs.

    Elements of less than 4 bytes share memory words: two CPEs that write neighbours would lose one.
    """
    names = {str(piece.get_tuple_name()) for piece in sets_of(domain)}
    return all(scop.array(name).element.size % 4 == 0 for name in scop.written_by(names))


def _too_complicated(options: KernelOptions, problem: TooComplicated) -> Diagnostic:
    return Diagnostic(
        "SW313",
        f"the loops that `transform` leads to are too complicated to be written as C: {problem.reason}",
        options.transform[0].span,
        "take fewer steps: tiles of tiles, and strips of skewed, scaled or reversed loops, multiply",
    )
