"""Candidates for a kernel's threads and tiles, and what each of them costs by the numbers of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from math import inf, prod

from swbuild.classes import dataclass
from swbuild.machine.cost.launches import Cycles, Launch, launch_cycles
from swbuild.memory.budget import within
from swbuild.planning.shape import Copies, Loop
from swbuild.planning.view import Candidate, Choice, Launched, View, Views

__all__ = [
    "SMALLER",
    "Dear",
    "Estimate",
    "Ranking",
    "Reason",
    "Terms",
    "estimate",
    "merged",
    "ranked",
    "sizes_of",
]

#: Cycles to visit a level for one buffer.
_VISIT = 60

#: Cycles to step to the next of the rows of tiles that threads share.
_ROW = 25

#: The sizes of the first tiles, the cheapest being taken.
_STARTS = (50, 24, 12, 6, 3, 1)

#: How often all tile sizes are looked at in turn, at most.
_SWEEPS = 4

#: What a candidate may cost more than the best, if it takes less of the LDM, which a program shares, or hands
#: boxes on.
_SLACK = 1.02

#: How many sizes are looked at for one that does with as many tiles as if the loop began with one.
_LONGER = 8

#: Parts of the LDM that buffers are to fit to leave room for second slots, from which they are handed on.
SMALLER = (0.75, 0.5)

#: Of how many grids tiles are looked for, the best ones by their first tiles.
_GRIDS = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """What candidates have to observe: buffers and ``copies`` of private variables share ``budget`` bytes.

    ``hands_on``: one CPE may get boxes for others.  ``binary``: all sizes of tiles are powers of two.
    Those of the mapped loops are ``multiples`` of these numbers, 1 where there is none for a loop.
    """

    budget: int
    copies: tuple[Copies, ...] = ()
    hands_on: bool = False
    binary: bool = False
    multiples: tuple[int, ...] = ()

    def allow(self, tile: Sequence[int]) -> bool:
        """Return whether there may be tiles of these sizes."""
        if self.binary and any(size & (size - 1) for size in tile):
            return False
        return not any(size % each for size, each in zip(tile, self.multiples, strict=False))

    def rounded(self, position: int, size: int) -> int:
        """Return a size that the loop at ``position`` may have for ``size``, no larger if there is one."""
        if self.binary:
            return 1 << (size.bit_length() - 1)
        multiple = self.multiples[position] if position < len(self.multiples) else 1
        return max(1, size // multiple) * multiple


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a candidate would cost in all launches, and the LDM that its buffers would take.

    ``total`` are the cycles, of several sizes their geometric mean; ``hands_on``: at one of them at least,
    CPEs hand boxes on.
    """

    candidate: Candidate
    total: float
    bytes: int
    hands_on: bool = False


@dataclass(frozen=True, slots=True)
class Dear:
    """A candidate that costs at least ``total``, if its buffers fit."""

    total: float

    def exceeds(self, limit: float) -> bool:
        """Return whether the candidate certainly costs more than ``limit``, however numbers are rounded."""
        return self.total > limit * (1 + 1e-9)


class Reason(Enum):
    """Why a candidate comes before all others for its threads."""

    CHEAPEST = "the cheapest"
    FRUGAL = "the one with the least LDM within 2 % of the cheapest"
    WHOLE = "the one within 2 % of the cheapest that is a single tile"


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a search has found: the ``best``, in the order they are tried, of ``considered`` candidates.

    ``runner_up`` is the cheapest of the others, for another grid if there is one; ``reason`` is that of the
    first of the best, but that it hands boxes on.
    """

    best: tuple[Estimate, ...]
    considered: int
    runner_up: Estimate | None
    reason: Reason


def ranked(
    kernel: Sequence[Views],
    grids: Sequence[tuple[int, ...]],
    terms: Terms,
    unit: frozenset[int] = frozenset(),
    joint: int = 0,
) -> Ranking:
    """Return the best found for some of ``grids``; loops ``unit`` get no tiles.

    So many ``joint`` threads may share the tiles of all mapped loops (0: they are not to).

    ``kernel`` is seen at several sizes, the largest last.  What counts is the geometric mean
    of the cycles: it is least where the losses against what is best at each size are least on average, as
    ratios, so that neither the launches of small sizes nor the sheer length of large ones outweigh others.
    """
    search = _Search(kernel, terms, unit)
    starts = [found for grid in grids if (found := search.start(grid)) is not None]
    starts = sorted(starts, key=lambda e: e.total)[: _GRIDS if joint == 0 else _GRIDS - 1]
    best = [search.improved(start) for start in starts]
    if joint:
        best += search.jointly((joint, *(1 for _ in range(1, kernel[-1].shape.mapped))), best)
    best = [search.whole(each) or search.frugal(each) for each in best]
    return search.ranking(_in_order({e.candidate: e for e in best}.values()))


def _in_order(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return ``estimates``, the cheapest first, or one with boxes handed on if it costs hardly more."""
    found = sorted(estimates, key=lambda e: e.total)
    near = [e for e in found if e.total <= found[0].total * _SLACK]
    first = min(near, key=lambda e: (not e.hands_on, e.total), default=None)
    return found if first is None else [first, *(e for e in found if e is not first)]


def merged(rankings: Sequence[Ranking]) -> Ranking:
    """Return what several searches have found together."""
    best = _in_order(each for ranking in rankings for each in ranking.best)
    first = next((ranking for ranking in rankings if best and best[0] in ranking.best), rankings[0])
    others = [*best[1:2], *(r.runner_up for r in rankings if r.runner_up is not None)]
    runner_up = min((e for e in others if e is not best[0]), key=lambda e: e.total, default=None)
    return Ranking(tuple(best), sum(ranking.considered for ranking in rankings), runner_up, first.reason)


class _Search:
    """Looks for tiles: from some on, one size or two at a time, as long as that pays."""

    def __init__(self, kernel: Sequence[Views], terms: Terms, unit: frozenset[int]) -> None:
        self.unit = unit
        self.kernel = kernel
        self.shapes = [views.shape for views in kernel]
        self.loops = self.shapes[-1].loops
        self.terms = terms
        self.known: dict[Candidate, Estimate | Dear | None] = {}

    @property
    def free(self) -> list[int]:
        return [k for k in range(len(self.loops)) if k not in self.unit]

    def estimate(self, candidate: Candidate, below: float = inf) -> Estimate | None:
        """Return what ``candidate`` would cost, None where it does not fit or costs more than ``below``."""
        found = self.known.get(candidate)
        if candidate not in self.known or (isinstance(found, Dear) and not found.exceeds(below)):
            fits = self.terms.allow(candidate.tile)
            found = estimate(self.kernel, candidate, self.terms, below) if fits else None
            self.known[candidate] = found
        return found if isinstance(found, Estimate) else None

    def cheapest(self, candidates: Iterable[Candidate]) -> Estimate | None:
        """Return the first of those that cost least."""
        best: Estimate | None = None
        for candidate in candidates:
            found = self.estimate(candidate, best.total if best else inf)
            if found is not None and (best is None or found.total < best.total):
                best = found
        return best

    def jointly(self, threads: tuple[int, ...], others: Sequence[Estimate]) -> list[Estimate]:
        """Return the best found for ``threads`` that share the tiles of all mapped loops, if there is one.

        The tiles of ``others`` are good to begin with as well.
        """
        tiles = [Candidate(threads, each.candidate.tile, joint=True) for each in others]
        start = self.start(threads, joint=True)
        best = self.cheapest([*([start.candidate] if start else []), *tiles])
        return [self.improved(best)] if best else []

    def start(self, threads: tuple[int, ...], *, joint: bool = False) -> Estimate | None:
        """Return the best of some tiles that are no longer than the threads leave them."""
        parts = (_part(threads),) * len(threads) if joint else threads
        tiles = {
            tuple(self._short(k, loop, most, parts) for k, loop in enumerate(shape.loops)): None
            for most in _STARTS
            for shape in self.shapes
        }
        return self.cheapest(Candidate(threads, tile, joint) for tile in tiles)

    def _short(self, position: int, loop: Loop, most: int, threads: tuple[int, ...]) -> int:
        chunk = -(-loop.extent // threads[position]) if position < len(threads) else loop.extent
        return 1 if position in self.unit else self.terms.rounded(position, max(1, min(most, chunk)))

    def improved(self, best: Estimate) -> Estimate:
        for _ in range(_SWEEPS):
            before = best
            for k in self.free:
                best = self._least(best, self._single(best.candidate, k))
            best = self._least(best, self._pairs(best.candidate))
            if best is before:
                break
        return best

    def whole(self, best: Estimate) -> Estimate | None:
        """Return the candidate with one tile for all values, where one CPE runs a kernel of constant loops.

        None if it does not fit, or costs more than ``best``, of several tiles, but for what is hardly more.
        Several tiles get and put what they have in common again, and cut loops shorter than is estimated.
        """
        if prod(best.candidate.threads) > 1 or not all(loop.constant for loop in self.loops):
            return None
        most = best.total * _SLACK
        sizes = {k: loop.whole for k, loop in enumerate(self.loops) if k not in self.unit}
        found = self.estimate(_with(best.candidate, sizes), most)
        return found if found is not None and found.total <= most else None

    def frugal(self, best: Estimate) -> Estimate:
        """Return what takes least of the LDM among candidates for the same grid that cost hardly more.

        Not in triangles of which boxes are handed on: smaller tiles have more rounds, which are estimated
        worst.
        """
        if best.hands_on and self.shapes[-1].triangle:
            return best
        threads, joint, most = best.candidate.threads, best.candidate.joint, best.total * _SLACK
        alike = [each for each in self.known if each.threads == threads and each.joint == joint]
        found = [e for each in alike if (e := self.estimate(each, most)) is not None and e.total <= most]
        return min(found, key=lambda e: (e.bytes, e.total), default=best)

    def ranking(self, best: Sequence[Estimate]) -> Ranking:
        """Return ``best`` with what else was looked at."""
        least = best[0].total if best else 0.0
        runner_up = min(best[1:] or self._others(best), key=lambda e: e.total, default=None)
        dear = (e for each in self.known if (e := self.estimate(each, least)) is not None)
        reason = Reason.FRUGAL if any(e.total < least for e in dear) else Reason.CHEAPEST
        if reason is Reason.FRUGAL and self.whole(best[0]) is best[0]:
            reason = Reason.WHOLE
        return Ranking(tuple(best), len(self.known), runner_up, reason)

    def _others(self, best: Sequence[Estimate]) -> list[Estimate]:
        """Return others than the ``best`` that do not cost less, the cheapest of them all being there."""
        bounds = {candidate: found.total for candidate, found in self.known.items() if found is not None}
        least = inf
        for candidate in sorted(bounds, key=bounds.__getitem__):
            each = self.estimate(candidate, least)
            if each is not None and each is not best[0] and each.total >= best[0].total:
                least = min(least, each.total)
        return [
            each
            for each in self.known.values()
            if isinstance(each, Estimate) and each is not best[0] and each.total >= best[0].total
        ]

    def _least(self, best: Estimate, candidates: Iterator[Candidate]) -> Estimate:
        for candidate in candidates:
            found = self.estimate(candidate, best.total)
            if found is not None and found.total < best.total * (1 - 1e-9):
                best = found
        return best

    def _single(self, candidate: Candidate, position: int) -> Iterator[Candidate]:
        threads = candidate.threads[position] if position < len(candidate.threads) else 0
        ways = {1, _part(candidate.threads)} if threads and candidate.joint else {threads}
        loops = [shape.loops[position] for shape in self.shapes]
        for size in sorted({n for loop in loops for way in ways for n in sizes_of(loop, way)}):
            yield _with(candidate, {position: size})
            if position < len(candidate.threads) == 2 and self.shapes[-1].triangle and not candidate.joint:
                yield _in_step(candidate, position, size)

    def _pairs(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield ``candidate`` with one tile longer and another shorter."""
        for k in self.free:
            for other in self.free:
                if k != other and candidate.tile[other] > 1:
                    longer = min(2 * candidate.tile[k], self.loops[k].whole)
                    yield _with(candidate, {k: longer, other: candidate.tile[other] // 2})


def _in_step(candidate: Candidate, position: int, size: int) -> Candidate:
    """Return ``candidate`` with tiles of ``size`` of one of two mapped loops, and as long rounds of both."""
    threads, other = candidate.threads, 1 - position
    return _with(candidate, {position: size, other: max(1, size * threads[position] // threads[other])})


def _with(candidate: Candidate, sizes: dict[int, int]) -> Candidate:
    tile = tuple(sizes.get(k, size) for k, size in enumerate(candidate.tile))
    return replace(candidate, tile=tile)


def _part(threads: tuple[int, ...]) -> int:
    """Return how many tiles each of several loops has if together they have one for each thread."""
    count = float(prod(threads) ** (1 / len(threads)))
    return max(1, round(count))


@lru_cache(maxsize=1024)
def sizes_of(loop: Loop, threads: int) -> tuple[int, ...]:
    """Return tile sizes to try for ``loop``, shared by ``threads`` (0: by none)."""
    found = {1 << k for k in range(16) if 1 << k < 2 * loop.extent}
    for parts in (1, 2, 3, 4, 6, 8):
        tiles = parts * max(1, threads)
        size = -(-loop.extent // tiles)
        size = next((each for each in range(size, size + _LONGER) if loop.tiles(each) <= tiles), size)
        found |= {size, min(loop.whole, -(-size // 16) * 16)}
    if not (loop.certain and threads) and not loop.constant:
        found = {size for size in found if size & (size - 1) == 0 or size % 16 == 0}
    return tuple(sorted(size for size in found if size >= 1))


def estimate(
    kernel: Sequence[Views], candidate: Candidate, terms: Terms, below: float = inf
) -> Estimate | Dear | None:
    """Return what ``candidate`` would cost at all sizes, None where its buffers cannot fit.

    ``kernel`` is seen at several sizes.  Of a candidate that costs more than ``below`` in any case, no more
    than that is found out.
    """
    held = sum(each.bytes_of(candidate.tile) for each in terms.copies)
    seen = [views.of(candidate) for views in kernel]
    bounds = [_factor(view, _least(view), len(kernel)) for view in seen]
    total, most, handed = 1.0, 0, False
    for number, view in enumerate(seen):
        bound = Dear(total * prod(bounds[number:]))
        if bound.exceeds(below):
            return bound
        found = _at_one_size(view, terms.budget - held, hands_on=terms.hands_on)
        if found is None:
            return None
        total *= _factor(view, found.cycles.total, len(kernel))
        most = max(most, held + sum(option.bytes for option in found.picked))
        handed = handed or found.hands_on
    return Estimate(candidate, total, most, handed)


def _factor(view: View, cycles: float, sizes: int) -> float:
    """Return the ``cycles`` of a launch, of all launches together, as a factor of the mean over ``sizes``."""
    return float((view.shape.launches * cycles * view.dealing.risk) ** (1 / sizes))


def _least(view: View) -> float:
    """Return the cycles that a launch takes at least: what is done before any buffer is filled or stored."""
    control = view.machine.control
    direct = view.shape.direct * view.share * control.direct_cycles
    return control.spawn_cycles + control.join_cycles + view.work + direct


def _at_one_size(view: View, budget: int, *, hands_on: bool) -> Launched | None:
    """Return what a candidate would cost with buffers in ``budget`` bytes, None where they cannot fit."""
    known, key = view.views.alone, (view.candidate, budget)
    if key not in known:
        known[key] = _alone(view, budget)
    found = known[key]
    if found is None or not hands_on:
        return found
    for shared in _handed_on(view, found.picked, budget):
        cycles = _priced(view, shared)
        if cycles.total < found.cycles.total:
            found = Launched(shared, cycles, hands_on=True)
    return found


def _alone(view: View, budget: int) -> Launched | None:
    """Return what a candidate would cost if every CPE got its boxes for itself."""
    picked = _buffers(view, budget) if budget >= 0 else None
    if picked is None:
        return None
    picked = _ahead(view, picked, budget)
    return Launched(picked, _priced(view, picked))


def _priced(view: View, picked: list[Choice]) -> Cycles:
    """Return what a launch takes with the buffers ``picked``."""
    shape = view.shape
    moved = tuple(m for option in picked for m in option.moved)
    dealing = view.dealing
    visits = sum(_VISIT * m.visits for m in moved) + _ROW * dealing.rows
    direct = shape.direct * view.share + sum(option.direct for option in picked)
    working = view.work + visits
    launch = Launch(float(dealing.busy), working, moved, direct, dealing.mean, shape.triangle)
    return launch_cycles(launch, view.machine)


def _handed_on(view: View, picked: list[Choice], budget: int) -> Iterator[list[Choice]]:
    """Yield ``picked``, and smaller buffers in its place, with those handed on that may be.

    The smaller ones leave ``budget`` room for second slots, if ``picked`` does not.
    """
    sharers = [view.sharers(family) for family in view.shape.families]
    found, whole = _with_second_slots(picked, sharers, budget)
    if found != picked:
        yield _handed_ahead(view, found, budget)
    for part in SMALLER if not whole else ():
        fewer = _buffers(view, int(part * budget))
        if fewer is not None:
            some = _with_second_slots(_ahead(view, fewer, budget), sharers, budget)[0]
            yield _handed_ahead(view, some, budget)


def _handed_ahead(view: View, picked: list[Choice], budget: int) -> list[Choice]:
    """Return ``picked`` with what is handed on one visit ahead, if ``budget`` has room for it.

    That is done for all boxes that are got ahead in the innermost loop that has any, or for none.
    """
    early = [option.moved[0].level for option in picked if option.moved and option.moved[0].ahead]
    if not early or not view.machine.dialect.broadcasts.begin_row:
        return picked
    moved = [(k, option.moved[0]) for k, option in enumerate(picked) if option.moved]
    here = [k for k, first in moved if first.ahead and first.level == max(early)]
    needed = sum(picked[k].slots for k in here)
    alike = all(picked[k].moved[0].sharers > 1 for k in here)
    if not alike or needed > budget - sum(option.bytes for option in picked):
        return picked
    return [option.handed_ahead() if k in here else option for k, option in enumerate(picked)]


def _with_second_slots(picked: list[Choice], sharers: list[float], budget: int) -> tuple[list[Choice], bool]:
    """Return ``picked`` with those handed on that have ``sharers`` and room, and whether all do."""
    left = budget - sum(option.bytes for option in picked)
    found, whole = list(picked), True
    for k, option in enumerate(picked):
        if not option.moved or sharers[k] <= 1.0:
            continue
        other = option.handed_on(sharers[k], 2 if option.moved[0].ahead else 1)
        if other.bytes - option.bytes <= left:
            left -= other.bytes - option.bytes
            found[k] = other
        else:
            whole = False
    return found, whole


def _ahead(view: View, picked: list[Choice], budget: int) -> list[Choice]:
    """Return the buffers ``picked``, with second slots as ``budget`` has room: innermost ones first."""
    left = budget - sum(option.bytes for option in picked)
    found = list(picked)
    levels = {k: option.moved[0].level for k, option in enumerate(picked) if option.moved}
    for k in sorted(levels, key=lambda k: -levels[k]):
        part = view.ahead(view.shape.families[k], picked[k])
        if part and picked[k].slots <= left:
            left -= picked[k].slots
            found[k] = picked[k].got_ahead(part)
    return found


def _buffers(view: View, budget: int) -> list[Choice] | None:
    """Return a buffer for each family, or that it has none; None where they cannot fit ``budget``."""
    if sum(option.bytes for option in view.outermost) <= budget:
        return view.outermost
    chosen = within(view.options, budget)
    if chosen is None:
        return None
    return [option for some, k in zip(view.options, chosen, strict=True) for option in some[k : k + 1]]
