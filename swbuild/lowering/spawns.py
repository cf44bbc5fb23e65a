"""Which kernels of a region share a spawn, and what they are given together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.nodes import ElementStore
from swbuild.kernelir.passes import walk
from swbuild.kernelir.phases import Shared, share_spawns
from swbuild.kernelir.program import Program
from swbuild.kernelir.scope import Between, Separation
from swbuild.lowering.code import KernelCode, SpawnCode
from swbuild.options import KernelOptions, Preset, Spawn

__all__ = ["meeting", "separation", "spawned"]

#: kernels, those that share a spawn, the host's program and those of the spawns
Spawned = tuple[tuple[KernelCode, ...], tuple[SpawnCode, ...], Program, tuple[Program, ...]]


def spawned(
    scop: Scop,
    options: KernelOptions,
    host: Program,
    kernels: tuple[KernelCode, ...],
    owned: frozenset[tuple[str, str]],
) -> Spawned:
    """Return what the host spawns in the place of the launches in ``host``, one for each of ``kernels``.

    Between those that are ``owned``, the first one before the other, CPEs do not meet.
    """
    if options.spawn is Spawn.KERNEL or options.preset is Preset.CLASSIC:
        return kernels, (), host, ()
    by_name = {kernel.name: kernel for kernel in kernels}
    known = frozenset(scop.numbers)

    def may(names: frozenset[str]) -> bool:
        return _may_share(scop, [by_name[name] for name in sorted(names)])

    between = separation(scop, kernels, owned)
    tree, found = share_spawns(host.result, may, f"{scop.kernels}_s", known, between)
    families = _families(found)
    home = {name: family[0].name for family in families for shared in family for name in shared.kernels}
    members = tuple(_member(scop, kernel, home, by_name) for kernel in kernels)
    by_name = {kernel.name: kernel for kernel in members}
    related = {shared.name: family for family in families for shared in family}
    spawns = tuple(_spawn(scop, shared, related[shared.name], by_name) for shared in found)
    host = host.after("share spawns", tree)
    return members, spawns, host, tuple(Program(spawn.body) for spawn in spawns)


def _families(found: Sequence[Shared]) -> list[list[Shared]]:
    """Return the spawns in families: a kernel takes its arguments in the same struct from all that run it."""
    families: list[list[Shared]] = []
    for shared in found:
        kin = [family for family in families if any(set(shared.kernels) & set(one.kernels) for one in family)]
        families = [family for family in families if family not in kin]
        families.append([*(one for family in kin for one in family), shared])
    return families


def _may_share(scop: Scop, kernels: Sequence[KernelCode]) -> bool:
    """Return whether ``kernels`` need nothing of the host's between them: it combines parts of reductions.

    A single CPE alone is not worth a spawn.
    """
    alone = all(kernel.tiled.kernel.single for kernel in kernels)
    return not (alone or any(kernel.partials for kernel in kernels))


def separation(scop: Scop, kernels: Sequence[KernelCode], owned: frozenset[tuple[str, str]]) -> Separation:
    """Return what has to come between two of ``kernels``.

    That is nothing where neither accesses what the other writes, or the two are ``owned``; and no barrier
    where a single CPE runs both.
    """
    by_name = {kernel.name: kernel for kernel in kernels}

    def between(one: str, other: str) -> Between:
        pair = by_name[one], by_name[other]
        if (one, other) in owned or not meeting(scop, *pair):
            return Between.NOTHING
        alone = all(kernel.tiled.kernel.single for kernel in pair)
        return Between.FENCE if alone else Between.BARRIER

    return between


def meeting(scop: Scop, one: KernelCode, other: KernelCode) -> tuple[str, ...]:
    """Return what one of two kernels writes in main memory and the other accesses there.

    Whole arrays count: buffers may get more than is read.
    """
    first, second = (set(kernel.in_memory) for kernel in (one, other))
    written = scop.written_by({*one.tiled.kernel.statements, *other.tiled.kernel.statements})
    return tuple(sorted(first & second & written))


def _member(
    scop: Scop, kernel: KernelCode, home: Mapping[str, str], kernels: Mapping[str, KernelCode]
) -> KernelCode:
    """Return ``kernel`` as part of the family that is its ``home``, if any."""
    family = home.get(kernel.name)
    if family is None:
        return kernel
    kin = [kernels[name] for name, other in home.items() if other == family]
    written = scop.written_by({name for one in kin for name in one.tiled.kernel.statements})
    changing = frozenset(array.name for array in kernel.values if array.name in written)
    return replace(kernel, spawn=family, changing=changing)


def _spawn(
    scop: Scop, shared: Shared, family: Sequence[Shared], by_name: Mapping[str, KernelCode]
) -> SpawnCode:
    kernels = [by_name[name] for one in family for name in one.kernels]
    return SpawnCode(
        name=shared.name,
        body=shared.body,
        kernels=shared.kernels,
        family=family[0].name,
        members=tuple(dict.fromkeys(name for one in family for name in one.loops)),
        passed=_together(scop, [kernel.passed for kernel in kernels]),
        addresses=_together(scop, [kernel.addresses for kernel in kernels]),
        parameters=scop.numbers,
        loops=shared.loops,
        shared=_shared(scop, [by_name[name] for name in shared.kernels]),
        stores=any(_stores(scop, kernel) for kernel in kernels),
    )


def _shared(
    scop: Scop, kernels: Sequence[KernelCode]
) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Return what CPEs write and others access in phases of a spawn: by whom it is written, and only read."""
    found = []
    for array in scop.arrays:
        users = [kernel for kernel in kernels if array.name in kernel.in_memory]
        writers = [k for k in users if array.name in scop.written_by(k.tiled.kernel.statements)]
        if writers and not all(kernel.tiled.kernel.single for kernel in users):
            readers = tuple(kernel.name for kernel in users if kernel not in writers)
            found.append((array.name, tuple(kernel.name for kernel in writers), readers))
    return tuple(found)


def _together(scop: Scop, groups: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the arrays of all ``groups``, in the order of the region."""
    names = {array.name for group in groups for array in group}
    return tuple(array for array in scop.arrays if array.name in names)


def _stores(scop: Scop, kernel: KernelCode) -> bool:
    """Return whether ``kernel`` stores straight into main memory."""
    written = scop.written_by(set(kernel.tiled.kernel.statements))
    scalars = {array.name for array in kernel.addresses if array.is_scalar}
    direct = {item.array for item in kernel.plan.direct} | scalars
    return bool(direct & written) or any(isinstance(node, ElementStore) for node in walk(kernel.body))
