"""What a candidate for a kernel's threads and tiles costs, by the numbers of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, prod

from swbuild.classes import dataclass
from swbuild.machine.cost.launches import Cycles, Launch, launch_cycles
from swbuild.memory.budget import within
from swbuild.planning.shape import Copies
from swbuild.planning.view import Candidate, Choice, Launched, View, Views

__all__ = [
    "SMALLER",
    "Dear",
    "Estimate",
    "Terms",
    "estimate",
]

#: Cycles to visit a level for one buffer.
_VISIT = 60

#: Cycles to step to the next of the rows of tiles that threads share.
_ROW = 25

#: Parts of the LDM that buffers are to fit to leave room for second slots, from which they are handed on.
SMALLER = (0.75, 0.5)


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
