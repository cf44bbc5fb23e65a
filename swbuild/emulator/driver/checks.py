"""Checked code: the first test of every access goes ahead of the hook that the compiler calls.

gcc's ``-fsanitize=thread`` calls a hook before each load and store.  Nearly all accesses are of LDM words
that need no further look, and the runtime keeps a byte for every word which says so (``runtime/shadow.c``);
so the hook's call goes behind the function's end, and four instructions that look at that byte stay.

Between the thread-local variables, which are the LDM's, lie red zones, so that what runs over the end of one
does not lie in the next.
"""

from __future__ import annotations

import os
import re

__all__ = ["FLAGS", "inline_tests", "red_zones", "supported"]

#: What the compiler must be told to call the hooks.
FLAGS = (
    "-fsanitize=thread",
    "--param",
    "tsan-distinguish-volatile=1",
    "-fno-tree-loop-distribute-patterns",
    "-fno-tree-loop-im",  # what a condition guards is read where the program reads it
    "-fno-tree-loop-if-convert",
    "-fno-hoist-adjacent-loads",
    "-fno-builtin-memcpy",  # a call has a hook, a copy in line has none
    "-fno-builtin-memmove",
    "-fno-builtin-memcmp",
    "-fno-builtin-memset",
    "-fno-ipa-sra",  # an access stays in the function that it is written in
    "-fno-omit-frame-pointer",
    "-w",
    "-g1",
)
_SHADOW = 0x7FFF8000
#: A red zone has at least so many bytes, and a multiple of the next variable's alignment.
_ZONE = 128
_PLACE = re.compile(
    r"^\s*\.(?:section\s+(?P<section>[\w.$]+)|(?P<plain>text|data|bss)\b|align\s+(?P<align>\d+)|"
    r"type\s+(?P<type>[^\s,]+)\s*,\s*@object)|^(?P<label>[\w.$]+):"
)
#: By the access's size: the suffix of the comparison and the part of register dx with as many tags.
_WIDTHS = {
    "1": ("b", "dl"),
    "2": ("b", "dl"),
    "4": ("b", "dl"),
    "8": ("w", "dx"),
    "16": ("l", "edx"),
}
_CALL = re.compile(
    r"^\s*(?:call|jmp)\s+\*?__tsan_(?P<what>(?:read|write)(?P<size>\d+)|func_exit)\b.*$|"
    r"^\s*(?P<place>\.loc\s+\d+\s+\d+(?:\s+\d+)?)|"
    r"^(?:\s*\.cfi_endproc\b|\.LFE\d+:|\s*\.size\s).*$",
    re.MULTILINE,
)


def supported() -> bool:
    """Return whether the tests can be written for this machine's processor."""
    return os.uname().machine == "x86_64"


def inline_tests(text: str) -> str:
    """Return the assembly of a slave file with the hooks' calls moved behind a test of the shadow.

    A call leaves the argument in ``rdi`` and may change ``rax`` and ``rdx``; so may the test.
    """
    behind: list[str] = []
    place = ""
    number = 0

    def changed(match: re.Match[str]) -> str:
        nonlocal place, number
        line = match[0]
        if match["place"]:
            place = match["place"]
        elif match["what"] == "func_exit":
            return "\tret" if line.lstrip().startswith("jmp") else ""
        elif match["size"] and line.lstrip().startswith("call"):
            number += 1
            behind.append(_call(number, place, line))
            return _test(number, match["size"])
        elif not match["what"] and behind:
            calls = "\t.cfi_def_cfa 6, 16\n" if "cfi_endproc" in line else ""
            calls += "\n".join(behind)
            behind.clear()
            return f"{calls}\n{line}"
        return line

    return "\t.hidden __swemu_tag\n" + _CALL.sub(changed, text)


def _test(number: int, size: str) -> str:
    suffix, register = _WIDTHS[size]
    return (
        f"\tmovq %rdi, %rax\n\tshrq $2, %rax\n\tmovl __swemu_tag(%rip), %edx\n"
        f"\tcmp{suffix} %{register}, {_SHADOW}(%rax)\n\tjne .Lswemu_call{number}\n.Lswemu_back{number}:"
    )


def _call(number: int, place: str, call: str) -> str:
    return f".Lswemu_call{number}:\n\t{place}\n{call}\n\tjmp .Lswemu_back{number}"


def red_zones(text: str) -> str:
    """Return a slave file with a red zone ahead of each thread-local variable, and one at the end."""
    lines: list[str] = []
    section, variable, align, number = "", "", 1, 0
    used: dict[str, None] = {}
    for line in text.splitlines():
        found = _PLACE.match(line)
        if found and (found["section"] or found["plain"]):
            section, align = found["section"] or "", 1
        elif found and found["align"]:
            align = int(found["align"])
        elif found and found["type"]:
            variable = found["type"] if section.startswith((".tbss", ".tdata")) else ""
        elif found and variable and found["label"] == variable:
            number += 1
            lines += _zone(number, max(_ZONE, align))
            used[section] = None
            variable, align = "", 1
        lines.append(line)
    for name in used:
        number += 1
        lines += [f"\t.section\t{name}", *_zone(number, _ZONE)]
    return "\n".join(lines) + "\n"


def _zone(number: int, size: int) -> list[str]:
    name = f"__swemu_zone.{number}"
    return [f"\t.type\t{name}, @object", f"\t.size\t{name}, {size}", f"{name}:", f"\t.zero\t{size}"]
