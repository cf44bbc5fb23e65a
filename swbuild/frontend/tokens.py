"""Tokens of preprocessed C text, where nothing more is asked of it than brackets and commas."""

from __future__ import annotations

import re  # reads the output of the preprocessor
from collections.abc import Sequence

from swbuild.classes import dataclass

__all__ = ["OPENING", "Token", "matching", "next_outside", "separated", "tokens_of"]

_TOKEN = re.compile(
    r"""^[ \t]*\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*|\.?\d[\w.]*|\S""",
    re.MULTILINE,
)
OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Token:
    """A token, ``text[start:end]`` of the text it is from."""

    text: str
    start: int
    end: int


def tokens_of(text: str, begin: int, end: int) -> list[Token]:
    """Return the tokens of ``text[begin:end]``, without the preprocessor's lines."""
    found = (Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text, begin, end))
    return [token for token in found if not token.text.lstrip().startswith("#")]


def next_outside(tokens: Sequence[Token], at: int, word: str) -> int:
    """Return the position of the next ``word`` outside all brackets, the end if there is none."""
    while at < len(tokens) and tokens[at].text != word:
        at = matching(tokens, at) + 1 if tokens[at].text in OPENING else at + 1
    return min(at, len(tokens))


def matching(tokens: Sequence[Token], at: int) -> int:
    """Return the position of what closes the bracket at ``at``, the end if nothing does."""
    depth = 0
    for position in range(at, len(tokens)):
        depth += (tokens[position].text in OPENING) - (tokens[position].text in _CLOSING)
        if not depth:
            return position
    return len(tokens)


def separated(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Return the tokens between the commas that stand outside all brackets."""
    parts, start = [], 0
    while start < len(tokens):
        stop = next_outside(tokens, start, ",")
        parts.append(tokens[start:stop])
        start = stop + 1
    return parts
