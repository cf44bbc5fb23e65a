"""Damages valid C files and manifests, and tells whether what comes of it is what a user deserves.

A damaged input may still be fine.  When it is not, the answer must be diagnostics with a place in the
file, at once, and nothing written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from swbuild.diagnostics import INTERNAL, SwbuildError
from swbuild.frontend import CppOptions, read_source
from swbuild.generate import complete, generate_unit
from swbuild.manifest import load_text

__all__ = ["complaint_about_c", "complaint_about_manifest", "damaged"]

_C_WORDS = (
    "for",
    "if",
    "else",
    "while",
    "do",
    "goto",
    "switch",
    "return",
    "sizeof",
    "int",
    "double",
    "struct",
    "static",
    "const",
    "restrict",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "&&",
    "|",
    "^",
    "<<",
    "!",
    "?",
    ":",
    "=",
    "==",
    "+=",
    "++",
    "<",
    "<=",
    "->",
    ".",
    "...",
    "0",
    "1",
    "-1",
    "4294967296",
    "0x7fffffff",
    "1e400",
    "08",
    "'a'",
    '"s"',
    "i",
    "j",
    "n",
    "N",
    "A",
    "i++",
    "A[i][j]",
    "n * n",
    "i * j",
    "\n#pragma scop\n",
    "\n#pragma endscop\n",
    "\n#if 0\n",
    "\n#endif\n",
    "\n#define i j\n",
    "/*",
    "*/",
    "//",
    "\\\n",
    "\\",
    "\0",
    "\xe9",
    "\udce9",
    "\ufeff",
    "\f",
    "\r",
    "$",
    "'ab'",
    "'\\377'",
    "'\\x'",
    "L'x'",
    'u8"s"',
    "0b1",
    "0x",
    "1.0i",
    "9" * 5000,
    "1e99999",
    "register",
    "volatile",
    "extern",
    "_Atomic",
    "_Thread_local",
    "inline",
    "_Complex",
    "__int128",
    "_Float128",
    "_Alignas(64)",
    "__attribute__((vector_size(32)))",
    "__attribute__((packed))",
    "__typeof__(n)",
    'asm("r5")',
    'asm volatile("nop");',
    '_Static_assert(1, "");',
    "_Generic(n, default: 1)",
    "({ 1; })",
    "(int[]){1, 2}[0]",
    "{ [2] = 3 }",
    "&&l",
    "l:",
    "n ? 1 : 2",
    "enum { E, F = E + 3 } e;",
    "struct { int b : 3; double m; } s;",
    "union { int a; float b; } u;",
    "int (*f)(int);",
    "i = j = n",
    "*&n",
    "x[i++]",
    "__COUNTER__",
    "__LINE__",
    '\n#line 7 "z.c"\n',
    "\n# 7\n",
    "\n#include __FILE__\n",
    "\n#pragma scop a b\n",
    '\n_Pragma("scop")\n',
    "\n#pragma pack(1)\n",
    "\n#pragma omp parallel for\n",
)
_YAML_WORDS = (
    ":",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!int ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "---\n",
    "...\n",
    "<<: ",
    "yes",
    "on",
    "0x1",
    "1_0",
    "1e9",
    "-1",
    "99999999999999999999",
    ".inf",
    ".nan",
    "null",
    "~",
    "\t",
    "  ",
    "\n",
    "machine: x\n",
    "regions:\n",
    "sources:\n",
    "threads: [8, 8]\n",
    "? ",
    "!",
    "%",
    "@",
    "`",
    "\xe9",
    "\u2028",
    '"\\0"',
    '"\\ud800"',
    "9" * 5000,
    "&b [*b]",
)


def damaged(text: str, random: Random, kind: str) -> str:
    """Return ``text`` after one to four random changes to its words, lines or letters."""
    words = _C_WORDS if kind == "c" else _YAML_WORDS
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        text = random.choice((_word,) * 6 + (_lines,) * 2 + (_letter,) * 2 + (_deep,))(text, random, words)
    return text


def _word(text: str, random: Random, words: Sequence[str]) -> str:
    """Delete, repeat, replace, exchange or insert a word."""
    found = [m.span() for m in re.finditer(r"\w+|[^\w\s]|\n *", text)]
    if not found:
        return random.choice(words)
    (start, end), (first, last) = random.choice(found), random.choice(found)
    kind = random.randrange(5)
    if kind == 0:
        return text[:start] + text[end:]
    if kind == 1:
        return text[:end] + " " + text[start:end] + text[end:]
    if kind == 2:
        return text[:start] + random.choice((random.choice(words), text[first:last])) + text[end:]
    if kind == 3:
        return text[:start] + random.choice(words) + text[start:]
    return text[:start] + text[first:last] + text[end:]


def _lines(text: str, random: Random, words: Sequence[str]) -> str:
    """Delete, repeat or move a line, or indent it otherwise."""
    lines = text.split("\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(4)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = random.choice((" " + lines[i], lines[i].lstrip(), lines[i][: len(lines[i]) // 2]))
    return "\n".join(lines)


def _letter(text: str, random: Random, words: Sequence[str]) -> str:
    if not text:
        return random.choice(words)
    i = random.randrange(len(text))
    kind = random.randrange(3)
    if kind == 0:
        return text[:i]
    if kind == 1:
        return text[:i] + text[i + 1 :]
    return (
        text[:i] + chr(random.choice((random.randrange(32, 127), random.randrange(0, 400)))) + text[i + 1 :]
    )


_NESTS = (("(", ")"), ("{", "}"), ("[", "]"), ("- ", ""), ("!", ""), ("", " + 1"), ("if (n) ", ""))


def _deep(text: str, random: Random, words: Sequence[str]) -> str:
    """Nest a word, or what follows it, or bury both under very many more of the same."""
    found = [m.span() for m in re.finditer(r"\w+|[^\w\s]", text)]
    if not found:
        return random.choice(words)
    start, end = random.choice(found)
    before, after = random.choice(_NESTS)
    often = random.choice((3, 40, 400, 4000))
    return text[:start] + before * often + text[start:end] + after * often + text[end:]


def _about(error: SwbuildError, path: str) -> str:
    """Return what is wrong with a refusal, the empty text when nothing is."""
    if not error.diagnostics:
        return "an error without a diagnostic"
    for item in error.diagnostics:
        if not re.fullmatch(r"SW\d{3}", item.code):
            return f"a diagnostic without a code: {item}"
        if item.code == INTERNAL:
            return f"a defect: {item}"
        if not item.message.strip():
            return f"a diagnostic without words: {item!r}"
        if not item.span.file:
            return f"a diagnostic without a place: {item}"
    return ""


def complaint_about_c(text: str, path: Path) -> str:
    """Return what is wrong with how the C file ``text`` is treated; tracebacks pass through."""
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    before = set(path.parent.iterdir())
    try:
        model = read_source(path, CppOptions(), None)
        complete(generate_unit(model, {}))
    except SwbuildError as error:
        return _about(error, str(path))
    left = set(path.parent.iterdir()) - before
    return f"left behind: {sorted(left)}" if left else ""


def complaint_about_manifest(text: str, path: Path) -> str:
    """Return what is wrong with how the manifest ``text`` is treated."""
    try:
        load_text(text, str(path))
    except SwbuildError as error:
        return _about(error, str(path))
    return ""
