"""Cutting preprocessed text down to what the regions need, in a C that the parser understands.

Headers make up nearly all of a preprocessed file and hold what no parser but the compiler's own
takes.  A scanner that only knows strings, parentheses and braces splits the text into top-level
declarations; the functions that hold regions stay, with the declarations whose names they use.
"""

from __future__ import annotations

import re  # reads the output of the preprocessor
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.frontend.ctype import UNMODELLED
from swbuild.frontend.pragmas import Marker
from swbuild.frontend.preprocess import Preprocessed

__all__ = [
    "Chunk",
    "chunk_around",
    "declared_names",
    "is_const_function",
    "is_defined",
    "neutralise",
    "prune",
    "split_chunks",
]

_SCAN = re.compile(r'[{};]|^[ \t]*#[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_AGGREGATE = re.compile(r"\b(?:struct|union|enum)\s*(?:__attribute__\s*\(\(.*\)\)\s*)?\w*\s*$", re.DOTALL)
_TAG = re.compile(r"\b(?:struct|union|enum)\s+(?:__attribute__\s*\(\([^{]*\)\)\s*)?([\w$]+)\s*\{")
_DECLARED = re.compile(r"([\w$]+)\s*(?:[\[(;=,:]|__attribute__|__asm__|$)")
_POINTED = re.compile(r"\(\s*(?:__attribute__\s*\(\([^()]*\)\)\s*)?\*[\s*]*(?:const\s+)?([\w$]+)")
_ENUM_BODY = re.compile(r"\benum\b[^{;()]*\{([^}]*)\}")
_ENUM_NAME = re.compile(r"(?:^|,)\s*([\w$]+)")

_KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "pragma",
        "scop",
        "endscop",
        "__attribute__",
        "__extension__",
        "__restrict",
        "__inline",
        "__const",
    ]
)
_REPLACED = {
    "__extension__": "", "__inline": "inline", "__inline__": "inline", "__restrict": "restrict",
    "__restrict__": "restrict", "__const": "const", "__const__": "const", "__volatile__": "volatile",
    "__volatile": "volatile", "__signed__": "signed", "__signed": "signed", "__asm": "asm", "__asm__": "asm",
    "__thread": "", "__complex__": "_Complex", "__complex": "_Complex", "__alignof__": "_Alignof",
}  # fmt: skip
_CONST = re.compile(r"__attribute__\s*\(\([^;{}]*?\b(?:const|__const__)\b")
_PARSED = "typedef void *__builtin_va_list;" + "".join(f"typedef int {name};" for name in sorted(UNMODELLED))
_REPLACE = re.compile(r"\b(?:" + "|".join(sorted(_REPLACED, key=len, reverse=True)) + r")\b")
_DIRECTIVES_LAST = re.compile(r"(?:^[ \t]*#[^\n]*\n\s*)+\Z", re.MULTILINE)
#: What is no operand in inline assembly: its strings, and names in brackets before them.
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\[\s*\w+\s*\](?=\s*")')
#: Attributes between double brackets that mean nothing to types and layouts.
_BRACKETED = re.compile(
    r"\[\[\s*(?:(?:gnu::)?_{0,2}(?:nodiscard|maybe_unused|deprecated|fallthrough|noreturn|_Noreturn|reproducible"
    r"|unsequenced|unused|always_inline|noinline|hot|cold|flatten|pure|const)_{0,2}"
    r"\s*(?:\([^()]*\))?[\s,]*)*\]\]"
)
_NAMED = re.compile(r"\w$")
_STATEMENT = re.compile(r"\b(?:else|do)$")
_CONTROLLED = re.compile(r"\b(?:if|while|for|switch)\s*$")
_GNU_CALL = re.compile(
    r"\b(?:__attribute__|__attribute|__asm__|__asm|asm)\s*(?:volatile\s*|__volatile__\s*)?\("
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A top-level declaration, text[start:end]; ``body`` is the offset of a function's opening brace,
    or -1.
    """

    start: int
    end: int
    body: int


def split_chunks(source: Preprocessed) -> tuple[Chunk, ...]:
    """Return the top-level declarations of the text; unbalanced braces are an error."""
    text, chunks, start, body, last = source.text, [], -1, -1, 0
    opened: list[int] = []
    for match in _SCAN.finditer(text):
        if start < 0:
            start = _skip_space(text, last, match.start(), start)
        token, last = match[0], match.end()
        if token == "{":
            if not opened and _opens_body(text, start, match.start()):
                body = match.start()
            opened.append(match.start())
        elif token == "}":
            if not opened:
                raise _unbalanced(source, match.start(), "'}' closes nothing")
            opened.pop()
        if not opened and (token == ";" or (token == "}" and body >= 0)):
            chunks.append(Chunk(start, last, body))
            start, body = -1, -1
    if opened:
        raise _unbalanced(source, opened[-1], "'{' is never closed")
    return tuple(chunks)


def _skip_space(text: str, begin: int, end: int, start: int) -> int:
    """Return where the declaration starts that has its first significant character in text[begin:end]."""
    if start >= 0:
        return start
    piece = text[begin:end]
    stripped = piece.lstrip()
    if stripped:
        return end - len(stripped)
    return -1 if text[end] in "#;" or text[end] in " \t" else end


def _opens_body(text: str, start: int, brace: int) -> bool:
    before = text[start:brace].rstrip()
    return before.endswith(")") and not _AGGREGATE.search(before)


def _unbalanced(source: Preprocessed, offset: int, what: str) -> SwbuildError:
    origin = source.origin(offset)
    return SwbuildError(
        Diagnostic(
            "SW202",
            f"syntax error: {what}",
            Span(origin.file, origin.line, origin.column),
            "the file must be one that the compiler accepts",
        )
    )


def _declared(text: str) -> tuple[str, ...]:
    """Return the names that a declaration may declare (functions, objects, typedefs, tags,
    enum constants).
    """
    text = _DIRECTIVE.sub("", text)
    names = _TAG.findall(text)
    for inside in _ENUM_BODY.findall(text):
        names += _ENUM_NAME.findall(inside)
    names += _POINTED.findall(text)
    return tuple(dict.fromkeys(names + _DECLARED.findall(_outside(text))))


def declared_names(source: Preprocessed, chunks: Sequence[Chunk], names: set[str]) -> dict[str, Span]:
    """Return which of ``names`` the user's own text declares at file scope, and where it does so first."""
    found: dict[str, Span] = {}
    for chunk in chunks if names else ():
        end = chunk.body if chunk.body >= 0 else chunk.end
        here = names.intersection(_WORD.findall(source.text, chunk.start, end))
        if not here or source.in_system_header(chunk.start):
            continue
        origin = source.origin(chunk.start)
        for name in here.intersection(_declared(source.text[chunk.start : end])):
            found.setdefault(name, Span(origin.file, origin.line, origin.column))
    return found


def is_defined(source: Preprocessed, chunks: Sequence[Chunk], name: str) -> bool:
    """Whether the user's own text may have the body of a function ``name``."""
    bodies = (chunk for chunk in chunks if chunk.body >= 0)
    heads = ((c.start, source.text[c.start : c.body]) for c in bodies)
    return any(
        name in head
        and name in _WORD.findall(_DIRECTIVE.sub("", neutralise(head)))
        and not source.in_system_header(start)
        for start, head in heads
    )


def _outside(text: str) -> str:
    """Return ``text`` without what stands in parentheses or braces (their first character stays)."""
    if "(" not in text and "{" not in text:
        return text
    kept, depth, last = [], 0, 0
    for match in re.finditer(r"[(){}]", text):
        if not depth:
            kept.append(text[last : match.start() + 1])
        depth += 1 if match[0] in "({" else -1
        last = match.end()
    return "".join([*kept, text[last:] if not depth else ""])


def prune(source: Preprocessed, chunks: tuple[Chunk, ...], markers: Iterable[Marker]) -> str:
    """Return the text to parse: the functions that hold ``markers`` and what they need, with line markers."""
    text = source.text
    spans = [m.offset for m in markers]
    homes = [c for c in chunks if c.body >= 0 and any(c.start <= offset < c.end for offset in spans)]
    in_regions = set(_region_words(text, spans))
    kept = {chunk.start: chunk for chunk in homes}
    wanted = _words(text, homes)
    seen: set[str] = set()
    while wanted - seen:
        fresh, seen = wanted - seen, seen | wanted
        added = [c for c in _providers(text, chunks, fresh, seen - in_regions) if c.start not in kept]
        kept.update((chunk.start, chunk) for chunk in added)
        # A function that a region calls may itself call others: those count as named by the region.
        in_regions |= _words(text, [c for c in added if c.body >= 0])
        wanted = seen | _words(text, added)
    pieces = [_emit(source, kept[start]) for start in sorted(kept)]
    return _PARSED + "\n" + "".join(pieces)


def _whole(pattern: str) -> str:
    """Return the pattern of a whole identifier; the compiler takes dollar signs for letters."""
    return rf"(?<![\w$])(?:{pattern})(?![\w$])"


def _words(text: str, chunks: Iterable[Chunk]) -> set[str]:
    return {word for c in chunks for word in _WORD.findall(text, c.start, c.end)} - _KEYWORDS


def _providers(text: str, chunks: Sequence[Chunk], names: set[str], no_functions: set[str]) -> list[Chunk]:
    """Return the declarations of ``names``; those of functions only for names outside ``no_functions``."""
    found: list[Chunk] = []
    for chunk in chunks:
        end = chunk.body if chunk.body >= 0 else chunk.end
        here = names.intersection(_WORD.findall(text, chunk.start, end))
        declared = here.intersection(_declared(text[chunk.start : end])) if here else here
        if any(_wanted(chunk, text, name, no_functions) for name in declared):
            found.append(chunk)
    return found


def _wanted(provider: Chunk, text: str, word: str, no_functions: set[str]) -> bool:
    """Functions are wanted only where a region (or a function that a region calls) names them."""
    if word not in no_functions or text.startswith("typedef", provider.start):
        return True
    is_function = re.search(rf"{_whole(re.escape(word))}\s*\(", text[provider.start : provider.end])
    return provider.body < 0 and is_function is None


def _region_words(text: str, spans: list[int]) -> Iterator[str]:
    for begin, end in zip(spans[::2], spans[1::2], strict=False):
        yield from _WORD.findall(text, begin, end)


def _emit(source: Preprocessed, chunk: Chunk) -> str:
    origin = source.origin(chunk.start)
    file = origin.file.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    text = neutralise(source.text[chunk.start : chunk.end])
    return f'\n# {origin.line} "{file}"\n{" " * (origin.column - 1)}{text}\n'


def neutralise(text: str) -> str:
    """Return ``text`` with GNU extensions blanked or spelled in C, every other character in its place."""
    text = _BRACKETED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), _blank_calls(text))
    return _REPLACE.sub(lambda m: _REPLACED[m[0]].ljust(len(m[0])), text)


def _blank_calls(text: str) -> str:
    pieces, last = [], 0
    for match in _GNU_CALL.finditer(text):
        if match.start() < last:
            continue
        end = _closing(text, match.end())
        blank = re.sub(r"[^\n]", " ", text[match.start() : end])
        if match[0].lstrip("_").startswith("asm") and not _is_asm_label(text, match.start()):
            called = _asm_call(text[match.end() : end - 1])
            lines = "\n" * blank.count("\n", 0, len(called))
            blank = called + lines + blank[len(called) :]  # a statement: it is seen, and refused in regions
        pieces.append(text[last : match.start()])
        pieces.append(blank)
        last = end
    return "".join([*pieces, text[last:]]) if pieces else text


def _asm_call(operands: str) -> str:
    """Return a call that may do to each variable among the operands of inline assembly whatever it likes.

    It is no longer than the assembly itself, where each of them stands behind a constraint.
    """
    outside = _STRING.sub("", operands)
    names = dict.fromkeys(_WORD.findall(outside.partition(":")[2]))
    return f"asm({','.join(f'&{name}' for name in names if name not in _KEYWORDS)})"


def is_const_function(source: Preprocessed, name: str) -> bool:
    """Whether ``source`` declares the function ``name`` with ``__attribute__((const))``."""
    text = source.text
    for match in re.finditer(rf"{_whole(re.escape(name))}\s*\(", text):
        begin = max(text.rfind(end, 0, match.start()) for end in ";}") + 1
        declaration = text[begin : text.find(";", match.end()) + 1]
        if _CONST.search(declaration) and name in _declared(declaration):
            return True
    return False


def chunk_around(chunks: Sequence[Chunk], offset: int) -> tuple[int, int]:
    """Return where the top-level declaration around ``offset`` starts and ends."""
    index = bisect_right(chunks, offset, key=lambda chunk: chunk.start) - 1
    return (chunks[index].start, chunks[index].end) if index >= 0 else (0, offset)


def _is_asm_label(text: str, start: int) -> bool:
    """Whether ``asm(`` at ``start`` stands behind a declarator and gives it a name or a register."""
    before = _DIRECTIVES_LAST.sub("", text[:start]).rstrip()
    if before.endswith(")"):
        return _CONTROLLED.search(_opened(before)) is None
    return before.endswith("]") or (_NAMED.search(before) is not None and _STATEMENT.search(before) is None)


def _opened(before: str) -> str:
    """Return ``before`` up to the parenthesis that its last character closes."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[place], 0)
        if not depth:
            return before[:place]
    return ""


def _closing(text: str, begin: int) -> int:
    depth = 1
    for match in re.compile(r'[()]|"(?:[^"\\\n]|\\.)*"').finditer(text, begin):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return len(text)
