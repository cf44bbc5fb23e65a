"""Pages of the documentation as the tests see them: fenced blocks, each with the comment above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from buildkit import ROOT

__all__ = ["PAGES", "Block", "blocks"]

PAGES = ("build-cmake.md", "build-meson.md", "build-python.md")

_BLOCK = re.compile(
    r"<!-- (?P<kind>[a-z ]+): (?P<what>.+?) -->\n```\w*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """``kind`` is file, part, run, wheels, isolated, fetch or machine file; ``what`` says of what."""

    page: str
    line: int
    kind: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(kind: str) -> Iterator[Block]:
    """Yield the marked blocks of a kind on all pages."""
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            if match["kind"] == kind:
                line = text.count("\n", 0, match.start()) + 1
                yield Block(page, line, kind, match["what"], match["text"])
