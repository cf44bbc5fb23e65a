"""The slave file: one function per kernel, run by every CPE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

import islpy as isl

from swbuild.codegen import partials
from swbuild.codegen.comments import kernel_comment, spawn_comment
from swbuild.codegen.ctext import (
    Lines,
    array_index,
    extents_of,
    indent,
    index_macro,
    listed,
    print_node,
    texts_of,
)
from swbuild.codegen.messages import Handed, functions
from swbuild.codegen.registers import held
from swbuild.codegen.surroundings import Surroundings
from swbuild.codegen.transfers import Moved, Transfers, aside_name, ldm_name, turned_name, whole_rows
from swbuild.codegen.used import names_in_array, names_in_body
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import names_in, substituted
from swbuild.frontend.scop import Array, Scop
from swbuild.islnumbers import int_of
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import (
    AT_HAND,
    Arrived,
    Barrier,
    Begin,
    Copy,
    Direction,
    ElementStore,
    Fence,
    Fetch,
    FromTile,
    Group,
    Guard,
    Keep,
    Meet,
    Node,
    Phase,
    Place,
    Register,
    Rotate,
    Share,
    Transfer,
    Wait,
    stays_of,
    there_of,
)
from swbuild.kernelir.passes import walk
from swbuild.kernelir.transfers import low_of, size_of
from swbuild.kernelir.turning import turned_macro
from swbuild.kernelir.vectors import vector_types
from swbuild.lowering.code import (
    ARGUMENTS,
    THREAD,
    KernelCode,
    RegionCode,
    SpawnCode,
    residents_of,
    symbol_stem,
)
from swbuild.machine import Dialect, load
from swbuild.mapping.tiling import thread_parameters
from swbuild.memory.buffers import Buffer, Store, Turned
from swbuild.names import own
from swbuild.options import Distribution

__all__ = ["slave_lines"]

_ARGUMENT, _ROW, _COLUMN = own("sw_argument"), own("sw_rid"), own("sw_cid")

#: Has the emulator's vectors round multiply-adds once; compilers of the machines know nothing of it.
_FUSED = "#define SWBUILD_EMU_FUSED 1 /* for the emulator: multiply-adds round once */"

#: the first and the last tile of a loop
_Range = tuple[Expression, Expression]


def _is_of_vectors(body: Node) -> bool:
    """Return whether ``body`` has vectors."""
    return any(isinstance(node, Fetch) or (isinstance(node, Keep) and node.vector) for node in walk(body))


def slave_lines(regions: tuple[RegionCode, ...], base: str, around: Surroundings) -> Lines:
    """Return the slave file's lines after its opening comment; ``base`` names its header."""
    kernels = [(region, kernel) for region in regions for kernel in region.kernels]
    machine = load(kernels[0][0].options.machine)
    dialect = machine.dialect
    includes = sorted(
        {name for region in regions for name in region.scop.includes}
        | {name for region, kernel in kernels for name in partials.headers(kernel, region.scop)}
    )
    further = dialect.vectors.includes if any(_is_of_vectors(k.body) for _, k in kernels) else ()
    sent = _in_messages(kernels)
    further = tuple(dict.fromkeys((*further, *(dialect.messages.includes if sent else ()))))
    fused = further and any(region.options.contract for region in regions)
    headers = [_FUSED] if fused else []
    headers += [f"#include <{name}>" for name in (*includes, *dialect.includes, *further)]
    headers.append(f'#include "{base}.sw.h"')
    called = dict.fromkeys(text for region in regions for text in region.scop.prelude)
    lines, stem = [""], symbol_stem(regions)
    lines += [line for text in called for line in text.split("\n")] + [""] * bool(called)
    lines += _storage(regions, kernels, stem, dialect)
    lines += functions(sent, stem, dialect, vector_types(machine))
    for region in regions:
        printed = {kernel.name: _Kernel(region, kernel, stem, dialect) for kernel in region.kernels}
        lines += [line for kernel in printed.values() for line in ("", *kernel.lines())]
        for spawn in region.spawns:
            lines += ["", *_spawn_lines(region, spawn, printed, Transfers(dialect, stem))]
    return around.slave(lines, headers, "\n".join(called))


def _storage(
    regions: tuple[RegionCode, ...], kernels: list[tuple[RegionCode, KernelCode]], stem: str, dialect: Dialect
) -> Lines:
    lines = ["/* The LDM of the kernels in this file; they share it, since only one runs at a time. */"]
    lines.append(f"{dialect.storage} union {{")
    for region in regions:
        resident = {spawn.name: spawn for spawn in region.spawns if residents_of(region, spawn)}
        for kernel in (k for k in region.kernels if k.spawn not in resident):
            lines += indent(_storage_of(region.scop, kernel))
        for spawn in resident.values():
            lines += indent(_resident_storage(region, spawn))
    lines.append(f"}} {_storage_name(stem)} __attribute__((aligned(64)));")
    for region in regions:
        lines += [f"{dialect.storage} struct {s.struct} {_arguments_of(s)};" for s in region.spawns]
    transfers = Transfers(dialect, stem)
    groups = [n.group for _, kernel in kernels for n in walk(kernel.body) if isinstance(n, Begin)]
    for name in dict.fromkeys([transfers.reply(), *map(transfers.reply, groups)]):
        lines.append(f"{dialect.storage} {dialect.reply_type} {name};")
    if any(isinstance(n, Meet) for _, kernel in kernels for n in walk(kernel.body)):
        lines.append(f"{dialect.storage} {dialect.reply_type} {transfers.arrived};")
    if any(_hands_ahead(kernel) for _, kernel in kernels):
        lines.append(f"{dialect.storage} {dialect.reply_type} {transfers.sent};")
    return lines


def _storage_of(scop: Scop, kernel: KernelCode) -> Lines:
    """Return the LDM of ``kernel`` alone."""
    lines = ["struct {"]
    for buffer in kernel.plan.buffers:
        lines += [f"  {_array_of(scop, buffer)}"] if buffer.residency is None else []
        lines += [f"  {_turned_of(scop, buffer)}"] if buffer.turned else []
    lines += [f"  {line}" for line in partials.storage(kernel, scop)]
    if kernel.spawn is None:
        lines.append(f"  struct {kernel.struct} {own('args')};")
    return [*lines, f"}} {kernel.function};"]


def _resident_storage(region: RegionCode, spawn: SpawnCode) -> Lines:
    """Return the LDM of the kernels of ``spawn``, behind the buffers that stay over all of them."""
    kernels = [kernel for kernel in region.kernels if kernel.name in spawn.kernels]
    return [
        "struct {",
        "  struct {",
        *(
            f"    {line}"
            for buffer in residents_of(region, spawn)
            for line in _resident_member(region.scop, buffer)
        ),
        f"  }} {spawn.function};",
        "  union {",
        *(f"    {line}" for kernel in kernels for line in _storage_of(region.scop, kernel)),
        "  };",
        "};",
    ]


def _resident_member(scop: Scop, buffer: Buffer) -> Lines:
    return [_array_of(scop, buffer), f"int {_held(buffer.array)}[{buffer.slots}];"]


def _array_of(scop: Scop, buffer: Buffer) -> str:
    return _declared(scop, buffer, _member(buffer), buffer.slots * buffer.bytes)


def _turned_of(scop: Scop, buffer: Buffer) -> str:
    assert buffer.turned is not None
    return _declared(scop, buffer, turned_name(buffer.name), buffer.turned.bytes)


def _declared(scop: Scop, buffer: Buffer, name: str, size: int) -> str:
    """Return the declaration of ``size`` bytes for elements of ``buffer``."""
    element = scop.array(buffer.array).element
    aligned = f"__attribute__((aligned({buffer.alignment})))"
    return f"{element.name} {name}[{size // element.size}] {aligned};"


def _held(array: str) -> str:
    """Return the name of the flags that say which tiles of ``array`` are in their slots."""
    return own(f"{array}_held", "ldm")


def _in_messages(kernels: Iterable[tuple[RegionCode, KernelCode]]) -> list[Handed]:
    """Return what is handed on in messages."""
    found: list[Handed] = []
    for region, kernel in kernels:
        arrays = {buffer.name: region.scop.array(buffer.array) for buffer in kernel.plan.buffers}
        shares = (node for node in walk(kernel.body) if isinstance(node, Share) and node.in_messages)
        found += [(share.along, arrays[share.buffer].element) for share in shares]
    return found


def _hands_ahead(kernel: KernelCode) -> bool:
    """Return whether CPEs hand boxes on while they compute."""
    return any(isinstance(node, Share) and node.slot != AT_HAND for node in walk(kernel.body))


def _member(buffer: Buffer) -> str:
    """Return the name of the buffer's memory: the array's, for its first buffer, and for one that stays."""
    return (
        buffer.array
        if buffer.residency is not None or buffer.name == buffer.array
        else own(buffer.name, "ldm")
    )


def _arguments_of(spawn: SpawnCode) -> str:
    """Return the name of the LDM that holds the arguments of ``spawn`` while its kernels use theirs."""
    return own(f"sw_args_{spawn.name}", "ldm")


def _spawn_lines(
    region: RegionCode, spawn: SpawnCode, kernels: Mapping[str, _Kernel], transfers: Transfers
) -> Lines:
    """Return the function that runs some of the ``kernels`` as the phases of ``spawn``."""
    dialect = transfers.dialect

    def special(node: Node) -> Lines:
        if isinstance(node, Phase):
            return [kernels[node.kernel].call(node.loops)]
        assert isinstance(node, (Barrier, Fence))
        meets = [dialect.barrier] * isinstance(node, Barrier)
        fences = [dialect.store_fence] * spawn.stores + [dialect.fence]
        return [line for text in (*fences, *meets) for line in text.format().split("\n")]

    used = names_in_body(spawn.body, {}, {}, lambda _: [])
    names = (*spawn.loops, *spawn.parameters)
    opening = [
        *_fetched(spawn.struct, _arguments_of(spawn), transfers),
        *(f"const long {name} = {ARGUMENTS}->{name};" for name in names if name in used),
        *(line for buffer in residents_of(region, spawn) for line in _emptied(spawn, buffer, transfers.stem)),
    ]
    return [
        *spawn_comment(region, spawn),
        f"void {spawn.function}(void *{_ARGUMENT})",
        "{",
        *indent([*opening, "", *print_node(spawn.body, special)]),
        "}",
    ]


def _emptied(spawn: SpawnCode, buffer: Buffer, stem: str) -> Lines:
    """Return what says that no tile is in the slots of ``buffer`` yet."""
    slot = own("sw_slot")
    flags = f"{_storage_name(stem)}.{spawn.function}.{_held(buffer.array)}"
    return [f"for (int {slot} = 0; {slot} < {buffer.slots}; {slot}++)", f"  {flags}[{slot}] = 0;"]


def _storage_name(stem: str) -> str:
    """Return the name of the LDM of all kernels of a file."""
    return own(f"sw_ldm_{stem}")


def _fetched(struct: str, args: str, transfers: Transfers) -> Lines:
    """Return what gets the argument struct into ``args``, in the LDM."""
    pieces = {
        "ldm": f"&{args}",
        "memory": _ARGUMENT,
        "bytes": f"sizeof(struct {struct})",
        "reply": transfers.reply(),
    }
    return [
        f"{transfers.reply()} = 0;",
        transfers.dialect.get.format(**pieces),
        *transfers.waited(transfers.reply(), "1"),
        f"const struct {struct} *const {ARGUMENTS} = &{args};",
    ]


class _Kernel:
    """Prints one kernel."""

    def __init__(self, region: RegionCode, kernel: KernelCode, stem: str, dialect: Dialect) -> None:
        self.scop: Scop = region.scop
        self.options = region.options
        self.kernel = kernel
        self.dialect = dialect
        self.ldm = f"{_storage_name(stem)}.{kernel.function}"
        self.residents = f"{_storage_name(stem)}.{own(kernel.spawn or '')}"
        self.buffers = {buffer.name: buffer for buffer in kernel.plan.buffers}
        self.shapes = {a.name: extents_of(region.scop, a) for a in kernel.pointers}
        self.extents = {name: texts_of(shape) for name, shape in self.shapes.items()}
        self.transfers = Transfers(dialect, stem)

    def lines(self) -> Lines:
        body = print_node(self.kernel.body, self._special)
        macros = self._macros()
        ranges = self._tile_ranges()
        used = self._used(ranges)
        opening = [*self._identity(used), *self._arguments(used), *self._thread(ranges)]
        return [
            *kernel_comment(self.scop, self.kernel),
            *(f"#define {name} {text}" for name, text in macros),
            self._head(used),
            "{",
            *indent([*opening, "", *body, *self._stored()]),
            "}",
            *(f"#undef {name.split('(')[0]}" for name, _ in macros),
        ]

    def _stored(self) -> Lines:
        """Return what puts into main memory what the CPE has in variables."""
        scalars = [f"*{ARGUMENTS}->{array.name} = {array.name};" for array in self.kernel.carried]
        return [*scalars, *partials.stored(self.kernel, self.dialect, self.transfers)]

    def call(self, loops: tuple[Expression, ...]) -> str:
        """Return the call of the kernel as a phase, in which the host's loops have the values ``loops``."""
        used = self._used(self._tile_ranges())
        pairs = zip(self.kernel.loops, loops, strict=True)
        values = (c_text(value) for name, value in pairs if name in used)
        return f"{self.kernel.function}({', '.join((ARGUMENTS, *values))});"

    def _head(self, used: frozenset[str]) -> str:
        """Return the head of the function: of a spawn's, or of a phase, which is passed the host's loops."""
        if self.kernel.spawn is None:
            return f"void {self.kernel.function}(void *{_ARGUMENT})"
        arguments = [f"const struct {self.kernel.struct} *const {ARGUMENTS}"]
        arguments += [f"const long {name}" for name in self.kernel.loops if name in used]
        return f"static void {self.kernel.function}({', '.join(arguments)})"

    def _used(self, ranges: list[_Range]) -> frozenset[str]:
        """Return the names that the body, the macros and this thread's blocks are made of."""
        names = names_in_body(self.kernel.body, self.buffers, self.shapes, self._sizes)
        names |= partials.names(self.kernel)
        names = names.union(*(names_in_array(d.array, self.shapes) for d in self.kernel.plan.direct))
        places = (_ROW, _COLUMN)[: len(ranges)]
        return names.union(places, *(names_in(end) for ends in ranges for end in ends))

    def _identity(self, used: frozenset[str]) -> Lines:
        """Name this thread, and what is ``used`` of its place in the grid."""
        grid = self.kernel.tiled.mapping.threads
        threads = prod(grid)
        lines = [f"const long {THREAD} = {self.dialect.thread};"]
        if len(grid) == 2 and grid[1] > 1:
            places = {_ROW: f"{THREAD} / {grid[1]}", _COLUMN: f"{THREAD} % {grid[1]}"}
        else:
            places = {_ROW: THREAD, _COLUMN: "0"}
        names = [f"{name} = {value}" for name, value in places.items() if name in used]
        lines += [f"const long {', '.join(names)};"] if names else []
        if threads < load(self.options.machine).cpes:
            lines.append(f"if ({THREAD} >= {threads})\n    return;")
        return [part for line in lines for part in line.split("\n")]

    def _arguments(self, used: frozenset[str]) -> Lines:
        """Fetch the argument struct, if nobody has, and name what is ``used`` of it."""
        lines: Lines = []
        loops: tuple[str, ...] = ()
        if self.kernel.spawn is None:
            loops, args = self.kernel.loops, f"{self.ldm}.{own('args')}"
            lines += _fetched(self.kernel.struct, args, self.transfers)
        names = [*loops, *self.kernel.parameters]
        names = [name for name in names if name in used]
        lines += [f"const long {name} = {ARGUMENTS}->{name};" for name in names]
        lines += [f"const {a.element.name} {a.name} = {self._found(a)};" for a in self.kernel.values]
        lines += [f"{a.element.name} {a.name} = *{ARGUMENTS}->{a.name};" for a in self.kernel.carried]
        lines += [
            f"{a.element.name} *const {a.name} = {ARGUMENTS}->{a.name};"
            for a in self.kernel.pointers
            if a.name in used
        ]
        for buffer in self.kernel.plan.buffers:
            lines += self._slots(buffer)
            if buffer.turned:
                element, name = self.scop.array(buffer.array).element.name, turned_name(buffer.name)
                lines.append(f"{element} *const {name} = {self.ldm}.{name};")
        lines += [self._box_variables(buffer) for buffer in self.kernel.plan.buffers]
        lines += [_local(array) for array in self.kernel.private]
        lines += partials.opening(self.kernel, self.scop, self.ldm)
        lines += [f"int {name} = 0;" for name in dict.fromkeys(map(self.transfers.counter, self._counted()))]
        return lines

    def _found(self, array: Array) -> str:
        """Return the value of a scalar as the argument struct tells it."""
        return f"{'*' if array.name in self.kernel.changing else ''}{ARGUMENTS}->{array.name}"

    def _counted(self) -> Iterator[Group]:
        """Yield the groups of which the code counts transfers, also those that turn out to be empty."""
        for node in walk(self.kernel.body):
            if (isinstance(node, Begin) and node.dynamic) or (isinstance(node, Transfer) and node.counted):
                yield node.group

    def _slots(self, buffer: Buffer) -> Lines:
        """Name the slots of ``buffer``, the one at hand where they stay."""
        element = self.scop.array(buffer.array).element
        if buffer.residency is not None:
            used = (there_of, stays_of) if self._asks_for_stays(buffer) else (there_of,)
            flags = ", ".join(f"{flag(buffer.name).name} = 0" for flag in used)
            names = [f"*{ldm_name(buffer.name, 0)} = 0"]
            if any(isinstance(node, Copy) and node.buffer == buffer.name for node in walk(self.kernel.body)):
                start = buffer.residency.room * (buffer.bytes // element.size)
                memory = f"{self.residents}.{_member(buffer)} + {start}"
                names.append(f"*const {aside_name(buffer.name)} = {memory}")
            return [f"{element.name} {', '.join(names)};", f"long {flags};"]
        slot, memory = ldm_name(buffer.name, 0), f"{self.ldm}.{_member(buffer)}"
        if buffer.slots == 1:
            there = [f"long {there_of(buffer.name).name} = 0;"] if buffer.in_tile else []
            return [f"{element.name} *const {slot} = {memory};", *there]
        length = buffer.bytes // element.size
        further = (f"*{ldm_name(buffer.name, k)} = {memory} + {k * length}" for k in range(1, buffer.slots))
        return [f"{element.name} *{slot} = {memory}, {', '.join(further)};"]

    def _rotated(self, buffer: Buffer, node: Rotate) -> Lines:
        element = self.scop.array(buffer.array).element.name
        slot, other = ldm_name(buffer.name, node.target), ldm_name(buffer.name, node.source)
        spare = own(f"{buffer.name}_done")
        return [f"{{ {element} *const {spare} = {slot}; {slot} = {other}; {other} = {spare}; }}"]

    def _box_variables(self, buffer: Buffer) -> str:
        names = [low_of(buffer.name, k).name for k in range(len(buffer.box.low))]
        names += [size_of(buffer.name, k).name for k in self._sizes(buffer)]
        return "long " + ", ".join(f"{name} = 0" for name in names) + ";"

    def _sizes(self, buffer: Buffer) -> list[int]:
        """Return the dimensions whose size the code needs: the first one only counts for transfers."""
        whole = buffer.load or buffer.store is Store.BOX
        return list(range(0 if whole else 1, len(buffer.box.low)))

    def _tile_ranges(self) -> list[_Range]:
        """Return the first and the last tile of each mapped loop (block distribution only)."""
        mapping = self.kernel.tiled.mapping
        block = mapping.distribution is Distribution.BLOCK
        return [self._tile_range(k) for k in range(len(mapping.threads))] if block else []

    def _thread(self, ranges: list[_Range]) -> Lines:
        """Compute this thread's blocks of the tiles in ``ranges``."""
        tiled = self.kernel.tiled
        lines = []
        for k, (ends, threads) in enumerate(zip(ranges, tiled.mapping.threads, strict=False)):
            first, last = (f"({c_text(end)})" for end in ends)
            identity, larger = (_ROW, _COLUMN)[k], own("SW_MAX")
            tiles, chunk = own(f"sw_tiles{k}"), own(f"sw_chunk{k}")
            begin, end = thread_parameters(tiled.mapping)[2 * k : 2 * k + 2]
            lines += [
                f"const long {tiles} = {last} - {first} + 1;",
                f"const long {chunk} = {larger}(1, ({tiles} + {threads - 1}) / {threads});",
                f"const long {begin} = {first} + {identity} * {chunk};",
                f"const long {end} = {begin} + {chunk};",
            ]
        return lines

    def _tile_range(self, position: int) -> _Range:
        tiled = self.kernel.tiled
        index = tiled.coordinates.get_at(position).scale_down_val(isl.Val(tiled.sizes[position]))
        values = _smooth(isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(index).range()))
        context = values.params().intersect(self.scop.context)
        build = isl.AstBuild.from_context(context)
        low, high = values.dim_min(0), values.dim_max(0)
        names = dict(zip(tiled.kernel.host_loops, map(Name, self.kernel.loops), strict=True))
        first, last = (substituted(value_in(build, end.gist(context)), names) for end in (low, high))
        return first, last

    def _macros(self) -> list[tuple[str, str]]:
        """Return (name with parameters, text) of the macros that index buffers and arrays."""
        macros = []
        for buffer in self.kernel.plan.buffers:
            name, count = buffer.name, len(buffer.box.low)
            sizes = ("", *(size_of(name, k).name for k in range(1, count)))
            shifts = tuple(low_of(name, k) for k in range(count))
            macros.append(index_macro(own(f"LDM_{name}"), ldm_name(name, 0), sizes, shifts))
            if buffer.turned:
                macros.append(_turned_macro(buffer, buffer.turned, sizes, shifts))
        for array in sorted({d.array for d in self.kernel.plan.direct}):
            extents = self.extents[array]
            named = frozenset[str]().union(*(names_in(e) for e in self.shapes[array] if e is not None))
            none = (Constant(0),) * len(extents)
            macros.append(index_macro(own(f"MEM_{array}"), array, extents, none, named))
        return [*macros, *partials.index_macros(self.kernel)]

    def _special(self, node: Node) -> Lines:
        if isinstance(node, Begin):
            return self.transfers.begin(node)
        if isinstance(node, Place):
            return self._place(node)
        if isinstance(node, Transfer):
            return self.transfers.issue(self._moved(node.buffer), node)
        if isinstance(node, ElementStore):
            buffer = self.buffers[node.buffer]
            offset = array_index(self.extents[buffer.array], node.index)
            return [f"{buffer.array}[{offset}] = {own(f'LDM_{node.buffer}')}({listed(node.index)});"]
        if isinstance(node, (Register, Fetch, Keep)):
            return [held(node, self.dialect.vectors)]
        if isinstance(node, Copy):
            return _copied(node)
        if isinstance(node, FromTile):
            return self._from_tile(node)
        if isinstance(node, Rotate):
            return [line for name in node.buffers for line in self._rotated(self.buffers[name], node)]
        if isinstance(node, Fence):
            return self._fences()
        if isinstance(node, Meet):
            return self.transfers.meet(ahead=_hands_ahead(self.kernel))
        if isinstance(node, Share):
            return self.transfers.share(self._moved(node.buffer), node)
        if isinstance(node, Arrived):
            return self.transfers.await_shares(node)
        assert isinstance(node, Wait)
        return [*self.transfers.wait(node), *(self._fences() if node.fence else [])]

    def _fences(self) -> Lines:
        stores = any(isinstance(node, ElementStore) for node in walk(self.kernel.body))
        return [*([self.dialect.store_fence.format()] if stores else []), self.dialect.fence.format()]

    def _moved(self, name: str) -> Moved:
        buffer = self.buffers[name]
        element = self.scop.array(buffer.array).element
        return Moved(name, buffer.array, self.extents[buffer.array], element)

    def _place(self, node: Place) -> Lines:
        buffer = self.buffers[node.buffer]
        parts = [f"{low_of(node.buffer, k).name} = {c_text(low)};" for k, low in enumerate(node.low)]
        return [
            *parts,
            *(f"{size_of(node.buffer, k).name} = {c_text(node.size[k])};" for k in self._sizes(buffer)),
            *([] if node.number is None else self._settled(node, node.number, buffer)),
        ]

    def _asks_for_stays(self, buffer: Buffer) -> bool:
        """Return whether something is done only if the tile in ``buffer`` stays, or only if it does not."""
        guards = (node for node in walk(self.kernel.body) if isinstance(node, Guard))
        return any(stays_of(buffer.name).name in names_in(guard.condition) for guard in guards)

    def _settled(self, node: Place, number: Expression, buffer: Buffer) -> Lines:
        """Turn to the slot of a tile that may stay, and note what is in it from now on."""
        there = there_of(buffer.name).name
        stays = f"{stays_of(buffer.name).name} = " if self._asks_for_stays(buffer) else ""
        slot, element = own(f"{buffer.name}_slot"), self.scop.array(buffer.array).element
        flags = f"{self.residents}.{_held(buffer.array)}[{slot}]"
        memory = f"{self.residents}.{_member(buffer)}"
        return [
            "{",
            f"  const long {slot} = {own('SW_MIN')}({c_text(number)}, {node.room});",
            f"  {there} = {flags};",
            f"  {stays}{flags} = {slot} < {node.room};",
            f"  {ldm_name(buffer.name, 0)} = {memory} + {slot} * {buffer.bytes // element.size};",
            "}",
        ]

    def _from_tile(self, node: FromTile) -> Lines:
        """Copy a box from the slot of its tile, if that is there."""
        buffer = self.buffers[node.buffer]
        kept = next(b for b in self.buffers.values() if b.array == buffer.array and b.residency is not None)
        there, slot = there_of(buffer.name).name, own(f"{buffer.name}_slot")
        tile, element = own(f"{buffer.name}_tile"), self.scop.array(buffer.array).element
        memory = f"{self.residents}.{_member(kept)} + {slot} * {kept.bytes // element.size}"
        return [
            "{",
            f"  const long {slot} = {own('SW_MIN')}({c_text(node.number)}, {node.room});",
            f"  {there} = {self.residents}.{_held(buffer.array)}[{slot}];",
            f"  if ({there}) {{",
            f"    const {element.name} *const {tile} = {memory};",
            *(f"    {line}" for line in _copied_from(node, tile)),
            "  }",
            "}",
        ]


def _turned_macro(
    buffer: Buffer, turned: Turned, sizes: tuple[str, ...], shifts: tuple[Expression, ...]
) -> tuple[str, str]:
    """Return (name with parameters, text) of the macro for elements of the turned box of ``buffer``."""
    others = [k for k in range(len(sizes)) if k != turned.dimension]
    extents = ("", *(size_of(buffer.name, k).name for k in others[1:]), str(turned.pitch))
    order = (*others, turned.dimension)
    moved = tuple(shifts[k] for k in order)
    return index_macro(turned_macro(buffer.name), turned_name(buffer.name), extents, moved)


def _copied(node: Copy) -> Lines:
    """Return what copies a rectangle of a box, row by row, unless these are the whole rows of the box."""
    row, element = own("sw_row"), own("sw_element")
    rows, length = map(c_text, node.part.size[-2:])
    *outer, first, low = map(c_text, node.part.low)
    single = length == "1"
    index = (*outer, f"{first} + {row}", low if single else f"{low} + {element}")
    inside = f"{own(f'LDM_{node.buffer}')}({', '.join(index)})"
    outside = f"{aside_name(node.buffer)}[{row if single else f'{row} * ({length}) + {element}'}]"
    target, source = (outside, inside) if node.direction is Direction.PUT else (inside, outside)
    lines = [f"if (!({whole_rows(node.buffer, node.part)}))"]
    lines += [f"  for (long {row} = 0; {row} < {rows}; {row}++)"]
    lines += [] if single else [f"    for (long {element} = 0; {element} < {length}; {element}++)"]
    return [*lines, f"{'  ' * len(lines)}{target} = {source};"]


def _copied_from(node: FromTile, tile: str) -> Lines:
    """Return what copies a box, element by element, from a ``tile`` with ends of its own."""
    names = [None if size == Constant(1) else own(f"sw_e{k}") for k, size in enumerate(node.part.size)]
    lines: Lines = []
    for name, size in zip(names, node.part.size, strict=True):
        if name is not None:
            lines.append(f"{'  ' * len(lines)}for (long {name} = 0; {name} < {c_text(size)}; {name}++)")
    index = [
        low if name is None else Binary(BinaryOperator.ADD, low, Name(name))
        for name, low in zip(names, node.part.low, strict=True)
    ]
    inside = [Binary(BinaryOperator.SUB, i, low) for i, low in zip(index, node.tile.low, strict=True)]
    offset = inside[0]
    for place, size in zip(inside[1:], node.tile.size[1:], strict=True):
        offset = Binary(BinaryOperator.ADD, Binary(BinaryOperator.MUL, offset, size), place)
    target = f"{own(f'LDM_{node.buffer}')}({', '.join(map(c_text, index))})"
    return [*lines, f"{'  ' * len(lines)}{target} = {tile}[{c_text(offset)}];"]


def _local(array: Array) -> str:
    """Return the declaration of a private variable."""
    extents = "".join(f"[{int_of(e.max_val())}]" for e in array.extents if e is not None)
    return f"{array.element.name} {array.name}{extents};"


def _smooth(values: isl.Set) -> isl.Set:
    """Return a superset of the tiles ``values`` whose ends are simple to say; empty tiles do no harm."""
    if all(piece.dim(isl.dim_type.div) <= 1 for piece in values.get_basic_sets()):
        return values
    smooth = values.remove_divs()
    return smooth if smooth.dim_is_bounded(isl.dim_type.set, 0) else values
