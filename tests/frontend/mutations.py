# ruff: noqa: E501 (lists of words are easier to read in full lines)
"""Small random damages to C texts."""

from __future__ import annotations

import random
import re

__all__ = ["mutated"]

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*|[-+*/%<>=!&|]=?|\+\+|--|&&|\|\||\S")
_WORDS = ["int", "double", "*", "&", "n", "m", "i", "j", "0", "1", "-1", "x", "A", "while", "break", "return", "goto",
          "[", "]", "(", ")", "{", "}", ";", ",", "++", "--", "=", "==", "<", "?", ":", "!", "~", "struct", "static",
          "unsigned", "volatile", "const", "sizeof", "->", ".", "do", "switch", "case", "if", "else", "for", "%", "/",
          "1e9", "99999999999", "0x7fffffff", "'a'", '"s"', "#", "\n#pragma scop\n", "\n#pragma endscop\n"]  # fmt: skip


def mutated(text: str, seed: int) -> str:
    """Return ``text`` with one to three tokens changed, most of them inside a region."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        begin, end = 0, len(text)
        marks = [m.start() for m in re.finditer(r"#pragma (?:end)?scop", text)]
        if len(marks) > 1 and chance.random() < 0.85:
            pair = chance.randrange(len(marks) - 1)
            begin, end = marks[pair], marks[pair + 1]
        tokens = list(_TOKEN.finditer(text, begin, end))
        if not tokens:
            continue
        one, other = chance.choice(tokens), chance.choice(tokens)
        if chance.random() < 0.7:
            # Most damages keep the grammar: a name for a name, a number for a number, an operator for another.
            other = chance.choice([token for token in tokens if _class(token[0]) == _class(one[0])])
            text = text[: one.start()] + other[0] + text[one.end() :]
            continue
        kind = chance.randrange(5)
        new = {
            0: "",
            1: chance.choice(_WORDS),
            2: other[0],
            3: f"{one[0]} {one[0]}",
            4: f"{one[0]} {chance.choice(_WORDS)}",
        }
        text = text[: one.start()] + new[kind] + text[one.end() :]
    return text


def _class(token: str) -> int:
    return (
        0
        if token[0].isalpha() or token[0] == "_"
        else 1
        if token[0].isdigit()
        else 2
        if token in "()[]{};,?:#"
        else 3
    )
