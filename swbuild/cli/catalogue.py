"""What the codes of diagnostics mean, beyond the one line that a diagnostic has.

The texts are in ``codes.txt``, one paragraph each.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["GROUPS", "catalogue", "explain_code", "page_text"]

#: What the first digit of a code says.
GROUPS = {
    "1": "the manifest and the command line",
    "2": "C sources and their regions",
    "3": "schedules, mapping, LDM and generated code",
    "4": "compilers and launchers",
    "5": "checks",
    "6": "the emulated machine: its tools, the running program, profiles",
    "7": "build systems",
    "8": "the pytest plugin",
}

_HEAD = """\
# Diagnostics

<!-- Written by 'swbuild schema --update'; do not edit. -->

Messages have the form `file:line:column: error[SWnnn]: what, and why`, with a hint. `swbuild explain SW106`
prints what stands here.
"""


@cache
def catalogue() -> dict[str, str]:
    """Return the explanations by code."""
    text = Path(__file__).with_name("codes.txt").read_text(encoding="utf-8")
    pairs = (paragraph.split(maxsplit=1) for paragraph in text.split("\n\n"))
    return {code: " ".join(words.split()) for code, words in pairs}


def explain_code(code: str) -> str | None:
    """Return what a code means, at least its group; ``None`` if it cannot be one of ours."""
    found = catalogue().get(code)
    group = GROUPS.get(code[2:3])
    return found or (f"a message about {group}; nothing more is written on it yet." if group else None)


def page_text() -> str:
    """Return the page of all diagnostics as Markdown."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for digit, title in GROUPS.items():
        codes = [code for code in catalogue() if code[2] == digit]
        if codes:
            yield f"## SW{digit}xx: {title}\n"
        for code in codes:
            yield textwrap.fill(f"* **{code}** {catalogue()[code]}", 110, subsequent_indent="  ")
        if codes:
            yield ""
