"""Rewrite what the vendors' compilers take of vectors: a scalar may initialise, fill or be cast to one."""

from __future__ import annotations

from ctext import Token

__all__ = ["assign_edits", "cast_edits", "splat_edits"]

_VECTORS = (
    "doublev4",
    "floatv4",
    "intv8",
    "uintv8",
    "int256",
    "uint256",
    "doublev8",
    "floatv8",
    "intv16",
    "uintv16",
    "int512",
    "uint512",
    "dma_desc",
)


def _filled(vector: str, value: str, converted: bool) -> str:
    """Return C for `value` as a vector: itself when it is as wide, else a vector with it in all lanes.

    With ``converted`` the lanes of the other kind of floating point are converted.
    """
    if converted and vector.startswith(("doublev", "floatv")):
        d, f = ("d", "f") if vector.startswith("double") else ("f", "d")
        kinds = [f"__swemu_v{d}:__swemu_keep_{d}", f"__swemu_v{f}:__swemu_{f}_to_{d}"]
        whole = ("vi", "vl", "vui", "vul") if d == "d" else ()
        kinds += [f"__swemu_{name}:__swemu_{name}_as_d" for name in whole]
        return f"_Generic(({value}),{','.join(kinds)},default:__swemu_splat_{d})({value})"
    same = f"sizeof({value})==sizeof({vector})"
    scalar = f"__builtin_choose_expr({same},0,({value}))"
    return (
        f"__builtin_choose_expr({same},({value}),(__typeof__((({vector}){{0}})[0])){scalar}-({vector}){{0}})"
    )


def _operand_end(tokens: list[Token], partner: dict[int, int], at: int) -> int:
    """Return the token behind the operand of a cast that starts at `at`."""
    while at < len(tokens) and tokens[at].text in ("-", "+", "*", "&", "!", "~"):
        at += 1
    at = partner.get(at, at) + 1
    while at < len(tokens) and tokens[at].text in ("[", "(", ".", "->"):
        at = partner[at] + 1 if at in partner else at + 2
    return at


def cast_edits(
    text: str, tokens: list[Token], partner: dict[int, int], converted: bool
) -> list[tuple[int, int, str]]:
    """Let a scalar be cast to a vector, ``(doublev4)x``; with ``converted`` also the other floating point."""
    edits = []
    for k, token in enumerate(tokens):
        if (
            token.text not in _VECTORS
            or not 0 < k < len(tokens) - 2
            or tokens[k - 1].text != "("
            or tokens[k + 1].text != ")"
        ):
            continue
        first = tokens[k + 2]
        if first.text == "{" or not (first.kind in ("word", "number") or first.text in ("(", "-", "*", "&")):
            continue
        if first.text in ("sizeof", "__attribute__") or (
            tokens[k - 2].kind == "word" and tokens[k - 2].text != "return"
        ):
            continue
        end = _operand_end(tokens, partner, k + 2)
        old = text[first.start : tokens[end - 1].end]
        edits.append(
            (
                tokens[k - 1].start,
                tokens[end - 1].end,
                f"(({token.text}){_filled(token.text, old, converted)})",
            )
        )
    return edits


def splat_edits(text: str, tokens: list[Token], partner: dict[int, int]) -> list[tuple[int, int, str]]:
    """Let a scalar initialise a vector variable, as the Sunway compilers do: ``doublev4 v = 0;``."""
    edits = []
    types = _vector_types(tokens)
    for k, token in enumerate(tokens):
        if token.text not in types or k + 1 >= len(tokens) or tokens[k + 1].kind != "word":
            continue
        at, start = k + 1, -1
        while at < len(tokens):
            mark = tokens[at].text
            if mark in (",", ";") or mark in (")", "}"):
                if start >= 0 and at > start:
                    old = text[tokens[start].start : tokens[at - 1].end]
                    edits.append((tokens[start].start, tokens[at - 1].end, _filled(token.text, old, False)))
                start = -1
                if mark != ",":
                    break
            elif mark == "=" and start < 0:
                plain = tokens[at - 1].kind == "word" and at + 1 < len(tokens) and tokens[at + 1].text != "{"
                start = at + 1 if plain else -1
            at = partner.get(at, at) + 1
    return edits


def _vector_types(tokens: list[Token]) -> set[str]:
    """Return the names of the vector types: the compilers' own, and those that typedef gives to them."""
    types = set(_VECTORS)
    for k, token in enumerate(tokens[:-2]):
        if token.text == "typedef" and tokens[k + 1].text in types and tokens[k + 2].kind == "word":
            types.add(tokens[k + 2].text)
    return types


def _vector_names(tokens: list[Token], partner: dict[int, int]) -> set[str]:
    """Return the names that are declared with a vector type."""
    types = _vector_types(tokens)
    found = set()
    for k, token in enumerate(tokens):
        if token.text not in types or tokens[k - 1].text == "typedef":
            continue
        at = k + 1
        while at < len(tokens) and tokens[at].text in ("*", "const", "volatile", "restrict", "__restrict"):
            at += 1
        while at < len(tokens) and tokens[at].kind == "word":
            found.add(tokens[at].text)
            while at < len(tokens) and tokens[at].text not in (",", ";", ")", "}"):
                at = partner.get(at, at) + 1
            at += 1 if at < len(tokens) and tokens[at].text == "," else len(tokens)
            while at < len(tokens) and tokens[at].text == "*":
                at += 1
    return found


def _target_end(tokens: list[Token], partner: dict[int, int], at: int) -> int:
    """Return the token behind an assignment's target that starts at `at`: ``v``, ``*p``, ``(p + 1)[i]``."""
    while at < len(tokens) and tokens[at].text == "*":
        at += 1
    if at < len(tokens) and (tokens[at].kind == "word" or tokens[at].text == "("):
        at = partner.get(at, at) + 1
    while at < len(tokens) and tokens[at].text in ("[", ".", "->"):
        at = partner[at] + 1 if at in partner else at + 2
    return at


def assign_edits(text: str, tokens: list[Token], partner: dict[int, int]) -> list[tuple[int, int, str]]:
    """Let a number be assigned to a vector, as the Sunway compilers do: ``v[i] = 0.0;``."""
    names = _vector_names(tokens, partner)
    edits = []
    for k, token in enumerate(tokens[1:], 1):
        if token.kind != "word" and token.text not in ("(", "*"):
            continue
        if tokens[k - 1].text not in (";", "{", "}", ")", "else"):
            continue
        at = _target_end(tokens, partner, k)
        value = at + 1 if at + 1 < len(tokens) and tokens[at].text == "=" else len(tokens)
        end = value + 1 if value < len(tokens) and tokens[value].text in ("-", "+") else value
        if end + 1 >= len(tokens) or tokens[end].kind != "number" or tokens[end + 1].text != ";":
            continue
        if names.intersection(t.text for t in tokens[k:at]):
            left = text[token.start : tokens[at - 1].end]
            number = text[tokens[value].start : tokens[end].end]
            edits.append((tokens[value].start, tokens[end].end, _fitted(left, number)))
    return edits


def _fitted(left: str, number: str) -> str:
    """Return C for a number as the type of `left`: in all lanes if that is a vector."""
    kinds = {"vd": "d", "vf": "f", "vi": "w", "vl": "l"}
    lanes = ",".join(f"__swemu_{kind}:__swemu_splat_{name}({number})" for kind, name in kinds.items())
    return f"_Generic(({left}),{lanes},default:({number}))"
