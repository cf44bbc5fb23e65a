"""From the model of one region to everything the printers need: the stages in their order."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from swbuild.codegen.plan import KernelCode, RegionCode
from swbuild.codegen.report import region_report
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Access, AccessKind, Array, Scop, Statement, Storage
from swbuild.kernelir.astwalk import TooComplicated
from swbuild.kernelir.bodies import Spell
from swbuild.kernelir.device import build_device
from swbuild.kernelir.hosttree import build_host
from swbuild.kernelir.nodes import Compute, Node
from swbuild.kernelir.passes import count_waits, name_loops, rename, walk
from swbuild.kernelir.unrolling import unrolled
from swbuild.mapping.regiontree import HostTree, Kernel, split_region
from swbuild.memory.partials import Inseparable
from swbuild.memory.placing import Placed, place_kernel
from swbuild.memory.plan import MemoryPlan
from swbuild.options import KernelOptions
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.dataflow import Dependences, analyse, relations
from swbuild.polyhedral.islutil import sets_of
from swbuild.polyhedral.looptree import banded, loop_tree
from swbuild.polyhedral.privatise import (
    NotPrivate,
    Private,
    contraction_is_safe,
    find_private,
    stays_in_a_launch,
)
from swbuild.polyhedral.reductions import Reduction, find_reductions, relaxed
from swbuild.polyhedral.scheduling import Scheduled, compute_schedule
from swbuild.transform.apply import Unroll, apply_steps

__all__ = ["generate_region"]


def generate_region(scop: Scop, options: KernelOptions) -> RegionCode:
    """Return the code of the region ``scop`` under ``options``.

    Raise :class:`SwbuildError` when the options cannot be met (a tile that does not fit the LDM, …).
    """
    scop = lightened(scop)
    private = find_private(scop)
    reductions = find_reductions(scop) if options.reassociate else ()
    while True:
        try:
            return _attempt(scop, options, private, reductions)
        except NotPrivate as unsafe:
            private = private.without(unsafe.names)
        except Inseparable as inseparable:
            reductions = tuple(r for r in reductions if r not in inseparable.reductions)
        except TooComplicated:
            if options.transform:
                raise SwbuildError(_too_complicated(options)) from None
            return _left_alone(scop, options)


def _attempt(
    scop: Scop, options: KernelOptions, private: Private, reductions: tuple[Reduction, ...]
) -> RegionCode:
    """Return the code with the variables ``private`` privatised.

    Of ``reductions``, those are split that would keep a loop on the host; all of them where the user
    chooses the order.
    """
    dependences = analyse(relations(scop, private.depth_of), scop.schedule)
    possible = tuple(r for r in reductions if r.array not in private.names)
    split = possible if options.transform else ()
    while True:
        kept = relaxed(scop, private.depth_of, split) if split else dependences.all
        scheduled, unrolls = _schedule(scop, options, private, dependences, kept)
        tree = _split(scop, scheduled)
        if not options.transform and not (tree.kernels and _all_stay_home(scop, private, tree)):
            scheduled, tree = _as_written(scop, scheduled, tree)
        more = tuple(r for r in possible if r not in split and _holds_back(scop, tree, r))
        if not more:
            break
        split += more
    _check_homes(scop, private, tree)
    placed = tuple(place_kernel(scop, options, scheduled, kernel, split) for kernel in tree.kernels)
    code = _code(scop, options, scheduled, tree, placed, unrolls)
    return replace(code, exact=not split)


def _as_written(scop: Scop, scheduled: Scheduled, tree: HostTree) -> tuple[Scheduled, HostTree]:
    """Return the order of the source if it has kernels that private variables survive, else ``scheduled``."""
    plain = replace(scheduled, schedule=banded(loop_tree(scop), scheduled.kept), peeled=())
    other = _split(scop, plain)
    usable = other.kernels and _all_stay_home(scop, scheduled.private, other)
    return (plain, other) if usable else (scheduled, tree)


def _left_alone(scop: Scop, options: KernelOptions) -> RegionCode:
    """Return the code of a region that stays on the host as it is."""
    nothing = Private(frozenset(), {})
    dependences = analyse(relations(scop, find_private(scop).depth_of), scop.schedule)
    scheduled = Scheduled(scop.schedule, dependences, dependences.all, nothing, ())
    tree = split_region(scop.schedule, f"{scop.name}_k", lambda _: False)
    code = _code(scop, options, scheduled, tree, (), ())
    note = "no C for its kernels was found in reasonable time: too many cases to tell apart"
    return replace(code, report={**code.report, "note": note})


def _holds_back(scop: Scop, tree: HostTree, reduction: Reduction) -> bool:
    """Return whether loops stay on the host, alone or around kernels, for the sake of ``reduction``."""
    around = {name for kernel in tree.kernels if kernel.host_loops for name in kernel.statements}
    sequential = around | set(tree.statements)
    return any(scop.statement(name).iterators for name in reduction.statements & sequential)


def _split(scop: Scop, scheduled: Scheduled) -> HostTree:
    return split_region(scheduled.schedule, f"{scop.name}_k", lambda domain: _may_leave(scop, domain))


def _schedule(
    scop: Scop, options: KernelOptions, private: Private, dependences: Dependences, kept: isl.UnionMap
) -> tuple[Scheduled, tuple[Unroll, ...]]:
    """Return an order of ``scop`` that keeps the pairs ``kept``, the user's if there are steps.

    Also return what to unroll.
    """
    if not options.transform:
        return compute_schedule(scop, private, options.fusion, dependences, kept), ()
    asked = apply_steps(scop, options.transform, dependences, kept)
    return Scheduled(banded(asked.tree, kept), dependences, kept, private, ()), asked.unrolls


def _check_homes(scop: Scop, private: Private, tree: HostTree) -> None:
    """Raise :class:`NotPrivate` for private variables whose values would have to leave a kernel."""
    unsafe = {name for name in private.names if not _stays_home(scop, private, name, tree)}
    if unsafe:
        raise NotPrivate(frozenset(unsafe))


def _all_stay_home(scop: Scop, private: Private, tree: HostTree) -> bool:
    return all(_stays_home(scop, private, name, tree) for name in private.names)


def _stays_home(scop: Scop, private: Private, name: str, tree: HostTree) -> bool:
    """Return whether statements that hand values of ``name`` to each other run in one place."""
    by_label: dict[str, set[str]] = {}
    for statement in scop.users(name):
        by_label.setdefault(private.depth_of[(statement, name)][0], set()).add(statement)
    for members in by_label.values():
        homes = [kernel for kernel in tree.kernels if members & set(kernel.statements)]
        if homes and not (len(homes) == 1 and members <= set(homes[0].statements)):
            return False
        if homes and not stays_in_a_launch(scop, private, name, homes[0].domain, homes[0].host_loops):
            return False
    return contraction_is_safe(scop, private, name, tree.schedule)


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


def _too_complicated(options: KernelOptions) -> Diagnostic:
    return Diagnostic(
        "SW313",
        "the loops that `transform` leads to are too complicated to be written as C in reasonable time",
        options.transform[0].span,
        "take fewer steps: tiles of tiles, and strips of skewed, scaled or reversed loops, multiply",
    )


def _code(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    tree: HostTree,
    placed: tuple[Placed, ...],
    unrolls: tuple[Unroll, ...],
) -> RegionCode:
    private = scheduled.private.names
    arguments = _arguments(scop, private)
    doubtful = bool(options.transform) or any(s.domain.n_basic_set() > 2 for s in scop.statements)
    kernels = tuple(_kernel(scop, scheduled.private, place, doubtful) for place in placed)
    loops = {kernel.name: kernel.loops for kernel in kernels}
    local = tuple(a for a in scop.arrays if _is_local(scop, a, private, tree))
    host = build_host(scop, tree, _host_spell(arguments))
    host = _named(scop, host, loops, frozenset())
    host, kernels = _unrolled(host, kernels, unrolls)
    region = RegionCode(scop, options, host, kernels, local, arguments, {})
    return replace(region, report=region_report(region, scheduled, tree))


def _unrolled(
    host: Node, kernels: tuple[KernelCode, ...], unrolls: tuple[Unroll, ...]
) -> tuple[Node, tuple[KernelCode, ...]]:
    """Unroll loops wherever they have come to; a loop that is nowhere (SW312) cannot be unrolled."""
    problems = []
    for unroll in unrolls:
        host, found = unrolled(host, unroll.name, unroll.statements, unroll.factor)
        bodies = [unrolled(k.body, unroll.name, unroll.statements, unroll.factor) for k in kernels]
        kernels = tuple(replace(k, body=body) for k, (body, _) in zip(kernels, bodies, strict=True))
        if not found and not any(count for _, count in bodies):
            name = unroll.name
            message = f"`unroll`: no loop of the generated code runs over `{name}` alone and only computes"
            hint = "a loop that is skewed, shifted, scaled or reversed, or in which data is moved, cannot be"
            problems.append(Diagnostic("SW312", message, unroll.step.span, hint))
    if problems:
        raise SwbuildError(problems)
    return host, kernels


def _is_local(scop: Scop, array: Array, private: frozenset[str], tree: HostTree) -> bool:
    """Return whether the entry has to declare ``array``: nobody outside knows it, and the host uses it."""
    if array.name in private:
        return bool(scop.users(array.name) & set(tree.statements))
    return array.storage is Storage.REGION and bool(scop.users(array.name))


def _arguments(scop: Scop, private: frozenset[str]) -> tuple[tuple[Array, bool, bool], ...]:
    """Return what the entry is passed besides the parameters: (array, read, written)."""
    everything = {s.name for s in scop.statements}
    written = _written(scop, everything)
    read = {a.array for s in scop.statements for a in s.accesses if a.kind is AccessKind.READ}
    return tuple(
        (array, array.name in read, array.name in written)
        for array in scop.arrays
        if array.name not in private
        and array.storage is not Storage.REGION
        and (array.name in read or array.name in written)
    )


def _host_spell(arguments: tuple[tuple[Array, bool, bool], ...]) -> Spell:
    by_pointer = {array.name for array, _, written in arguments if written and array.is_scalar}

    def spell(_: Statement, access: Access, index: tuple[str, ...], __: tuple[str, ...]) -> str:
        if not index:
            return f"(*{access.array})" if access.array in by_pointer else access.array
        return f"MEM_{access.array}({', '.join(index)})"

    return spell


def _kernel(scop: Scop, private: Private, place: Placed, doubtful: bool) -> KernelCode:
    statements = set(place.tiled.kernel.statements)
    used = {a.array for s in scop.statements if s.name in statements for a in s.accesses}
    written = _written(scop, statements)
    elsewhere = private.names | {partial.array for partial in place.partials}
    arrays = [a for a in scop.arrays if a.name in used and a.name not in elsewhere]
    values = tuple(a for a in arrays if a.is_scalar and a.name not in written)
    pointers = tuple(a for a in arrays if a not in values)
    spell = _device_spell(private, written, place)
    body = build_device(scop, place.tiled, place.plan, spell, doubtful=doubtful)
    body = count_waits(body, lambda name: _operations(place.plan, name))
    contracted = private.names - place.expanded
    body, loops = _with_loop_names(scop, place.tiled.kernel, body)
    body = _named(scop, body, {}, frozenset(loops))
    return KernelCode(
        tiled=place.tiled,
        plan=place.plan,
        body=body,
        partials=place.partials,
        private=tuple(a for a in scop.arrays if a.name in used and a.name in contracted),
        values=values,
        pointers=pointers,
        parameters=scop.parameters,
        loops=loops,
    )


def _with_loop_names(scop: Scop, kernel: Kernel, body: Node) -> tuple[Node, tuple[str, ...]]:
    """Name the host's loops around the kernel after the iterators that they give; return the names too."""
    taken = set(_names_in_use(scop))
    names = []
    for parameter in kernel.host_loops:
        wish = parameter
        for node in walk(body):
            if isinstance(node, Compute) and parameter in node.iterators:
                iterators = scop.statement(node.statement).iterators
                wish = iterators[node.iterators.index(parameter)].name
                break
        while wish in taken:
            wish += "_"
        taken.add(wish)
        names.append(wish)
        body = rename(body, parameter, wish)
    return body, tuple(names)


def _device_spell(private: Private, written: set[str], place: Placed) -> Spell:
    partial = {p.array for p in place.partials}

    def spell(
        statement: Statement, access: Access, index: tuple[str, ...], iterators: tuple[str, ...]
    ) -> str:
        if access.array in partial:
            return f"SW_PART_{access.array}({', '.join(index)})" if index else f"sw_part_{access.array}"
        buffer = place.plan.buffer_of(statement.name, access.ref)
        if access.array in private.names:
            if buffer is None:
                return access.array + "".join(f"[{text}]" for text in index)
            depth = private.depth_of[(statement.name, access.array)][1]
            return f"LDM_{buffer.name}({', '.join((*iterators[:depth], *index))})"
        if not index:
            return f"(*{access.array})" if access.array in written else access.array
        macro = f"MEM_{access.array}" if buffer is None else f"LDM_{buffer.name}"
        return f"{macro}({', '.join(index)})"

    return spell


def _operations(plan: MemoryPlan, name: str) -> int | None:
    """Return how many DMA operations move the whole buffer: one up to two dimensions."""
    buffer = next(b for b in plan.buffers if b.name == name)
    return 1 if len(buffer.box.low) <= 2 else None


def _named(scop: Scop, node: Node, launches: dict[str, tuple[str, ...]], taken: frozenset[str]) -> Node:
    """Name the loops of ``node``; ``launches`` gives the host loops of each kernel."""
    names = {s.name: tuple(iterator.name for iterator in s.iterators) for s in scop.statements}
    return name_loops(node, names | launches, _names_in_use(scop) | taken)


def _names_in_use(scop: Scop) -> frozenset[str]:
    """Return every identifier of the region that a loop in the emitted code must not take."""
    texts = [part for s in scop.statements for part in s.body if isinstance(part, str)]
    words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
    return frozenset(words) | {p.name for p in scop.parameters} | {a.name for a in scop.arrays}
