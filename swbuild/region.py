"""From the model of one region to everything the printers need: the stages in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from swbuild.codegen.plan import KernelCode, RegionCode
from swbuild.codegen.report import region_report
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Access, AccessKind, Array, Scop, Statement
from swbuild.kernelir.bodies import Spell
from swbuild.kernelir.device import build_device
from swbuild.kernelir.hosttree import build_host
from swbuild.kernelir.nodes import Node
from swbuild.kernelir.passes import count_waits, name_loops
from swbuild.machine import load
from swbuild.mapping.choose import first_fitting, first_mapping
from swbuild.mapping.regiontree import HostTree, Kernel, split_region
from swbuild.mapping.strides import AccessStrides
from swbuild.mapping.tiling import Mapping, TiledKernel, tile_kernel
from swbuild.memory.plan import MemoryPlan, plan_memory
from swbuild.options import KernelOptions
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.privatise import Private, contraction_is_safe, find_private
from swbuild.polyhedral.scheduling import Scheduled, compute_schedule

__all__ = ["generate_region"]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A kernel with its tiles and its memory."""

    tiled: TiledKernel
    plan: MemoryPlan


def generate_region(scop: Scop, options: KernelOptions) -> RegionCode:
    """Return the code of the region ``scop`` under ``options``.

    Raise :class:`SwbuildError` when the options cannot be met (a tile that does not fit the LDM, …).
    """
    scop = lightened(scop)
    excluded: frozenset[str] = frozenset()
    while True:
        private = find_private(scop, excluded)
        scheduled = compute_schedule(scop, private, options.fusion)
        tree = split_region(scheduled.schedule, f"{scop.name}_k", lambda domain: _may_leave(scop, domain))
        placed = tuple(_place(scop, options, scheduled, kernel) for kernel in tree.kernels)
        unsafe = _unsafe(scop, private, tree, placed)
        if not unsafe:
            return _code(scop, options, scheduled, tree, placed)
        excluded |= unsafe


def _may_leave(scop: Scop, domain: isl.UnionSet) -> bool:
    """Return whether a parallel band over ``domain`` may run on the CPEs.

    Elements of less than 4 bytes share memory words: two CPEs that write neighbours would lose one.
    """
    names = {str(piece.get_tuple_name()) for piece in sets_of(domain)}
    written = _written(scop, names)
    return all(scop.array(name).element.size % 4 == 0 for name in written)


def _written(scop: Scop, statements: set[str]) -> set[str]:
    return {
        access.array
        for statement in scop.statements
        if statement.name in statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }


def _place(scop: Scop, options: KernelOptions, scheduled: Scheduled, kernel: Kernel) -> _Placed:
    """Choose tiles for ``kernel`` such that its buffers fit the LDM."""
    budget = options.ldm_budget or load(options.machine).ldm_budget
    strides = AccessStrides(scop)

    def attempt(mapping: Mapping) -> _Placed | None:
        tiled = tile_kernel(kernel, mapping, scheduled.dependences.all, strides)
        plan = plan_memory(scop, tiled, scheduled.dependences, scheduled.private.names, budget)
        return None if plan is None else _Placed(tiled, plan)

    found = first_fitting(first_mapping(kernel, options), bool(options.tile), attempt)
    if found is None:
        raise SwbuildError(_does_not_fit(scop, options, kernel, budget))
    return found[1]


def _does_not_fit(scop: Scop, options: KernelOptions, kernel: Kernel, budget: int) -> Diagnostic:
    tile = " x ".join(map(str, options.tile)) if options.tile else "the smallest tile"
    return Diagnostic(
        "SW302",
        f"the buffers of kernel {kernel.name} with {tile} do not fit the LDM budget of {budget} bytes",
        scop.span,
        "give smaller 'tile' sizes, or a larger 'ldm-budget'",
    )


def _unsafe(scop: Scop, private: Private, tree: HostTree, placed: tuple[_Placed, ...]) -> frozenset[str]:
    """Return the privatised variables for which one copy per CPE (or on the host) does not do."""
    unsafe = set()
    for name in private.names:
        users = {s.name for s in scop.statements if any(a.array == name for a in s.accesses)}
        homes = [p for p in placed if users & set(p.tiled.kernel.statements)]
        if not homes:
            safe = _safe_on_host(scop, private, name, tree)
        elif len(homes) == 1 and users <= set(homes[0].tiled.kernel.statements):
            safe = _safe_on_device(scop, private, name, homes[0].tiled)
        else:
            safe = False
        if not safe:
            unsafe.add(name)
    return frozenset(unsafe)


def _safe_on_host(scop: Scop, private: Private, name: str, tree: HostTree) -> bool:
    order = tree.schedule.get_map()
    owner = isl.UnionMap.from_domain(tree.schedule.get_domain())
    return contraction_is_safe(scop, private, frozenset({name}), order, owner)


def _safe_on_device(scop: Scop, private: Private, name: str, tiled: TiledKernel) -> bool:
    order = tiled.schedule.get_map()
    owner = isl.UnionMap.from_multi_union_pw_aff(tiled.coordinates)
    launch = tiled.kernel.domain
    return contraction_is_safe(
        scop, private, frozenset({name}), order.intersect_domain(launch), owner.intersect_domain(launch)
    )


def _code(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    tree: HostTree,
    placed: tuple[_Placed, ...],
) -> RegionCode:
    private = scheduled.private.names
    arguments = _arguments(scop, private)
    kernels = tuple(_kernel(scop, private, place) for place in placed)
    host_private = tuple(
        a for a in scop.arrays if a.name in private and _users(scop, a.name) & set(tree.statements)
    )
    host = build_host(scop, tree, _host_spell(private, arguments))
    host = _named(scop, host)
    region = RegionCode(scop, options, host, kernels, host_private, arguments, {})
    return replace(region, report=region_report(region, scheduled, tree))


def _users(scop: Scop, array: str) -> set[str]:
    return {s.name for s in scop.statements if any(a.array == array for a in s.accesses)}


def _arguments(scop: Scop, private: frozenset[str]) -> tuple[tuple[Array, bool, bool], ...]:
    """Return what the entry is passed besides the parameters: (array, read, written)."""
    everything = {s.name for s in scop.statements}
    written = _written(scop, everything)
    read = {a.array for s in scop.statements for a in s.accesses if a.kind is AccessKind.READ}
    return tuple(
        (array, array.name in read, array.name in written)
        for array in scop.arrays
        if array.name not in private and (array.name in read or array.name in written)
    )


def _host_spell(private: frozenset[str], arguments: tuple[tuple[Array, bool, bool], ...]) -> Spell:
    by_pointer = {array.name for array, _, written in arguments if written and array.is_scalar}

    def spell(statement: Statement, access: Access, index: tuple[str, ...]) -> str:
        if access.array in private:
            return access.array + "".join(f"[{text}]" for text in index)
        if not index:
            return f"(*{access.array})" if access.array in by_pointer else access.array
        return f"MEM_{access.array}({', '.join(index)})"

    return spell


def _kernel(scop: Scop, private: frozenset[str], place: _Placed) -> KernelCode:
    statements = set(place.tiled.kernel.statements)
    used = {a.array for s in scop.statements if s.name in statements for a in s.accesses}
    written = _written(scop, statements)
    arrays = [a for a in scop.arrays if a.name in used and a.name not in private]
    values = tuple(a for a in arrays if a.is_scalar and a.name not in written)
    pointers = tuple(a for a in arrays if a not in values)
    body = build_device(scop, place.tiled, place.plan, _device_spell(private, written, place.plan))
    body = count_waits(body, lambda name: _operations(place.plan, name))
    return KernelCode(
        tiled=place.tiled,
        plan=place.plan,
        body=_named(scop, body),
        private=tuple(a for a in scop.arrays if a.name in used and a.name in private),
        values=values,
        pointers=pointers,
        parameters=scop.parameters,
        loops=place.tiled.kernel.host_loops,
    )


def _device_spell(private: frozenset[str], written: set[str], plan: MemoryPlan) -> Spell:
    def spell(statement: Statement, access: Access, index: tuple[str, ...]) -> str:
        if access.array in private:
            return access.array + "".join(f"[{text}]" for text in index)
        if not index:
            return f"(*{access.array})" if access.array in written else access.array
        buffer = plan.buffer_of(statement.name, access.ref)
        macro = f"MEM_{access.array}" if buffer is None else f"LDM_{buffer.name}"
        return f"{macro}({', '.join(index)})"

    return spell


def _operations(plan: MemoryPlan, name: str) -> int | None:
    """Return how many DMA operations move the whole buffer: one up to two dimensions."""
    buffer = next(b for b in plan.buffers if b.name == name)
    return 1 if len(buffer.box.low) <= 2 else None


def _named(scop: Scop, node: Node) -> Node:
    names = {s.name: tuple(iterator.name for iterator in s.iterators) for s in scop.statements}
    taken = frozenset(p.name for p in scop.parameters) | frozenset(a.name for a in scop.arrays)
    return name_loops(node, names, taken)
