"""The choice of tiles for a kernel, and with it of its buffers: the largest that fit the LDM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Mapping as SizeMap
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import combinations
from math import exp, fsum, log, prod

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.machine import MachineModel, load
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.groups import Group
from swbuild.memory.levels import Level
from swbuild.memory.partials import Inseparable, Partial, find_partials
from swbuild.memory.plan import Care, Overflow, Price, Turns, is_expandable, least_buffers, plan_memory
from swbuild.options import Distribution, KernelOptions, Preset, Share, Turn
from swbuild.planning.apart import buffers_of
from swbuild.planning.candidates import SMALLER, Terms
from swbuild.planning.estimates import Counted, counted
from swbuild.planning.handing import alike_in
from swbuild.planning.mappings import (
    SMALLEST_TILE,
    first_fitting,
    first_mapping,
    grids,
    joint_mappings,
    may_choose,
    sequential_loops,
    unit_tile_variants,
)
from swbuild.planning.search import Ranking, merged, ranked
from swbuild.planning.shape import KernelShape
from swbuild.planning.shaping import copies_of, domains_of, shape_of
from swbuild.planning.sizes import Sizes
from swbuild.planning.tilings import (
    Choice,
    DoesNotFit,
    Estimated,
    Infeasible,
    Known,
    Outcome,
    Placed,
    Purpose,
    Tiling,
    Verdict,
)
from swbuild.planning.turning import Turnable
from swbuild.planning.turns import turnable_refs
from swbuild.planning.view import Candidate, View, Views
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe
from swbuild.polyhedral.reductions import Reduction, without_accesses
from swbuild.polyhedral.scheduling import Origin, Scheduled
from swbuild.timings import step

__all__ = ["Record", "place_as", "place_kernel"]

#: How much more one nest for all statements may cost than a nest for each.
_SLACK = 1.25

#: Where a candidate costs so many times its estimate, once it is placed, the next one is placed, too.
_OVER = 1.25

#: How many of the best candidates are placed, at most.
_PLACED = 3

#: the bytes that buffers of some arrays may take
Limits = dict[str, int]

#: takes what is tried on the way, in its order
Record = Callable[[Estimated | Tiling | Choice], None]


@dataclass(frozen=True, slots=True)
class _Task:
    """A kernel to place; ``sizes`` are assumed for its parameters.

    Buffers of the arrays in ``limits`` take at most so many bytes.  ``known``, ``costs``, ``outcomes`` and
    ``prices`` are those found so far.
    """

    scop: Scop
    options: KernelOptions
    scheduled: Scheduled
    kernel: Kernel
    reductions: tuple[Reduction, ...]
    sizes: Sizes
    record: Record
    known: Known
    limits: Limits = field(default_factory=dict)
    costs: dict[Mapping, float] = field(default_factory=dict)
    outcomes: dict[Mapping, Outcome] = field(default_factory=dict)
    prices: dict[Mapping, _Prices] = field(default_factory=dict)

    @property
    def machine(self) -> MachineModel:
        return load(self.options.machine)

    @property
    def budget(self) -> int:
        return self.options.budget

    @property
    def fixed(self) -> bool:
        """Whether no other tiles will do than the user's."""
        return bool(self.options.tile)

    @property
    def given(self) -> bool:
        """Whether tiles are the user's, or those of wavefronts."""
        return self.fixed or self.kernel.in_front

    def is_last(self, mapping: Mapping) -> bool:
        """Return whether no smaller tiles than those of ``mapping`` can be tried."""
        return not self.given and set(mapping.tile) == {SMALLEST_TILE}

    def price(self, tiled: TiledKernel) -> Price | None:
        """Return what accesses cost in ``tiled``, None where that does not matter."""
        if self.options.preset is Preset.CLASSIC:
            return None
        return self.prices.setdefault(tiled.mapping, _Prices(self, tiled))

    def tiled(self, mapping: Mapping) -> TiledKernel:
        known = self.known.tiled
        if mapping not in known:
            known[mapping] = tile_kernel(self.kernel, mapping, self.scheduled.kept, AccessStrides(self.scop))
        return known[mapping]

    def shape(self, tiled: TiledKernel, sizes: SizeMap[str, int]) -> KernelShape:
        private = self.scheduled.private
        copies = private.depths(self.copied(tiled)) if self.options.tiles_registers else {}
        turned = frozenset(self.turnable(tiled))
        return shape_of(self.scop, tiled, private.names, sizes, self.options, copies, turned)

    def turns(self, tiled: TiledKernel) -> Turns:
        """Return the references whose boxes are turned in ``tiled``."""
        always = self.options.turn is Turn.ALWAYS
        found = self.turnable(tiled)
        return {ref: each.dimension for ref, each in found.items() if always or each.pays(tiled.sizes)}

    def turnable(self, tiled: TiledKernel) -> SizeMap[tuple[str, int], Turnable]:
        """Return the references whose boxes may be turned in ``tiled``, and in tiles of other sizes."""
        key, known = replace(tiled.mapping, tile=()), self.known.turnable
        if key not in known:
            private = self.scheduled.private
            buffers = buffers_of(self.scop, domains_of(tiled.kernel, self.sizes.values), private.names)
            copies = private.depths(self.copied(tiled))
            known[key] = turnable_refs(self.scop, tiled, buffers, copies, self.options)
        return known[key]

    def copied(self, tiled: TiledKernel) -> frozenset[str]:
        """Return the private variables of which ``tiled`` has copies in buffers."""
        known = self.known.copied
        if tiled.mapping not in known:
            known[tiled.mapping] = _not_contracted(self.scop, self.scheduled.private, tiled)
        return known[tiled.mapping]

    def cycles(self, placed: Placed) -> float:
        """Return what ``placed`` costs at the assumed sizes, as a geometric mean.

        Where a kernel is not launched at one of them, it costs as little as can be there: a cycle.
        """
        mapping = placed.tiled.mapping
        if mapping not in self.costs:
            kernel = counted(self.scop, placed, self.scheduled.private, self.options)
            self.costs[mapping] = self.mean(kernel)
        return self.costs[mapping]

    def mean(self, kernel: Counted) -> float:
        """Return the geometric mean of what ``kernel`` costs at the assumed sizes."""
        costs = (kernel.at(sizes).cycles.total for sizes in self.sizes.orders)
        logarithms = [log(max(1.0, cost)) for cost in costs]
        return exp(fsum(logarithms) / len(logarithms))

    def rank(self, placed: Placed) -> float:
        """Return what is to be small: the cost, in the published algorithm the accesses to main memory."""
        classic = self.options.preset is Preset.CLASSIC
        return len(placed.plan.direct) if classic else self.cycles(placed)

    def chosen(self, placed: Placed, verdict: Verdict) -> None:
        self.record(Choice(self.kernel.name, placed.tiled.mapping, verdict))


@step("tiles and buffers")
def place_kernel(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    kernel: Kernel,
    reductions: tuple[Reduction, ...],
    sizes: Sizes,
    record: Record,
    known: Known | None = None,
) -> Placed | Infeasible:
    """Return ``kernel`` with tiles whose buffers fit the LDM budget of ``options``, or of the machine.

    Tiles are those that cost least at ``sizes``; boxes are turned if that takes less time than larger tiles,
    which the LDM else has room for.  Parts of ``reductions`` that its threads compute together count as
    buffers; ``record`` takes what is tried.  Without a plan, the outcome says what is in the way of one:
    buffers, private variables, parts.  What is ``known`` was found under the same options, except for whether
    boxes may be handed on.
    """
    launched = _launched(scop, options, scheduled, kernel)
    task = _Task(launched, options, scheduled, kernel, reductions, sizes, record, known or Known())
    found = _placed(task)
    if options.turn is not Turn.AUTO or not isinstance(found, Placed):
        return found
    return _without_turning(task, found) if any(task.known.turnable.values()) else found


def _without_turning(task: _Task, placed: Placed) -> Placed:
    """Return ``placed``, or the kernel without turned boxes if that takes less time, or ``placed`` has none.

    The LDM then was looked at as if it had some.
    """
    never = replace(task.options, turn=Turn.NEVER)
    other = replace(task, options=never, known=Known(), costs={}, outcomes={}, prices={})
    found = _placed(other)
    turned = any(buffer.turned for buffer in placed.plan.buffers)
    if not isinstance(found, Placed) or (turned and other.cycles(found) >= task.cycles(placed)):
        return placed
    task.chosen(placed, Verdict.NO_BETTER)
    return found


def _placed(task: _Task) -> Placed | Infeasible:
    """Return the kernel of ``task`` with tiles and buffers, the cheapest that fit."""
    first = _surviving(task, first_mapping(task.kernel, task.options))
    if isinstance(first, NotPrivate):
        return first
    placed = _searched(task, Purpose.FIRST, first)
    if isinstance(placed, NotPrivate | Inseparable):
        return placed
    if not isinstance(placed, Placed):
        return _does_not_fit(task, first)
    return _refined(task, first, placed)


def place_as(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    kernel: Kernel,
    sizes: Sizes,
    mapping: Mapping,
    limits: Limits | None = None,
) -> Placed | None:
    """Return ``kernel`` in the tiles of ``mapping``, None where its buffers do not fit.

    Those of an array in ``limits`` take at most so many bytes.
    """
    launched = _launched(scop, options, scheduled, kernel)
    task = _Task(launched, options, scheduled, kernel, (), sizes, lambda _: None, Known(), limits or {})
    found = _tile_and_plan(task, mapping)
    return found if isinstance(found, Placed) else None


def with_handing(
    scop: Scop, options: KernelOptions, scheduled: Scheduled, sizes: Sizes, placed: Placed
) -> Placed:
    """Return ``placed``, which hands nothing on, with those boxes handed on for which it pays."""
    kernel = placed.tiled.kernel
    task = _Task(
        _launched(scop, options, scheduled, kernel),
        options,
        scheduled,
        kernel,
        (),
        sizes,
        lambda _: None,
        Known(),
    )
    return _cheapest_handing(task, placed)[0]


def _launched(scop: Scop, options: KernelOptions, scheduled: Scheduled, kernel: Kernel) -> Scop:
    """Return ``scop`` at the sizes at which ``kernel`` runs: others are left to the serial loops.

    So the extents of its arrays bound what a tile touches.  The published algorithm does not look at them.
    Tiles over time have bounds of their own: what the extents add are only cases for isl to tell apart.
    """
    over_time = kernel.in_front and scheduled.origin is Origin.DIAMONDS
    if options.preset is Preset.CLASSIC or over_time:
        return scop
    return replace(scop, context=scop.context.intersect(scop.assumptions))


def _searched(task: _Task, purpose: Purpose, first: Mapping, unit: frozenset[int] = frozenset()) -> Outcome:
    """Return the kernel with the cheapest tiles in the order of ``first``, loops ``unit`` in steps of 1.

    The best are taken by their estimates and placed until one has all its data in the LDM, as they are
    estimated for.  Where none has, the one is taken that costs least as it is.  Private variables that need
    a copy per iteration are left out of the estimates first, then counted, and the better outcome is taken.
    """
    found = _of_ranking(task, purpose, first, _candidates(task, purpose, first, unit))
    if not (isinstance(found, Placed) and found.expanded):
        return found
    other = _of_ranking(task, purpose, first, _candidates(task, purpose, first, unit, found.expanded))
    return min(found, other, key=task.cycles) if isinstance(other, Placed) else found


def _of_ranking(
    task: _Task, purpose: Purpose, first: Mapping, ranking: Ranking | None
) -> Placed | Overflow | NotPrivate | Inseparable:
    found = _cheapest(task, purpose, first, ranking)
    return replace(found, among=ranking) if isinstance(found, Placed) else found


def _cheapest(
    task: _Task, purpose: Purpose, first: Mapping, ranking: Ranking | None
) -> Placed | Overflow | NotPrivate | Inseparable:
    """Return the first of the best in ``ranking`` that has all its data in the LDM, or costs least.

    One that costs much more than it was estimated at, once it is placed, is taken only if none of the next
    ones costs less.
    """
    start = first
    found: list[Placed] = []
    for number, each in enumerate(ranking.best[:_PLACED] if ranking else ()):
        if any(not other.plan.direct and task.cycles(other) <= each.total for other in found):
            break
        mapping = _mapping_of(first, each.candidate)
        start = start if number else mapping
        outcome = _fitting(task, purpose, mapping)
        if isinstance(outcome, NotPrivate | Inseparable):
            if len(mapping.threads) == len(first.threads):
                return outcome
            start = first if start is mapping else start
        elif isinstance(outcome, Placed):
            if not outcome.plan.direct and task.cycles(outcome) <= each.total * _OVER:
                return outcome
            found.append(outcome)
    whole = [outcome for outcome in found if not outcome.plan.direct]
    if whole:
        return min(whole, key=task.cycles)
    attempt = partial(_fitting, task, purpose)
    last = first_fitting(first if found else start, task.fixed, attempt)
    if not found:
        return last
    return min([*found, last] if isinstance(last, Placed) else found, key=task.cycles)


def _candidates(
    task: _Task,
    purpose: Purpose,
    mapping: Mapping,
    unit: frozenset[int],
    expanded: frozenset[str] = frozenset(),
) -> Ranking | None:
    """Return what may be chosen in the order of ``mapping``, None where nothing may.

    The LDM is to have room for copies of ``expanded``.
    """
    if not may_choose(task.kernel, task.options):
        return None
    ways = [mapping, *joint_mappings(mapping, task.kernel, task.options)]
    ways = [each for each in ways if _has_parts_of(task, mapping, each)]
    if unit:  # the others may have the loop at another place
        ways = [each for each in ways if len(each.threads) == len(mapping.threads)]
    by_loops = {len(each.threads): [w for w in ways if len(w.threads) == len(each.threads)] for each in ways}
    found = merged([_ranking(task, alike, unit, expanded) for alike in by_loops.values()])
    task.record(Estimated(task.kernel.name, purpose, found))
    return found


def _has_parts_of(task: _Task, mapping: Mapping, other: Mapping) -> bool:
    """Return whether ``other`` computes no more in parts than ``mapping``."""
    if len(other.threads) <= len(mapping.threads) or not task.reductions:
        return True
    one, two = (find_partials(task.scop, task.tiled(each), task.reductions) for each in (mapping, other))
    return isinstance(two, tuple) and isinstance(one, tuple) and len(two) <= len(one)


def _ranking(task: _Task, ways: list[Mapping], unit: frozenset[int], expanded: frozenset[str]) -> Ranking:
    """Return what may be chosen of ``ways`` to share out as many loops."""
    mapping, known = ways[0], task.known.views
    if mapping not in known:
        tiled = task.tiled(mapping)
        known[mapping] = [Views(task.shape(tiled, sizes), task.machine) for sizes in task.sizes.orders]
    copies = copies_of(task.scop, task.tiled(mapping), task.scheduled.private, expanded) if expanded else ()
    shaped = grids(task.kernel, task.options) if any(not way.is_joint for way in ways) else ()
    joint = next((prod(way.threads) for way in ways if way.is_joint), 0)
    # instances that tiles were cut from: others that do not fit those have no boxes that isl finds
    cut = task.scheduled.origin is Origin.UPDATES
    terms = Terms(task.budget, copies, task.options.hands_on, cut, known[mapping][0].shape.whole_words)
    return ranked(known[mapping], shaped, terms, unit, joint)


def _mapping_of(first: Mapping, candidate: Candidate) -> Mapping:
    """Return ``first`` with the threads and tiles of ``candidate``."""
    distribution = first.distribution
    if candidate.joint:
        distribution = Distribution.JOINT
    elif first.is_joint:
        distribution = Distribution.CYCLIC
    return replace(first, threads=candidate.threads, tile=candidate.tile, distribution=distribution)


def _does_not_fit(task: _Task, mapping: Mapping) -> DoesNotFit:
    """Return what the buffers of the kernel take with the tiles that were to be tried last."""
    tile = mapping.tile if task.fixed else (SMALLEST_TILE,)
    tiled = task.tiled(replace(mapping, tile=tile))
    private = task.scheduled.private
    expanded = task.copied(tiled)
    needed = least_buffers(task.scop, tiled, task.scheduled.dependences, private, expanded)
    return DoesNotFit(task.kernel.name, task.budget, tile, needed)


def _refined(task: _Task, first: Mapping, placed: Placed) -> Placed:
    """Return the best variant of ``placed``, which was found from ``first``."""
    if task.kernel.single or (placed.expanded and first.restructure):
        placed = _statement_by_statement(task, first, placed)
    if placed.expanded and first.restructure:
        placed = _whole_iterations(task, first, placed)
    if placed.plan.direct and not task.fixed:
        placed = _with_unit_steps(task, first, placed)
    task.chosen(placed, Verdict.TAKEN)
    return placed


def _statement_by_statement(task: _Task, first: Mapping, placed: Placed) -> Placed:
    """Return ``placed``, or the kernel with sequential loops distributed over statements if that costs less.

    What keeps such a loop sequential is often a sum at its end; what is computed for it ahead, in variables
    of an iteration, may be in vectors along the loop.  What one CPE runs has its first loops around all.
    """
    divided = task.tiled(replace(placed.tiled.mapping, sequential=True))
    if divided.schedule.plain_is_equal(placed.tiled.schedule):
        return placed
    first = replace(_in_order_of(first, placed.tiled.mapping), sequential=True)
    found = _searched(task, Purpose.SEQUENTIAL, first)
    if not isinstance(found, Placed) or task.cycles(found) >= task.cycles(placed):
        return placed
    task.chosen(placed, Verdict.NO_BETTER)
    return found


def _with_unit_steps(task: _Task, first: Mapping, placed: Placed) -> Placed:
    """Return the best of ``placed`` and its variants that do not tile one of the sequential loops.

    Where a tile reads what it also writes elsewhere, a single iteration often does not.
    """
    if may_choose(task.kernel, task.options):
        found = [
            _searched(task, Purpose.UNIT, _in_order_of(first, placed.tiled.mapping), unit)
            for unit in (frozenset({k}) for k in sequential_loops(placed.tiled))
        ]
    else:
        found = [_fitting(task, Purpose.UNIT, mapping) for mapping in unit_tile_variants(placed.tiled)]
    variants = [placed, *(variant for variant in found if isinstance(variant, Placed))]
    best = min(variants, key=task.rank)
    for other in variants:
        if other is not best:
            task.chosen(other, Verdict.NO_BETTER)
    return best


def _in_order_of(first: Mapping, mapping: Mapping) -> Mapping:
    """Return ``first`` in the order of ``mapping``, with as many loops shared out."""
    if len(first.threads) != len(mapping.threads):
        first = replace(first, threads=mapping.threads, distribution=mapping.distribution)
    return replace(
        first, restructure=mapping.restructure, together=mapping.together, sequential=mapping.sequential
    )


def _whole_iterations(task: _Task, first: Mapping, other: Placed) -> Placed:
    """Return the kernel with its statements in one nest inside the tile, or ``other`` where that is better.

    Variables private to an iteration then are variables of the emitted C, where ``other`` has a buffer of
    them for the tile.
    """
    found = _searched(task, Purpose.WHOLE, replace(first, restructure=False))
    if not isinstance(found, Placed):
        return other
    worse = _worse(task, found, other)
    task.chosen(found if worse else other, worse or Verdict.EXPANDS)
    return other if worse else found


def _worse(task: _Task, found: Placed, other: Placed) -> Verdict | None:
    """Return what makes ``found``, in one nest, worse than ``other``.

    Variables are worth as much to readers as some time, unless data are moved inside the nest for them.
    """
    if found.expanded:
        return Verdict.EXPANDS
    slack = 1.0 if any(buffer.level for buffer in found.plan.buffers) else _SLACK
    return Verdict.DEARER if task.cycles(found) > slack * task.cycles(other) else None


def _fitting(task: _Task, purpose: Purpose, mapping: Mapping) -> Outcome:
    """Return the kernel with the tiles of ``mapping`` and its buffers, or why it has none; record it."""
    if mapping not in task.outcomes:
        found = task.outcomes[mapping] = _tile_and_plan(task, mapping)
        task.record(Tiling(task.kernel.name, purpose, mapping, found))
    return task.outcomes[mapping]


def _tile_and_plan(task: _Task, mapping: Mapping) -> Outcome:
    care, alone = _care(task, mapping), task.known.alone
    if (mapping, care) not in alone:
        alone[mapping, care] = _alone(task, mapping, care)
    found = alone[mapping, care]
    if not isinstance(found, Placed) or not task.options.hands_on:
        return found
    smaller = partial(_planned, task, care, found.tiled, found.expanded, found.partials)
    return _handing_on(task, found, (partial(smaller, part) for part in SMALLER))


def _alone(task: _Task, mapping: Mapping, care: Care) -> Outcome:
    """Return the kernel with the tiles of ``mapping`` and buffers that each CPE fills for itself."""
    scop, private = task.scop, task.scheduled.private
    tiled = task.tiled(mapping)
    partials = find_partials(scop, tiled, task.reductions)
    if isinstance(partials, Inseparable):
        return partials
    expanded = task.copied(tiled)
    stuck = _unexpandable(scop, private, tiled, expanded)
    return stuck or _planned(task, care, tiled, expanded, partials)


def _planned(
    task: _Task,
    care: Care,
    tiled: TiledKernel,
    expanded: frozenset[str],
    partials: tuple[Partial, ...],
    part: float = 1.0,
) -> Placed | Overflow:
    """Return ``tiled`` with its buffers in the LDM, if they fit.

    They get ``part`` of what its ``partials`` and the copies of variables that are ``expanded`` leave.
    """
    rest = without_accesses(task.scop, {(name, p.array) for p in partials for name in p.statements})
    copies = copies_of(task.scop, tiled, task.scheduled.private, expanded) if part < 1.0 else ()
    held = sum(each.bytes_of(tiled.sizes) for each in copies)
    left = task.budget - sum(partial.bytes for partial in partials)
    budget = held + int(part * (left - held))
    plan = plan_memory(
        rest,
        tiled,
        task.scheduled.dependences,
        task.scheduled.private,
        expanded,
        budget,
        task.price(tiled),
        smallest=task.is_last(tiled.mapping),
        care=care,
        turns=task.turns(tiled),
        limits=task.limits,
    )
    if isinstance(plan, Overflow):
        return plan
    return Placed(tiled, plan, expanded, partials, task.budget, known=task.known)


def _handing_on(task: _Task, placed: Placed, smaller: Iterable[Callable[[], Placed | Overflow]]) -> Placed:
    """Return ``placed`` with those boxes handed on for which it pays.

    Where it has no room for all of them, plans with ``smaller`` buffers are looked at, too.
    """
    best, cycles, whole = _cheapest_handing(task, placed)
    for other in smaller if not whole else ():
        found = other()
        if isinstance(found, Placed) and not (found.plan.direct and not placed.plan.direct):
            each, less, _ = _cheapest_handing(task, found)
            best, cycles = (each, less) if less < cycles else (best, cycles)
    return best


def _cheapest_handing(task: _Task, placed: Placed) -> tuple[Placed, float, bool]:
    """Return ``placed`` with the boxes that it pays to hand on, its cycles, and if all had room that may be.

    There is no point in its cycles where none may be.  CPEs do not come by together in tiles over time.
    """
    if placed.tiled.kernel.pieces is not None and task.options.share is Share.AUTO:
        return placed, 0.0, True
    alike = frozenset(alike_in(task.scop, placed, task.options))
    if not alike:
        return placed, 0.0, True
    kernel = counted(task.scop, replace(placed, handed=alike), task.scheduled.private, task.options)
    room = frozenset(kernel.handed)
    fewer = () if task.options.share is Share.ALWAYS else ((), *combinations(sorted(room), 1))
    ways = {frozenset(names): None for names in (room, *fewer)}
    costs = {names: task.mean(kernel.handing(names)) for names in ways}
    best = min(ways, key=lambda names: costs[names])
    return replace(placed, handed=best), costs[best], room == alike


def _care(task: _Task, mapping: Mapping) -> Care:
    """Return of which boxes to find the ends; of all where no smaller tiles will be tried.

    That of one tiling boxes are too large is taken to be so of the next ones.
    """
    if task.given or task.is_last(mapping):
        return Care.ALL
    large = any(isinstance(found, Overflow) and found.arrays for found in task.outcomes.values())
    return Care.TAKEN if large else Care.LARGE


def _not_contracted(scop: Scop, private: Private, tiled: TiledKernel) -> frozenset[str]:
    """Return the private variables of the kernel for which one copy per CPE does not do."""
    used = [n for n in sorted(private.names) if scop.users(n) & set(tiled.kernel.statements)]
    return frozenset(name for name in used if not contraction_is_safe(scop, private, name, tiled.schedule))


def _unexpandable(
    scop: Scop, private: Private, tiled: TiledKernel, names: frozenset[str]
) -> NotPrivate | None:
    """Return those of ``names`` that do not fit a buffer of the tile's copies, None if all do."""
    stuck = frozenset(n for n in names if not is_expandable(scop, tiled, private, n))
    return NotPrivate(stuck) if stuck else None


def _surviving(task: _Task, mapping: Mapping) -> Mapping | NotPrivate:
    """Return ``mapping``, with loops distributed over statements only where private variables survive it.

    Their copies for all iterations of a parallel loop are too many, those for a tile of it may not be.  Or
    return those that do not survive the order without it either.
    """
    scop, names = task.scop, task.scheduled.private.names
    if not any(scop.users(name) & set(task.kernel.statements) for name in names):
        return mapping
    ways = (mapping, replace(mapping, together=True)) if mapping.restructure else ()
    survived = next((way for way in ways if _lost(task, way) is None), None)
    if survived is not None:
        return survived
    whole = replace(mapping, restructure=False)
    return _lost(task, whole) or whole


def _lost(task: _Task, mapping: Mapping) -> NotPrivate | None:
    """Return the private variables that do not survive ``mapping``, None if all do."""
    scop, private = task.scop, task.scheduled.private
    tiled = task.tiled(mapping)
    return _unexpandable(scop, private, tiled, task.copied(tiled))


class _Prices(Price):
    """What accesses cost in a tiled kernel, whose numbers are only taken if somebody asks."""

    def __init__(self, task: _Task, tiled: TiledKernel) -> None:
        self.task = task
        self.tiled = tiled

    @cached_property
    def view(self) -> View:
        mapping = self.tiled.mapping
        candidate = Candidate(mapping.threads, self.tiled.sizes, mapping.is_joint)
        shape = self.task.shape(self.tiled, self.task.sizes.values)
        return Views(shape, self.task.machine).of(candidate)

    def of_buffer(self, level: Level, group: Group) -> float:
        return self.view.of_buffer(level, group)

    def of_direct(self, statement: str) -> float:
        return self.view.of_direct(statement)
