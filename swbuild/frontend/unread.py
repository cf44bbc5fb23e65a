"""What stands for text that the parser does not know: it may do anything to what it names."""

from __future__ import annotations

import re  # finds names in the output of the preprocessor
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pycparser import c_ast

__all__ = ["ascii_names", "TYPEOF", "UNREAD", "Unread", "declared_in", "unread"]

#: The name of the function that unknown text is taken for a call of.
UNREAD = "({ ... })"

#: How compilers spell the type of an expression.
TYPEOF = frozenset({"typeof", "__typeof__", "__typeof", "typeof_unqual"})

_STRING_OR_NAME = re.compile(
    r"""^[ \t]*\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    r"|(?:[\w$]|\\u[\da-fA-F]{4}|\\U[\da-fA-F]{8})+",
    re.MULTILINE,
)
#: How the preprocessor writes letters beyond ASCII.
_LETTER = re.compile(r"\\(?:u[\da-fA-F]{4}|U[\da-fA-F]{8})")
_OPENING, _CLOSING = ("LPAREN", "LBRACKET", "LBRACE"), ("RPAREN", "RBRACKET", "RBRACE")
_BEHIND_NAME = frozenset({"EQUALS", "SEMI", "COMMA", "LBRACKET", "LPAREN"})
_NAMES = frozenset({"ID", "TYPEID"})


class Unread(c_ast.FuncCall):  # type: ignore[misc]  # pycparser has no types
    """A call of an unknown function with the addresses of all that the text names; ``what`` says why."""

    what: str


def unread(tokens: Sequence[Any], what: str, coord: Any) -> Unread:
    """Return the node for ``tokens``, which the parser does not understand."""
    names = dict.fromkeys(token.value for token in tokens if token.type == "ID")
    effects: list[c_ast.Node] = [c_ast.UnaryOp("&", c_ast.ID(name, coord), coord) for name in names]
    node = Unread(c_ast.ID(UNREAD, coord), c_ast.ExprList([*effects, *_jumps(tokens, coord)], coord), coord)
    node.what = what
    return node


def _jumps(tokens: Sequence[Any], coord: Any) -> list[c_ast.Node]:
    """Return a ``goto`` for every label that the text may go to, and for where its other jumps lead."""
    found = [c_ast.Goto(UNREAD, coord) for token in tokens if token.type in ("BREAK", "CONTINUE", "GOTO")]
    for before, token in pairwise(tokens):
        if before.type in ("GOTO", "LAND") and token.type in _NAMES:
            found.append(c_ast.Goto(token.value, coord))
    return found


def declared_in(tokens: Sequence[Any], is_declaration: bool) -> list[str]:
    """Return the names that the statement or declaration ``tokens`` may declare in its block.

    ``is_declaration`` says that it begins like one.
    """
    if not is_declaration and not _begins_declaration(tokens):
        return []
    found, depth, value = [], 0, False
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        depth += (before.type in _OPENING) - (before.type in _CLOSING)
        if not depth and token.type in ("EQUALS", "COMMA"):
            value = token.type == "EQUALS"
        pointer = depth == 1 and before.type == "TIMES"
        named = not depth and (after.type in _BEHIND_NAME or after.value.startswith("__"))
        if not value and token.type in _NAMES and (pointer or named):
            found.append(token.value)
    return list(dict.fromkeys(found))


def _begins_declaration(tokens: Sequence[Any]) -> bool:
    """Whether the first of ``tokens`` is a word that can only be a type where it stands."""
    if tokens[0].type != "ID" or len(tokens) < 2:
        return False
    return tokens[0].value in TYPEOF or tokens[1].value.isidentifier()


def ascii_names(text: str) -> tuple[str, dict[str, str]]:
    """Return ``text`` with names of ASCII letters alone, and how those that were none are spelled."""
    spelled: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        word = _LETTER.sub(lambda m: chr(int(m[0][2:], 16)), match[0]) if "\\" in match[0] else match[0]
        if word.isascii() or not (word[0].isalpha() or word[0] in "_$"):
            return match[0]
        name = "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in word)
        spelled[name] = word
        return name

    return _STRING_OR_NAME.sub(plain, text), spelled
