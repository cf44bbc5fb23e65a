"""The search for a kernel's threads and tiles: from some on, by what candidates are estimated to cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from itertools import permutations
from math import inf, prod

from swbuild.classes import dataclass
from swbuild.planning.candidates import Dear, Estimate, Terms, estimate
from swbuild.planning.shape import Loop
from swbuild.planning.view import Candidate, Views

__all__ = ["Ranking", "Reason", "merged", "ranked", "sizes_of"]

#: The sizes of the first tiles, the cheapest being taken.
_STARTS = (50, 24, 12, 6, 3, 1)

#: How often all tile sizes are looked at in turn, at most.
_SWEEPS = 4

#: What a candidate may cost more than the best, if it takes less of the LDM, which a program shares, or hands
#: boxes on.
_SLACK = 1.02

#: Two tiles change at once by no more than this factor each, in kernels of no more than so many loops.
_FAR, _LOOPS = 4, 3

#: How many sizes are looked at for one that does with as many tiles as if the loop began with one.
_LONGER = 8

#: Of how many grids tiles are looked for, the best ones by their first tiles.
_GRIDS = 3


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
        """Return the best that is found from ``best`` on."""
        while True:
            before = self._swept(best)
            best = self._least(before, self._all_pairs(before.candidate))
            if best is before:
                return best

    def _swept(self, best: Estimate) -> Estimate:
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
        for size in self._sizes(candidate, position):
            yield _with(candidate, {position: size})
            if position < len(candidate.threads) == 2 and self.shapes[-1].triangle and not candidate.joint:
                yield _in_step(candidate, position, size)

    def _sizes(self, candidate: Candidate, position: int) -> list[int]:
        """Return the sizes to try for the tiles of a loop."""
        threads = candidate.threads[position] if position < len(candidate.threads) else 0
        ways = {1, _part(candidate.threads)} if threads and candidate.joint else {threads}
        loops = [shape.loops[position] for shape in self.shapes]
        return sorted({n for loop in loops for way in ways for n in sizes_of(loop, way)})

    def _pairs(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield ``candidate`` with one tile longer and another shorter."""
        for k in self.free:
            for other in self.free:
                if k != other and candidate.tile[other] > 1:
                    longer = min(2 * candidate.tile[k], self.loops[k].whole)
                    yield _with(candidate, {k: longer, other: candidate.tile[other] // 2})

    def _all_pairs(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield ``candidate`` with one tile longer and another shorter, by any sizes that are not far off.

        Where sizes are known: of estimates for several sizes at once, differences are smaller than what
        another size would make of them.
        """
        if len(self.free) > _LOOPS or not all(loop.certain for loop in self.loops):
            return
        near = {
            k: [
                n
                for n in self._sizes(candidate, k)
                if candidate.tile[k] / _FAR <= n <= candidate.tile[k] * _FAR
            ]
            for k in self.free
        }
        for k, other in permutations(self.free, 2):
            for longer in (size for size in near[k] if size > candidate.tile[k]):
                for shorter in (size for size in near[other] if size < candidate.tile[other]):
                    yield _with(candidate, {k: longer, other: shorter})


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
