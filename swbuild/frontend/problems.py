"""Collecting a region's problems, each at its place in the user's own text."""

from __future__ import annotations

import re  # reads tokens of the user's text, and line markers
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Note, Span

__all__ = ["Locator", "NotModelledError", "Problems"]

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")


class NotModelledError(Exception):
    """Raised (and caught) inside the front end: this construct has no model; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(slots=True)
class Locator:
    """Turns parser coordinates, which count in preprocessed text, into spans of the user's file."""

    path: str
    text: str
    parsed: str
    _lines: list[str] = field(default_factory=list)
    _parsed_lines: dict[int, str] = field(default_factory=dict)

    def span(self, node: c_ast.Node | None) -> Span:
        """Return where ``node`` starts; the column is found again by its token where macros moved it."""
        coord = _coord(node)
        if coord is None:
            return Span(self.path)
        file, line, column = coord.file or self.path, int(coord.line or 0), int(coord.column or 0)
        if file != self.path or not line:
            return Span(file, line, column)
        return Span(file, line, self._column(line, column))

    def _column(self, line: int, column: int) -> int:
        original, parsed = self._original_line(line), self._parsed_line(line)
        if original == parsed or not parsed:
            return column
        tokens = [(m[0], m.start() + 1) for m in _TOKEN.finditer(parsed)]
        at = next((i for i, (_, start) in enumerate(tokens) if start >= column), None)
        if at is None:
            return _indent(original)
        token = tokens[at][0]
        rank = sum(1 for text, _ in tokens[:at] if text == token)
        places = [m.start() + 1 for m in _TOKEN.finditer(original) if m[0] == token]
        if not places:
            return _indent(original)
        return places[min(rank, len(places) - 1)]

    def _original_line(self, line: int) -> str:
        if not self._lines:
            self._lines = self.text.split("\n")
        return self._lines[line - 1] if line <= len(self._lines) else ""

    def _parsed_line(self, line: int) -> str:
        if not self._parsed_lines:
            self._parsed_lines = _number_lines(self.parsed, self.path)
        return self._parsed_lines.get(line, "")


def _coord(node: c_ast.Node | None) -> Any:
    """Return the first coordinate at or below ``node``: some nodes of the parser have none of their own."""
    pending = [node] if node is not None else []
    while pending:
        item = pending.pop()
        if item.coord is not None:
            return item.coord
        pending += reversed(list(item))
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


def _number_lines(parsed: str, path: str) -> dict[int, str]:
    """Return the first text that the line markers of ``parsed`` give to each line of ``path``."""
    numbered: dict[int, str] = {}
    file, line = "", 0
    for text in parsed.split("\n"):
        marker = re.match(r'#\s*(\d+)\s+"(.*?)"', text)
        if marker:
            line, file = int(marker[1]), marker[2].replace('\\"', '"').replace("\\\\", "\\")
            continue
        if file == path and (line not in numbered or not numbered[line].strip()):
            numbered[line] = text
        line += 1
    return numbered


@dataclass(slots=True)
class Problems:
    """The diagnostics of one region, in the order found and without repetition."""

    locator: Locator
    found: list[Diagnostic] = field(default_factory=list)

    def make(
        self, code: str, message: str, node: c_ast.Node | None, hint: str, notes: Sequence[Note] = ()
    ) -> Diagnostic:
        """Return a diagnostic at ``node``."""
        return Diagnostic(code, message, self.locator.span(node), hint, notes=tuple(notes))

    def refuse(self, code: str, message: str, node: c_ast.Node | None, hint: str) -> NotModelledError:
        """Return the exception that gives up on the construct at ``node``."""
        return NotModelledError(self.make(code, message, node, hint))

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep ``diagnostic`` unless it is known already."""
        if diagnostic not in self.found:
            self.found.append(diagnostic)
