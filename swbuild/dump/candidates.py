"""What was tried on the way: orders, tiles, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from swbuild.attempt import Attempt, Dropped, Tried
from swbuild.dump.text import indented, listed
from swbuild.mapping.regiontree import HostTree
from swbuild.mapping.tiling import Mapping
from swbuild.memory.partials import Inseparable
from swbuild.memory.plan import Overflow
from swbuild.planning.fronts import NoFronts
from swbuild.planning.ordering import Judgement, Ordered
from swbuild.planning.tilings import Choice, Estimated, Placed, Tiling
from swbuild.polyhedral.privatise import NotPrivate

__all__ = ["candidate_lines"]


def candidate_lines(search: tuple[Tried, ...]) -> Iterator[str]:
    """Yield what was tried, in its order; what belongs to an attempt stands below it."""
    for item in search:
        yield from indented(_lines(item), 0 if isinstance(item, Attempt) else 1)


@singledispatch
def _lines(item: object) -> Iterator[str]:
    raise TypeError(f"nothing is known of {type(item).__name__}")


@_lines.register
def _attempt(item: Attempt) -> Iterator[str]:
    reductions = sorted(f"{r.array} by {r.operator.value}" for r in item.reductions)
    yield "attempt"
    yield f"  private: {listed(sorted(item.private.names))}"
    yield f"  reductions that may be split: {listed(reductions)}"


@_lines.register
def _ordered(item: Ordered) -> Iterator[str]:
    origin = item.order.scheduled.origin.value
    if item.judgement is Judgement.TAKEN:
        yield f"order taken: from {origin}"
        return
    yield f"order from {origin}"
    yield from indented(_shares(item.order.tree))
    if item.order.scheduled.front:
        yield f"  tiles of wavefronts: {listed(item.order.scheduled.front)}"
    if item.order.scheduled.block:
        yield f"  iterations in a block: {item.order.scheduled.block}"
    if item.order.split:
        yield f"  split reductions: {listed(r.array for r in item.order.split)}"
    yield f"  {item.judgement.value}{f': {listed(item.names)}' if item.names else ''}"


def _shares(tree: HostTree) -> Iterator[str]:
    """Yield who runs what."""
    for kernel in tree.kernels:
        yield f"kernel {kernel.name}: {listed(kernel.statements)}"
        yield f"  parallel loops: {kernel.parallel}"
        yield f"  loops of the host around it: {len(kernel.host_loops)}"
    yield f"on the host: {listed(tree.statements)}"


@_lines.register
def _no_fronts(item: NoFronts) -> Iterator[str]:
    why = "no band of its schedule takes tiles" if item.scheduled else "isl finds no schedule with deep bands"
    yield "order of wavefronts"
    yield f"  {why}"


@_lines.register
def _dropped(item: Dropped) -> Iterator[str]:
    names = f": {listed(item.names)}" if item.names else ""
    detail = f" ({item.detail})" if item.detail else ""
    yield f"dropped, {item.cause.value}{names}{detail}"


@_lines.register
def _tiling(item: Tiling) -> Iterator[str]:
    yield f"tiling of {item.kernel}: {item.purpose.value}"
    yield f"  {_mapping(item.mapping)}"
    yield from indented(_outcome(item.outcome))


def _mapping(mapping: Mapping) -> str:
    flags = [
        "distributed over statements" if mapping.restructure else "in one nest",
        *(("so are sequential loops",) if mapping.sequential else ()),
        *(("all parallel loops in tiles for all statements",) if mapping.together else ()),
        "unit strides innermost" if mapping.reorder else "in the order given",
    ]
    tiles, threads = (" x ".join(map(str, sizes)) for sizes in (mapping.tile, mapping.grid))
    return f"tiles {tiles}, threads {threads} {mapping.distribution.value}, {', '.join(flags)}"


def _outcome(outcome: Placed | Overflow | NotPrivate | Inseparable) -> Iterator[str]:
    if isinstance(outcome, NotPrivate):
        yield f"refused, a tile needs copies without a bound of {listed(sorted(outcome.names))}"
    elif isinstance(outcome, Inseparable):
        yield f"refused, {listed(sorted(r.array for r in outcome.reductions))} cannot be computed in parts"
    elif isinstance(outcome, Overflow) and outcome.arrays:
        yield f"refused, the part of {listed(outcome.arrays)} in a tile takes more than {outcome.limit} bytes"
    elif isinstance(outcome, Overflow):
        yield "refused, the buffers together take more than the budget"
    else:
        used = outcome.bytes
        yield f"fits, {used} of {outcome.budget} bytes"
        yield f"  accesses left in main memory: {len(outcome.plan.direct)}"
        yield f"  private variables in buffers: {listed(sorted(outcome.expanded))}"


@_lines.register
def _estimated(item: Estimated) -> Iterator[str]:
    yield f"estimates for {item.kernel}: {item.purpose.value}"
    for estimate in item.ranking.best:
        tiles, threads = (
            " x ".join(map(str, sizes)) for sizes in (estimate.candidate.tile, estimate.candidate.grid)
        )
        yield f"  tiles {tiles}, threads {threads}: {estimate.total:.0f} cycles, {estimate.bytes} bytes"


@_lines.register
def _choice(item: Choice) -> Iterator[str]:
    tiles = " x ".join(map(str, item.mapping.tile))
    nest = "" if item.mapping.restructure else ", in one nest"
    verdict = item.verdict.value
    yield f"tiling of {item.kernel}: {tiles}{nest}, {'' if verdict == 'taken' else 'not taken, '}{verdict}"
