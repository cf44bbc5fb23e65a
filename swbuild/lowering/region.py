"""A region's code from its order, its kernels and their memory: host and device IR, arguments, names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.expressions.c import Call, Element, Parentheses, Unary, Variable
from swbuild.expressions.nodes import Expression, Name
from swbuild.expressions.statements import identifiers
from swbuild.expressions.types import ElementType
from swbuild.frontend.scop import Access, AccessKind, Array, Scop, Statement, Storage
from swbuild.kernelir.astwalk import Repeated, TooComplicated
from swbuild.kernelir.bodies import Spell
from swbuild.kernelir.device import build_device, revisited
from swbuild.kernelir.hoisting import hoisted
from swbuild.kernelir.hosttree import build_host
from swbuild.kernelir.lanewise import with_functions
from swbuild.kernelir.multiplyadds import with_multiply_adds
from swbuild.kernelir.nodes import Compute, Node
from swbuild.kernelir.passes import loop_name, name_loops, walk, with_values
from swbuild.kernelir.program import Program
from swbuild.kernelir.queueing import urgent_first
from swbuild.kernelir.residency import with_flags_outside
from swbuild.kernelir.tiles import Lanes, tiled
from swbuild.kernelir.transfers import (
    Limits,
    Shape,
    allot_replies,
    at_once,
    count_waits,
    split_transfers,
)
from swbuild.kernelir.turning import Turnable, turned, turned_macro
from swbuild.kernelir.unrolling import unrolled
from swbuild.kernelir.vectors import lanes_of, selectable
from swbuild.lowering.code import KernelCode, RegionCode
from swbuild.lowering.owners import owned
from swbuild.lowering.slots import with_shared_boxes, with_slots
from swbuild.lowering.spawns import spawned
from swbuild.machine import load
from swbuild.mapping.regiontree import HostTree, Kernel
from swbuild.memory.box import whole_dimensions
from swbuild.memory.buffers import Buffer, Store
from swbuild.names import own
from swbuild.options import KernelOptions, Preset
from swbuild.planning.handing import with_alike_boxes
from swbuild.planning.singles import private_in
from swbuild.planning.tilings import Placed
from swbuild.polyhedral.privatise import Private
from swbuild.polyhedral.scheduling import Scheduled
from swbuild.transform.apply import Unroll

__all__ = ["Assembled", "NoCode", "assemble", "leave_alone", "limits_of"]


@dataclass(frozen=True, slots=True)
class Assembled:
    """A region's code with the trees that led to it: the host's, if any, one per kernel and per spawn."""

    code: RegionCode
    host: Program | None
    kernels: tuple[Program, ...]
    spawns: tuple[Program, ...] = ()


@dataclass(frozen=True, slots=True)
class NoCode:
    """Why no C was found that runs the loops of a region, or of its kernels."""

    reason: str


def assemble(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    tree: HostTree,
    placed: tuple[Placed, ...],
    unrolls: tuple[Unroll, ...],
) -> Assembled | NoCode:
    """Return the code of ``scop`` in the order ``scheduled``: the host runs ``tree``, the CPEs ``placed``.

    Raise :class:`SwbuildError` (SW312) for an entry of ``unrolls`` that applies nowhere.
    """
    try:
        return _assembled(scop, options, scheduled, tree, placed, unrolls)
    except TooComplicated as problem:  # comes out of isl's callbacks, which return no other values
        return NoCode(problem.reason)


def _assembled(
    scop: Scop,
    options: KernelOptions,
    scheduled: Scheduled,
    tree: HostTree,
    placed: tuple[Placed, ...],
    unrolls: tuple[Unroll, ...],
) -> Assembled:
    private = scheduled.private.names
    arguments = _arguments(scop, private)
    unusual = bool(options.transform or scheduled.front)
    doubtful = unusual or any(_has_cases(s.domain) for s in scop.statements)
    made = [
        _kernel(scop, options, private_in(scheduled.private, place.tiled.kernel), place, doubtful)
        for place in placed
    ]
    loops = {kernel.name: kernel.loops for kernel, _ in made}
    local = tuple(a for a in scop.arrays if _is_local(scop, a, private, tree))
    built = build_host(scop, tree, _host_spell(arguments), doubtful=unusual)
    host = Program(built).after("name loops", _named(scop, built, loops, frozenset()))
    host, *programs = _unrolled([host, *(program for _, program in made)], unrolls)
    pairs = zip(made, programs, strict=True)
    computed = [_in_register_tiles(scop, options, kernel, program) for (kernel, _), program in pairs]
    kernels, programs = tuple(kernel for kernel, _ in computed), [program for _, program in computed]
    apart = owned(scop, scheduled.dependences.all, scheduled.private, kernels)
    kernels, spawns, host, shared = spawned(scop, options, host, kernels, apart)
    region = RegionCode(scop, options, host.result, kernels, local, arguments, {}, spawns=spawns, owned=apart)
    return Assembled(region, host, tuple(programs), shared)


def leave_alone(scop: Scop, options: KernelOptions, scheduled: Scheduled, tree: HostTree) -> Assembled:
    """Return the code of ``scop`` when all of it stays on the host, as ``scheduled`` orders it.

    Programs then run the original text; where isl finds no right loops, calls of the entry leave the work
    to it, too.
    """
    found = assemble(scop, options, scheduled, tree, (), ())
    if isinstance(found, Assembled):
        return found
    region = RegionCode(scop, options, None, (), (), _arguments(scop, scheduled.private.names), {})
    return Assembled(region, None, ())


def _has_cases(domain: isl.Set) -> bool:
    """Return whether ``domain`` is a union of many parts, or takes several divisions to say."""
    parts = domain.get_basic_sets()
    return len(parts) > 2 or any(part.dim(isl.dim_type.div) > 1 for part in parts)


def _unrolled(programs: list[Program], unrolls: tuple[Unroll, ...]) -> list[Program]:
    """Unroll loops wherever they have come to; a loop that is nowhere (SW312) cannot be unrolled."""
    problems = []
    for unroll in unrolls:
        name = unroll.name
        bodies = [unrolled(p.result, name, unroll.statements, unroll.factor) for p in programs]
        pairs = zip(programs, bodies, strict=True)
        programs = [program.after(f"unroll {name}", body) for program, (body, _) in pairs]
        if not any(count for _, count in bodies):
            message = f"`unroll`: no loop of the generated code runs over `{name}` alone and only computes"
            hint = "a loop that is skewed, shifted, scaled or reversed, or in which data is moved, cannot be"
            problems.append(Diagnostic("SW312", message, unroll.step.span, hint))
    if problems:
        raise SwbuildError(problems)
    return programs


def _in_register_tiles(
    scop: Scop, options: KernelOptions, kernel: KernelCode, program: Program
) -> tuple[KernelCode, Program]:
    """Return the kernel and its program with the point loops in register tiles, where they may be."""
    dialect = load(options.machine).dialect
    if not options.tiles_registers:
        if options.contract:
            program = program.after("multiply-adds", with_multiply_adds(program.result, dialect))
        return replace(kernel, body=program.result), program
    macros = frozenset(own(f"LDM_{buffer.name}") for buffer in kernel.plan.buffers)
    lanes = lanes_of(options)
    kernel, program = _with_turned_boxes(scop, kernel, program, macros, lanes)
    boxes = _turnable(scop, kernel)
    macros |= {turned_macro(box.name) for box in boxes}
    vectors = dialect.vectors
    gathers, divides = bool(vectors.gather_double), bool(vectors.gather_double and vectors.lane)
    selects = selectable(load(options.machine))
    body, tiles = tiled(program.result, macros, lanes, gathers=gathers, divides=divides, selects=selects)
    body = with_multiply_adds(body, dialect) if options.contract else body
    body = with_functions(body, vectors)
    return replace(kernel, body=body, tiles=tiles), program.after("tile registers", body)


def _with_turned_boxes(
    scop: Scop, kernel: KernelCode, program: Program, macros: frozenset[str], lanes: Lanes
) -> tuple[KernelCode, Program]:
    """Return the kernel and its program with boxes turned where nests gather vectors of them."""
    boxes = _turnable(scop, kernel)
    if not boxes:
        return kernel, program
    body, found = turned(program.result, macros, boxes, lanes)
    buffers = tuple(b if b.name in found else replace(b, turned=None) for b in kernel.plan.buffers)
    plan = replace(kernel.plan, buffers=buffers, bytes=sum(b.total for b in buffers))
    return replace(kernel, plan=plan), program.after("turn boxes", body)


def _turnable(scop: Scop, kernel: KernelCode) -> list[Turnable]:
    """Return the buffers of which boxes may be turned."""
    return [
        Turnable(b.name, b.turned.dimension, len(b.box.low), scop.array(b.array).element)
        for b in kernel.plan.buffers
        if b.turned
    ]


#: Where arrays lie that nobody outside a region knows.
_OWN = (Storage.REGION, Storage.WORK)


def _is_local(scop: Scop, array: Array, private: frozenset[str], tree: HostTree) -> bool:
    """Return whether the entry has to declare ``array``: nobody outside knows it, and the host uses it."""
    if array.name in private:
        return bool(scop.users(array.name) & tree.in_order)
    return array.storage in _OWN and bool(scop.users(array.name))


def _arguments(scop: Scop, private: frozenset[str]) -> tuple[tuple[Array, bool, bool], ...]:
    """Return what the entry is passed besides the parameters: (array, read, written)."""
    everything = {s.name for s in scop.statements}
    written = scop.written_by(everything)
    read = {a.array for s in scop.statements for a in s.accesses if a.kind is AccessKind.READ}
    return tuple(
        (array, array.name in read, array.name in written)
        for array in scop.arrays
        if array.name not in private
        and array.storage not in _OWN
        and (array.name in read or array.name in written)
    )


def _host_spell(arguments: tuple[tuple[Array, bool, bool], ...]) -> Spell:
    by_pointer = {array.name for array, _, written in arguments if written and array.is_scalar}

    def spell(
        _: Statement,
        access: Access,
        kind: ElementType,
        index: tuple[Expression, ...],
        __: tuple[Expression, ...],
    ) -> Expression:
        if not index:
            return _scalar(access.array, kind, by_pointer=access.array in by_pointer)
        return Call(kind, own(f"MEM_{access.array}"), index)

    return spell


def _kernel(
    scop: Scop, options: KernelOptions, private: Private, place: Placed, doubtful: bool
) -> tuple[KernelCode, Program]:
    """Return the code of a kernel but for what the user wants unrolled, and its program so far."""
    statements = set(place.tiled.kernel.statements)
    used = {a.array for s in scop.statements if s.name in statements for a in s.accesses}
    written = scop.written_by(statements)
    elsewhere = private.names | {partial.array for partial in place.partials}
    arrays = [a for a in scop.arrays if a.name in used and a.name not in elsewhere]
    values = tuple(a for a in arrays if a.is_scalar and a.name not in written)
    single = place.tiled.kernel.single
    carried = tuple(a for a in arrays if single and a.is_scalar and a not in values)
    pointers = tuple(a for a in arrays if a not in (*values, *carried))
    place = with_alike_boxes(scop, place) if place.handed else place
    spell = _device_spell(private, written, place)
    body, place = _device_body(scop, place, spell, doubtful)
    program, place, unshared = _with_transfers(scop, options, place, Program(body))
    contracted = private.names - place.expanded
    body, loops = _with_loop_names(scop, place.tiled.kernel, program.result)
    program = program.after("name host loops", body)
    program = program.after("name loops", _named(scop, body, {}, frozenset(loops)))
    code = KernelCode(
        tiled=place.tiled,
        plan=place.plan,
        body=program.result,
        partials=place.partials,
        private=tuple(a for a in scop.arrays if a.name in used and a.name in contracted),
        values=values,
        pointers=pointers,
        carried=carried,
        parameters=scop.numbers,
        loops=loops,
        unshared=unshared,
    )
    return code, program


def _device_body(scop: Scop, place: Placed, spell: Spell, doubtful: bool) -> tuple[Node, Placed]:
    """Return what each thread runs, and the kernel as it is then placed."""
    try:
        return build_device(scop, place.tiled, place.plan, spell, doubtful=doubtful), place
    except Repeated as problem:
        place = replace(place, plan=revisited(place.plan, problem))
    return build_device(scop, place.tiled, place.plan, spell, doubtful=doubtful), place


def _with_transfers(
    scop: Scop, options: KernelOptions, place: Placed, program: Program
) -> tuple[Program, Placed, Mapping[str, str]]:
    """Return ``program`` with its transfers in operations of the machine, all groups with their waits.

    Buffers of the plan may have more slots then.  Those that were to be shared and are not come last, with
    the reasons.
    """
    classic = options.preset is Preset.CLASSIC
    shapes = {b.name: _shape(scop, b) for b in place.plan.buffers}
    residents = [buffer.name for buffer in place.plan.buffers if buffer.residency is not None]
    if residents:
        program = program.after("ask flags once", with_flags_outside(program.result, residents))
    split = split_transfers(program.result, shapes, limits_of(options), apart=classic)
    program = program.after("split transfers", split)
    if classic:
        program = program.after("wait at once", at_once(program.result))
    program = program.after("count waits", count_waits(program.result))
    if residents:
        only_read = {b.name for b in place.plan.buffers if b.store is Store.NONE and b.residency is None}
        program = program.after("hoist gets", hoisted(program.result, only_read.__contains__))
    if options.gets_ahead:
        program, place = with_slots(scop, place, program)
    unshared: Mapping[str, str] = {}
    if place.handed:
        body, place, unshared = with_shared_boxes(scop, place, program.result, load(options.machine))
        program = program.after("share boxes", body)
    if options.gets_ahead:
        program = program.after("urgent gets first", urgent_first(program.result))
    return program.after("allot reply words", allot_replies(program.result)), place, unshared


def _shape(scop: Scop, buffer: Buffer) -> Shape:
    array = scop.array(buffer.array)
    moved = buffer.load or buffer.store is not Store.NONE
    whole = whole_dimensions(buffer.box, array.extents) if moved and buffer.residency is None else 0
    return Shape(buffer.box.bound or (), array.element.size, whole)


def limits_of(options: KernelOptions) -> Limits:
    """Return what one transfer of the machine moves at most."""
    dma = load(options.machine).dma
    return Limits(dma.max_length, dma.max_block, dma.alignment)


def _with_loop_names(scop: Scop, kernel: Kernel, body: Node) -> tuple[Node, tuple[str, ...]]:
    """Name the host's loops around the kernel after the iterators that they give; return the names too."""
    taken = _names_in_use(scop)
    names = []
    for parameter in kernel.host_loops:
        name = parameter
        for node in walk(body):
            if isinstance(node, Compute) and Name(parameter) in node.iterators:
                iterators = scop.statement(node.statement).iterators
                name = loop_name(iterators[node.iterators.index(Name(parameter))].name, True, taken)
                break
        taken |= {name}
        names.append(name)
    pairs = zip(kernel.host_loops, names, strict=True)
    return with_values(body, {parameter: Name(name) for parameter, name in pairs}), tuple(names)


def _device_spell(private: Private, written: frozenset[str], place: Placed) -> Spell:
    partial = {p.array for p in place.partials}

    def spell(
        statement: Statement,
        access: Access,
        kind: ElementType,
        index: tuple[Expression, ...],
        iterators: tuple[Expression, ...],
    ) -> Expression:
        if access.array in partial:
            macro, part = own(f"SW_PART_{access.array}"), own(f"sw_part_{access.array}")
            return Call(kind, macro, index) if index else Variable(kind, part)
        buffer = place.plan.buffer_of(statement.name, access.ref)
        if access.array in private.names:
            if buffer is None:
                variable = Variable(kind, access.array)
                return Element(kind, variable, index) if index else variable
            depth = private.expansions[(statement.name, access.array)].depth
            return Call(kind, own(f"LDM_{buffer.name}"), (*iterators[:depth], *index))
        if not index:
            by_pointer = access.array in written and not place.tiled.kernel.single
            return _scalar(access.array, kind, by_pointer=by_pointer)
        return Call(kind, own(f"MEM_{access.array}" if buffer is None else f"LDM_{buffer.name}"), index)

    return spell


def _scalar(name: str, kind: ElementType, *, by_pointer: bool) -> Expression:
    """Return a scalar, or what the pointer of its name leads to."""
    variable = Variable(kind, name)
    return Parentheses(kind, Unary(kind, variable, "*")) if by_pointer else variable


def _named(scop: Scop, node: Node, launches: dict[str, tuple[str, ...]], taken: frozenset[str]) -> Node:
    """Name the loops of ``node``; ``launches`` gives the host loops of each kernel."""
    names = {s.name: tuple(iterator.name for iterator in s.iterators) for s in scop.statements}
    return name_loops(node, names | launches, _names_in_use(scop) | taken)


def _names_in_use(scop: Scop) -> frozenset[str]:
    """Return every identifier of the region that a loop in the emitted code must not take."""
    words = frozenset[str]().union(*(identifiers(s.body) for s in scop.statements))
    return words | {*scop.numbers} | {a.name for a in scop.arrays}
