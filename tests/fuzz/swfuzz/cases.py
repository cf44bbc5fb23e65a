"""The C text that runs a batch of programs in both versions at several sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from swfuzz.program import If, Loop, Program, Statement, While

__all__ = ["Case", "case_of", "case_of_text", "driver_text", "section_of", "sizes_for"]

_KINDS = {
    "double": "K_DOUBLE",
    "float": "K_FLOAT",
    "int": "K_INT",
    "long": "K_LONG",
    "unsigned int": "K_UNSIGNED",
    "short": "K_SHORT",
    "unsigned char": "K_UCHAR",
}

#: (n, m): degenerate, less than a tile, around tiles of 8, 32 and their multiples.
_SIZES = ((0, 3), (1, 1), (2, 7), (7, 2), (7, 0), (31, 33), (33, 31), (65, 34), (34, 65))


def depth_of(body: Sequence[Statement]) -> int:
    """Return how deep the loops nest."""
    depths = [0]
    for item in body:
        if isinstance(item, Loop):
            depths.append(1 + depth_of(item.body))
        elif isinstance(item, While):
            depths.append(depth_of(item.body))
        elif isinstance(item, If):
            depths += [depth_of(item.then), depth_of(item.other)]
    return max(depths)


def sizes_for(program: Program) -> list[tuple[int, int]]:
    """Return the sizes to try: deep nests take long, so they get small ones."""
    depth = depth_of(program.body)
    largest = {0: 70, 1: 70, 2: 70, 3: 34}.get(depth, 12)
    sizes = [s for s in _SIZES if max(s) <= largest]
    if depth == 4:
        sizes.append((11, 9))
    params = program.options.get("params")
    if isinstance(params, Mapping):
        fixed = next(iter(params.values()))
        sizes = [*sizes[-3:], *((fixed, m) for m in (1, 5, min(largest, 33)) if fixed <= largest)]
    return sizes[:8]


@dataclass(frozen=True, slots=True)
class Case:
    """How to call a function: its sizes, its objects (name, type, how many elements), the sizes to try.

    With ``entry`` (name, type, whether by value), the generated side is the region's entry and not
    the function around it.
    """

    sizes: tuple[str, ...]
    objects: tuple[tuple[str, str, str], ...]
    tried: tuple[tuple[int, int], ...]
    entry: tuple[tuple[str, str, bool], ...] | None = None


def case_of(program: Program) -> Case:
    """Return how to call the function of a program."""
    arrays = [a for a in program.arrays if a.dims] + [a for a in program.arrays if not a.dims]
    objects = tuple((a.name, a.type, _count([str(extent) for extent in a.dims])) for a in arrays)
    return Case(program.sizes, objects, tuple(sizes_for(program)))


def case_of_text(text: str, name: str, tried: Sequence[tuple[int, int]] = _SIZES) -> Case:
    """Return how to call the function ``name`` of a C file; its sizes are the parameters of type int."""
    found = re.search(rf"\b{name}\(([^)]*)\)", text)
    if found is None:
        raise ValueError(f"no function {name}")
    sizes, objects = [], []
    for parameter in found.group(1).split(","):
        kind, word, dims = re.fullmatch(r"\s*(.*?)\s*(\w+)((?:\[[^]]*\])*)\s*", parameter).groups()  # type: ignore[union-attr]
        if dims or "*" in kind:
            objects.append((word, kind.split("*")[0].strip(), _count(re.findall(r"\[([^]]*)\]", dims))))
        else:
            sizes.append(word)
    return Case(tuple(sizes), tuple(objects), tuple(tried[:8]))


def _count(dims: Sequence[str]) -> str:
    return " * ".join(f"(long)({extent})" for extent in dims) or "1"


def _one(name: str, case: Case) -> list[str]:
    given = ", ".join([*("int" for _ in case.sizes), *(f"{type_} *" for _, type_, _ in case.objects)])
    lines = [
        f"extern void ref_{name}({given});",
        f"extern void {name}({given});",
        f"static void run_{name}(int n, int m)",
        "{",
        "  (void)n; (void)m;",
    ]
    lines += [f'  object("{word}", {_KINDS[type_]}, {count});' for word, type_, count in case.objects]
    numbers = {word.removesuffix("_p"): i for i, (word, _, _) in enumerate(case.objects)}
    everything = range(len(case.objects))
    lines.append(f"  ref_{name}({', '.join([*case.sizes, *(f'R({i})' for i in everything)])});")
    words = ", ".join([*case.sizes, *(f"G({i})" for i in everything)])
    if case.entry is None:
        return [*lines, f"  {name}({words});", "}"]
    types = ", ".join(type_ if by_value else f"{type_} *" for _, type_, by_value in case.entry)
    lines.insert(0, f"extern int sw_{name}({types or 'void'});")
    given = ", ".join(_passed(case, numbers, *argument) for argument in case.entry)
    lines += [f"  if (sw_{name}({given}))", f"    {name}({words});"]
    return [*lines, "}"]


def _passed(case: Case, numbers: Mapping[str, int], word: str, type_: str, by_value: bool) -> str:
    if word in case.sizes:
        return word
    return f"*({type_} *)G({numbers[word]})" if by_value else f"G({numbers[word]})"


def section_of(name: str) -> str:
    """Return the section that holds what a program has in the LDM."""
    return f"swmock_{name}"


def driver_text(cases: Mapping[str, Case], sharing: Set[str] = frozenset()) -> str:
    """Return the table of cases for driver.c; in those of ``sharing`` CPEs hand data to each other."""
    lines = ['#include "driver.h"']
    rows = []
    for name, case in cases.items():
        lines += _one(name, case)
        ends = tuple(f"__{end}_{section_of(name)}" for end in ("start", "stop"))
        lines += [f"extern char {end}[] __attribute__((weak));" for end in ends]
        inner = ", ".join(f"{{{n}, {m}}}" for n, m in case.tried)
        ldm = f"{', '.join(ends)}, {int(name in sharing)}"
        rows.append(f'  {{"{name}", run_{name}, {{{inner}}}, {len(case.tried)}, {ldm}}},')
    lines += ["const struct program programs[] = {", *rows, '  {"", 0, {{0}}, 0, 0, 0, 0}', "};"]
    return "\n".join([*lines, f"const int program_count = {len(cases)};", ""])
