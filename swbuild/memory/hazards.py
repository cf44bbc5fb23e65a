"""What a kernel stores that it loads again: by what a buffer holds, and what is written elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import islpy as isl

from swbuild.memory.box import Box
from swbuild.memory.levels import Reference
from swbuild.polyhedral.islutil import bounded_effort, ran_out, union_maps

__all__ = ["are_apart", "is_reloaded", "is_steady"]

#: isl steps to tell boxes from what is written; an ordinary one takes some thousands.
_EFFORT = 200_000


class Moved(Protocol):
    """What these questions need to know of a buffer."""

    @property
    def name(self) -> str: ...

    @property
    def array(self) -> str: ...

    @property
    def box(self) -> Box: ...

    @property
    def load(self) -> bool: ...

    @property
    def written(self) -> isl.Map | None: ...

    @property
    def steady(self) -> bool: ...


def is_steady(buffer: Moved, refs: Iterable[Reference]) -> bool:
    """Return whether nothing that ``buffer``, which is loaded, ever holds is written by ``refs``.

    These are all of its kernel: so the next box may come at any time while the kernel runs.
    """
    if not buffer.load or buffer.written is not None:
        return False
    written = [ref.relation for ref in refs if ref.array == buffer.array and ref.writes and ref.happens]
    if not written:
        return True
    return are_apart(lambda: buffer.box.as_map(written[0].get_space()).range().to_union_set(), written)


def are_apart(held: Callable[[], isl.UnionSet], written: Iterable[isl.Map]) -> bool:
    """Return whether ``written`` (instance -> element) is nothing of ``held``; no where isl takes long."""
    try:
        with bounded_effort(_EFFORT):
            return bool(held().is_disjoint(union_maps(written).range()))
    except isl.Error as error:
        if not ran_out(error):
            raise
        return False


def is_reloaded(stored: Moved, buffers: Iterable[Moved]) -> bool:
    """Return whether a visit may load, into one of ``buffers``, an element that another visit ``stored``."""
    if stored.written is None:
        return False
    for other in (b for b in buffers if b.load and not b.steady):
        if other.name != stored.name:
            return True  # rare: do not look closer
        loaded = other.box.as_map(stored.written.get_space())  # visit -> element
        # visit that stores -> element -> visit that loads; one visit loads before it stores
        visits = stored.written.apply_range(loaded.reverse())
        same = isl.Map.identity(visits.get_space())
        if not visits.is_subset(same):
            return True
    return False
