"""Rewrite preprocessed C: spin loops call the runtime, Sunway assembly becomes calls of the runtime.

The text keeps its lines, so that compilers, debuggers and the runtime's reports speak of the user's file.
"""

from __future__ import annotations

import re

from ctext import Places, SourceError, Token, partners_of, tokens_of
from vectors import assign_edits, cast_edits, splat_edits

__all__ = ["Rewritten", "inline_functions", "rewrite"]


_SPIN = re.compile(r"\b(?:while|for)\b")
_LVALUE = re.compile(
    r"\s*\(*\s*(\*?\s*[A-Za-z_]\w*(?:\s*(?:\[[^\[\]()]*\]|->\s*\w+|\.\s*\w+))*)\s*\)*\s*(?:!=|<=?|==|>=?)"
)


def _empty_end(tokens: list[Token], at: int) -> int | None:
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


def _do_whiles(tokens: list[Token], partner: dict[int, int]) -> dict[int, int]:
    """Map the `while` that closes a do-statement to its `do`."""
    found = {}
    for k, token in enumerate(tokens):
        if token.text != "do":
            continue
        end = k + 1
        braces = end < len(tokens) and tokens[end].text == "{"
        while end < len(tokens) and tokens[end].text != ";" and not braces:
            end = partner.get(end, end) + 1
        end = partner.get(end, end) + 1
        if end < len(tokens) and tokens[end].text == "while":
            found[end] = k
    return found


def _word_of(condition: str) -> str:
    """Return the C expression for the address of the word that the condition looks at."""
    match = _LVALUE.match(condition)
    if not match or "(" in match.group(1):
        return "(const volatile void*)0"
    return f"(const volatile void*)&({match.group(1).strip()})"


def _relax(condition: str, is_c: bool) -> str:
    """Return the call for one turn of a spin loop; C also warns when the word is not volatile."""
    word = _word_of(condition)
    call = f"__swemu_relax(__swemu_n++,{word});"
    if not is_c or "&(" not in word:
        return call
    name = word.split("&", 1)[1]
    same = f"__builtin_types_compatible_p(__typeof__(&{name}),__typeof__((volatile __typeof__({name})*)0))"
    return f"__builtin_choose_expr({same},(void)0,__swemu_not_volatile());{call}"


def _flat(text: str) -> str:
    return re.sub(r"\n\s*#[^\n]*(?=\n)|\n", " ", text)


def _spin_edits(
    text: str, tokens: list[Token], partner: dict[int, int], is_c: bool
) -> list[tuple[int, int, str]]:
    """Return the replacements (start, end, new text) that make empty spin loops call the runtime."""
    closing = _do_whiles(tokens, partner)
    edits = []
    for k, token in enumerate(tokens):
        if token.kind != "word" or k + 1 not in partner or tokens[k + 1].text != "(":
            continue
        close = partner[k + 1]
        if token.text == "while" and k in closing:
            do = closing[k]
            if (
                _empty_end(tokens, do + 1) == k - 1
                and close + 1 < len(tokens)
                and tokens[close + 1].text == ";"
            ):
                edits += _loop_edit(text, tokens, do, k, close, close + 1, is_c)
        elif token.text == "while":
            end = _empty_end(tokens, close + 1)
            if end is not None:
                edits += _loop_edit(text, tokens, k, k, close, end, is_c)
        elif token.text == "for":
            end = _empty_end(tokens, close + 1)
            inner = [t.text for t in tokens[k + 2 : close]]
            if end is not None and inner[:1] == [";"] and inner[-1:] == [";"] and inner.count(";") == 2:
                condition = text[tokens[k + 2].end : tokens[close - 1].start]
                call = "{" + _relax(_flat(condition), is_c) + "}"
                edits.append((tokens[k].start, tokens[k].start, "{unsigned __swemu_n=0;"))
                edits.append(
                    (tokens[close].end, tokens[end].end, _keep_lines(text, tokens, close, end, call + "}"))
                )
    return edits


def _keep_lines(text: str, tokens: list[Token], after: int, last: int, new: str) -> str:
    """Return `new` followed by as many line ends as the replaced text has."""
    return new + "\n" * text.count("\n", tokens[after].end, tokens[last].end)


def _loop_edit(
    text: str, tokens: list[Token], first: int, loop: int, close: int, end: int, is_c: bool
) -> list[tuple[int, int, str]]:
    condition = text[tokens[loop + 1].end : tokens[close].start]
    call = "{" + _relax(_flat(condition), is_c) + "}"
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


_INLINE = re.compile(r"\binline\b|\b__inline")
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")


def _is_statement(tokens: list[Token], k: int, open_at: int) -> bool:
    """Tell an asm statement from the asm label of a declaration and from file-scope assembly."""
    volatile = any(t.text in ("volatile", "__volatile__", "__volatile") for t in tokens[k + 1 : open_at])
    return (
        volatile
        or k == 0
        or tokens[k - 1].text in (";", "{", "}", ":", "else", "do")
        or tokens[k - 1].text == ")"
    )


class _Assembly:
    """Translates the inline assembly of one file; ``inferred`` are the instructions to tell of."""

    def __init__(self, places: Places, tokens: list[Token], machine: str, slave: bool, is_c: bool) -> None:
        import assembly  # only where there is some

        self.places, self.text, self.tokens, self.is_c = places, places.text, tokens, is_c
        self.language = assembly
        self.machine = assembly.MACHINES[machine if slave else "host"]
        self.inferred: dict[str, str] = {}

    def edits(self, partner: dict[int, int]) -> list[tuple[int, int, str]]:
        edits = []
        for k, token in enumerate(self.tokens):
            if token.kind != "word" or token.text not in ("asm", "__asm__", "__asm"):
                continue
            at = k + 1
            while at < len(self.tokens) and self.tokens[at].kind == "word":
                at += 1
            close = partner.get(at)
            own = self.text.startswith('".push', self.tokens[at].end)
            if close is None or not _is_statement(self.tokens, k, at) or own:
                continue
            edit = self._edit(k, at, close)
            if edit:
                edits.append(edit)
        return edits

    def _edit(self, k: int, at: int, close: int) -> tuple[int, int, str] | None:
        text, tokens = self.text, self.tokens
        body = _flat(text[tokens[at].end : tokens[close].start])
        if close + 1 == len(tokens) or tokens[close + 1].text != ";":
            return None
        file, line, system = self.places.of(tokens[k].start)
        try:
            made = self.language.translate(body, self.machine, self.is_c)
        except self.language.Unknown as error:
            if system or tokens[k - 1].text == ")":
                return None
            raise SourceError(f"{file}:{line}: error[SW601]: inline assembly: {error}") from None
        if made is None:
            return None
        for name in made.inferred:
            self.inferred.setdefault(name, f"{file}:{line}")
        lines = "\n" * text.count("\n", tokens[k].start, tokens[close + 1].end)
        return tokens[k].start, tokens[close + 1].end, made.code + lines


def _is_declaration(tokens: list[Token], k: int) -> int:
    """Return the token of the first declarator's name if a declaration of an array may start at k, else 0."""
    if tokens[k - 1].text not in (";", "{", "}") or tokens[k].kind != "word":
        return 0
    if tokens[k].text in ("return", "goto", "typedef", "extern", "case", "else", "do", "sizeof"):
        return 0
    at = k
    while at < len(tokens) and (tokens[at].kind == "word" or tokens[at].text == "*"):
        at += 1
    return at - 1 if at - k >= 2 and at < len(tokens) and tokens[at].text in ("[", ",", "=", ";") else 0


def _align_edits(tokens: list[Token], partner: dict[int, int], bytes_: int) -> list[tuple[int, int, str]]:
    """Give every array variable at least this alignment (structure members look alike)."""
    edits = []
    k = 1
    while k < len(tokens):
        at = _is_declaration(tokens, k)
        k += 1
        while at and at < len(tokens) and tokens[at].text != ";":
            if tokens[at].text == "[" and tokens[at - 1].kind == "word":
                end = at
                while end in partner and tokens[end].text == "[":
                    end = partner[end] + 1
                edits.append(
                    (tokens[end - 1].end, tokens[end - 1].end, f" __attribute__((aligned({bytes_})))")
                )
                at = end
            elif tokens[at].text == "=":
                at += 1
                while at < len(tokens) and tokens[at].text not in (",", ";"):
                    at = partner.get(at, at) + 1
            else:
                at = partner.get(at, at) + 1
    return edits


def _structures(tokens: list[Token], partner: dict[int, int]) -> list[tuple[int, int]]:
    """Return the extents of the bodies of structures, unions and enumerations."""
    found = []
    for k, token in enumerate(tokens):
        if token.text in ("struct", "union", "enum"):
            at = k + 1 if k + 1 < len(tokens) and tokens[k + 1].text == "{" else k + 2
            if at in partner and tokens[at].text == "{":
                found.append((tokens[at].start, tokens[partner[at]].end))
    return found


def _with_alignment(
    places: Places, tokens: list[Token], partner: dict[int, int], bytes_: int
) -> list[tuple[int, int, str]]:
    bodies = _structures(tokens, partner)
    edits = _align_edits(tokens, partner, bytes_)
    edits = [e for e in edits if not any(a < e[0] < b for a, b in bodies)]
    return _outside_headers(places, edits)


def _outside_headers(places: Places, edits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the replacements of what is not from a system header."""
    return [edit for edit in edits if not places.of(edit[0])[2]]


def inline_functions(text: str) -> set[str]:
    """Return the functions that are declared `inline`, but neither `static` nor `extern`.

    The Sunway compilers inline them or emit them in every object that has them, and the linker takes one.
    """
    places = Places(text)
    if not any(_INLINE.search(text, *part) for part in places.own()):
        return set()
    found, tokens = set(), tokens_of(text, places)
    for k, token in enumerate(tokens):
        if token.text not in ("inline", "__inline", "__inline__"):
            continue
        start = end = k
        while start and tokens[start - 1].text not in (";", "}"):
            start -= 1
        while end < len(tokens) and tokens[end].text not in ("(", ";"):
            end += 1
        if not {"static", "extern"} & {t.text for t in tokens[start:end]}:
            found.add(tokens[end - 1].text)
    return found


class Rewritten:
    """The text; whether it uses registers of the processor, and where it uses instructions by inference."""

    __slots__ = ("inferred", "registers", "text")

    def __init__(self, text: str, registers: bool = False, inferred: dict[str, str] | None = None) -> None:
        self.text, self.registers, self.inferred = text, registers, inferred or {}


def rewrite(text: str, slave: bool, align: int = 0, is_c: bool = True, machine: str = "sw3") -> Rewritten:
    """Return the preprocessed text with the replacements made; line numbers stay as they are.

    With ``align`` every array variable gets at least that alignment.
    """
    spins = slave and _SPIN.search(text)
    # The prelude has one asm of its own.
    assembly_here = len(_ASM.findall(text)) > 1
    vectors = slave and ("__swemu_vd" in text or "__swemu_desc" in text)
    numbers = is_c and "__swemu_splat_d" in text
    if not spins and not assembly_here and not vectors and not align:
        return Rewritten(text)
    places = Places(text)
    tokens = tokens_of(text, places)
    partner = partners_of(tokens)
    casts = cast_edits(text, tokens, partner, numbers) if vectors else []
    if casts:
        text = _apply(text, _outside_headers(places, casts))
        places = Places(text)
        tokens = tokens_of(text, places)
        partner = partners_of(tokens)
    edits = _spin_edits(text, tokens, partner, is_c) if spins else []
    translator = _Assembly(places, tokens, machine, slave, is_c) if assembly_here else None
    found = translator.edits(partner) if translator else []
    edits += found
    if vectors:
        fills = splat_edits(text, tokens, partner)
        fills += assign_edits(text, tokens, partner) if numbers else []
        edits += _outside_headers(places, fills)
    if align:
        edits += _with_alignment(places, tokens, partner, align)
    return Rewritten(_apply(text, edits), bool(found), translator.inferred if translator else {})
