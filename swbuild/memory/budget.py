"""Where buffers go when not all can have the place that suits them best."""

from __future__ import annotations

from collections.abc import Sequence

from swbuild.classes import dataclass

__all__ = ["Option", "within"]


@dataclass(frozen=True, slots=True)
class Option:
    """One place for a buffer: the bytes that it takes there, and what it costs in cycles."""

    bytes: int
    cycles: float


def within(options: Sequence[Sequence[Option]], budget: int) -> tuple[int, ...] | None:
    """Return the place to take of each buffer's so that all together take at most ``budget`` bytes.

    Places are given from the outermost on.  All begin there; where that is too much, the buffer that
    loses fewest cycles per byte moves on.  None where nothing is left to move.
    """
    chosen = [0] * len(options)
    total = sum(some[0].bytes for some in options if some)
    while total > budget:
        moves = [
            (_loss(some[chosen[k]], some[other], total - budget), k, other)
            for k, some in enumerate(options)
            for other in range(chosen[k] + 1, len(some))
            if some[other].bytes < some[chosen[k]].bytes
        ]
        if not moves:
            return None
        _, k, other = min(moves)
        total += options[k][other].bytes - options[k][chosen[k]].bytes
        chosen[k] = other
    return tuple(chosen)


def _loss(here: Option, there: Option, wanted: int) -> float:
    """Return the cycles that a move costs per byte of those ``wanted`` that it saves."""
    return (there.cycles - here.cycles) / min(wanted, here.bytes - there.bytes)
