"""The offloaded side of a region: a function that calls the generated entry with the harness's objects."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from swbuild.check.slots import Slot
from swbuild.codegen.unit import EntryArgument, RegionUnit

__all__ = ["harness_source", "missing_symbols_source", "slots_source"]


def harness_source(unit: RegionUnit, counter: str | None) -> str:
    """Return the C text that calls the entry of ``unit``.

    ``counter`` is a C expression for the number of spawns so far, after a declaration of what it
    needs (``extern long f(void);|f()``), or ``None`` where nobody counts.
    """
    declaration, _, expression = (counter or "|-1").partition("|")
    apart = range(unit.addresses)
    prototype = ", ".join([*map(_type, unit.arguments), *("const void *" for _ in apart)]) or "void"
    call = ", ".join([*map(_argument, unit.arguments, itertools.count()), *("0" for _ in apart)])
    return "\n".join(
        [
            f"extern int {unit.entry}({prototype});",
            declaration,
            "",
            "int swchk_call(void **slot, const unsigned long *bytes)",
            "{",
            "    (void)slot;",
            "    (void)bytes;",
            f"    return {unit.entry}({call});",
            "}",
            "",
            "long swchk_spawns(void)",
            "{",
            f"    return {expression};",
            "}",
            "",
        ]
    )


def slots_source(slots: Sequence[Slot]) -> str:
    """Return the C text that tells the runtime how many objects there are and how they are aligned."""
    alignments = ", ".join(str(max(4, slot.element.size)) for slot in slots)
    return f"const int swchk_slots = {len(slots)};\nconst int swchk_alignment[] = {{ {alignments or 0} }};\n"


#: Functions that the front end knows by name without any declaration, as it understands them.
_KNOWN = {
    "min": "int min(int a, int b) { return a < b ? a : b; }",
    "max": "int max(int a, int b) { return a > b ? a : b; }",
    "imin": "int imin(int a, int b) { return a < b ? a : b; }",
    "imax": "int imax(int a, int b) { return a > b ? a : b; }",
    "umin": "unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }",
    "umax": "unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }",
    "floord": "int floord(int n, int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }",
    "ceild": "int ceild(int n, int d) { return n > 0 ? (n + d - 1) / d : -(-n / d); }",
    "__pencil_assume": "int __pencil_assume(int holds) { return holds; }",
    "__pencil_kill": "int __pencil_kill(void) { return 0; }",
}


#: Bytes of a variable whose size the file of the region may not tell.
_ROOM = 1 << 26


def missing_symbols_source(symbols: Sequence[str], objects: Collection[str] = ()) -> str:
    """Return the C text that stands in for what the user's other files define.

    Functions are called, if at all, outside the region; the stand-in says so and ends the program.
    Those of ``objects`` are variables: they get memory.
    """
    lines = ["#include <stdio.h>", "#include <stdlib.h>", ""]
    for symbol in symbols:
        if symbol in objects:
            lines += [f"char {symbol}[{_ROOM}] __attribute__((aligned(64)));", ""]
            continue
        if symbol in _KNOWN:
            lines += [_KNOWN[symbol], ""]
            continue
        lines += [
            f"void {symbol}(void)",
            "{",
            f'    fputs("check harness: {symbol} is not defined in the file of this region\\n", stderr);',
            "    exit(99);",
            "}",
            "",
        ]
    return "\n".join(lines)


def _type(argument: EntryArgument) -> str:
    return argument.element.name if argument.by_value else f"{argument.element.name} *"


def _argument(argument: EntryArgument, position: int) -> str:
    pointer = f"({argument.element.name} *)slot[{position}]"
    return f"*{pointer}" if argument.by_value else pointer
