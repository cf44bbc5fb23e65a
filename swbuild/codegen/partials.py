"""Partial results in C: each CPE's part in the slave file, and how the host combines them.

Part ``t`` of an array of parts in main memory is what thread ``t`` has accumulated.
The host combines the parts in the order of the threads, so that a result depends on the shape of the
thread grid but not on who is ready first.
"""

from __future__ import annotations

import islpy as isl

from swbuild.codegen.ctext import Lines, indent, index_macro
from swbuild.codegen.transfers import Transfers
from swbuild.expressions.nodes import Expression, Name, Parenthesised
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import names_in, substituted
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend.scop import Scop
from swbuild.kernelir.expressions import value_in
from swbuild.lowering.code import ARGUMENTS, THREAD, KernelCode
from swbuild.machine import Dialect
from swbuild.memory.partials import Partial
from swbuild.names import own
from swbuild.polyhedral.reductions import EXTREMES, Operator

__all__ = [
    "combination",
    "headers",
    "host_parts",
    "index_macros",
    "names",
    "opening",
    "part_bytes",
    "storage",
    "stored",
    "struct_fields",
]


def _part(partial: Partial) -> str:
    """Return the name of a CPE's part."""
    return own(f"sw_part_{partial.array}")


def _parts(partial: Partial) -> str:
    """Return the name of the parts of all CPEs."""
    return own(f"sw_parts_{partial.array}")


def headers(kernel: KernelCode, scop: Scop) -> tuple[str, ...]:
    """Return the headers that the parts of ``kernel`` need in the slave file."""
    floats = [p for p in kernel.partials if scop.array(p.array).element.kind is TypeKind.FLOAT]
    return ("math.h",) if any(p.operator in EXTREMES for p in floats) else ()


def struct_fields(kernel: KernelCode, scop: Scop) -> Lines:
    """Return the members of the argument struct."""
    return [f"{scop.array(p.array).element.name} *{_parts(p)};" for p in kernel.partials]


def part_bytes(kernel: KernelCode) -> int:
    """Return the bytes of LDM that the parts of ``kernel`` take."""
    return sum(partial.bytes for partial in kernel.partials)


def storage(kernel: KernelCode, scop: Scop) -> Lines:
    """Return the members of the kernel's LDM."""
    return [
        f"{scop.array(p.array).element.name} {_part(p)}[{p.count}] __attribute__((aligned(64)));"
        for p in kernel.partials
        if p.bound
    ]


def index_macros(kernel: KernelCode) -> list[tuple[str, str]]:
    """Return (name with parameters, text) of the macros that index parts of arrays."""
    return [
        index_macro(
            own(f"SW_PART_{p.array}"),
            _part(p),
            tuple(map(str, p.bound)),
            _values(kernel, p.low, ""),
        )
        for p in kernel.partials
        if p.bound
    ]


def names(kernel: KernelCode) -> frozenset[str]:
    """Return the names in the macros that index parts of arrays."""
    return frozenset[str]().union(*(names_in(v) for p in kernel.partials for v in _values(kernel, p.low, "")))


def opening(kernel: KernelCode, scop: Scop, ldm: str) -> Lines:
    """Return the declarations of the parts and their first values."""
    lines, count = [], own("sw_e")
    for p in kernel.partials:
        element = scop.array(p.array).element
        value = _identity(p.operator, element)
        if not p.bound:
            lines.append(f"{element.name} {_part(p)} = {value};")
            continue
        lines += [
            f"{element.name} *const {_part(p)} = {ldm}.{_part(p)};",
            f"for (long {count} = 0; {count} < {p.count}; {count}++)",
            f"  {_part(p)}[{count}] = {value};",
        ]
    return lines


def stored(kernel: KernelCode, dialect: Dialect, transfers: Transfers) -> Lines:
    """Return what puts the parts into main memory."""
    lines = []
    for p in kernel.partials:
        if not p.bound:
            lines.append(f"{ARGUMENTS}->{_parts(p)}[{THREAD}] = {_part(p)};")
            continue
        pieces = {
            "ldm": _part(p),
            "memory": f"{ARGUMENTS}->{_parts(p)} + {THREAD} * {p.count}",
            "bytes": str(p.bytes),
            "reply": transfers.reply(),
        }
        lines += [f"{transfers.reply()} = 0;", dialect.put.format(**pieces)]
        lines += transfers.waited(transfers.reply(), "1")
    return lines


def host_parts(kernel: KernelCode, scop: Scop, threads: int) -> Lines:
    """Return the host's arrays of parts, and their addresses for the kernel."""
    lines = []
    for p in kernel.partials:
        name, element = _parts(p), scop.array(p.array).element.name
        lines.append(f"static {element} {name}[{threads * p.count}] __attribute__((aligned(128)));")
        lines.append(f"{ARGUMENTS}.{name} = {name};")
    return lines


def combination(
    kernel: KernelCode, partial: Partial, threads: int, element: ElementType, lvalue: str
) -> Lines:
    """Return the loops that combine the parts into ``lvalue``, thread by thread.

    In ``lvalue`` the subscripts stand as ``{0}``, ``{1}``, ….
    """
    counters = [own(f"sw_e{k}") for k in range(len(partial.bound))]
    thread, part = own("sw_t"), own("sw_part")
    offset = f"{thread} * {partial.count}" if partial.bound else thread
    if counters:
        inner = counters[0]
        for counter, bound in zip(counters[1:], partial.bound[1:], strict=True):
            inner = f"({inner}) * {bound} + {counter}"
        offset += f" + {inner}"
    low = _texts(kernel, partial.low, f"{ARGUMENTS}.")
    high = _texts(kernel, partial.high, f"{ARGUMENTS}.")
    index = (c if first == "0" else f"{first} + {c}" for first, c in zip(low, counters, strict=True))
    target = lvalue.format(*index)
    lines = [f"const {element.name} {part} = {_parts(partial)}[{offset}];"]
    lines += _combined(partial.operator, target, part)
    for counter, first, last in reversed(list(zip(counters, low, high, strict=True))):
        count = last if first == "0" else f"{last} - {first}"
        head = f"for (long {counter} = 0; {counter} <= {count}; {counter}++) {{"
        lines = [head, *indent(lines), "}"]
    return [f"for (long {thread} = 0; {thread} < {threads}; {thread}++) {{", *indent(lines), "}"]


def _combined(operator: Operator, target: str, part: str) -> Lines:
    if operator is Operator.SUM:
        return [f"{target} += {part};"]
    if operator is Operator.PRODUCT:
        return [f"{target} *= {part};"]
    sign = "<" if operator in (Operator.MIN, Operator.FMIN) else ">"
    takes = f"{part} {sign} {target}"
    if operator in (Operator.FMIN, Operator.FMAX):
        takes += f" || {target} != {target}"
    return [f"if ({takes})", f"  {target} = {part};"]


def _texts(kernel: KernelCode, values: tuple[isl.PwAff, ...], before: str) -> tuple[str, ...]:
    """Return ``values`` as C text that may stand on either side of a sum."""
    return tuple(map(c_text, _values(kernel, values, before)))


def _values(kernel: KernelCode, values: tuple[isl.PwAff, ...], before: str) -> tuple[Expression, ...]:
    """Return ``values`` as operands; the host's loops have their names in the kernel, ``before`` in front."""
    pairs = zip(kernel.tiled.kernel.host_loops, kernel.loops, strict=True)
    names = {parameter: Name(before + name) for parameter, name in pairs}
    found = []
    for value in values:
        context = value.domain()
        build = isl.AstBuild.from_context(context)
        tree = substituted(value_in(build, value.gist(context)), names)
        found.append(tree if c_text(tree).isalnum() else Parenthesised(tree))
    return tuple(found)


def _identity(operator: Operator, element: ElementType) -> str:
    """Return the value that changes nothing: for sums of floating-point numbers that is -0.0.

    ``fmin`` and ``fmax`` take any number for a NaN.
    """
    is_float = element.kind is TypeKind.FLOAT
    if operator is Operator.SUM:
        return "-0.0" if is_float else "0"
    if operator is Operator.PRODUCT:
        return "1"
    if operator in (Operator.FMIN, Operator.FMAX):
        return "NAN"
    if is_float:
        largest = "HUGE_VAL" if element.size == 8 else "HUGE_VALF"
        return largest if operator is Operator.MIN else f"-{largest}"
    return _limit(operator, element)


def _limit(operator: Operator, element: ElementType) -> str:
    bits = 8 * element.size
    if element.kind is TypeKind.UNSIGNED:
        return f"{2**bits - 1}UL" if operator is Operator.MIN else "0"
    largest = f"{2 ** (bits - 1) - 1}{'L' if element.size == 8 else ''}"
    return largest if operator is Operator.MIN else f"-{largest} - 1"
