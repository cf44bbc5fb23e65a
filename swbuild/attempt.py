"""One attempt at a region: from its order to code, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import islice
from math import inf

import islpy as isl

from swbuild.classes import dataclass
from swbuild.codegen.report import region_report
from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import TOO_MANY_CASES
from swbuild.lowering.region import Assembled, NoCode, assemble, leave_alone
from swbuild.mapping.regiontree import HostTree, split_region
from swbuild.mapping.tiling import broken
from swbuild.memory.partials import Inseparable
from swbuild.memory.plan import writes_in_part
from swbuild.memory.words import SharedWords
from swbuild.options import KernelOptions, Preset, Share
from swbuild.planning.dividing import Dearer, Limit, alone, place_order
from swbuild.planning.fronts import NoFronts, in_fronts
from swbuild.planning.ordering import (
    Judgement,
    Order,
    Ordered,
    choose_order,
    strays,
)
from swbuild.planning.sizes import assumed_sizes
from swbuild.planning.tilings import Choice, DoesNotFit, Estimated, Infeasible, Placed, Tiling
from swbuild.planning.where import cycles_left, least_cycles
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.exact import rounds
from swbuild.polyhedral.islutil import bounded_effort, ran_out, repeated
from swbuild.polyhedral.privatise import NotPrivate, Private
from swbuild.polyhedral.reductions import Reduction
from swbuild.polyhedral.scheduling import Scheduled

__all__ = [
    "MAX_OPERATIONS",
    "Attempt",
    "Cause",
    "Dropped",
    "Outcome",
    "Record",
    "RegionResult",
    "Task",
    "Tried",
    "attempted",
    "bounded",
    "check_order",
    "code_of",
    "dropped",
    "in_code",
    "on_host",
]

#: isl steps for one attempt at a region, besides those that have limits of their own.
MAX_OPERATIONS = 8_000_000

#: Wavefronts, with tiles of one shape each, of which code is tried.
_MOST_FRONTS = 3

#: isl steps for the last look at the order of a kernel.
_LOOK = 500_000

#: Why no code is looked for where another order is known to take less time.
_DEARER = "it takes longer than another order"

#: Why no code is looked for where a statement would have buffers of its own at each of several places.
_REPEATED = "a statement has several places in a kernel"

_NOTHING: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Attempt:
    """The beginning of an attempt at the whole region, with these variables private and these reductions.

    ``scop`` is its model, with copies in the place of arrays that iterations use as work space.
    """

    scop: Scop
    private: Private
    reductions: tuple[Reduction, ...]


class Cause(Enum):
    """Why an attempt at an order or at the whole region ends."""

    NOT_PRIVATE = "variables cannot be private after all"
    INSEPARABLE = "reductions cannot be computed in parts after all"
    SHARED_WORDS = "CPEs would write parts of words"
    DOES_NOT_FIT = "a kernel does not fit the LDM"
    TOO_COMPLICATED = "no C was found"


@dataclass(frozen=True, slots=True)
class Dropped:
    """The end of an attempt; ``names`` are the variables, arrays or kernels that it fails by."""

    cause: Cause
    names: tuple[str, ...]
    detail: str = ""


Tried = Attempt | Ordered | Estimated | Tiling | Choice | NoFronts | Dropped

#: takes what is tried on the way, in its order
Record = Callable[[Tried], None]


@dataclass(frozen=True, slots=True)
class RegionResult:
    """What the stages made of a region: its order, its kernels with their memory, and its code."""

    order: Order
    placed: tuple[Placed, ...]
    assembled: Assembled


#: What an attempt comes to: code, or why there is none.
Outcome = RegionResult | Infeasible | NoCode


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt: what stays the same in it."""

    options: KernelOptions
    attempt: Attempt
    record: Record

    @property
    def scop(self) -> Scop:
        """The model of the region."""
        return self.attempt.scop

    def of(self, scop: Scop) -> Task:
        """Return the attempt at ``scop``, which is this region at fewer sizes."""
        return replace(self, attempt=replace(self.attempt, scop=scop))


def dropped(problem: Infeasible | NoCode) -> Dropped:
    """Return ``problem`` as it goes on record."""
    if isinstance(problem, NotPrivate):
        return Dropped(Cause.NOT_PRIVATE, tuple(sorted(problem.names)))
    if isinstance(problem, SharedWords):
        return Dropped(Cause.SHARED_WORDS, tuple(sorted(problem.arrays)))
    if isinstance(problem, Inseparable):
        return Dropped(Cause.INSEPARABLE, tuple(sorted(r.array for r in problem.reductions)))
    if isinstance(problem, DoesNotFit):
        return Dropped(Cause.DOES_NOT_FIT, (problem.kernel,), f"budget {problem.budget} bytes")
    return Dropped(Cause.TOO_COMPLICATED, (), problem.reason)


def bounded(work: Callable[[], Outcome]) -> Outcome:
    """Return what ``work`` does, or that isl takes too long over it."""
    try:
        with bounded_effort(MAX_OPERATIONS):
            return work()
    except isl.Error as error:
        if not ran_out(error):
            raise
        return NoCode(TOO_MANY_CASES)


def attempted(task: Task) -> Outcome:
    """Return the code with the variables of the attempt privatised, or why there is none."""
    scop, options, attempt = task.scop, task.options, task.attempt
    order = choose_order(scop, options, attempt.private, attempt.reductions, task.record)
    free = not options.transform and options.preset is not Preset.CLASSIC
    if free and _leaves_nests(scop, order.tree):
        found = _in_wavefronts(task, order)
        if found is not None:
            return found
    if not (order.tree.kernels or options.transform):
        held = on_host(scop, options, order.scheduled.dependences)
        task.record(Ordered(held.order, Judgement.TAKEN))
        return held
    return code_of(task, order)


def _leaves_nests(scop: Scop, tree: HostTree) -> bool:
    """Return whether the host runs whole loop nests: wavefronts may be found in them."""
    deep = any(len(scop.statement(name).iterators) > 1 for name in tree.statements)
    return deep and not any(kernel.host_loops for kernel in tree.kernels)


def code_of(task: Task, order: Order, before: Sequence[Placed] = (), below: float = inf) -> Outcome:
    """Return the code of ``order`` with tiles and buffers for its kernels, or why there is none.

    Kernels that all CPEs share are as they were found ``before`` where one of their names was.  No code is
    looked for where it is certain to take ``below`` cycles.
    """
    scop, options = task.scop, task.options
    unsafe = strays(scop, order.scheduled.private, order.tree)
    if unsafe:
        return NotPrivate(unsafe)
    made = place_order(scop, options, order, task.record, before, _limit(task, order, below))
    if isinstance(made, Dearer):
        return NoCode(_DEARER)
    if not isinstance(made, tuple):
        return made
    order, placed = made
    shared = frozenset[str]().union(*(writes_in_part(scop, place.plan) for place in placed))
    if shared:
        return SharedWords(shared)
    if _repeats(order):
        return NoCode(_REPEATED)
    check_order(order, placed)
    found = in_code(task, order, placed)
    refused = _refused_in(found) if isinstance(found, RegionResult) else {}
    if not refused or options.share is not Share.AUTO:
        return found
    placed = alone(scop, options, order, task.record, placed, refused.keys())
    other = in_code(task, order, placed, refused)
    return found if isinstance(other, NoCode) else other


def _repeats(order: Order) -> bool:
    """Return whether a statement has several places in a kernel, or without blocks in the whole ``order``.

    References to arrays are known by their statements, and so have to be in one place of a kernel each.
    Statements that the source has in several places are in one where isl's scheduler has put them.
    """
    trees = [kernel.schedule for kernel in order.tree.kernels]
    trees += [] if order.scheduled.block else [order.scheduled.schedule]
    return any(repeated(tree) for tree in trees)


def check_order(order: Order, placed: Sequence[Placed]) -> None:
    """Fail if the instances of a kernel, as tiled, do not run in an order that keeps all dependences.

    Whatever made the tiles has seen to that.  This is the last look: the region stays on the host, with an
    error, rather than compute something else.  Where isl takes too long over it, nobody looks again.
    """
    for place in placed:
        try:
            with bounded_effort(_LOOK):
                how = broken(place.tiled, order.scheduled.kept)
        except isl.Error as error:
            if not ran_out(error):
                raise
            continue
        if how is not None:
            raise AssertionError(f"a dependence leads {how}: the tiles of {place.tiled.kernel.name}")


def in_code(
    task: Task, order: Order, placed: tuple[Placed, ...], refused: Mapping[str, Mapping[str, str]] = _NOTHING
) -> RegionResult | NoCode:
    """Return the code of ``order`` with the kernels ``placed``, or why there is none.

    ``refused`` are the buffers, by kernels, that could not be handed on before, and why.
    """
    found = assemble(task.scop, task.options, order.scheduled, order.tree, placed, order.unrolls)
    if isinstance(found, NoCode):
        return found
    kernels = tuple(replace(k, unshared=refused.get(k.name, k.unshared)) for k in found.code.kernels)
    private = order.scheduled.private.names
    exact = not any(rounds(task.scop, reduction, private) for reduction in order.split)
    code = replace(found.code, exact=exact, kernels=kernels)
    pairs = zip(placed, code.kernels, strict=True)
    placed = tuple(replace(place, handed=place.handed.difference(kernel.unshared)) for place, kernel in pairs)
    return RegionResult(order, placed, _reported(replace(found, code=code), order, placed))


def _limit(task: Task, order: Order, below: float) -> Limit | None:
    """Return what the kernels of ``order`` may take beside the host, None where all may take any time."""
    if below == inf:
        return None
    scop, options = task.scop, task.options
    sizes = assumed_sizes(scop, options).values
    least = partial(least_cycles, scop, options, order.scheduled.private, sizes)
    return Limit(below - cycles_left(scop, options, order.tree, sizes), least)


def _refused_in(found: RegionResult) -> Mapping[str, Mapping[str, str]]:
    """Return the buffers, by kernels, whose boxes were to be handed on and are not, and why."""
    return {kernel.name: kernel.unshared for kernel in found.assembled.code.kernels if kernel.unshared}


def _in_wavefronts(task: Task, order: Order) -> Outcome | None:
    """Return the code that runs tiles of loop nests in wavefronts, or None where nothing is won by it.

    Tiles of the user's have to fit the LDM.  Where the first shapes of tiles have no code, others have none.
    """
    for front, placed in islice(in_fronts(task.scop, task.options, order, task.record), _MOST_FRONTS):
        made = code_of(task, front, placed)
        if isinstance(made, RegionResult):
            task.record(Ordered(front, Judgement.TAKEN))
            return made
        if isinstance(made, Inseparable) or (isinstance(made, DoesNotFit) and task.options.tile):
            return made
        task.record(dropped(made))
    return None


def on_host(scop: Scop, options: KernelOptions, dependences: Dependences) -> RegionResult:
    """Return the code of a region of which nothing leaves the host: the order of the source."""
    scheduled = Scheduled(scop.schedule, dependences, dependences.all, Private(frozenset(), {}))
    tree = split_region(scop.schedule, scop.kernels, lambda _: False)
    order = Order(scheduled, tree, ())
    return RegionResult(order, (), _reported(leave_alone(scop, options, scheduled, tree), order, ()))


def _reported(found: Assembled, order: Order, placed: Sequence[Placed]) -> Assembled:
    """Return ``found`` with its report."""
    report = region_report(found.code, order.scheduled, order.tree, placed)
    return replace(found, code=replace(found.code, report=report))
