"""The tokens of preprocessed C, and their brackets."""

from __future__ import annotations

import re

__all__ = ["SourceError", "Token", "partners_of", "tokens_of"]


class SourceError(Exception):
    """``file:line: error[SW601]: what`` about the user's source."""


_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\v]+|\\\n)|(?P<newline>\n)|(?P<directive>(?m:^)[ \t]*\#[^\n]*)
      |(?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*")|(?P<char>[LuU]?'(?:[^'\\\n]|\\.)*')
      |(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      |(?P<mark>->|\+\+|--|<=|>=|==|!=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)


class Token:
    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int) -> None:
        self.kind, self.text, self.start, self.end = kind, text, start, end


def tokens_of(text: str) -> list[Token]:
    return [
        Token(match.lastgroup or "", match.group(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match.lastgroup not in ("space", "newline", "directive")
    ]


def partners_of(tokens: list[Token]) -> dict[int, int]:
    """Map every opening bracket to its closing one (by token number)."""
    stack, found = [], {}
    for k, token in enumerate(tokens):
        if token.text in ("(", "{", "[") and token.kind == "mark":
            stack.append(k)
        elif token.text in (")", "}", "]") and token.kind == "mark" and stack:
            found[stack.pop()] = k
    return found
