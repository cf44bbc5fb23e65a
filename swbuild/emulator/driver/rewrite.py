"""Rewrite preprocessed C: spin loops call the runtime, Sunway assembly becomes calls of the runtime."""

from __future__ import annotations

import re

__all__ = ["rewrite"]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\v]+|\\\n)|(?P<newline>\n)|(?P<directive>(?m:^)[ \t]*\#[^\n]*)
      |(?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*")|(?P<char>[LuU]?'(?:[^'\\\n]|\\.)*')
      |(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      |(?P<mark>->|\+\+|--|<=|>=|==|!=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
_SPIN = re.compile(r"\b(?:while|for)\b")
_LVALUE = re.compile(r"\s*\(*\s*(\*?\s*[A-Za-z_]\w*(?:\s*(?:\[[^\[\]()]*\]|->\s*\w+|\.\s*\w+))*)\s*\)*\s*(?:!=|<=?|==|>=?)")


class _Token:
    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int) -> None:
        self.kind, self.text, self.start, self.end = kind, text, start, end


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(match.lastgroup or "", match.group(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match.lastgroup not in ("space", "newline", "directive")
    ]


def _partners(tokens: list[_Token]) -> dict[int, int]:
    """Map every opening bracket to its closing one (by token number)."""
    stack, found = [], {}
    for k, token in enumerate(tokens):
        if token.text in ("(", "{", "[") and token.kind == "mark":
            stack.append(k)
        elif token.text in (")", "}", "]") and token.kind == "mark" and stack:
            found[stack.pop()] = k
    return found


def _empty_end(tokens: list[_Token], at: int) -> int | None:
    """Return the last token of an empty statement that starts at `at` (`;`, `{}`, `{;}`), or None."""
    if at >= len(tokens):
        return None
    if tokens[at].text == ";":
        return at
    if tokens[at].text != "{":
        return None
    at += 1
    while at < len(tokens) and tokens[at].text == ";":
        at += 1
    return at if at < len(tokens) and tokens[at].text == "}" else None


def _do_whiles(tokens: list[_Token], partner: dict[int, int]) -> dict[int, int]:
    """Map the `while` that closes a do-statement to its `do`, for bodies in braces."""
    found = {}
    for k, token in enumerate(tokens):
        if token.text == "do" and k + 1 in partner and tokens[k + 1].text == "{":
            end = partner[k + 1] + 1
            if end < len(tokens) and tokens[end].text == "while":
                found[end] = k
    return found


def _word_of(condition: str) -> str:
    """Return the C expression for the address of the word that the condition looks at."""
    match = _LVALUE.match(condition)
    if not match or "(" in match.group(1):
        return "(const volatile void*)0"
    return f"(const volatile void*)&({match.group(1).strip()})"


def _flat(text: str) -> str:
    return re.sub(r"\n\s*#[^\n]*(?=\n)|\n", " ", text)


def _spin_edits(text: str, tokens: list[_Token]) -> list[tuple[int, int, str]]:
    """Return the replacements (start, end, new text) that make empty spin loops call the runtime."""
    partner = _partners(tokens)
    closing = _do_whiles(tokens, partner)
    edits = []
    for k, token in enumerate(tokens):
        if token.kind != "word" or k + 1 not in partner or tokens[k + 1].text != "(":
            continue
        close = partner[k + 1]
        if token.text == "while" and k in closing:
            do = closing[k]
            if _empty_end(tokens, do + 1) == k - 1 and close + 1 < len(tokens) and tokens[close + 1].text == ";":
                edits += _loop_edit(text, tokens, do, k, close, close + 1)
        elif token.text == "while":
            end = _empty_end(tokens, close + 1)
            if end is not None:
                edits += _loop_edit(text, tokens, k, k, close, end)
        elif token.text == "for":
            end = _empty_end(tokens, close + 1)
            inner = [t.text for t in tokens[k + 2 : close]]
            if end is not None and inner[:1] == [";"] and inner[-1:] == [";"] and inner.count(";") == 2:
                condition = text[tokens[k + 2].end : tokens[close - 1].start]
                call = f"__swemu_relax(__swemu_n++,{_word_of(_flat(condition))});"
                edits.append((tokens[k].start, tokens[k].start, "{unsigned __swemu_n=0;"))
                edits.append((tokens[close].end, tokens[end].end, _keep_lines(text, tokens, close, end, call + "}")))
    return edits


def _keep_lines(text: str, tokens: list[_Token], after: int, last: int, new: str) -> str:
    """Return `new` followed by as many line ends as the replaced text has."""
    return new + "\n" * text.count("\n", tokens[after].end, tokens[last].end)


def _loop_edit(text: str, tokens: list[_Token], first: int, loop: int, close: int, end: int) -> list[tuple[int, int, str]]:
    condition = text[tokens[loop + 1].end : tokens[close].start]
    call = f"__swemu_relax(__swemu_n++,{_word_of(_flat(condition))});"
    lines = "\n" * text.count("\n", tokens[first].start, tokens[loop].start)
    return [
        (tokens[first].start, tokens[loop].start, "{unsigned __swemu_n=0;" + lines),
        (tokens[close].end, tokens[end].end, _keep_lines(text, tokens, close, end, call + "}")),
    ]


def _apply(text: str, edits: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if start < at:
            continue
        parts += [text[at:start], new]
        at = end
    return "".join(parts) + text[at:]


def rewrite(text: str, slave: bool) -> str:
    """Return the preprocessed text with the replacements made; line numbers stay as they are."""
    if not slave or not _SPIN.search(text):
        return text
    return _apply(text, _spin_edits(text, _tokens(text)))
