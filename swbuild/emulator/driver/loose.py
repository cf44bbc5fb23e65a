"""Calls of functions whose parameters C was not told: old C, which assembly is often called from.

Such calls are written anew so that the compiler notes the classes of their arguments for the link, and passes
integers in the width of a register, as assembly expects them.
"""

from __future__ import annotations

import re

import ctext

__all__ = ["SECTION", "noted_calls", "undeclared"]

#: The section with a line for each such call.
SECTION = ".swbuild.calls"
_DECLARED = re.compile(r"^/\* (.*):\d+:[IO]C \*/ .*?\b([A-Za-z_]\w*) \(/\* \?\?\? \*/\);", re.MULTILINE)
_DEFINED = re.compile(r"^/\* .*:\d+:[NOI]F \*/ .*?\b([A-Za-z_]\w*) \(", re.MULTILINE)
_MOST = 15


def undeclared(listing: str) -> set[str]:
    """Return the functions of other files without known parameters, from gcc's ``-aux-info``."""
    return {match[2] for match in _DECLARED.finditer(listing)} - set(_DEFINED.findall(listing))


def noted_calls(text: str, names: set[str]) -> str:
    """Return the C text with the calls of these functions noted; its lines stay."""
    tokens = ctext.tokens_of(text)
    partner = ctext.partners_of(tokens)
    edits = []
    for k, token in enumerate(tokens):
        if token.text not in names or k + 1 not in partner or tokens[k + 1].text != "(":
            continue
        parts = _arguments(tokens, k + 1, partner)
        if parts and not (k and tokens[k - 1].text in (".", "->")):
            edits.append(
                (token.start, tokens[partner[k + 1]].end, _call(token.text, [text[a:b] for a, b in parts]))
            )
    for start, end, new in sorted(edits, reverse=True):
        lines = text[start:end].count("\n") - new.count("\n")
        text = text[:start] + new + "\n" * lines + text[end:]
    return text


def _arguments(tokens: list[ctext.Token], at: int, partner: dict[int, int]) -> list[tuple[int, int]]:
    """Return the places of the arguments between the brackets at a token."""
    found, start, k = [], tokens[at].end, at + 1
    while k < partner[at]:
        if tokens[k].text == ",":
            found.append((start, tokens[k].start))
            start = tokens[k].end
        k = partner.get(k, k) + 1
    return [*found, (start, tokens[partner[at]].start)] if partner[at] > at + 1 else []


def _call(name: str, arguments: list[str]) -> str:
    flat = [re.sub(r"\s*\n\s*", " ", argument).strip() for argument in arguments]
    if len(flat) > _MOST:
        return f"{name}({', '.join(flat)})"
    classes = ",".join(f"%c{2 * k}/%c{2 * k + 1}" for k in range(len(flat)))
    values = ",".join(f'"i"(__builtin_classify_type({a})),"i"(sizeof({a}))' for a in flat)
    head = f'.pushsection {SECTION},\\"\\",@progbits\\n\\t.ascii '
    note = f'{head}\\"called\\\\t{name}\\\\t{classes}\\\\n\\"\\n\\t.popsection'
    passed = ", ".join(_wide(argument) for argument in flat)
    return f'__extension__({{__asm__ volatile("{note}"::{values});{name}({passed});}})'


def _wide(argument: str) -> str:
    """Return an argument with integers as wide as a register, the sign of their lowest 32 bits above."""
    narrow = f"sizeof({argument})<8&&__builtin_classify_type({argument})<5"
    word = f"(long)(int)__builtin_choose_expr({narrow},({argument}),0)"
    return f"__builtin_choose_expr({narrow},{word},({argument}))"
