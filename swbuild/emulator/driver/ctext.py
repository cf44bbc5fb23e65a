"""The tokens of preprocessed C, their brackets, and the lines of the source that they are from."""

from __future__ import annotations

import re
from bisect import bisect_right

__all__ = ["Places", "SourceError", "Token", "partners_of", "tokens_of"]


class SourceError(Exception):
    """``file:line: error[SW601]: what`` about the user's source."""


_TOKEN = re.compile(
    r"""(?:[ \t\f\v\n]|\\\n)+|(?m:^)[ \t]*\#[^\n]*
      |(?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*")|(?P<char>[LuU]?'(?:[^'\\\n]|\\.)*')
      |(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      |(?P<mark>->|\+\+|--|<=|>=|==|!=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
#: What the preprocessor says of the lines that follow: number, file and flags.
_MARK = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"(.*)$', re.MULTILINE)
#: Where the C library and compilers have their headers.
_INSTALLED = ("/usr/include/", "/usr/lib/", "/usr/lib64/")
#: The header that comes first is one of ours.
_PRELUDE = re.compile(r'^# 1 "((?:[^"\\]|\\.)*/)swemu_prelude\.h"', re.MULTILINE)


class Token:
    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int) -> None:
        self.kind, self.text, self.start, self.end = kind, text, start, end


class Places:
    """Where the parts of a preprocessed text are from, by what the preprocessor says of its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks = list(_MARK.finditer(text))
        self._ends = [mark.end() for mark in self.marks]

    def of(self, at: int) -> tuple[str, int, bool]:
        """Return file, line and whether it is a system header, for an offset in the text."""
        number = bisect_right(self._ends, at) - 1
        if number < 0:
            return "?", self.text.count("\n", 0, at) + 1, False
        mark = self.marks[number]
        line = int(mark[1]) + self.text.count("\n", mark.end(), at) - 1
        return mark[2], line, " 3" in mark[3]

    def own(self) -> list[tuple[int, int]]:
        """Return what there is beside the installed headers of C and our own ones, from where to where."""
        prelude = _PRELUDE.search(self.text)
        folders = (*_INSTALLED, prelude[1]) if prelude else _INSTALLED
        entered = {m[2] for m in self.marks if " 1 3" in m[3] and m[2].startswith(folders)}
        parts: list[tuple[int, int]] = []
        start, inside = 0, False
        for mark in self.marks:
            if (mark[2] in entered) == inside:
                continue
            if not inside:
                parts.append((start, mark.start()))
            start, inside = mark.start(), not inside
        return parts if inside else [*parts, (start, len(self.text))]


def tokens_of(text: str, places: Places | None = None) -> list[Token]:
    """Return the tokens of a preprocessed text.

    With its ``places``, each run of installed headers counts as an empty declaration.
    """
    found: list[Token] = []
    for start, end in places.own() if places else [(0, len(text))]:
        if start:
            found.append(Token("mark", ";", start, start))
        for match in _TOKEN.finditer(text, start, end):
            kind = match.lastgroup
            if kind:
                found.append(Token(kind, match[0], match.start(), match.end()))
    return found


def partners_of(tokens: list[Token]) -> dict[int, int]:
    """Map every opening bracket to its closing one (by token number)."""
    stack, found = [], {}
    for k, token in enumerate(tokens):
        text = token.text
        if text in ("(", "{", "["):
            stack.append(k)
        elif text in (")", "}", "]") and stack:
            found[stack.pop()] = k
    return found
