"""The host file: the user's text with each region replaced by a call, and the entries behind it."""

from __future__ import annotations

import os
import re  # reads directives in the user's text, conditions of the manifest, and expressions at the region
from math import prod

import islpy as isl

from swbuild.codegen.aliasing import addresses, overlap_conditions
from swbuild.codegen.ctext import (
    Lines,
    extent_texts,
    extents_of,
    indent,
    index_macro,
    names_in_extents,
    print_node,
    quoted,
)
from swbuild.codegen.header import UNUSED, entry_prototype, value_name
from swbuild.codegen.partials import combination, host_parts
from swbuild.codegen.rowtables import helpers, row_arguments, rows_found, uneven_rows
from swbuild.codegen.surroundings import Surroundings
from swbuild.expressions.nodes import Constant
from swbuild.expressions.printing import c_text
from swbuild.expressions.types import LONG, TypeKind
from swbuild.frontend.scop import Address, Array, Scop, Storage
from swbuild.kernelir.expressions import to_tree, value_in
from swbuild.kernelir.nodes import Launch, Node
from swbuild.lowering.code import ARGUMENTS, KernelCode, RegionCode
from swbuild.machine import Dialect, load
from swbuild.memory.buffers import Store
from swbuild.memory.partials import Partial
from swbuild.memory.plan import LONGEST_ROW
from swbuild.memory.words import WORD, is_small
from swbuild.names import own

__all__ = ["host_text", "refusals"]

#: What marks a file as UTF-8 at its start, and is an error anywhere else.
_MARK = "\ufeff"

#: A directive that text behind a region may depend on.
_DIRECTIVE = re.compile(r"[ \t]*(?:#|%:)[ \t]*(?!pragma\b)\w")
_LINE = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)\b(?:[ \t]+("(?:[^"\\]|\\.)*"))?')

_WORD = re.compile(r"[^\W\d]\w*")


def host_text(
    source: str, text: str, regions: tuple[RegionCode, ...], base: str, banner: Lines, around: Surroundings
) -> str:
    """Return the host file of ``source``, whose text is ``text``.

    A region without kernels stays as it is; its entry exists all the same, for those who call it.
    """
    name = quoted(os.path.basename(source))
    mark, lines = text[: text.startswith(_MARK)], text.removeprefix(_MARK).split("\n")
    replaced = [region for region in regions if region.kernels]
    rows = around.header(helpers(region.scop for region in replaced))
    parts = [*banner, _QUIET, f'#include "{base}.sw.h"', *rows, f'#line 1 "{name}"']
    position = 0
    for region in sorted(replaced, key=lambda r: r.scop.span.line):
        first, last = region.scop.span.line - 1, region.scop.span.end_line - 1
        parts += lines[position:first]
        parts += _call(region, lines[first + 1 : last], _presumed(lines[: first + 1], name), around)
        parts.append(_presumed(lines[: last + 1], name))
        position = last + 1
    parts += lines[position:]
    body = mark + "\n".join(parts)
    entries = _entries(regions, quoted(base), around)
    return body + ("" if body.endswith("\n") else "\n") + "\n".join(entries) + "\n"


#: Regions that stay on the host, and those of headers, keep their pragmas: no error under -Wall -Werror.
_QUIET = '#pragma GCC diagnostic ignored "-Wunknown-pragmas"'


def _presumed(before: Lines, name: str) -> str:
    """Return the directive for the line behind ``before``, the file's first lines: the user's, if any."""
    for ago, text in enumerate(reversed(before)):
        found = _LINE.match(text)
        if found:
            return f"#line {int(found[1]) + ago} " + (found[2] or f'"{name}"')
    return f'#line {len(before) + 1} "{name}"'


def _call(region: RegionCode, original: Lines, place: str, around: Surroundings) -> Lines:
    """Return the text in place of a region; the original, whose place is ``place``, runs where the entry
    declines, and stays where it has directives.
    """
    scop = region.scop
    rows, found = row_arguments(scop), rows_found(scop)
    arguments = [rows.get(parameter.name, parameter.expression) for parameter in scop.parameters]
    held = [array for array, _, written in region.arguments if written and array.is_register]
    for array, _, written in region.arguments:
        by_value = array.is_scalar and not written
        pointer = rows.get(array.name) or _pointer(array)
        arguments.append(_value(array) if by_value else f"({array.element.name} *)({pointer})")
    arguments += [address.expression for address in addresses(region)]
    call = _around(held, f"{region.entry}({', '.join(arguments)})")
    if found:
        call = "\n".join(["({", *indent(indent([*found, f"{call};"])), "  })"])
    idle = sorted(
        n for n in scop.only_here if not any(re.search(rf"\b{n}\b", a) for a in (*arguments, *found))
    )
    named = [f"  {' '.join(f'(void){name};' for name in idle)}"] if idle else []
    if not (declines(region) or any(_DIRECTIVE.match(line) for line in original)):
        after = [f"  {scop.after}"] if scop.after else []
        return around.call([*_quiet(held, f"  (void){call}; /* runs on the core group */"), *after, *named])
    return [
        *around.call(_quiet(held, f"  if ({call}) {{ /* runs on the core group, or not at all */")),
        place,
        *original,
        f"  }} else {scop.after}" if scop.after else "  }",
        *named,
    ]


def _around(held: list[Array], call: str) -> str:
    """Return ``call`` with copies of register variables, which have no address, around it."""
    if not held:
        return call
    before = " ".join(f"{array.element.name} {_copy(array)} = {_value(array)};" for array in held)
    after = " ".join(f"{_value(array)} = {_copy(array)};" for array in held)
    declined = own("sw_declined")
    return f"({{ {before} int {declined} = {call}; {after} {declined}; }})"


def _quiet(held: list[Array], line: str) -> Lines:
    """Return ``line``, in which copies of variables that are not yet set are no mistake."""
    if not held:
        return [line]
    ignored = (f'#pragma GCC diagnostic ignored "-W{name}uninitialized"' for name in ("", "maybe-"))
    return ["#pragma GCC diagnostic push", *ignored, line, "#pragma GCC diagnostic pop"]


def _copy(array: Array) -> str:
    return own(f"sw_copy_{array.name}")


def _pointer(array: Array) -> str:
    """Return the C expression for where an array or a copy of a scalar lies."""
    return f"&{_copy(array)}" if array.is_register else array.address.text


def _value(array: Array) -> str:
    """Return the C expression for the value of a scalar where the region stands."""
    if array.is_register:
        return array.address.element
    return array.name if array.address == Address(array.name) else f"*({array.address.text})"


def declines(region: RegionCode) -> bool:
    """Return whether the region's entry may leave the work to the original text."""
    return region.host is None or bool(_conditions(region)) or bool(_work_arrays(region))


def refusals(region: RegionCode) -> tuple[str, ...]:
    """Return in words why the entry declines, in the order of what it returns then, from 1 on."""
    if region.host is None:
        return ("the region stays on the host",)
    memory = ("there is no memory for sums in parts",) if _work_arrays(region) else ()
    return (*(why for _, why in _conditions(region)), *memory)


def _conditions(region: RegionCode) -> list[tuple[str, str]]:
    """Return the C conditions under which the entry must decline, each with what it says in words."""
    stated = [*_promises(region), *_sizes_outside(region), *_long_rows(region)]
    sized = ((text, f"{text} holds") for text in stated)
    return [
        *uneven_rows(region.scop),
        *sized,
        *overlap_conditions(region),
        *_between_words(region),
        *_little_work(region),
    ]


def _little_work(region: RegionCode) -> list[tuple[str, str]]:
    """Return the condition for sizes at which the loops are estimated to take less time on the host."""
    if region.threshold is None:
        return []
    build = isl.AstBuild.from_context(region.scop.context)
    factors = [_factor(c_text(value_in(build, length))) for length in region.threshold.lengths]
    why = "the loops are estimated to take less time on the host"
    work = " * ".join(["1.0", *factors])
    return [(f"{work} < {region.threshold.iterations} /* {why} */", why)]


def _factor(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _sizes_outside(region: RegionCode) -> list[str]:
    """Return the condition for sizes that the model does not cover."""
    scop = region.scop
    if scop.context.is_subset(scop.assumptions):
        return []
    build = isl.AstBuild.from_context(scop.context)
    outside = f"!({c_text(to_tree(build.expr_from_set(scop.assumptions.gist(scop.context))))})"
    # the model knows that they are not negative; as numbers of type long, the largest ones are
    wide = [p for p in scop.parameters if p.type.kind is TypeKind.UNSIGNED and p.type.size == LONG.size]
    return [" || ".join([outside, *(f"{p.name} < 0" for p in wide)])]


def _long_rows(region: RegionCode) -> list[str]:
    """Return conditions for rows so long that the gap between two of them does not fit a transfer."""
    buffers = [b for k in region.kernels for b in k.plan.buffers if b.load or b.store is Store.BOX]
    moved = dict.fromkeys(b.array for b in buffers if len(b.box.low) > 1)
    arrays = [array for array, _, _ in region.arguments if array.name in moved]
    open_rows = [array for array in arrays if not isinstance(extents_of(region.scop, array)[-1], Constant)]
    rows = {(extent_texts(region.scop, array)[-1], array.element.size) for array in open_rows}
    why = "/* longer than a transfer can skip */"
    limits = {f"{row} > {LONGEST_ROW // size}" for row, size in rows}
    return [f"{limit} {why}" for limit in sorted(limits)]


def _between_words(region: RegionCode) -> list[tuple[str, str]]:
    """Return conditions for arrays of small elements that do not begin with a word, all of which moves."""
    moved = {b.array for k in region.kernels for b in k.plan.buffers if b.load or b.store is not Store.NONE}
    arrays = [a for a, _, _ in region.arguments if a.name in moved and is_small(a)]
    return [
        (f"(unsigned long){a.name} % {WORD} != 0", f"'{a.name}' is not aligned to {WORD} bytes")
        for a in arrays
    ]


def _promises(region: RegionCode) -> list[str]:
    """Return conditions for sizes that are not what the options say they are."""
    names = {parameter.expression: parameter.name for parameter in region.scop.parameters}
    fixed = sorted(region.options.params.items())
    conditions = [f"{names[name]} != {value}" for name, value in fixed if name in names]
    for promise in region.options.assume:
        if set(_WORD.findall(promise)) <= names.keys():
            conditions.append(f"!({_WORD.sub(lambda word: names[word[0]], promise)})")
    return conditions


def _entries(regions: tuple[RegionCode, ...], base: str, around: Surroundings) -> Lines:
    lines: Lines = []
    kernels = [spawned for region in regions for spawned in region.spawned]
    if kernels:
        dialect = _dialect(regions[0])
        lines += ["", *(dialect.declare.format(kernel=item.function) for item in kernels)]
        lines += ["", *_ready(dialect)]
    for region in regions:
        lines += ["", *_entry(region)]
    headers = [f"#include <{name}>" for name in _dialect(regions[0]).host_includes] if kernels else []
    return ["", f'#line 1 "{base}.host.c (entries)"', *around.behind(lines, headers)]


#: set once the CPEs are ready; the files of a program share it, so that its name is no file's own choice
READY = "sw_athread_ready"


def _ready(dialect: Dialect) -> Lines:
    called = dialect.start.format().removesuffix(";")
    return [
        f"/* Set once the program has called {called}; one copy serves all files of a program. */",
        f"int {READY} __attribute__((weak));",
    ]


def _entry(region: RegionCode) -> Lines:
    macros = [] if region.host is None else _macros(region)
    body = _refusal(region) if region.host is None else _work(region, region.host)
    return [
        *(f"#define {name} {text}" for name, text in macros),
        entry_prototype(region),
        "{",
        *indent(body),
        "}",
        *(f"#undef {name.split('(')[0]}" for name, _ in macros),
    ]


def _dialect(region: RegionCode) -> Dialect:
    return load(region.options.machine).dialect


def _refusal(region: RegionCode) -> Lines:
    """Return the body of an entry that never does the work."""
    names = [value_name(p) for p in region.scop.parameters] + [array.name for array, _, _ in region.arguments]
    names += [address.name for address in addresses(region)]
    return [*(f"(void){name};" for name in names), "return 1;"]


def _work(region: RegionCode, host: Node) -> Lines:
    scop = region.scop
    body: Lines = [f"const long {p.name} = {value_name(p)};" for p in scop.parameters]
    body += [f"(void){p.name};" for p in scop.parameters]
    body += _quotients(scop)
    conditions = _conditions(region)
    for number, (condition, _) in enumerate(conditions, 1):
        body += [f"if ({condition})", f"  return {number};"]
    works = _work_arrays(region)
    body += _allocated(region, works, len(conditions) + 1)
    if region.kernels:
        body += [f"if (!{READY}) {{", f"  {_dialect(region).start.format()}", f"  {READY} = 1;", "}"]
    body += [_local(region, array) for array in region.locals if array not in works]
    freed = [f"__builtin_free({_MEMORY});"] if works else []
    return [*body, *print_node(host, _Launches(region).lines), *freed, "return 0;"]


def _quotients(scop: Scop) -> Lines:
    """Return the declarations of the numbers that follow from the parameters of ``scop``."""
    build = isl.AstBuild.from_context(scop.context)
    known = ((each.name, c_text(value_in(build, each.value.gist(scop.context)))) for each in scop.quotients)
    return [line for name, text in known for line in (f"const long {name} = {text};", f"(void){name};")]


#: The memory of all work arrays of a region, and where they begin in it.
_MEMORY, _ALIGNED = own("sw_memory"), 128


def _work_arrays(region: RegionCode) -> list[Array]:
    """Return the arrays that the entry allocates."""
    return [array for array in region.locals if array.storage is Storage.WORK]


def _allocated(region: RegionCode, works: list[Array], refusal: int) -> Lines:
    """Return the declarations of ``works``; without memory for them the entry returns ``refusal``."""
    if not works:
        return []
    counts = [" * ".join(extent_texts(region.scop, array)) for array in works]
    sizes = [f"{a.element.size}L * {count} + {_ALIGNED}" for a, count in zip(works, counts, strict=True)]
    lines = [f"char *const {_MEMORY} = __builtin_malloc({' + '.join(sizes)});"]
    lines += [f"if (!{_MEMORY})", f"  return {refusal};"]
    end = _MEMORY
    for array, count in zip(works, counts, strict=True):
        element = array.element.name
        begin = f"(unsigned long)({end}) / {_ALIGNED} * {_ALIGNED} + {_ALIGNED}"
        lines.append(f"{element} *const {array.name} = ({element} *)({begin});")
        end = f"{array.name} + {count}"
    return lines


def _macros(region: RegionCode) -> list[tuple[str, str]]:
    macros = []
    for array in (*(array for array, _, _ in region.arguments), *region.locals):
        if not array.is_scalar:
            extents = extent_texts(region.scop, array)
            name, shifts = own(f"MEM_{array.name}"), (Constant(0),) * len(extents)
            named = names_in_extents(region.scop, array)
            macros.append(index_macro(name, array.name, extents, shifts, named))
    return macros


def _local(region: RegionCode, array: Array) -> str:
    """Return the declaration of a variable that only the region knows: arrays are flat, from a word on."""
    size = " * ".join(extent_texts(region.scop, array))
    aligned = f" __attribute__((aligned({WORD})))" if size and is_small(array) else ""
    return f"{array.element.name} {array.name}{f'[{size}]' if size else ''}{aligned};"


class _Launches:
    """Prints the launches of one region."""

    def __init__(self, region: RegionCode) -> None:
        self.scop = region.scop
        self.dialect = _dialect(region)
        self.spawned = {spawned.name: spawned for spawned in region.spawned}
        self.by_pointer = {a.name for a, _, written in region.arguments if written and a.is_scalar}
        self.local_scalars = {a.name for a in region.locals if a.is_scalar}

    def lines(self, node: Node) -> Lines:
        assert isinstance(node, Launch)
        kernel = self.spawned[node.kernel]
        loops = zip(kernel.loops, node.loops, strict=True)
        fields = [f"{ARGUMENTS}.{name} = {c_text(value)};" for name, value in loops]
        fields += [f"{ARGUMENTS}.{name} = {name};" for name in kernel.parameters]
        fields += [f"{ARGUMENTS}.{a.name} = {self._address(a)};" for a in kernel.addresses]
        fields += [f"{ARGUMENTS}.{a.name} = {self._value(a)};" for a in kernel.passed]
        combined: Lines = []
        if isinstance(kernel, KernelCode):
            fields += host_parts(kernel, self.scop, prod(kernel.tiled.mapping.threads))
            combined = [line for partial in kernel.partials for line in self._combined(kernel, partial)]
        lines = [
            f"struct {kernel.struct} {ARGUMENTS};",
            *(fields or [f"{ARGUMENTS}.{UNUSED} = 0;"]),
            self.dialect.spawn.format(kernel=kernel.function, arguments=ARGUMENTS),
            self.dialect.join.format(),
            *combined,
        ]
        return ["{", *indent(lines), "}"]

    def _combined(self, kernel: KernelCode, partial: Partial) -> Lines:
        array = self.scop.array(partial.array)
        if array.is_scalar:
            lvalue = array.name if array.name in self.local_scalars else f"(*{array.name})"
        else:
            lvalue = f"{own(f'MEM_{array.name}')}({', '.join(f'{{{k}}}' for k in range(len(array.extents)))})"
        return combination(kernel, partial, prod(kernel.tiled.mapping.threads), array.element, lvalue)

    def _address(self, array: Array) -> str:
        return f"&{array.name}" if array.name in self.local_scalars else array.name

    def _value(self, array: Array) -> str:
        return f"*{array.name}" if array.name in self.by_pointer else array.name
