"""The header that host and slave file share: argument structs and entries."""

from __future__ import annotations

from swbuild.codegen.aliasing import addresses
from swbuild.codegen.ctext import Lines
from swbuild.codegen.partials import struct_fields
from swbuild.codegen.surroundings import Surroundings
from swbuild.frontend.scop import Parameter
from swbuild.lowering.code import KernelCode, RegionCode, SpawnCode, symbol_stem
from swbuild.names import own

__all__ = ["UNUSED", "entry_prototype", "header_lines", "value_name"]

#: the member of a struct that has no other
UNUSED = own("unused")


def header_lines(regions: tuple[RegionCode, ...], around: Surroundings) -> Lines:
    """Return the header's lines after its opening comment."""
    guard = own(f"SW_{symbol_stem(regions).upper() if regions else ''}_H")
    lines: Lines = [*_MACROS]
    for region in regions:
        structs = {spawned.struct: spawned for spawned in reversed(region.spawned)}
        for spawned in reversed(structs.values()):
            lines += ["", *_struct(region, spawned)]
    for region in regions:
        lines += ["", *_entry(region)]
    inside = [f"#ifndef {guard}", f"#define {guard}", "", *lines, "", "#endif"]
    return around.header(inside)


_MACROS = [
    f"#ifndef {own('SW_MIN')}",
    f"#define {own('SW_MIN')}(a, b) ((a) < (b) ? (a) : (b))",
    f"#define {own('SW_MAX')}(a, b) ((a) > (b) ? (a) : (b))",
    "/* the quotient rounded down; b is a positive constant */",
    f"#define {own('SW_FLOORDIV')}(a, b) ((a) < 0 ? -((-(a) + (b) - 1) / (b)) : (a) / (b))",
    "#endif",
]


def _struct(region: RegionCode, kernel: KernelCode | SpawnCode) -> Lines:
    loops = kernel.members if isinstance(kernel, SpawnCode) else kernel.loops
    fields = [f"  long {name};" for name in (*loops, *kernel.parameters)]
    fields += [f"  {array.element.name} *{array.name};" for array in kernel.addresses]
    fields += [f"  {array.element.name} {array.name};" for array in kernel.passed]
    if isinstance(kernel, KernelCode):
        fields += [f"  {line}" for line in struct_fields(kernel, region.scop)]
    return [
        f"/* what the host passes to {kernel.function} */",
        f"struct {kernel.struct} {{",
        *(fields or [f"  long {UNUSED};"]),
        "} __attribute__((aligned(8)));",
    ]


def entry_prototype(region: RegionCode) -> str:
    """Return the prototype of the region's entry, without the semicolon."""
    arguments = [f"{p.type.name} {value_name(p)}" for p in region.scop.parameters]
    for array, _, written in region.arguments:
        star = " *" if written or not array.is_scalar else " "
        arguments.append(f"{array.element.name}{star}{array.name}")
    arguments += [f"const void *{address.name}" for address in addresses(region)]
    return f"int {region.entry}({', '.join(arguments) or 'void'})"


def value_name(parameter: Parameter) -> str:
    """Return the name under which an entry takes the value of ``parameter``."""
    return own(f"{parameter.name}_", "value")


def _entry(region: RegionCode) -> Lines:
    return [
        f"/* {region.scop.name}: returns 0 when done, 1 (nothing done) when it must run serially */",
        f"{entry_prototype(region)};",
    ]
