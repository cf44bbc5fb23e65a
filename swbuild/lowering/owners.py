"""Kernels that CPEs may run one after the other without meeting: each CPE goes on with tiles of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.kernelir.nodes import Share
from swbuild.kernelir.passes import walk
from swbuild.lowering.code import KernelCode
from swbuild.lowering.spawns import meeting
from swbuild.mapping.tiling import in_any_launch
from swbuild.memory.buffers import Buffer, Store
from swbuild.memory.levels import footprint, references
from swbuild.polyhedral.islutil import sets_of, union_maps, union_sets
from swbuild.polyhedral.privatise import Private

__all__ = ["owned"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A kernel that keeps tiles of ``arrays``, and gets and puts no more of them than it has to.

    ``due`` are the instances of all its launches, ``mine`` those that a CPE runs, by its numbers in the grid
    of ``threads``.  It ``sends`` boxes in messages of registers, or does not.  Its instances write what is
    ``written``, and read what is ``handed`` in boxes that other CPEs get for them (instance -> element).
    """

    kernel: KernelCode
    arrays: frozenset[str]
    threads: tuple[int, ...]
    due: isl.UnionSet
    mine: isl.UnionSet
    sends: bool
    written: isl.UnionMap
    handed: isl.UnionMap

    @staticmethod
    def of(scop: Scop, private: Private, kernel: KernelCode) -> _Kept | None:
        """Return what is known of ``kernel``, None where it keeps nothing."""
        tiled, buffers = kernel.tiled, kernel.plan.buffers
        arrays = {buffer.array for buffer in buffers if buffer.residency is not None}
        arrays -= {item.array for item in kernel.plan.direct}
        arrays -= {b.array for b in buffers if b.array in arrays and not _is_exact(scop, private, kernel, b)}
        if not arrays:
            return None
        domain, threads = tiled.kernel.domain, tiled.mapping.threads
        due, mine = (
            union_sets(in_any_launch(piece, tiled) for piece in sets_of(some))
            for some in (domain, tiled.filter.intersect(domain))
        )
        grid = threads if prod(threads[1:]) > 1 else threads[:1]
        shares = [node for node in walk(kernel.body) if isinstance(node, Share)]
        sends = any(node.in_messages for node in shares)
        passed = {ref for b in buffers if b.name in {node.buffer for node in shares} for ref in b.refs}
        refs = references(scop, tiled, private)
        written = union_maps(r.relation for r in refs if r.writes)
        handed = union_maps(r.relation for r in refs if (r.statement, r.ref) in passed)
        return _Kept(kernel, frozenset(arrays), grid, due, mine, sends, written, handed)


def owned(
    scop: Scop, dependences: isl.UnionMap, private: Private, kernels: Sequence[KernelCode]
) -> frozenset[tuple[str, str]]:
    """Return the pairs of ``kernels``, the first one before the other, between which no CPEs need to meet.

    All that the two share are arrays of which both keep tiles in the LDMs, and no dependence (instance ->
    instance) leads from one CPE to another.  Of such arrays, a CPE gets and puts tiles that nobody else works
    on, parts of them element for element as dependences ask for it, and other boxes that have nothing but
    what is read.  What the first one writes is not handed on in the other, where another CPE than the reader
    gets it.  Not both send messages: those of two senders have no order without a barrier.
    """
    kept = [found for kernel in kernels if (found := _Kept.of(scop, private, kernel)) is not None]
    return frozenset(
        (one.kernel.name, other.kernel.name)
        for one in kept
        for other in kept
        if _is_owned(scop, dependences, one, other)
    )


def _is_owned(scop: Scop, dependences: isl.UnionMap, one: _Kept, other: _Kept) -> bool:
    if one.threads != other.threads or (one.sends and other.sends):
        return False
    if not set(meeting(scop, one.kernel, other.kernel)) <= one.arrays & other.arrays:
        return False
    # writer -> who reads what it has written in a box that is handed on
    through = one.written.apply_range(other.handed.reverse())
    if not through.intersect(dependences).is_empty():
        return False
    # what depends on instances of a CPE, by its numbers, is among those that it runs itself
    reached = dependences.intersect_domain(one.mine).range().intersect(other.due)
    return bool(reached.is_subset(other.mine))


def _is_exact(scop: Scop, private: Private, kernel: KernelCode, buffer: Buffer) -> bool:
    """Return whether ``buffer`` gets and puts, besides whole tiles of the CPE, only what it is due to."""
    if buffer.residency is not None:
        return buffer.store is not Store.BOX
    if buffer.in_tile is not None:
        return True
    if buffer.store is not Store.NONE or not buffer.box.is_usable:
        return False
    level = next(each for each in kernel.plan.top.walk() if each.number == buffer.level)
    refs = [r for r in references(scop, kernel.tiled, private) if (r.statement, r.ref) in buffer.refs]
    read = footprint(level, refs)
    return bool(buffer.box.as_map(read.get_space()).is_subset(read))
