"""Manifests with marks where an error must point: ``threads: ‸8:8``."""

from __future__ import annotations

MARK = "‸"


def unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without marks, and the places (line, column) of the marks."""
    places = []
    lines = []
    for number, line in enumerate(marked.split("\n"), 1):
        while MARK in line:
            column = line.index(MARK)
            places.append((number, column + 1))
            line = line[:column] + line[column + 1 :]
        lines.append(line)
    return "\n".join(lines), places


def in_region(option: str) -> str:
    """Return a manifest with this option in a region."""
    return f"version: 1\nsources:\n  - file: a.c\n    regions:\n      r:\n        {option}\n"


def at_top(text: str) -> str:
    """Return a manifest with this text at the top level."""
    return f"version: 1\nsources: [a.c]\n{text}\n"
