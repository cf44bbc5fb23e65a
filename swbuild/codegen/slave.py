"""The slave file: one function per kernel, run by every CPE."""

from __future__ import annotations

import islpy as isl

from swbuild.codegen.comments import kernel_comment
from swbuild.codegen.ctext import Lines, array_index, extent_texts, indent, index_macro, print_node
from swbuild.codegen.dialect import Dialect, dialect_of
from swbuild.codegen.plan import KernelCode, RegionCode
from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.expressions import to_c
from swbuild.kernelir.nodes import Begin, ElementStore, Node, Place, Put, RowPut, Wait
from swbuild.kernelir.passes import walk
from swbuild.memory.plan import Buffer, Store
from swbuild.options import Distribution

__all__ = ["slave_lines"]


def slave_lines(regions: tuple[RegionCode, ...], stem: str, base: str) -> Lines:
    """Return the slave file's lines after its opening comment.

    ``stem`` names the file's symbols, ``base`` its header.
    """
    kernels = [(region, kernel) for region in regions for kernel in region.kernels]
    dialect = dialect_of(kernels[0][0].options.machine)
    includes = sorted({name for region in regions for name in region.scop.includes})
    lines = [f"#include <{name}>" for name in (*includes, *dialect.includes)]
    lines += [f'#include "{base}.sw.h"', ""]
    for text in dict.fromkeys(region.scop.prelude for region in regions if region.scop.prelude):
        lines += [*text.split("\n"), ""]
    lines += _storage(kernels, stem, dialect)
    for region, kernel in kernels:
        lines += ["", *_Kernel(region, kernel, stem, dialect).lines()]
    return lines


def _storage(kernels: list[tuple[RegionCode, KernelCode]], stem: str, dialect: Dialect) -> Lines:
    lines = ["/* The LDM of the kernels in this file; they share it, since only one runs at a time. */"]
    lines.append("__thread_local union {")
    for region, kernel in kernels:
        lines.append("  struct {")
        for buffer in kernel.plan.buffers:
            element = region.scop.array(buffer.array).element
            count = buffer.bytes // element.size
            lines.append(f"    {element.name} {buffer.name}[{count}] __attribute__((aligned(64)));")
        lines.append(f"    struct {kernel.name}_args args;")
        lines.append(f"  }} {kernel.name};")
    lines.append(f"}} sw_ldm_{stem} __attribute__((aligned(64)));")
    lines.append(f"__thread_local {dialect.reply_type} sw_reply_{stem};")
    return lines


class _Kernel:
    """Prints one kernel."""

    def __init__(self, region: RegionCode, kernel: KernelCode, stem: str, dialect: Dialect) -> None:
        self.scop: Scop = region.scop
        self.options = region.options
        self.kernel = kernel
        self.dialect = dialect
        self.ldm = f"sw_ldm_{stem}.{kernel.name}"
        self.reply = f"sw_reply_{stem}"
        self.buffers = {buffer.name: buffer for buffer in kernel.plan.buffers}
        self.extents = {a.name: extent_texts(region.scop, a) for a in kernel.pointers}

    def lines(self) -> Lines:
        body = print_node(self.kernel.body, self._special)
        opening = [*self._identity(), *self._arguments(), *self._thread()]
        macros = self._macros()
        return [
            *kernel_comment(self.scop, self.options, self.kernel),
            *(f"#define {name} {text}" for name, text in macros),
            f"void {self.kernel.name}(void *sw_argument)",
            "{",
            *indent([*opening, "", *body]),
            "}",
            *(f"#undef {name.split('(')[0]}" for name, _ in macros),
        ]

    def _identity(self) -> Lines:
        rows, columns = self.options.threads
        threads = rows * columns
        lines = ["const long sw_thread = _PEN;"]
        if len(self.kernel.tiled.mapping.threads) == 2:
            lines.append(f"const long sw_rid = sw_thread / {columns}, sw_cid = sw_thread % {columns};")
        else:
            lines.append("const long sw_rid = sw_thread;")
        if threads < 64:
            lines.append(f"if (sw_thread >= {threads})\n    return;")
        return [part for line in lines for part in line.split("\n")]

    def _arguments(self) -> Lines:
        """Fetch the argument struct and name what is in it."""
        struct, args = f"struct {self.kernel.name}_args", f"{self.ldm}.args"
        pieces = {
            "ldm": f"&{args}",
            "memory": "sw_argument",
            "bytes": f"sizeof({struct})",
            "reply": self.reply,
        }
        lines = [f"{self.reply} = 0;", self.dialect.get.format(**pieces), *self._waited("1")]
        lines.append(f"const {struct} *const sw_args = &{args};")
        names = [*self.kernel.loops, *(p.name for p in self.kernel.parameters)]
        lines += [f"const long {name} = sw_args->{name};" for name in names]
        lines += [f"const {a.element.name} {a.name} = sw_args->{a.name};" for a in self.kernel.values]
        lines += [f"{a.element.name} *const {a.name} = sw_args->{a.name};" for a in self.kernel.pointers]
        for buffer in self.kernel.plan.buffers:
            element = self.scop.array(buffer.array).element.name
            lines.append(f"{element} *const {buffer.name}_ldm = {self.ldm}.{buffer.name};")
        lines += [self._box_variables(buffer) for buffer in self.kernel.plan.buffers]
        lines += [_local(array) for array in self.kernel.private]
        if any(isinstance(node, Begin) and node.dynamic for node in walk(self.kernel.body)):
            lines.append("int sw_issued = 0;")
        return lines

    def _box_variables(self, buffer: Buffer) -> str:
        names = [f"{buffer.name}_lo{k}" for k in range(len(buffer.box.low))]
        names += [f"{buffer.name}_n{k}" for k in self._sizes(buffer)]
        return "long " + ", ".join(f"{name} = 0" for name in names) + ";"

    def _sizes(self, buffer: Buffer) -> list[int]:
        """Return the dimensions whose size the code needs: the first one only counts for transfers."""
        whole = buffer.load or buffer.store is Store.BOX
        return list(range(0 if whole else 1, len(buffer.box.low)))

    def _thread(self) -> Lines:
        """Compute this thread's blocks of tiles (block distribution only)."""
        tiled = self.kernel.tiled
        if tiled.mapping.distribution is not Distribution.BLOCK:
            return []
        lines = []
        for k, threads in enumerate(tiled.mapping.threads):
            first, last = self._tile_range(k)
            identity = ("sw_rid", "sw_cid")[k]
            lines += [
                f"const long sw_tiles{k} = {last} - {first} + 1;",
                f"const long sw_chunk{k} = SW_MAX(1, (sw_tiles{k} + {threads - 1}) / {threads});",
                f"const long sw_first{k} = {first} + {identity} * sw_chunk{k};",
                f"const long sw_last{k} = sw_first{k} + sw_chunk{k};",
            ]
        return lines

    def _tile_range(self, position: int) -> tuple[str, str]:
        tiled = self.kernel.tiled
        index = tiled.coordinates.get_at(position).scale_down_val(isl.Val(tiled.sizes[position]))
        values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(index).range())
        context = values.params().intersect(self.scop.context)
        build = isl.AstBuild.from_context(context)
        low, high = values.dim_min(0), values.dim_max(0)
        first, last = (f"({to_c(build.expr_from_pw_aff(v.gist(context)))})" for v in (low, high))
        return first, last

    def _macros(self) -> list[tuple[str, str]]:
        """Return (name with parameters, text) of the macros that index buffers and arrays."""
        macros = []
        for buffer in self.kernel.plan.buffers:
            name, count = buffer.name, len(buffer.box.low)
            sizes = ("", *(f"{name}_n{k}" for k in range(1, count)))
            shifts = tuple(f" - {name}_lo{k}" for k in range(count))
            macros.append(index_macro(f"LDM_{name}", f"{name}_ldm", sizes, shifts))
        for array in sorted({d.array for d in self.kernel.plan.direct}):
            extents = self.extents[array]
            macros.append(index_macro(f"MEM_{array}", array, extents, ("",) * len(extents)))
        return macros

    def _special(self, node: Node) -> Lines:
        if isinstance(node, Begin):
            return [f"{self.reply} = 0;", *(["sw_issued = 0;"] if node.dynamic else [])]
        if isinstance(node, Place):
            return self._place(node)
        if isinstance(node, Put):
            return self._transfer(self.buffers[node.buffer], put=True)
        if isinstance(node, RowPut):
            return self._row(node)
        if isinstance(node, ElementStore):
            index = ", ".join(node.index)
            buffer = self.buffers[node.buffer]
            offset = array_index(self.extents[buffer.array], node.index)
            return [f"{buffer.array}[{offset}] = LDM_{node.buffer}({index});"]
        assert isinstance(node, Wait)
        lines = self._waited("sw_issued" if node.count is None else str(node.count))
        return [*lines, *([self.dialect.fence] if node.fence else [])]

    def _waited(self, count: str) -> Lines:
        return self.dialect.wait.format(reply=self.reply, count=count).split("\n")

    def _place(self, node: Place) -> Lines:
        buffer = self.buffers[node.buffer]
        parts = [f"{node.buffer}_lo{k} = {text};" for k, text in enumerate(node.low)]
        parts += [f"{node.buffer}_n{k} = {node.size[k]};" for k in self._sizes(buffer)]
        return [*parts, *(self._transfer(buffer, put=False) if node.get else [])]

    def _transfer(self, buffer: Buffer, *, put: bool) -> Lines:
        """Move the whole box: one strided transfer per index of all dimensions but the last two."""
        name, n = buffer.name, len(buffer.box.low)
        element = self.scop.array(buffer.array).element
        outer = [f"sw_d{k}" for k in range(n - 2)]
        place = [f"({name}_lo{k} + {d})" for k, d in enumerate(outer)]
        place += [f"{name}_lo{k}" for k in range(len(outer), n)]
        zeros = (*outer, *("0" for _ in range(n - len(outer))))
        sizes = ("", *(f"{name}_n{k}" for k in range(1, n)))
        pieces = {
            "ldm": f"{name}_ldm" if not outer else f"{name}_ldm + {array_index(sizes, zeros)}",
            "memory": f"{buffer.array} + {array_index(self.extents[buffer.array], tuple(place))}",
            "bytes": f"{name}_n{n - 1} * {element.size}",
            "reply": self.reply,
        }
        strided = n > 1
        if strided:
            pieces["block"] = pieces["bytes"]
            pieces["bytes"] = f"{name}_n{n - 2} * {pieces['block']}"
            pieces["gap"] = f"({self.extents[buffer.array][n - 1]} - {name}_n{n - 1}) * {element.size}"
        lines = [self._call(put=put, strided=strided).format(**pieces), *self._counted()]
        for k in reversed(range(n - 2)):
            head = f"for (long sw_d{k} = 0; sw_d{k} < {name}_n{k}; sw_d{k}++) {{"
            lines = [head, *indent(lines), "}"]
        return lines

    def _call(self, *, put: bool, strided: bool) -> str:
        if put:
            return self.dialect.put_strided if strided else self.dialect.put
        return self.dialect.get_strided if strided else self.dialect.get

    def _counted(self) -> Lines:
        dynamic = any(isinstance(n, Begin) and n.dynamic for n in walk(self.kernel.body))
        return ["sw_issued++;"] if dynamic else []

    def _row(self, node: RowPut) -> Lines:
        buffer = self.buffers[node.buffer]
        element = self.scop.array(buffer.array).element
        index = (*node.outer, f"({node.low})")
        pieces = {
            "ldm": f"&LDM_{node.buffer}({', '.join(index)})",
            "memory": f"{buffer.array} + {array_index(self.extents[buffer.array], index)}",
            "bytes": f"({node.size}) * {element.size}",
            "reply": self.reply,
        }
        return [self.dialect.put.format(**pieces), "sw_issued++;"]


def _local(array: Array) -> str:
    """Return the declaration of a private variable."""
    extents = "".join(f"[{int(e.max_val().to_python())}]" for e in array.extents if e is not None)
    return f"{array.element.name} {array.name}{extents};"
