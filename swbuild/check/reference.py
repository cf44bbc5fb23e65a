"""The serial reference of a region: its untouched text in a function that the harness can call.

The translation unit includes the user's file as it stands, so every macro, type and function of
it is there, and repeats the region's lines in a function whose parameters carry the names that
the region uses.  A parameter hides a global of the same name: nothing needs to be copied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from swbuild.check.slots import Slot
from swbuild.frontend.scop import Scop

__all__ = ["reference_source", "region_text"]

_NUMBER = re.compile(
    r"(?:const )?(?:unsigned |signed )?(?:_Bool|char|short|int|long|long long|float|double) \w+$"
)


def reference_source(scop: Scop, slots: Sequence[Slot], text: str, source: Path) -> str:
    """Return the C text of the reference; ``text`` is the user's file, ``source`` where it lies."""
    order = sorted(range(len(slots)), key=lambda i: _rank(slots[i]))
    parameters = ", ".join(_parameter(slots[i]) for i in order)
    arguments = ", ".join(_argument(slots[i], i) for i in order)
    results = [line for i, slot in enumerate(slots) if (line := _result(slot, i))]
    return "\n".join(
        [
            f'#include "{_quoted(source)}"',
            "",
            "static double swchk_spare[1 << 16];",
            "",
            f"static void swchk_region(void **swchk_slot{', ' if parameters else ''}{parameters})",
            "{",
            *_others(scop, slots),
            *(f"    {slot.text} = {slot.name};" for slot in slots if _is_member(scop, slot)),
            f'#line {scop.span.line} "{_quoted(source)}"',
            _renamed(region_text(scop, text), [s for s in slots if not _is_member(scop, s)]),
            *(f"    {slot.name} = {slot.text};" for slot in slots if _is_member(scop, slot)),
            *results,
            "    (void)swchk_slot;",
            "}",
            "",
            "int swchk_call(void **slot)",
            "{",
            f"    swchk_region(slot{', ' if arguments else ''}{arguments});",
            "    return 0;",
            "}",
            "",
            "long swchk_spawns(void)",
            "{",
            "    return -1;",
            "}",
            "",
        ]
    )


def region_text(scop: Scop, text: str) -> str:
    """Return the lines of the region, from its ``#pragma scop`` to its ``#pragma endscop``."""
    return "\n".join(text.split("\n")[scop.span.line - 1 : scop.span.end_line])


def _others(scop: Scop, slots: Sequence[Slot]) -> list[str]:
    """Return declarations of what the text names beside the objects of the model.

    Loop counters, structures whose members are in the model, and variables that nothing depends on:
    those get some value, and a pointer some memory.
    """
    given = {slot.name for slot in slots}
    return [f"    {text}{_initial(text)};" for name, text in scop.named if name not in given]


def _initial(declaration: str) -> str:
    if "[" in declaration or "=" in declaration or declaration.startswith(("struct ", "union ")):
        return ""
    return " = (void *)swchk_spare" if "*" in declaration else " = 8" if _NUMBER.match(declaration) else ""


def _is_member(scop: Scop, slot: Slot) -> bool:
    """Whether a slot is a number in a structure that is a variable of the function, not behind a pointer."""
    root, dot, _ = slot.text.partition(".")
    return bool(dot) and slot.is_scalar and "[" not in slot.text and root in {name for name, _ in scop.named}


def _rank(slot: Slot) -> int:
    """Sizes before scalars before arrays: a declaration may use what stands before it."""
    if slot.parameter is not None:
        return 0
    return 1 if slot.is_scalar else 2


def _parameter(slot: Slot) -> str:
    if slot.array is not None:
        return slot.array.declaration.strip().removesuffix(";")
    return f"{slot.element.name} {slot.name}"


def _argument(slot: Slot, position: int) -> str:
    if slot.is_scalar:
        return f"*({slot.element.name} *)slot[{position}]"
    return f"slot[{position}]"


def _result(slot: Slot, position: int) -> str:
    """Return the line that hands the final value of a scalar to the harness."""
    if slot.array is None or not slot.is_scalar or slot.array.is_const:
        return ""
    return f"    *({slot.element.name} *)swchk_slot[{position}] = {slot.name};"


def _renamed(region: str, slots: Sequence[Slot]) -> str:
    """Return the region with ``s->a`` spelled as the model names it (``s_a``): that is its parameter here."""
    for slot in sorted(slots, key=lambda s: -len(s.text)):
        if slot.text != slot.name:
            region = re.sub(_pattern(slot.text), slot.name, region)
    return region


def _pattern(expression: str) -> str:
    """Return a pattern for ``expression`` with any blanks between its tokens."""
    tokens = re.findall(r"\w+|->|\S", expression)
    return r"(?<![\w.>])" + r"\s*".join(re.escape(token) for token in tokens) + r"(?!\w)"


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')
